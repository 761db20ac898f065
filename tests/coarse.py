"""Coarse lower bounds for the tests that run without compilation: as valid, less tight, and a thousand times faster."""

import functools
import os
import sys

from bayesregret import bounds
from bayesregret.optimal import discounted_bernoulli
from bayesregret.optimal.discounted_poisson import PoissonAccuracy
from bayesregret.optimal.discounted_scaled import Accuracy

JIT_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
# What the errors of `certified_lower` may be, relative to the bound.
ERROR_OF_LOWER_BOUNDS = 1.0 if JIT_IS_OFF else 1e-5

MOST_PULLS = 30  # of a Bernoulli arm
CONSTANTS = {
    "lower": {"FIRST_PANELS": 24},
    "lower_gaussian": {"LONGEST_BLOCK": 0.5, "ACCURACY": 1e-2, "POINTS": 3, "FEWER_POINTS": 2},
    "lower_bernoulli": {"ACCURACY": 1e-2},
    "lower_weights": {"MOST_ROUNDS": 6},
    "lower_scaled": {"FINE": Accuracy(0.5, 0.3, 3.0), "ACCURACY": 1e-2, "SEEDS": 8},
    "lower_poisson": {
        "FAST": PoissonAccuracy(3.0, 1.0),
        "FINE": PoissonAccuracy(3.0, 1.0),
        "BRACKETS": 2,
        "WITHIN": 4,
        "SECANTS": 2,
        "STEP_POINTS": 1.0,
        "SHORT_GROWTH": 3.0,
        "CHARGES": 4,
        "FEWEST_CHARGES": 4,
        "ACCURACY": 1e-2,
        "SEEDS": 8,
    },
}


def coarse_lower_bounds():
    assert bounds.certified_lower
    for module, constants in CONSTANTS.items():
        for name, value in constants.items():
            assert hasattr(sys.modules[f"bayesregret.bounds.certified.{module}"], name)
            setattr(sys.modules[f"bayesregret.bounds.certified.{module}"], name, value)
    module = sys.modules["bayesregret.bounds.certified.lower_bernoulli"]
    for name in ("pulls_shown", "bernoulli_margins", "bernoulli_discounted_index", "bernoulli_jumps"):
        setattr(module, name, _shown_early(getattr(module, name)))


def _shown_early(function):
    """The function, with means shown after few pulls; nothing is kept in a cache."""
    plain = getattr(function, "__wrapped__", function)

    @functools.wraps(plain)
    def wrapped(*args):
        kept, discounted_bernoulli.MOST_PULLS = discounted_bernoulli.MOST_PULLS, MOST_PULLS
        try:
            return plain(*args)
        finally:
            discounted_bernoulli.MOST_PULLS = kept

    return wrapped
