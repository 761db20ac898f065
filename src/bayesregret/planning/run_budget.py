"""Numbers of runs that take a few seconds, from the known cost of a round.

The clock has no say, so that the same plan has the same numbers on every machine.
"""

from __future__ import annotations

from bayesregret.contracts.mixture import MixtureModel
from bayesregret.models import Bandit
from bayesregret.models.linear import LinearModel
from bayesregret.planning.beliefs import with_belief
from bayesregret.policies import Policy
from bayesregret.policies.bayes_ucb import BayesUCB, FixedQuantile
from bayesregret.policies.selection import moves_with_time
from bayesregret.simulation.kernels.run import BLOCK

# Approximate cost of a round of ten arms, in nanoseconds of one processor: of policies that stay on the leader, of
# those that look at all arms in every round, and of some slower ones.
LEADER_COST, EVERY_ROUND_COST = 5.0, 75.0
QUANTILE_COST = 700.0
COMPONENT_COST = 25.0  # of each component of a mixture that a policy believes in
KNOWN_COSTS = {
    "moss": 14.0,
    "explore-commit": 14.0,
    "greedy": 5.0,
    "quantile-ucb": QUANTILE_COST,
    "information-directed": 5_000.0,
}
# Budget of a policy, in nanoseconds; policies that look at all arms in every round still have the wider errors.
LEADER_BUDGET, EVERY_ROUND_BUDGET = 1.5e9, 4e9
# Budget of one point of a sweep. Deltas that are too large fail rarely and badly: a few runs would miss the failures.
SWEEP_BUDGET, DELTA_BUDGET = 0.12e9, 0.35e9
QUICK_ROUND = 20.0  # cost below which a policy has the smaller budget
ARM_COST = 200.0  # cost of a run per arm, however short it is
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


def run_cost(policy: Policy, bandit: Bandit, horizon: int) -> int:
    """Approximate cost of a run, in nanoseconds of one processor."""
    settings = policy.settings(bandit, horizon)
    usual = LEADER_COST
    if isinstance(settings, FixedQuantile):
        usual = QUANTILE_COST
    elif moves_with_time(settings):
        usual = EVERY_ROUND_COST
    belief = policy.belief(bandit)
    each_round = KNOWN_COSTS.get(policy.name, usual)
    if isinstance(belief, MixtureModel):
        each_round = COMPONENT_COST * len(belief.weights)
    # With independent arms the leader is compared with a single rival, however many arms there are.
    has_one_rival = each_round <= LEADER_COST and not isinstance(belief, LinearModel)
    many = 1.0 if has_one_rival else max(1.0, bandit.arms / 10.0)
    return int(each_round * horizon * many + ARM_COST * bandit.arms)


def has_slow_quantiles(bandit: Bandit, horizon: int) -> bool:
    """Whether BayesUCB has no confidence width on this bandit, and needs a posterior quantile in every round."""
    return isinstance(with_belief(BayesUCB(), bandit).settings(bandit, horizon), FixedQuantile)


def _budget(each: int, horizon: int) -> float:
    return LEADER_BUDGET if each < QUICK_ROUND * horizon else EVERY_ROUND_BUDGET


def _affordable(budget: float, each: int) -> int:
    """Number of runs within the budget, in whole blocks."""
    return min(MOST, max(FEWEST, BLOCK * int(budget / each / BLOCK)))
