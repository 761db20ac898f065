"""What a prior is worth: the regret of a policy that knows none minus that of one that knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesregret.planning.policy_outcome import Outcome
from bayesregret.planning.tracked_simulation import paired
from bayesregret.simulation.result import Estimate


@dataclass(frozen=True)
class PriorWorth:
    """In units of reward over the whole horizon."""

    known: str  # the policy that knows the prior
    without: str  # the one that knows none
    regret: Estimate  # by regret: exact where both are, otherwise on the same instances and the same noise
    is_exact: bool
    bound: float | None  # by bounds: certified for the one minus certified for the other, None where one is missing

    def to_dict(self) -> dict[str, Any]:
        return {
            "with": self.known,
            "without": self.without,
            "regret": self.regret.mean,
            "error": self.regret.stderr,
            "exact": self.is_exact,
            "bound": self.bound,
        }


def prior_worth(known: Outcome, unknown: Outcome) -> PriorWorth:
    """Of two outcomes on the same instances."""
    is_exact = known.exact is not None and unknown.exact is not None
    if is_exact:
        regret = Estimate(unknown.regret.mean - known.regret.mean, known.regret.stderr + unknown.regret.stderr)
    else:
        regret = paired(unknown.seen.final_regret, known.seen.final_regret)
    both = known.bound is not None and unknown.bound is not None
    bound = unknown.bound.value - known.bound.value if both else None  # type: ignore[union-attr]
    return PriorWorth(known.name, unknown.name, regret, is_exact, bound)
