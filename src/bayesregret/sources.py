"""Fingerprints of the source files that compiled code may contain.

Numba notices changes only in the file of the function that it caches. A kernel contains formulas from many files, so
its name carries a fingerprint of them all. Files outside FORMULAS (the command line, plots, reports, ...) do not count:
editing them recompiles nothing. tests/test_sources.py checks that no formula is defined elsewhere.
"""

from __future__ import annotations

import dis
import hashlib
import operator
import pathlib
import random
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

PACKAGE = pathlib.Path(__file__).parent
# Where formulas are defined, and the constants that they use.
FORMULAS = (
    "checks.py",
    "elementary.py",
    "rng.py",
    "ziggurat.py",
    "dispatch.py",
    "contracts",
    "numerics",
    "models",
    "policies",
    "simulation/kernels",
    "agent",
    "exact",
    "optimal",
)

# Generators that know nothing of a simulation's seed.
GENERATORS = (random.Random, np.random.RandomState, np.random.Generator)

_formula_files: set[str] = set()


def register_formula(function: Callable[..., Any]) -> None:
    """Remember where a formula is defined; ValueError for one of a user that draws from another generator."""
    if not function.__module__.startswith(f"{PACKAGE.name}."):
        _check_draws(function)
    _formula_files.add(function.__code__.co_filename)


def _check_draws(function: Callable[..., Any]) -> None:
    """Raise ValueError if a formula draws from `random` or `np.random`: the seed would not decide what it returns."""
    steps = list(dis.get_instructions(function))
    attributes = {step.argval for step in steps if step.opname in ("LOAD_ATTR", "LOAD_METHOD")}
    for name in dict.fromkeys(step.argval for step in steps if step.opname == "LOAD_GLOBAL"):
        value = function.__globals__.get(name)
        owner = getattr(value, "__self__", value)
        is_numpy = value is np and "random" in attributes
        if is_numpy or owner is random or owner is np.random or isinstance(owner, GENERATORS):
            shown = f"{name}.random" if is_numpy else name
            raise ValueError(
                f"{function.__name__} must draw from its stream, u, stream = uniform(stream), got {shown}: the seed "
                "would not decide its draws"
            )


def is_outside(classes: Collection[type]) -> bool:
    """Whether one of these classes is a user's own."""
    modules = map(operator.attrgetter("__module__"), classes)
    return not all(map(operator.methodcaller("startswith", f"{PACKAGE.name}."), modules))


def is_outside_file(path: str) -> bool:
    """Whether this is one of the user's own files."""
    return PACKAGE not in pathlib.Path(path).resolve().parents and "site-packages" not in path


def fingerprint(body: Callable[..., Any], classes: Collection[type]) -> str:
    """Name every source that this kernel may contain for these classes, and where the classes are defined."""
    digest = hashlib.sha256(pathlib.Path(body.__code__.co_filename).read_bytes())
    for place in FORMULAS:
        path = PACKAGE / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    for subject in sorted(classes, key=str):
        digest.update(f"{subject.__module__}.{subject.__qualname__} ".encode())
    if is_outside(classes):
        for name in sorted(_formula_files):  # a user's formula may call any other one: all their files count
            if is_outside_file(name) and pathlib.Path(name).is_file():
                digest.update(pathlib.Path(name).read_bytes())
    return digest.hexdigest()[:16]
