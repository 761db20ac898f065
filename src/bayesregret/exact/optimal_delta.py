"""The failure probability delta that minimises a policy's exact regret."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import NamedTuple

from scipy.optimize import minimize_scalar

from bayesregret import checks
from bayesregret.exact.regret import exact_regret
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.policy_data import PolicyOrName, as_policy

# Steps of a coarse grid: on Bernoulli arms regret jumps with delta, and a local search may end in any local minimum.
STEPS = 8
LEAST = 1e-2  # smallest log(1/delta) tried
# Accuracy of log(1/delta); regret is flat at its minimum, so it is far more accurate.
ACCURACY = 1e-3


class BestDelta(NamedTuple):
    """The best delta, and the regret with it and with the usual delta.

    Attributes
    ----------
    delta : float
        The failure probability with the smallest exact regret.
    regret : float
        Bayes regret with this delta.
    usual_regret : float
        Bayes regret with the default delta, 1 / horizon.
    """

    delta: float
    regret: float
    usual_regret: float


def best_delta(bandit: BanditLike, policy: PolicyOrName, *, horizon: int) -> BestDelta:
    """Find the failure probability delta that minimises a policy's exact Bayes regret.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        A Gaussian or Bernoulli bandit.
    policy : Policy or str
        An index policy, or its name, for which `exact_regret` works, with its `delta` left open (None).
    horizon : int
        Number of rounds.

    Returns
    -------
    BestDelta
        A named tuple (delta, regret, usual_regret); `usual_regret` is the regret with delta = 1 / horizon.

    Examples
    --------
    >>> best = best_delta(GaussianBandit([1, 0], prior_width=1, reward_noise=1), BayesUCB(), horizon=5)
    >>> best.regret < best.usual_regret
    True
    """
    bandit, policy = as_bandit(bandit), as_policy(policy)
    if getattr(policy, "delta", 0.0) is not None:
        raise checks.fail("policy", "one whose delta is left open", policy)
    usual = exact_regret(bandit, policy, horizon=horizon)

    @functools.cache
    def regret(log_inverse: float) -> float:
        delta = math.exp(-log_inverse)
        return exact_regret(bandit, dataclasses.replace(policy, delta=delta), horizon=horizon).regret  # type: ignore[type-var]

    most = max(2.0, 2.0 * math.log(usual.horizon))
    # Even steps in the confidence width, which is proportional to sqrt(log(1/delta)).
    grid = [max(LEAST, most * (step / STEPS) ** 2) for step in range(STEPS + 1)]
    lowest = grid.index(min(grid, key=regret))
    around = grid[max(0, lowest - 1)], grid[min(STEPS, lowest + 1)]
    found = minimize_scalar(regret, bounds=around, method="bounded", options={"xatol": ACCURACY})
    best = min(grid[lowest], float(found.x), key=regret)
    return BestDelta(math.exp(-best), regret(best), usual.regret)
