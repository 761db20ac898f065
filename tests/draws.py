"""Large samples of the package's random draws, by compiled loops, and their distance from the expected mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesregret.dispatch import compile_kernel
from bayesregret.rng import INSTANCE, Stream, beta, normal, open_stream, raw, run_word, seed_key, sign, uniform


def compiled(body: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a test's loop, again if the test's file changes; 64-bit words may wrap in plain Python too."""
    kernel = compile_kernel(body, body)

    def call(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return kernel(*args)

    return call


def stream_of(seed: int = 0, run: int = 0, label: Any = INSTANCE) -> Stream:
    """Stream of one purpose in one run, from plain numbers."""
    key = seed_key(seed)
    with np.errstate(over="ignore"):
        return open_stream(key, run_word(key, run), label)


def fill_raw(out, stream):
    for i in range(out.shape[0]):
        out[i], stream = raw(stream)


def fill_uniform(out, stream):
    for i in range(out.shape[0]):
        out[i], stream = uniform(stream)


def fill_sign(out, stream):
    for i in range(out.shape[0]):
        out[i], stream = sign(stream)


def fill_normal(out, stream):
    for i in range(out.shape[0]):
        out[i], stream = normal(stream)


def fill_beta(out, a, b, stream):
    for i in range(out.shape[0]):
        out[i], stream = beta(a, b, stream)


def sample(fill: Callable[..., Any], size: int, *parameters: float, seed: int = 0, dtype: Any = np.float64) -> Any:
    """(size,): draws of one kind from one stream."""
    out = np.empty(size, dtype)
    compiled(fill)(out, *parameters, stream_of(seed))
    return out


def deviation(values: Any, truth: float, spread: float) -> float:
    """Distance of a sample's mean from the truth, in standard errors; `spread` is the standard deviation of a value."""
    return abs(float(np.mean(values)) - truth) / (spread / np.sqrt(len(values)))
