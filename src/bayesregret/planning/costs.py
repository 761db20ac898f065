"""Results of a plan for rewards, said about costs: a reward is minus the cost, or 1 - cost for Bernoulli costs."""

from __future__ import annotations

import dataclasses
from typing import Any

from bayesregret.models import Bandit
from bayesregret.planning.elsewhere import Scenario
from bayesregret.planning.misspecification import PriorLimit

OPPOSITE: dict[str, Any] = {"too low": "too high", "too high": "too low", "low": "high", "high": "low"}


def largest_cost(bandit: Bandit) -> float:
    """The number c such that a reward is c minus the cost."""
    return 1.0 if bandit.representative.kind == "bernoulli" else 0.0


def limit_in_costs(limit: PriorLimit) -> PriorLimit:
    """A mean reward that is believed too low is a mean cost that is believed too high; widths are the same."""
    return dataclasses.replace(limit, direction=OPPOSITE.get(limit.direction, limit.direction))


def scenario_in_costs(scenario: Scenario, bandit: Bandit) -> Scenario:
    """The low end of the level of rewards is the high end of that of costs; widths are the same."""
    if scenario.field != "level":
        return scenario
    return scenario._replace(end=OPPOSITE[scenario.end], value=largest_cost(bandit) - scenario.value)
