"""What every test shares: Hypothesis with a fixed seed, and stable names of parameters.

Tests run in two passes, and their markers say in which. Without compilation (NUMBA_DISABLE_JIT=1): all but those marked
`compiled`. Compiled: those marked `compiled` or `both`. What takes minutes is marked `slow` and runs in neither.
"""

import os
import types

import pytest
from hypothesis import settings

from coarse import JIT_IS_OFF, coarse_lower_bounds

# Output is compared with that to a file, which has no width. Readline, which pytest loads, sets COLUMNS for child
# processes where Python does not see it.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")

settings.register_profile("compiled", deadline=None, derandomize=True, print_blob=True, max_examples=32)
settings.register_profile("plain", parent=settings.get_profile("compiled"), max_examples=12)
settings.load_profile("plain" if JIT_IS_OFF else "compiled")

if JIT_IS_OFF:
    coarse_lower_bounds()


@pytest.fixture(scope="session", autouse=True)
def plans_without_long_loops():
    """Without compilation plans have lower bounds and tables of indices for Gaussian arms only, which are quick."""
    with pytest.MonkeyPatch.context() as patch:
        if JIT_IS_OFF:
            for work in ("BERNOULLI_ROUNDS", "POISSON_KIND", "SCALED_KIND"):
                patch.setattr(f"bayesregret.planning.least.{work}", 10**6)
            patch.setattr("bayesregret.planning.run_budget.ROUNDS_IN_A_SECOND", 1)
        yield


# Files that take longest: the two processes that share the tests begin with these, so that none is left for the end.
LONGEST = ("test_book.py", "test_grid.py", "test_reproduce.py", "test_readme.py", "test_golden.py", "test_engine.py")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


def pytest_make_parametrize_id(config, val, argname):
    """Functions by their names: their addresses differ between the processes that share the tests."""
    return val.__name__ if isinstance(val, types.FunctionType) else None
