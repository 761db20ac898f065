"""Value of a prior: regret of a policy without a prior minus regret of a policy with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.planning.tracked_simulation import paired
from bayesregret.simulation.estimates import Estimate


@dataclass(frozen=True)
class PriorWorth:
    """Value of a prior in units of reward, over the whole horizon."""

    known: str  # the policy with the prior
    without: str  # the policy without a prior
    regret: Estimate  # difference of regrets: exact where both are, otherwise paired over the same instances and noise
    is_exact: bool
    bound: float | None  # difference of the certified bounds; None if one is missing

    def to_dict(self) -> dict[str, Any]:
        return {
            "with": self.known,
            "without": self.without,
            "regret": self.regret.mean,
            "error": self.regret.stderr,
            "exact": self.is_exact,
            "bound": self.bound,
        }


def prior_worth(known: PolicyOutcome, unknown: PolicyOutcome) -> PriorWorth:
    """Compare the outcomes of a policy with the prior and of one without, on the same instances."""
    is_exact = known.exact is not None and unknown.exact is not None
    if is_exact:
        regret = Estimate(unknown.regret.mean - known.regret.mean, known.regret.stderr + unknown.regret.stderr)
    else:
        regret = paired(unknown.tracked.final_regret, known.tracked.final_regret)
    both = known.bound is not None and unknown.bound is not None
    bound = unknown.bound.value - known.bound.value if both else None  # type: ignore[union-attr]
    return PriorWorth(known.name, unknown.name, regret, is_exact, bound)
