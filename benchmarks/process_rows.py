"""Rows about whole processes: peak memory, start-up, and the first simulation."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from functools import partial

import fresh
import profiles
from clock import side_by_side
from problems import Size
from row import Row, at_most


def memory(size: Size) -> Iterator[Row]:
    """With compiled code from the disk, and in the one process that has to compile it."""
    cached = fresh.peak_of_simulation(size.horizon, size.runs, size.threads)
    code = fresh.simulation(horizon=size.horizon, runs=size.runs, threads=size.threads)
    with tempfile.TemporaryDirectory() as cache:
        cold = fresh.peak_megabytes(code, NUMBA_CACHE_DIR=cache)
    measured = f"{fresh.peak_megabytes('import bayesregret, numba'):.0f} MB once bayesregret and numba are imported"
    work = "peak memory of the process, Gaussian BayesUCB, K=10"
    yield Row(f"{work}, cached", measured, cached, "MB", at_most(400.0, "MB"))
    yield Row(f"{work}, compiling", measured, cold, "MB", at_most(400.0, "MB"))


def start(size: Size) -> Iterator[Row]:
    program, python = fresh.program(), sys.executable
    bare, imported, helped = side_by_side(
        size.fresh_repetitions,
        lambda: fresh.seconds(python, "-c", "pass"),
        lambda: fresh.seconds(python, "-c", "import bayesregret"),
        lambda: fresh.seconds(program, "--help"),
    )
    for work, seconds, loaded in (
        ("`import bayesregret`", imported, fresh.heavy_modules_after("import bayesregret")),
        ("`bayesregret --help`", helped, fresh.heavy_modules_after_help()),
    ):
        yield Row(work, f"bare Python {bare:.2f} s", seconds, "s", at_most(0.5, "s"), profiles.imports)
        measured = f"loaded: {', '.join(loaded) or 'none'}"
        yield Row(f"{work} loads {' or '.join(fresh.HEAVY)}", measured, len(loaded), "of them", at_most(0, "of them"))


def first(size: Size) -> Iterator[Row]:
    """From the start of a process to its end: with an empty folder for compiled code, then with the same one filled."""
    for model in size.first_models:
        code = fresh.simulation(horizon=1_000, runs=1_000, threads=size.threads, model=model)
        cold, cached = zip(*(_cold_and_cached(code, size) for _ in range(size.cold_repetitions)), strict=True)
        why = partial(profiles.first, code)
        work = f"{model} BayesUCB, start to end of the process"
        yield Row(f"first simulation ever, {work}", "", min(cold), "s", at_most(10.0, "s"), why)
        yield Row(f"first simulation in a new process, {work}", "", min(cached), "s", at_most(1.0, "s"), why)


def _cold_and_cached(code: str, size: Size) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as cache:
        cold, *cached = (
            fresh.seconds(sys.executable, "-c", code, NUMBA_CACHE_DIR=cache) for _ in range(1 + size.fresh_repetitions)
        )
    return cold, min(cached)
