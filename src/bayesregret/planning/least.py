"""How near to the best possible: the least regret of any policy, or a lower bound, where that is quick to compute."""

from __future__ import annotations

import numpy as np

from bayesregret.bounds.least import Least, is_programmed, least_regret
from bayesregret.digits import counted
from bayesregret.models import Bandit, LinearBandit, MixtureBandit
from bayesregret.planning.perturbed_priors import prior_moments
from bayesregret.simulation.cost import shown_time

# For each number of arms, the longest horizon whose optimal regret takes about a second.
QUICK_OPTIMUM = {1: 1_000_000, 2: 150, 3: 40}
ACCURACY = 1e-2  # of a lower bound: rougher ones are lower
# Approximate work of a lower bound, in units of 0.2 milliseconds of one processor, and how much of it is quick.
QUICK_WORK = 12_000
SECONDS_PER_WORK = 4e-4  # at the accuracy of `optimal`
POISSON_KIND, SCALED_KIND = 100_000, 10_000
GAUSSIAN, GAUSSIAN_KIND, LINEAR_ARM = 2_000, 200, 100
BERNOULLI_ROUNDS = 300  # the work of a kind of Bernoulli arms, however short the horizon is


def quick_least(bandit: Bandit, horizon: int) -> Least | None:
    """Return the least regret or a lower bound on it; None if it would take more than a second or two."""
    if not is_programmed(bandit, horizon, QUICK_OPTIMUM) and work_of_lower_bound(bandit, horizon) > QUICK_WORK:
        return None
    return least_regret(bandit, horizon, programme=QUICK_OPTIMUM, accuracy=ACCURACY)


def work_of_lower_bound(bandit: Bandit, horizon: int) -> int:
    """Approximate work of the certified lower bound: it grows with the kinds of arms, and with Bernoulli horizons."""
    if isinstance(bandit, MixtureBandit):
        return sum(work_of_lower_bound(part, horizon) for part in bandit.bandits)
    if isinstance(bandit, LinearBandit):
        return GAUSSIAN + LINEAR_ARM * bandit.arms
    if bandit.kind not in ("bernoulli", "gaussian", "poisson", "exponential", "normal-gamma"):
        return 0
    kinds = len(np.unique(np.column_stack(prior_moments(bandit)), axis=0))
    if bandit.kind == "bernoulli":
        return kinds * (horizon + BERNOULLI_ROUNDS)
    if bandit.kind == "gaussian":
        return GAUSSIAN + GAUSSIAN_KIND * kinds
    return kinds * (POISSON_KIND if bandit.kind == "poisson" else SCALED_KIND)


def why_no_ratios(bandit: Bandit, horizon: int, least: Least | None, *, is_late: bool = False) -> list[str]:
    """Return a note if the least regret is unknown: it takes too long, or no bound is proved here."""
    if bandit.arms == 1 or (least is not None and least.regret > 0.0):
        return []
    if least is not None:
        return ["No lower bound on the regret of every policy is known here: how much could still be saved is unknown."]
    parts = len(bandit.bandits) if isinstance(bandit, MixtureBandit) else 0
    what = f"a mixture of {parts} bandits" if parts else f"{bandit.a_kind} bandit"
    rounds = counted(horizon, "round")
    time = shown_time(SECONDS_PER_WORK * work_of_lower_bound(bandit, horizon))
    elsewhere = "" if is_late else f" (bayesregret optimal computes a lower bound in roughly {time}, then simulates)"
    return [f"The least regret of any policy is not computed: that takes long for {what} over {rounds}{elsewhere}."]
