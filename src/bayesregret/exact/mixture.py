"""Exact regret on a mixture: the weighted mean of the components' regrets.

An instance of a mixture comes from one of its components, so this holds for every policy. It is of use for policies
that believe in one prior, or in none: then each component's regret can be computed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesregret.checks import Array
from bayesregret.exact.result import ExactRegret
from bayesregret.models import MixtureBandit


def weighted_regret(bandit: MixtureBandit, components: Sequence[ExactRegret]) -> ExactRegret:
    """Result on a mixture, from those of one policy on its components."""

    def mean(values: Sequence[Array]) -> Array:
        return np.asarray(bandit.weights @ np.array(values))

    def best_arm_probability() -> Array | None:
        found = [chance for component in components if (chance := component.best_chance) is not None]
        return mean(found) if len(found) == len(components) else None

    first = components[0]
    return ExactRegret(
        bandit,
        first.policy,
        first.horizon,
        first.delta,
        mean([component.curve for component in components]),
        mean([component.curve_error for component in components]),
        mean([component.pulls for component in components]),
        float(bandit.weights @ [component.imbalance for component in components]),
        best_arm_probability,
    )
