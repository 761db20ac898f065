"""Sufficient statistics of the arms of past experiments: pulls, sums of rewards and sums of squared deviations.

Rows are numbered from 1, without headings. Rows of the same arm of the same experiment are added, and arms without
pulls are dropped.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.priors.readers import Columns, column_blocks

Index = NDArray[np.intp]

LARGEST_COUNT = 10**15  # floats still represent every whole number up to this size

# For each model, the columns that summarise an arm; a history of single rewards has `reward` in their place.
SUMMARIES = {
    "bernoulli": (("pulls", "successes"),),
    "gaussian": (("pulls", "mean", "variance"),),
    "poisson": (("pulls", "total"), ("pulls", "events")),
}
REWARD = "reward"
LABELS = ("experiment", "arm")


@dataclass(frozen=True, eq=False)
class History:
    """Arms of past experiments; the arms of one experiment are adjacent."""

    labels: tuple[tuple[Any, Any], ...]  # (experiment, arm)
    experiment: Index  # (arms,): from 0
    pulls: Array
    totals: Array
    squares: Array  # sums of squared deviations from the arm's mean
    experiments: int

    @property
    def arms(self) -> int:
        return len(self.pulls)

    @functools.cached_property
    def means(self) -> Array:
        return self.totals / self.pulls

    @functools.cached_property
    def arms_per_experiment(self) -> Index:
        """(experiments,): number of arms of each."""
        return np.bincount(self.experiment, minlength=self.experiments)

    def take(self, arms: Index, experiment: Index, experiments: int) -> History:
        """The given arms, assigned to other experiments; an experiment may have no arms."""
        labels = tuple(self.labels[arm] for arm in arms)
        return History(labels, experiment, self.pulls[arms], self.totals[arms], self.squares[arms], experiments)


def read_history(history: Any, model: str) -> History:
    """Read a history from a CSV file, a table of columns or a list of rows; a ValueError says what is wrong with it."""
    if isinstance(history, History):
        return history
    try:
        return _aggregate(column_blocks(history), model)
    except ValueError as error:
        if not isinstance(history, str | os.PathLike):
            raise
        name = os.fsdecode(history)
        raise ValueError(f"{name if name.isprintable() else ascii(name)}: {error}") from None


def _aggregate(blocks: Iterable[Columns], model: str) -> History:
    numbers: dict[tuple[Any, Any], int] = {}  # of the arms, in order of appearance
    arms: list[Index] = []
    cells: dict[str, list[Array]] = {}
    before = 0
    for columns in blocks:
        needed = _numeric_columns(columns, model)
        arms.append(_arm_numbers(numbers, columns["experiment"], columns["arm"], before))
        for name in needed:
            cells.setdefault(name, []).append(_to_floats(name, columns[name], before))
        before += len(arms[-1])
    if before == 0:
        raise ValueError("has no rows; there must be one for each arm, or for each reward")
    table = {name: np.concatenate(parts) for name, parts in cells.items()}
    sums = (_sums_of_rewards if REWARD in table else SUMS[model])(table, np.concatenate(arms), model, len(numbers))
    return _by_experiment(list(numbers), *sums)


def _numeric_columns(columns: Columns, model: str) -> tuple[str, ...]:
    """Names of the numeric columns to read: a summary if all its columns exist, otherwise rewards."""
    choices = (*SUMMARIES[model], (REWARD,))
    found = next((choice for choice in choices if columns.keys() >= {*LABELS, *choice}), None)
    if found is not None:
        return found
    wanted = " or ".join(", ".join((*LABELS, *choice)) for choice in choices)
    closest = max(choices, key=lambda choice: len(columns.keys() & set(choice)))
    missing = next(name for name in (*LABELS, *closest) if name not in columns)
    raise ValueError(f"column {missing} is missing; a {model} history has {wanted}")


def _arm_numbers(numbers: dict[tuple[Any, Any], int], experiments: Any, arms: Any, before: int) -> Index:
    """Number of each row's arm; new arms get the next numbers."""
    try:
        found = [numbers.setdefault(label, len(numbers)) for label in zip(experiments, arms, strict=True)]
        nameless = any(map(_is_missing, {*experiments, *arms}))
    except TypeError:  # a label that cannot be hashed
        raise ValueError("experiment and arm must be names or numbers") from None
    if nameless:
        rows = enumerate(zip(experiments, arms, strict=True), before + 1)
        at, row = next((at, row) for at, row in rows if any(map(_is_missing, row)))
        raise ValueError(f"row {at}: {LABELS[0 if _is_missing(row[0]) else 1]} must have a name, got nothing")
    return np.array(found, dtype=np.intp)


def _is_missing(label: Any) -> bool:
    """Whether a label is None, blank or nan."""
    return (
        label is None or (isinstance(label, str) and not label.strip()) or (isinstance(label, float) and label != label)
    )


