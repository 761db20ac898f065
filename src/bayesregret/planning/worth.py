"""What a prior is worth: the regret of the policy that knows none minus that of BayesUCB, which knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesregret.planning.outcome import Outcome
from bayesregret.simulation.result import Estimate, estimate


@dataclass(frozen=True)
class PriorWorth:
    """In units of reward over the whole horizon."""

    without: str  # the policy that knows no prior
    regret: Estimate  # by regret: exact where both are, otherwise on the same instances and the same noise
    is_exact: bool
    bound: float | None  # by bounds: certified for the one minus certified for the other, None where one is missing

    def to_dict(self) -> dict[str, Any]:
        return {
            "without": self.without,
            "regret": self.regret.mean,
            "error": self.regret.stderr,
            "exact": self.is_exact,
            "bound": self.bound,
        }


def prior_worth(known: Outcome, unknown: Outcome) -> PriorWorth:
    """Of two outcomes on the same instances; where one has fewer runs, the first ones of the other are its partners."""
    is_exact = known.exact is not None and unknown.exact is not None
    if is_exact:
        regret = Estimate(unknown.regret.mean - known.regret.mean, known.regret.stderr + unknown.regret.stderr)
    else:
        runs = min(known.runs, unknown.runs)
        regret = estimate(unknown.seen.final_regret[:runs] - known.seen.final_regret[:runs])
    both = known.bound is not None and unknown.bound is not None
    bound = unknown.bound.value - known.bound.value if both else None  # type: ignore[union-attr]
    return PriorWorth(unknown.name, regret, is_exact, bound)
