"""Sufficient statistics of the arms of past experiments: pulls, sums of rewards and sums of squared deviations.

Rows of the same arm of the same experiment are added, and arms without pulls are dropped.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesregret.checks import Array
from bayesregret.priors.cells import (
    EXPOSURE,
    NOT_NEGATIVE,
    REAL,
    TRUTH,
    WHOLE,
    Column,
    Kind,
    check_columns,
    read_column,
    refuse_values,
)
from bayesregret.priors.columns import LABELS, REWARD, Columns, check_renames, choose_columns, doubts, renamed, title
from bayesregret.priors.readers import column_blocks
from bayesregret.priors.row_report import Index as Index
from bayesregret.priors.row_report import Mask, RowReport, Rows

REWARD_KINDS = {"bernoulli": TRUTH, "gaussian": REAL, "poisson": WHOLE}
SPREADS = ("variance", "standard_deviation", "standard_error")
KINDS = {"exposure": EXPOSURE, "mean": REAL} | dict.fromkeys(SPREADS, NOT_NEGATIVE)  # others: WHOLE


@dataclass(frozen=True, eq=False)
class History:
    """Arms of past experiments; the arms of one experiment are adjacent."""

    labels: tuple[tuple[Any, Any], ...]  # (experiment, arm)
    experiment: Index  # (arms,): from 0
    pulls: Array  # poisson: exposure, which need not be whole
    totals: Array
    squares: Array  # sums of squared deviations from the arm's mean; incomplete if the noise is known
    experiments: int
    skipped: int = 0  # rows left out because a cell is missing
    empty: int = 0  # arms left out because they have no pulls
    doubts: tuple[str, ...] = ()  # about the columns

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


def read_history(
    history: Any,
    model: str,
    *,
    columns: Mapping[str, Any] | None = None,
    skip_missing: bool = False,
    noise_is_known: bool = False,
) -> History:
    """Read a history from a CSV file, a table of columns or a list of rows; a ValueError says what is wrong with it.

    Parameters
    ----------
    history : path, mapping of columns or iterable of rows
        A `History` is returned as it is.
    model : str
        "bernoulli", "gaussian" or "poisson".
    columns : mapping, optional
        The user's columns by our names.
    skip_missing : bool
        Whether rows with a missing cell are left out, rather than bad.
    noise_is_known : bool
        Whether a summary of gaussian rewards needs no variance.
    """
    if isinstance(history, History):
        return history
    renames = check_renames(columns, model)
    in_file = isinstance(history, str | os.PathLike)
    report = RowReport("line" if in_file else "row", skip_missing)
    try:
        return _Reading(model, renames, noise_is_known, report).read(history)
    except ValueError as error:
        if not in_file:
            raise
        name = os.fsdecode(history)
        raise ValueError(f"{name if name.isprintable() else ascii(name)}: {error}") from None


class _Reading:
    """The rows of a history that were read so far."""

    def __init__(self, model: str, renames: Mapping[str, str], noise_is_known: bool, report: RowReport) -> None:
        self.model, self.renames, self.noise_is_known, self.report = model, renames, noise_is_known, report
        self.numbers: dict[tuple[Any, Any], int] = {}  # of the arms, in order of appearance

    def read(self, history: Any) -> History:
        needed: tuple[str, ...] = ()
        blocks: list[tuple[Index, list[Array]]] = []
        for block in column_blocks(history, self.report):
            needed = needed or choose_columns(block.found, self.renames, self.model, self.noise_is_known)
            rows = Rows(block.numbers, self.report)
            blocks.append(self._good_rows(rows, renamed(block.columns, self.renames), needed))
        self.report.raise_bad_rows()
        arm = np.concatenate([arms for arms, _ in blocks])
        if len(arm) == 0:
            raise ValueError(self._why_empty())
        table = [np.concatenate(parts) for parts in zip(*(values for _, values in blocks), strict=True)]
        used = self.renames.keys() & set(needed)
        sums = _sums(needed, table, arm, len(self.numbers))
        empty = int((sums[0][np.unique(arm)] == 0.0).sum())  # an arm with skipped rows alone is not one of them
        doubtful = doubts({name: self.renames[name] for name in used})
        found = _by_experiment(list(self.numbers), *sums)
        return replace(found, skipped=self.report.skipped, empty=empty, doubts=doubtful)

    def _why_empty(self) -> str:
        skipped = self.report.skipped
        if skipped:
            return f"has no row without missing cells, of {skipped:,} rows"
        return "has no rows; there must be one for each arm, or for each reward"

    def _good_rows(self, rows: Rows, columns: Columns, needed: tuple[str, ...]) -> tuple[Index, list[Array]]:
        """Numbers of the arms and values of the needed columns in good rows; other rows are skipped or reported."""
        arm = self._arm_numbers(rows, *(columns[name] for name in LABELS))
        table = [read_column(title(name, self.renames), self._kind(name), columns[name]) for name in needed]
        check_columns(rows, zip(table, _where_needed(needed, table[0].values), strict=True))
        if self.model != "gaussian" and needed[0] != REWARD:
            _check_counts(rows, self.model, *table)
        if rows.good.all():
            return arm, [column.values for column in table]
        return arm[rows.good], [column.values[rows.good] for column in table]

    def _arm_numbers(self, rows: Rows, experiments: Any, arms: Any) -> Index:
        """Number of each row's arm; new arms get the next numbers."""
        numbers = self.numbers
        try:
            found = [numbers.setdefault(label, len(numbers)) for label in zip(experiments, arms, strict=True)]
            nameless = any(map(_is_missing, {*experiments, *arms}))
        except TypeError:  # a label that cannot be hashed
            raise ValueError("experiment and arm must be names or numbers") from None
        if nameless:
            for name, labels in zip(LABELS, (experiments, arms), strict=True):
                empty = np.fromiter(map(_is_missing, labels), dtype=np.bool_, count=len(labels))
                rows.refuse_missing(empty, title(name, self.renames), "have a name")
        return np.array(found, dtype=np.intp)

    def _kind(self, name: str) -> Kind:
        if name == REWARD:
            return REWARD_KINDS[self.model]
        return EXPOSURE if self.model == "poisson" and name == "pulls" else KINDS.get(name, WHOLE)


