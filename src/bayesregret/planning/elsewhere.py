"""The best policy under other circumstances than those of a plan, and what the recommended one loses there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from bayesregret.checks import Array
from bayesregret.planning.tracked_simulation import paired
from bayesregret.simulation.estimates import Estimate, estimate

CLEARLY = 3.0  # standard errors: the best of several policies is better than another by two of them too easily


@dataclass(frozen=True)
class Comparison:
    """Regrets of the compared policies under other circumstances."""

    regrets: dict[str, Estimate]  # by name of the policy
    recommended: str
    best: str
    excess: Estimate  # regret of the recommended policy minus that of the best one here

    @property
    def regret(self) -> Estimate:
        """Regret of the recommended policy."""
        return self.regrets[self.recommended]

    @property
    def changes_order(self) -> bool:
        """Whether the recommended policy is clearly worse than the best one."""
        return self.excess.mean > CLEARLY * self.excess.stderr

    def to_dict(self) -> dict[str, Any]:
        return {
            "best": self.best,
            "excess": {"mean": self.excess.mean, "stderr": self.excess.stderr},
            "changes_order": self.changes_order,
            "regrets": {name: {"mean": value.mean, "stderr": value.stderr} for name, value in self.regrets.items()},
        }


class Scenario(NamedTuple):
    """The comparison if a level or width is at an end of its 90 percent interval."""

    field: str  # "level" or "width"
    end: str  # "low" or "high"
    value: float  # mean reward, or standard deviation of arms
    compared: Comparison

    def to_dict(self) -> dict[str, Any]:
        return {"field": self.field, "end": self.end, "value": self.value, **self.compared.to_dict()}


class OtherHorizon(NamedTuple):
    """The comparison over another horizon."""

    name: str  # "half as long" or "twice as long"
    horizon: int
    compared: Comparison

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "horizon": self.horizon, **self.compared.to_dict()}


def compare(regrets: Mapping[str, Array], recommended: str) -> Comparison:
    """Compare final regrets, (runs,) for each policy, which are paired."""
    best = min(regrets, key=lambda name: float(regrets[name].mean()))
    summary = {name: estimate(values) for name, values in regrets.items()}
    return Comparison(summary, recommended, best, paired(regrets[recommended], regrets[best]))
