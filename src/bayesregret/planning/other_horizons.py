"""What a horizon half or twice as long would change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping

from bayesregret.checks import Array
from bayesregret.planning.elsewhere import OtherHorizon, compare
from bayesregret.policies import Policy

FACTORS = {"half as long": 0.5, "twice as long": 2.0}


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
            found.append(OtherHorizon(name, rounds, compare(regrets, recommended)))
    return found
