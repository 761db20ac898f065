"""How many rounds it takes until a policy has settled: it is on an arm within epsilon of the best, with 95 percent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesregret.planning.experiment import PlannedExperiment
from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.planning.run_budget import FEWEST
from bayesregret.planning.zero_crossing import Crossing
from bayesregret.simulation.simulate import LARGEST_HORIZON

DOUBLINGS = 4  # of the plan's horizon, where it is too short
BUDGET = 0.5e9  # nanoseconds of the fewest runs: longer horizons are not examined


@dataclass(frozen=True)
class Settling:
    """Round from which on the recommended policy has settled, with its interval; None if it has not by `reach`."""

    epsilon: float
    round: Crossing | None
    horizon: int  # of the plan
    reach: int  # the longest horizon examined

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "round": None if self.round is None else self.round._asdict(),
            "reach": self.reach,
        }


def settling(experiment: PlannedExperiment, outcome: PolicyOutcome) -> Settling | None:
    """Look for the round within the plan's horizon, then over longer ones; None if all arms are equally good."""
    if experiment.bandit.arms == 1 or experiment.epsilon == 0.0:
        return None
    horizon, found = experiment.horizon, outcome.settled
    reach = horizon
    while found is None and 2 * reach <= _longest(experiment, outcome):
        experiment.bar.describe("longer horizons")
        try:
            found = experiment.outcome_over(2 * reach, outcome.name, outcome.policy).settled
        except ValueError:  # a policy for short horizons only
            break
        reach *= 2
    return Settling(experiment.epsilon, found, horizon, reach)


def _longest(experiment: PlannedExperiment, outcome: PolicyOutcome) -> int:
    """The longest horizon that is examined."""
    each_round = experiment.cost(outcome.policy) / experiment.horizon
    affordable = int(BUDGET / (FEWEST * each_round))
    longest: int = 2**DOUBLINGS * experiment.horizon
    return min(affordable, longest, LARGEST_HORIZON)
