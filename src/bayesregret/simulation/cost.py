"""Approximate time of a simulation, from the known cost of a round.

The clock has no say, so that whatever is decided by a cost is the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from bayesregret.contracts.mixture import MixtureModel
from bayesregret.memory import rounded_down
from bayesregret.models import Bandit
from bayesregret.models.linear import LinearModel
from bayesregret.policies import Policy
from bayesregret.policies.bayes_ucb import FixedQuantile
from bayesregret.policies.selection import moves_with_time
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.kernels.run import BLOCK

# Approximate cost of a round of ten arms, in nanoseconds of one processor: of policies that stay on the leader, of
# those that look at all arms in every round, and of some slower ones.
LEADER_COST, EVERY_ROUND_COST = 5.0, 75.0
QUANTILE_COST = 700.0
LATE_COST = 30.0  # the least cost of a round with delayed or batched rewards
COMPONENT_COST = 25.0  # of each component of a mixture that a policy believes in
KNOWN_COSTS = {
    "moss": 14.0,
    "explore-commit": 14.0,
    "greedy": 5.0,
    "quantile-ucb": QUANTILE_COST,
    "information-directed": 5_000.0,
}
ARM_COST = 200.0  # cost of a run per arm, however short it is

DAY = 86_400
NOTABLE, LONGEST = 60, 30 * DAY  # seconds: from when on a time is shown, and refused
UNITS = (("year", 365 * DAY), ("day", DAY), ("hour", 3_600), ("minute", 60), ("second", 1))


def run_cost(policy: Policy, bandit: Bandit, horizon: int, *, is_late: bool = False) -> int:
    """Approximate cost of a run, in nanoseconds of one processor, with late rewards if `is_late`."""
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
    each_round *= many
    return int(max(each_round, LATE_COST if is_late else 0.0) * horizon + ARM_COST * bandit.arms)


def expected_time(
    bandit: Bandit, policies: Collection[Policy], *, horizon: int, runs: int, engine: Engine
) -> str | None:
    """Return the approximate time of a simulation, such as "about 3 hours", or None if it is short.

    ValueError, in one line that says what would do, if it takes longer than `LONGEST`.
    """
    one_run = sum(run_cost(policy, bandit, horizon) for policy in policies) / 1e9
    return checked_time("simulation", one_run, horizon=horizon, runs=runs, engine=engine)


def checked_time(
    work: str, one_run: float, *, horizon: int, runs: int, engine: Engine, may_have_fewer_runs: bool = True
) -> str | None:
    """The same for any work that takes `one_run` seconds of one processor for each run."""
    busy = min(engine.processors, math.ceil(runs / BLOCK))  # one processor plays a block of runs
    seconds = one_run * runs / busy
    if seconds <= LONGEST:
        return f"about {shown_time(seconds)}" if seconds >= NOTABLE else None
    is_for_runs = may_have_fewer_runs and one_run * min(runs, BLOCK) <= LONGEST
    field, got = ("runs", runs) if is_for_runs else ("horizon", horizon)
    fit = rounded_down(int(got * LONGEST / seconds))
    raise ValueError(
        f"{field} must be at most about {fit:,}, got {got}: a {work} may take {shown_time(LONGEST)}, and this one "
        f"would take about {shown_time(seconds)} ({engine.name}: {engine.processors})"
    )


def shown_time(seconds: float) -> str:
    """Text of a time, in one unit, such as 3 hours."""
    unit, size = next((found for found in UNITS if seconds >= 1.5 * found[1]), UNITS[-1])
    number = max(1, round(seconds / size))
    return f"{number:,} {unit}" + ("s" if number != 1 else "")
