"""Schemas of saved states: what each kind of agent writes, and what it must hold to be read again.

msgspec decodes the text into these classes: fields that are missing, unknown or of another type are refused, whole
numbers never pass through floats, and no number is infinite or nan. The functions here check what types cannot say.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from bayesregret.checks import MOST_ROUNDS, Array
from bayesregret.models import Bandit

Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_ROUNDS)]
Pulls = Annotated[int, msgspec.Meta(ge=0, le=2 * MOST_ROUNDS)]  # received or pending
NotNegative = Annotated[float, msgspec.Meta(ge=0.0)]


class State(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What every agent on independent arms saves. Version 1 lacked `pending` at first."""

    pending: list[Count] | UnsetType = UNSET


class SavedIndexState(State):
    counts: list[Count]
    totals: list[float]
    squares: list[float] | UnsetType = UNSET  # of quantiles alone


class SavedEveryRoundState(State):
    rounds: Count
    stream: tuple[int, int, int, int]
    counts: list[Count]
    totals: list[float]
    squares: list[float]
    memory: list[float]


class PosteriorState(msgspec.Struct, forbid_unknown_fields=True):
    """A linear posterior; columns are arms."""

    updates: Count
    counts: list[Pulls]
    surplus: list[float]
    mean: list[float]
    variance: list[NotNegative]
    roots: list[list[float]]


class StreakState(msgspec.Struct, forbid_unknown_fields=True):
    """Pulls of one arm that are not in the posterior yet."""

    arm: Count
    pulls: Pulls
    excess: float
    information: NotNegative


class LazyState(msgspec.Struct, forbid_unknown_fields=True):
    streak: StreakState
    posterior: PosteriorState


class SavedLinearIndexState(PosteriorState, kw_only=True):
    pending: list[Count] | UnsetType = UNSET
    counted: PosteriorState | UnsetType = UNSET  # with pending pulls


class SavedLinearEveryRoundState(SavedEveryRoundState):
    streak: StreakState
    posterior: PosteriorState
    counted: LazyState | UnsetType = UNSET


def of_length(field: str, values: list[Any], length: int) -> list[Any]:
    """Return a list of this length."""
    if len(values) != length:
        raise ValueError(f"{field} must have {length} entries, got {len(values)}")
    return values


def checked_counts(counts: list[int], arms: int) -> NDArray[np.int64]:
    made = np.array(of_length("counts", counts, arms), np.int64)
    if sum(counts) > MOST_ROUNDS:  # as Python numbers, which do not overflow
        raise ValueError(f"counts must be at most {MOST_ROUNDS} rewards in all, got {sum(counts)}")
    return made


def checked_sums(
    bandit: Bandit, counts: list[int], totals: list[float], squares: list[float] | UnsetType
) -> tuple[NDArray[np.int64], Array, Array | None]:
    """Return counts, totals and squares, if rewards of this bandit can add up to them."""
    arms = bandit.arms
    made = checked_counts(counts, arms), np.array(of_length("totals", totals, arms), float)
    more = None if squares is UNSET else np.array(of_length("squares", squares, arms), float)
    bandit.check_sums(*made, more)
    return *made, more
