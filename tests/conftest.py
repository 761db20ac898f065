"""What every test shares: Hypothesis with a fixed seed, and parts of all tests to be run side by side."""

import os

import pytest
from hypothesis import settings

JIT_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

settings.register_profile("compiled", deadline=None, derandomize=True, print_blob=True, max_examples=32)
settings.register_profile("plain", parent=settings.get_profile("compiled"), max_examples=12)
settings.load_profile("plain" if JIT_IS_OFF else "compiled")


# What these test is built on compiled code, which others test, or is played in plain Python in either pass: what is not
# marked `compiled` is left to the other one.
PLAIN = {
    "audit",
    "bounds",
    "cli",
    "experiments",
    "figures",
    "planning",
    "priors",
    "problem",
    "report",
    "statistical",
    "study",
}


def pytest_addoption(parser):
    parser.addoption("--part", metavar="I/N", help="run the I-th of N parts of the files that test compiled code")


def pytest_collection_modifyitems(config, items):
    """Files are dealt out in turn, so that neighbours, which take about as long, go to different parts."""
    if config.getoption("part") is None:
        return
    try:
        part, parts = map(int, config.getoption("part").split("/"))
    except ValueError:
        raise pytest.UsageError(f"--part must be I/N, got {config.getoption('part')}") from None
    files = sorted({item.path for item in items if _is_for_compiled_code(item)})
    mine = {path for number, path in enumerate(files) if number % parts == part - 1}
    chosen = [item for item in items if item.path in mine and _is_for_compiled_code(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def _is_for_compiled_code(item):
    return item.path.parent.name not in PLAIN or item.get_closest_marker("compiled") is not None