def _is_missing(label: Any) -> bool:
    """Whether a label is None, blank, nan or pandas' NA."""
    if isinstance(label, str):
        return not label.strip()
    try:
        return label is None or bool(label != label)
    except TypeError:  # comparisons with NA are neither true nor false
        return True


def _where_needed(names: Sequence[str], pulls: Array) -> list[Mask]:
    """The rows in which each column is needed: a mean needs a pull, a variance two."""
    more_than = {"mean": 0.0} | dict.fromkeys(SPREADS, 1.0)
    return [pulls > more_than[name] if name in more_than else np.ones(len(pulls), dtype=np.bool_) for name in names]


def _check_counts(rows: Rows, model: str, pulls: Column, counts: Column) -> None:
    if model == "bernoulli":
        too_many = counts.values > pulls.values
        refuse_values(rows, counts, too_many, lambda at: f"at most {pulls.name}, {int(pulls.values[at])}")
    else:
        from_none = (counts.values > 0.0) & (pulls.values == 0.0)
        refuse_values(rows, counts, from_none, f"0 for an arm without {pulls.name}")


# --- sums for each arm ---------------------------------------------------------------------------------------------

Sums = tuple[Array, Array, Array]  # pulls, totals, squares


def _sums(names: Sequence[str], table: Sequence[Array], arm: Index, arms: int) -> Sums:
    pulls = table[0]
    if names[0] == REWARD:
        rewards = pulls
        return _pooled(arm, np.ones(len(rewards)), rewards, np.zeros(len(rewards)), arms)
    if names[1] != "mean":
        return _sum_by_arm(arm, pulls, arms), _sum_by_arm(arm, table[1], arms), np.zeros(arms)
    inside = np.zeros(len(pulls))
    if len(table) > 2:
        given = np.where(pulls > 1, table[2], 0.0)
        inside = (pulls - 1.0) * _variance(names[2], given, pulls)
    return _pooled(arm, pulls, np.where(pulls > 0, table[1], 0.0), inside, arms)


def _variance(name: str, given: Array, pulls: Array) -> Array:
    if name == "variance":
        return given
    return given**2 if name == "standard_deviation" else pulls * given**2


def _pooled(arm: Index, pulls: Array, means: Array, inside: Array, arms: int) -> Sums:
    """Add rows: an arm's squared deviations are those inside its rows plus those of the rows' means."""
    counts = _sum_by_arm(arm, pulls, arms)
    centre = _sum_by_arm(arm, pulls * means, arms) / np.maximum(counts, 1.0)
    return counts, counts * centre, _sum_by_arm(arm, inside + pulls * (means - centre[arm]) ** 2, arms)


def _sum_by_arm(arm: Index, values: Array, arms: int) -> Array:
    return np.asarray(np.bincount(arm, values, arms), dtype=np.float64)


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
