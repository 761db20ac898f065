"""Numbers of runs that take a few seconds, from the known cost of a round.

The clock has no say, so that the same plan has the same numbers on every machine.
"""

from __future__ import annotations

import math

from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit
from bayesregret.optimal.gittins import kinds_of_bernoulli, pseudo_counts_of
from bayesregret.planning.beliefs import with_belief
from bayesregret.policies import Gittins, Policy
from bayesregret.policies.bayes_ucb import BayesUCB, FixedQuantile
from bayesregret.simulation.cost import run_cost
from bayesregret.simulation.kernels.run import BLOCK

# Budget of a policy, in nanoseconds; policies that look at all arms in every round still have the wider errors.
LEADER_BUDGET, EVERY_ROUND_BUDGET = 1.5e9, 4e9
# Budget of one point of a sweep. Deltas that are too large fail rarely and badly: a few runs would miss the failures.
SWEEP_BUDGET, DELTA_BUDGET = 0.12e9, 0.35e9
QUICK_ROUND = 20.0  # cost below which a policy has the smaller budget
FEWEST, MOST = 2 * BLOCK, 320 * BLOCK
# Gittins indices: the horizon whose table for one kind of Bernoulli arms takes a second, and the seconds of any table
# for one kind of Gaussian arms; tables quick enough for a sweep, and horizons that are short enough without a discount.
ROUNDS_IN_A_SECOND, GAUSSIAN_TABLE = 1_000, 0.1
QUICK_TABLE, SHORT_TABLES = 0.1, 100


def runs_for_policy(policy: Policy, bandit: Bandit, horizon: int, *, is_late: bool = False) -> int:
    """Number of runs of a policy in a plan's table, with late rewards if `is_late`."""
    budget = _budget(run_cost(policy, bandit, horizon), horizon)
    return _affordable(budget, run_cost(policy, bandit, horizon, is_late=is_late))


def runs_for_point(
    policy: Policy, bandit: Bandit, horizon: int, budget: float = SWEEP_BUDGET, *, is_late: bool = False
) -> int:
    """Number of runs at each point of a sweep."""
    return _affordable(budget, run_cost(policy, bandit, horizon, is_late=is_late))


def is_affordable(policy: Policy, bandit: Bandit, horizon: int, *, is_late: bool = False) -> bool:
    """Whether this can be the last point of a sweep over sizes that double: the earlier points cost as much again."""
    budget = _budget(run_cost(policy, bandit, horizon), horizon)
    return 2 * FEWEST * run_cost(policy, bandit, horizon, is_late=is_late) <= budget


def has_slow_quantiles(bandit: Bandit, horizon: int) -> bool:
    """Whether BayesUCB has no confidence width on this bandit, and needs a posterior quantile in every round."""
    return isinstance(with_belief(BayesUCB(), bandit).settings(bandit, horizon), FixedQuantile)


def gittins_table_seconds(bandit: Bandit, horizon: int) -> float:
    """Approximate seconds for the table of a Gittins index with a discount; infinite where there is none."""
    if isinstance(bandit, BernoulliBandit):
        return len(kinds_of_bernoulli(bandit)[0]) * (horizon / ROUNDS_IN_A_SECOND) ** 2
    if isinstance(bandit, GaussianBandit):
        return len(pseudo_counts_of(bandit)[0]) * GAUSSIAN_TABLE
    return math.inf


def has_quick_tables(policy: Policy, bandit: Bandit, horizon: int) -> bool:
    """Whether a sweep over priors, each with a table of indices of its own, takes a few seconds."""
    if not isinstance(policy, Gittins):
        return True
    if policy.discount is None:
        return horizon <= SHORT_TABLES
    return gittins_table_seconds(bandit, horizon) <= QUICK_TABLE


def _budget(each: int, horizon: int) -> float:
    return LEADER_BUDGET if each < QUICK_ROUND * horizon else EVERY_ROUND_BUDGET


def _affordable(budget: float, each: int) -> int:
    """Number of runs within the budget, in whole blocks."""
    return min(MOST, max(FEWEST, BLOCK * int(budget / each / BLOCK)))
