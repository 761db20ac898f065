"""How many runs: what a few seconds allow by what a round is known to cost.

Never by the clock, so that the same plan has the same numbers on every machine.
"""

from __future__ import annotations

from bayesregret.models import Bandit, LinearBandit
from bayesregret.policies import Policy
from bayesregret.policies.base import moves_with_time
from bayesregret.policies.bayes_ucb import BayesUCB, FixedQuantile
from bayesregret.simulation.kernels.run import BLOCK

# About what a round of ten arms costs, in nanoseconds of one processor: of policies that stay on the leader, of those
# that look at all arms in every round, and of some that think longer.
LEADER, EVERY_ROUND = 5.0, 75.0
QUANTILE = 700.0
KNOWN = {"moss": 14.0, "explore-commit": 14.0, "greedy": 5.0, "quantile-ucb": QUANTILE, "information-directed": 5_000.0}
# What a policy may take in all: one that looks at all arms in every round has the wider error for it.
LEADER_BUDGET, EVERY_ROUND_BUDGET = 1.5e9, 4e9
# For one point of a sweep. Deltas that are too large fail rarely and badly: few runs would not see it.
SWEEP_BUDGET, DELTA_BUDGET = 0.12e9, 0.35e9
QUICK = 20.0  # a round that costs less is one of a quick policy
PULL = 200.0  # what a run costs for each arm, however short it is
FEWEST, MOST = 2 * BLOCK, 320 * BLOCK


def runs_of(policy: Policy, bandit: Bandit, horizon: int) -> int:
    """Runs of a policy that a plan compares."""
    each = run_cost(policy, bandit, horizon)
    return _affordable(_budget(each, horizon), each)


def runs_of_point(policy: Policy, bandit: Bandit, horizon: int, budget: float = SWEEP_BUDGET) -> int:
    """Runs of one of many points of a sweep."""
    return _affordable(budget, run_cost(policy, bandit, horizon))


def is_affordable(policy: Policy, bandit: Bandit, horizon: int) -> bool:
    """Whether it can be the last one of a sweep over sizes that double: those before it take as much again."""
    each = run_cost(policy, bandit, horizon)
    return 2 * FEWEST * each <= _budget(each, horizon)


def run_cost(policy: Policy, bandit: Bandit, horizon: int) -> int:
    """About what a run takes, in nanoseconds of one processor."""
    settings = policy.settings(bandit, horizon)
    usual = QUANTILE if isinstance(settings, FixedQuantile) else EVERY_ROUND if moves_with_time(settings) else LEADER
    each_round = KNOWN.get(policy.name, usual)
    # Independent arms' leader is held against one rival, however many there are.
    is_alone = each_round <= LEADER and not isinstance(bandit, LinearBandit)
    many = 1.0 if is_alone else max(1.0, bandit.arms / 10.0)
    return int(each_round * horizon * many + PULL * bandit.arms)


def has_slow_quantiles(bandit: Bandit, horizon: int) -> bool:
    """Whether BayesUCB has no width on this bandit, and needs a posterior quantile in every round."""
    return isinstance(BayesUCB().settings(bandit, horizon), FixedQuantile)


def _budget(each: int, horizon: int) -> float:
    return LEADER_BUDGET if each < QUICK * horizon else EVERY_ROUND_BUDGET


def _affordable(budget: float, each: int) -> int:
    """Whole blocks of runs."""
    return min(MOST, max(FEWEST, BLOCK * int(budget / each / BLOCK)))
