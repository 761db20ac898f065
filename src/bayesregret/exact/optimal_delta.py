"""The failure probability with which a policy's exact regret is smallest."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import NamedTuple

from scipy.optimize import minimize_scalar

from bayesregret import checks
from bayesregret.exact.regret import exact_regret
from bayesregret.models import Bandit
from bayesregret.policies import Policy

# Steps of a coarse grid: Bernoulli arms' regret jumps with delta, and a local search alone may end in any hollow.
STEPS = 8
LEAST = 1e-2  # of log(1/delta), where it is nearly nothing
# log(1/delta) is found to this accuracy; regret is flat there, so that it is known much better.
ACCURACY = 1e-3


class BestDelta(NamedTuple):
    """The best delta, the regret with it, and the regret with the usual one, 1/horizon."""

    delta: float
    regret: float
    usual_regret: float


def best_delta(bandit: Bandit, policy: Policy, *, horizon: int) -> BestDelta:
    """The delta of a policy that makes its Bayes regret on this bandit over this horizon smallest.

    >>> from bayesregret.models import GaussianBandit
    >>> from bayesregret.policies import BayesUCB
    >>> found = best_delta(GaussianBandit([1, 0], prior_width=1, reward_noise=1), BayesUCB(), horizon=5)
    >>> found.regret < found.usual_regret
    True
    """
    if getattr(policy, "delta", 0.0) is not None:
        raise checks.fail("policy", "one whose delta is left open", policy)
    usual = exact_regret(bandit, policy, horizon=horizon)

    @functools.cache
    def regret(log_inverse: float) -> float:
        delta = math.exp(-log_inverse)
        return exact_regret(bandit, dataclasses.replace(policy, delta=delta), horizon=horizon).regret  # type: ignore[type-var]

    most = max(2.0, 2.0 * math.log(usual.horizon))
    # Even steps of the width, which is as the root of log(1/delta).
    grid = [max(LEAST, most * (step / STEPS) ** 2) for step in range(STEPS + 1)]
    lowest = grid.index(min(grid, key=regret))
    around = grid[max(0, lowest - 1)], grid[min(STEPS, lowest + 1)]
    found = minimize_scalar(regret, bounds=around, method="bounded", options={"xatol": ACCURACY})
    best = min(grid[lowest], float(found.x), key=regret)
    return BestDelta(math.exp(-best), regret(best), usual.regret)
