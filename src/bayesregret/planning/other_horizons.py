"""What a horizon half or twice as long would change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bayesregret.checks import Array
from bayesregret.planning.scenarios import CLEARLY
from bayesregret.planning.tracked_simulation import paired
from bayesregret.policies import Policy
from bayesregret.simulation.result import Estimate, estimate

FACTORS = {"half as long": 0.5, "twice as long": 2.0}


@dataclass(frozen=True)
class OtherHorizon:
    """Regret of the recommended policy over another horizon, and the best policy there."""

    name: str  # "half as long" or "twice as long"
    horizon: int
    regret: Estimate
    best: str
    excess: Estimate  # regret of the recommended policy minus that of the best one there

    @property
    def changes_order(self) -> bool:
        return self.excess.mean > CLEARLY * self.excess.stderr

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "horizon": self.horizon,
            "regret": {"mean": self.regret.mean, "stderr": self.regret.stderr},
            "best": self.best,
            "excess": {"mean": self.excess.mean, "stderr": self.excess.stderr},
            "changes_order": self.changes_order,
        }


def other_horizons(
    horizon: int, policies: Mapping[str, Policy], recommended: str, regrets_over: Callable[[int, Policy], Array]
) -> list[OtherHorizon]:
    """Simulate the policies over half and twice the horizon."""
    found = []
    for name, factor in FACTORS.items():
        rounds = int(factor * horizon)
        regrets: dict[str, Array] = {}
        for key, policy in policies.items():
            with contextlib.suppress(ValueError):  # a horizon that is too short or too long for this policy
                regrets[key] = regrets_over(rounds, policy)
        if recommended in regrets:
            best = min(regrets, key=lambda key: float(regrets[key].mean()))
            excess = paired(regrets[recommended], regrets[best])
            found.append(OtherHorizon(name, rounds, estimate(regrets[recommended]), best, excess))
    return found
