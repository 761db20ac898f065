"""Whether two processes compute the same bits: versions, source, processor and arithmetic, compared before any work."""

from __future__ import annotations

import functools
import hashlib
import math
import platform
import sys
from collections.abc import Mapping
from importlib import metadata

import numpy as np

from bayesregret.sources import PACKAGE

LIBRARIES = {"NumPy": "numpy", "Numba": "numba", "llvmlite": "llvmlite", "SciPy": "scipy"}
PACKAGE_SOURCE, ARITHMETIC = "source", "arithmetic"
# How a difference reads where the value itself says nothing to a person.
WORDS = {
    PACKAGE_SOURCE: "has another state of the source of bayesregret",
    ARITHMETIC: "has a processor or a C library that rounds otherwise",
}
FUNCTIONS = (math.log, math.log1p, math.exp, math.expm1, math.sqrt, math.erf, math.erfc, math.lgamma, math.atan)
UFUNCS = (np.log, np.log1p, np.exp, np.expm1, np.sqrt)
PROBES = 257


@functools.cache
def description() -> Mapping[str, str]:
    """Return all that the bits of a result depend on, besides its arguments."""
    return {
        "bayesregret": metadata.version(PACKAGE.name),
        PACKAGE_SOURCE: _source(),
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **{name: metadata.version(library) for name, library in LIBRARIES.items()},
        "processor": platform.machine(),
        ARITHMETIC: _arithmetic(),
    }


def difference(here: Mapping[str, str], there: Mapping[str, str]) -> str | None:
    """Say what another process has that gives other bits; None if it gives the same."""
    for name, value in here.items():
        if there.get(name) != value:
            return WORDS.get(name) or f"has {name} {there.get(name)}, and this process {value}"
    return None


def _source() -> str:
    """Hash of the package's files."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()


def _arithmetic() -> str:
    """Hash of what the functions of the C library, of NumPy and of its linear algebra return.

    Their last bits may depend on the processor, for which these libraries choose their code when they are loaded.
    """
    digest = hashlib.sha256()
    numbers = np.arange(1, PROBES + 1) / 16.0
    for function in FUNCTIONS:
        digest.update(np.array([function(number) for number in numbers.tolist()]).tobytes())
    for ufunc in UFUNCS:
        digest.update(ufunc(numbers).tobytes())
    matrix = np.fromfunction(lambda i, j: 1.0 / (1.0 + i + j) + 3.0 * (i == j), (24, 24))
    for made in (matrix @ matrix.T, np.linalg.cholesky(matrix), np.linalg.eigh(matrix)[0], np.linalg.inv(matrix)):
        digest.update(np.ascontiguousarray(made).tobytes())
    return digest.hexdigest()