def _to_floats(name: str, column: Any, before: int) -> Array:
    """Empty cells become nan, which later checks refuse where a number is needed."""
    try:
        return np.fromiter(map(float, column), dtype=np.float64, count=len(column))
    except (TypeError, ValueError, OverflowError):
        return np.array([_to_float(name, cell, at) for at, cell in enumerate(column, before + 1)], dtype=np.float64)


def _to_float(name: str, cell: Any, row: int) -> float:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise checks.fail(f"row {row}: {name}", "a number", cell) from None


# --- sums for each arm ---------------------------------------------------------------------------------------------

Sums = tuple[Array, Array, Array]  # pulls, totals, squares


def _refuse(name: str, values: Array, bad: NDArray[np.bool_], may_be: Callable[[int], str] | str) -> None:
    """Raise a ValueError for the first bad row, if any."""
    if bad.any():
        at = int(np.argmax(bad))
        value = float(values[at])
        is_count = value.is_integer() and abs(value) <= LARGEST_COUNT
        shown: Any = "nothing" if np.isnan(value) else int(value) if is_count else value
        allowed = may_be if isinstance(may_be, str) else may_be(at)
        raise ValueError(f"row {at + 1}: {name} must be {allowed}, got {shown}")


def _check_whole(name: str, values: Array) -> None:
    whole = (values >= 0.0) & (values <= LARGEST_COUNT) & (values == np.floor(values))
    _refuse(name, values, ~whole, f"a whole number, at least 0 and at most {LARGEST_COUNT:g}")


def _check_real(name: str, values: Array, needed: NDArray[np.bool_]) -> None:
    _refuse(name, values, needed & ~np.isfinite(values), "a finite number")
    _refuse(name, values, needed & (np.abs(values) > checks.LARGEST), f"at most {checks.LARGEST:g} either way")


def _sums_of_counts(table: dict[str, Array], arm: Index, model: str, arms: int) -> Sums:
    pulls, (name, counts) = table["pulls"], next((n, c) for n, c in table.items() if n != "pulls")
    _check_whole("pulls", pulls)
    _check_whole(name, counts)
    if model == "bernoulli":
        _refuse(name, counts, counts > pulls, lambda at: f"at most pulls, {int(pulls[at])}")
    else:
        _refuse(name, counts, (counts > 0) & (pulls == 0), "0 for an arm without pulls")
    return _sum_by_arm(arm, pulls, arms), _sum_by_arm(arm, counts, arms), np.zeros(arms)


def _sums_of_moments(table: dict[str, Array], arm: Index, model: str, arms: int) -> Sums:
    pulls, means, variances = table["pulls"], table["mean"], table["variance"]
    _check_whole("pulls", pulls)
    _check_real("mean", means, pulls > 0)
    _check_real("variance", variances, pulls > 1)
    _refuse("variance", variances, (pulls > 1) & (variances < 0.0), "a number, at least 0")
    inside = np.where(pulls > 1, (pulls - 1.0) * variances, 0.0)
    return _pooled(arm, pulls, np.where(pulls > 0, means, 0.0), inside, arms)


def _sums_of_rewards(table: dict[str, Array], arm: Index, model: str, arms: int) -> Sums:
    rewards = table[REWARD]
    if model == "bernoulli":
        _refuse(REWARD, rewards, (rewards != 0.0) & (rewards != 1.0), "0 or 1")
    elif model == "poisson":
        _check_whole(REWARD, rewards)
    else:
        _check_real(REWARD, rewards, np.ones(len(rewards), dtype=np.bool_))
    return _pooled(arm, np.ones(len(rewards)), rewards, np.zeros(len(rewards)), arms)


def _pooled(arm: Index, pulls: Array, means: Array, inside: Array, arms: int) -> Sums:
    """Add rows: an arm's squared deviations are those inside its rows plus those of the rows' means."""
    counts = _sum_by_arm(arm, pulls, arms)
    centre = _sum_by_arm(arm, pulls * means, arms) / np.maximum(counts, 1.0)
    return counts, counts * centre, _sum_by_arm(arm, inside + pulls * (means - centre[arm]) ** 2, arms)


def _sum_by_arm(arm: Index, values: Array, arms: int) -> Array:
    return np.asarray(np.bincount(arm, values, arms), dtype=np.float64)


SUMS = {"bernoulli": _sums_of_counts, "poisson": _sums_of_counts, "gaussian": _sums_of_moments}


def _by_experiment(labels: list[tuple[Any, Any]], pulls: Array, totals: Array, squares: Array) -> History:
    """Group the arms by experiment, both in order of appearance."""
    numbers: dict[Any, int] = {}
    used = [arm for arm in range(len(labels)) if pulls[arm] > 0]
    if not used:
        raise ValueError("pulls must be above 0 for some arm")
    experiment = np.array([numbers.setdefault(labels[arm][0], len(numbers)) for arm in used], dtype=np.intp)
    order = np.argsort(experiment, kind="stable")
    arms = np.array(used, dtype=np.intp)[order]
    sorted_labels = tuple(labels[arm] for arm in arms)
    return History(sorted_labels, experiment[order], pulls[arms], totals[arms], squares[arms], len(numbers))
