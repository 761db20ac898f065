"""Columns of a history: their names for each model, renamed columns, and the choice of the columns to read."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bayesregret import checks

Columns = dict[str, Sequence[Any]]

LABELS = ("experiment", "arm")
REWARD = "reward"
# For each model, the columns that summarise an arm, each with its alternatives; a history of single rewards has
# `reward` in their place.
SUMMARIES: dict[str, tuple[tuple[str, ...], ...]] = {
    "bernoulli": (("pulls",), ("successes",)),
    "gaussian": (("pulls",), ("mean",), ("variance", "standard_deviation", "standard_error")),
    "poisson": (("pulls", "exposure"), ("total", "events")),
}
# Names that people give to columns of standard deviations; the word may be one of several.
DEVIATION = re.compile(r"(?:^|[^a-z])(?:sd|std|stdev|stddev|std\.? ?dev|standard deviation|sigma)(?:[^a-z]|$)")
MOST_NAMES, LONGEST_NAMES = 12, 120  # number of columns and of characters that a message lists


def normal_names(names: Iterable[Any]) -> list[str]:
    """Normalise column names: case and surrounding spaces do not matter, and inner spaces count as one."""
    return [" ".join(str(name).split()).lower() for name in names]


def headings(names: Iterable[Any]) -> list[str]:
    """Normal names of the columns of a history, of which no two are the same."""
    normal = normal_names(names)
    repeated = next((name for name, count in Counter(normal).items() if count > 1 and name), None)
    if repeated is not None:
        raise ValueError(f"{checks.shown(repeated)} is the name of two columns")
    return normal


# --- renamed columns -----------------------------------------------------------------------------------------------


def check_renames(columns: Mapping[str, Any] | None, model: str) -> dict[str, str]:
    """Return the user's columns by our names; ValueError for a name that no history of the model has."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise checks.fail("columns", 'a table of names and your columns, such as {"pulls": "visitors"}', columns)
    known = (*LABELS, *itertools.chain(*SUMMARIES[model]), REWARD)
    renames: dict[str, str] = {}
    for given, column in columns.items():
        (name,) = normal_names([given])
        if name not in known:
            theirs = " ".join(str(column).split())
            if name and normal_names([theirs])[0] in known:
                raise ValueError(f"columns: our name comes first; did you mean {theirs.lower()}={_printable(given)}?")
            raise ValueError(
                f"columns: {checks.shown(name)} is not a column of a {model} history, which may have "
                f"{', '.join(known)}; our name comes first, as in experiment=Campaign"
            )
        if name in renames:
            raise ValueError(f"columns: {name} is given twice")
        renames[name] = str(column).strip()
        if not renames[name]:
            raise ValueError(f"columns: {name} must be the name of your column, got nothing")
    return renames


def renamed(columns: Columns, renames: Mapping[str, str]) -> Columns:
    """The columns by our names. The user's column goes by our name only, and replaces one that had it before."""
    if not renames:
        return columns
    theirs = normal_names(renames.values())
    others = {name: column for name, column in columns.items() if name not in {*renames, *theirs}}
    return others | {name: columns[column] for name, column in zip(renames, theirs, strict=True)}


def doubts(renames: Mapping[str, str]) -> tuple[str, ...]:
    """A line for each renamed column whose name says that it holds something else."""
    return tuple(
        f"the column {_printable(renames[name])} is read as the {name}; if it has standard deviations, write "
        f"standard_deviation={_printable(renames[name])}"
        for name in ("variance", "standard_error")
        if name in renames and DEVIATION.search(renames[name].lower().replace("_", " "))
    )


def title(name: str, renames: Mapping[str, str]) -> str:
    """Our name of a column for a message, followed by the user's if it differs."""
    return f"{name} ({_printable(renames[name])})" if name in renames else name


# --- the columns to read -------------------------------------------------------------------------------------------


def choose_columns(
    found: Sequence[Any], renames: Mapping[str, str], model: str, noise_is_known: bool
) -> tuple[str, ...]:
    """Names of the numeric columns to read: a summary if all its columns exist, otherwise rewards.

    `found` has the names of the columns as the user wrote them. A summary with more renamed columns comes first.
    """
    theirs = normal_names(found)
    for name, column in renames.items():
        if normal_names([column])[0] not in theirs:
            raise ValueError(f"columns: there is no column {checks.shown(column)} for {name}; found: {listed(found)}")
    names = renamed(dict.fromkeys(theirs, ()), renames).keys()
    slots = SUMMARIES[model]
    if noise_is_known:  # a variance would not be used
        slots = tuple(slot for slot in slots if "variance" not in slot)
    choices = [*itertools.product(*slots), (REWARD,)]
    complete = [choice for choice in choices if names >= {*LABELS, *choice}]
    if complete:
        return max(complete, key=lambda choice: len(renames.keys() & set(choice)))
    closest = max(choices, key=lambda choice: len(names & set(choice)))
    missing = [name for name in (*LABELS, *closest) if name not in names]
    lacks = f"column {missing[0]} is missing" if len(missing) == 1 else f"columns {', '.join(missing)} are missing"
    pairs = ",".join(f"{name}=YOURS" for name in missing)
    raise ValueError(
        f"{lacks}; found: {listed(found)}; {_wanted(model, slots)}; rename yours with --columns {pairs} (columns= in "
        "Python)"
    )


def _wanted(model: str, slots: Iterable[tuple[str, ...]]) -> str:
    """The columns of a history."""
    summary = (slot[0] + f" (or {', '.join(slot[1:])})" * (len(slot) > 1) for slot in slots)
    labels = ", ".join(LABELS)
    return f"a {model} history has {labels}, {', '.join(summary)}; or {labels}, {REWARD}"


def listed(names: Collection[Any]) -> str:
    """The names of columns for a message: one line, not too long."""
    texts = [_printable(name) for name in names if str(name).strip()]
    shown: list[str] = []
    for text in texts[:MOST_NAMES]:
        if len(", ".join([*shown, text])) > LONGEST_NAMES:
            break
        shown.append(text)
    more = [f"{len(texts) - len(shown)} more"] if len(texts) > len(shown) else []
    return ", ".join([*shown, *more]) or "none"


def _printable(name: Any) -> str:
    text = " ".join(str(name).split())
    return text if text.isprintable() and len(text) <= 60 else checks.shown(text)
