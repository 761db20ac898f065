"""The error for a policy whose choice is no arm: one line that names the formula at fault."""

from __future__ import annotations

import math
from typing import Any

from bayesregret.checks import Array
from bayesregret.contracts import arm_index, choose_arm, choose_linear, confidence_width, rising_index
from bayesregret.contracts.checked import not_a_number, not_an_arm
from bayesregret.contracts.fast import width_after
from bayesregret.contracts.mixture import MixtureModel
from bayesregret.models.linear import LinearModel
from bayesregret.sources import is_outside


def wrong_choice(own: Any, belief: Any, arm: int, arms: int) -> ValueError:
    """The error of a policy with these settings that chose `arm`; if it has an index, this is nan."""
    choose = choose_linear if isinstance(belief, LinearModel) else choose_arm
    if choose.supports(own):
        return not_an_arm(choose.bodies[type(own)].__name__, arm, arms)
    shares = isinstance(belief, LinearModel | MixtureModel)  # the arms' indices: these have a width
    parts = (confidence_width,) if shares else (rising_index, confidence_width, width_after, arm_index)
    part = next(part for part in parts if part.supports(own))
    name = part.bodies[type(own)].__name__
    if is_outside((type(own),)):
        return not_a_number(part, name, math.nan)
    return ValueError(f"{type(belief).__name__} must give {name} numbers, but an index is nan")


def highest_index(indices: Array, own: Any, belief: Any) -> int:
    """Return the arm with the highest index; ValueError if an index is nan."""
    arm = int(indices.argmax())
    if math.isnan(indices[arm]):  # argmax finds nan first
        raise wrong_choice(own, belief, arm, len(indices))
    return arm
