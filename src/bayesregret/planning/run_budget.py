"""Numbers of runs that take a few seconds, from the known cost of a round.

The clock has no say, so that the same plan has the same numbers on every machine.
"""

from __future__ import annotations

from bayesregret.models import Bandit
from bayesregret.planning.beliefs import with_belief
from bayesregret.policies import Policy
from bayesregret.policies.bayes_ucb import BayesUCB, FixedQuantile
from bayesregret.simulation.cost import run_cost
from bayesregret.simulation.kernels.run import BLOCK

# Budget of a policy, in nanoseconds; policies that look at all arms in every round still have the wider errors.
LEADER_BUDGET, EVERY_ROUND_BUDGET = 1.5e9, 4e9
# Budget of one point of a sweep. Deltas that are too large fail rarely and badly: a few runs would miss the failures.
SWEEP_BUDGET, DELTA_BUDGET = 0.12e9, 0.35e9
QUICK_ROUND = 20.0  # cost below which a policy has the smaller budget
FEWEST, MOST = 2 * BLOCK, 320 * BLOCK


def runs_for_policy(policy: Policy, bandit: Bandit, horizon: int) -> int:
    """Number of runs of a policy in a plan's table."""
    each = run_cost(policy, bandit, horizon)
    return _affordable(_budget(each, horizon), each)


def runs_for_point(policy: Policy, bandit: Bandit, horizon: int, budget: float = SWEEP_BUDGET) -> int:
    """Number of runs at each point of a sweep."""
    return _affordable(budget, run_cost(policy, bandit, horizon))


def is_affordable(policy: Policy, bandit: Bandit, horizon: int) -> bool:
    """Whether this can be the last point of a sweep over sizes that double: the earlier points cost as much again."""
    each = run_cost(policy, bandit, horizon)
    return 2 * FEWEST * each <= _budget(each, horizon)


def has_slow_quantiles(bandit: Bandit, horizon: int) -> bool:
    """Whether BayesUCB has no confidence width on this bandit, and needs a posterior quantile in every round."""
    return isinstance(with_belief(BayesUCB(), bandit).settings(bandit, horizon), FixedQuantile)


def _budget(each: int, horizon: int) -> float:
    return LEADER_BUDGET if each < QUICK_ROUND * horizon else EVERY_ROUND_BUDGET


def _affordable(budget: float, each: int) -> int:
    """Number of runs within the budget, in whole blocks."""
    return min(MOST, max(FEWEST, BLOCK * int(budget / each / BLOCK)))
