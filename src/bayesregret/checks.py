"""Checks of input. Every error message has the form `<field> must be <what it may be>, got <value>`."""

from __future__ import annotations

import math
import numbers
import re
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Squares of allowed numbers, and ratios of such squares, stay far from overflow and underflow.
LARGEST = 1e50
SMALLEST = 1e-50
# Rounds and rewards are counted up to here: floats hold every whole number that is not larger.
MOST_ROUNDS = 2**53
LARGEST_WHOLE = 2.0**63  # a larger float would become an integer with digits that the user did not type

FEW = 6  # names that are all listed, whatever was given
CLOSE = 0.6  # of 1: how similar a name is that may have been meant
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


def shown(value: Any) -> str:
    """Text of a value for a message: one line of at most 60 characters."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python refuses to print an integer of thousands of digits
        text = "a very long number"
    return text if len(text) <= 60 else text[:57] + "..."


def in_full(value: float) -> str:
    """Return a number with as many digits as distinguish it from all others, so that no two numbers look alike."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def one_line(text: str) -> str:
    """Return text that prints as one line, quoted if it would not; a file name, for example."""
    return text if text.isprintable() else repr(text)


def fail(field: str, may_be: str, value: Any) -> ValueError:
    """Return the error to raise for a bad value."""
    return ValueError(f"{field} must be {may_be}, got {shown(value)}{_comma_hint(value)}")


def _comma_hint(value: Any) -> str:
    """Return a hint if a text is a number with commas between the thousands."""
    has_commas = isinstance(value, str) and THOUSANDS.fullmatch(value)
    return f"; write {value.replace(',', '')}, without commas" if has_commas else ""


def suggestion(value: Any, names: Iterable[str]) -> str:
    """Return "; did you mean thompson?" for a name that is close to one or more of these, nothing for others."""
    if not isinstance(value, str):
        return ""
    import difflib  # takes a while to load

    lower = {name.lower(): name for name in names}
    close = [lower[name] for name in difflib.get_close_matches(value.lower(), lower, 3, CLOSE)]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def parsed_number(text: str) -> int | float | str:
    """Parse a number such as 12, 1e6 or 10_000. Other text is returned as it is, and refused by later checks."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) < LARGEST_WHOLE else value


def real(field: str, value: Any, may_be: str = "a finite number") -> float:
    """Return a finite number as a float."""
    try:
        if not isinstance(value, bool) and isinstance(value, numbers.Real) and math.isfinite(value):
            return float(value)
    except OverflowError:  # an integer beyond the largest float
        pass
    raise fail(field, may_be, value)


def positive(field: str, value: Any) -> float:
    """Return a number between SMALLEST and LARGEST."""
    may_be = "a positive number"
    number = real(field, value, may_be)
    if number <= 0.0:
        raise fail(field, may_be, value)
    if not SMALLEST <= number <= LARGEST:
        raise fail(field, f"between {in_full(SMALLEST)} and {in_full(LARGEST)}", value)
    return number


def at_least(field: str, value: Any, least: float, most: float = LARGEST) -> float:
    """Return a number between `least` and `most`, ends included."""
    may_be = f"a number, at least {in_full(least)}"
    number = real(field, value, may_be)
    if number < least:
        raise fail(field, may_be, value)
    if number > most:
        raise fail(field, f"at most {in_full(most)}", value)
    return number


def fraction(field: str, value: Any) -> float:
    """Return a number between 0 and 1, ends included."""
    number = real(field, value, "a number between 0 and 1")
    if not 0.0 <= number <= 1.0:
        raise fail(field, "a number between 0 and 1", value)
    return number


def probability(field: str, value: Any) -> float:
    """Return a number strictly between 0 and 1."""
    number = real(field, value, "a number strictly between 0 and 1")
    if not 0.0 < number < 1.0:
        raise fail(field, "a number strictly between 0 and 1", value)
    return number


def whole(field: str, value: Any, at_least: int, at_most: int | None = None) -> int:
    """Return an integer of any type, within the limits, as an int."""
    may_be = f"a whole number, at least {at_least}" + (f" and at most {at_most}" if at_most is not None else "")
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise fail(field, may_be, value)
    number = int(value)
    if number < at_least or (at_most is not None and number > at_most):
        raise fail(field, may_be, value)
    return number


def whole_up_to(field: str, value: Any, at_least: int, at_most: int) -> int:
    """Return an integer within limits, of which the upper one is so high that only its breach is worth a mention."""
    number = whole(field, value, at_least)
    if number > at_most:
        raise fail(field, f"at most {at_most}", value)
    return number


def rounds(field: str, value: Any, at_least: int) -> int:
    """Return a number of rounds, not larger than what can be counted exactly."""
    return whole_up_to(field, value, at_least, MOST_ROUNDS)


def one_of(field: str, value: Any, choices: Iterable[str]) -> str:
    """Return a string that is one of the choices."""
    names = list(choices)
    if isinstance(value, str) and value in names:
        return value
    if len(names) <= FEW:
        raise fail(field, " or ".join(f'"{name}"' for name in names), value)
    meant = suggestion(value, names)
    may_be = f"one of {len(names)} names" if meant else f"one of {', '.join(names)}"
    raise ValueError(f"{field} must be {may_be}, got {shown(value)}{meant}")


def array(field: str, value: Any, dimensions: int, may_be: str, most: float = LARGEST) -> Array:
    """Return a read-only copy of a non-empty array of finite numbers, none larger than `most` in absolute value."""
    if isinstance(value, str | bytes | dict):
        raise fail(field, may_be, value)
    try:
        given = np.asarray(value)
        if given.dtype.kind == "O" and all(isinstance(entry, int | float) for entry in given.flat):
            given = given.astype(np.float64)  # whole numbers beyond 64 bits
    except (ValueError, OverflowError):  # rows of different lengths, or beyond the largest float
        raise fail(field, may_be, value) from None
    if given.dtype.kind not in "iuf" or given.ndim != dimensions or given.size == 0 or _has_booleans(value):
        raise fail(field, may_be, value)
    made = np.array(given, dtype=np.float64, order="C") + 0.0  # -0.0 becomes 0.0, so equal bandits have equal bits
    if not np.isfinite(made).all():
        raise ValueError(f"{field} must be {may_be}, but has an entry that is not a finite number")
    if np.abs(made).max() > most:
        raise ValueError(f"{field} must be {may_be}, none beyond {in_full(most)}")
    made.flags.writeable = False
    return made


def _has_booleans(value: Any) -> bool:
    """Whether a nested list contains a boolean, which NumPy would turn into 1 or 0."""
    if isinstance(value, list | tuple):
        return any(map(_has_booleans, value))
    return isinstance(value, bool | np.bool_)


def vector(field: str, value: Any) -> Array:
    """Return a read-only array with one number per arm."""
    return array(field, value, 1, "a list of numbers, one for each arm")


def number_per_arm(field: str, value: Any, arms: int) -> Array:
    """Return a read-only array with one finite number for each of the arms, of any size."""
    may_be = f"a list of {arms} numbers, one for each arm"
    made = array(field, value, 1, may_be, most=sys.float_info.max)
    if len(made) != arms:
        raise ValueError(f"{field} must be {may_be}, got {len(made)}")
    return made


def counts_per_arm(field: str, value: Any, arms: int) -> NDArray[np.int64]:
    """Return an array with one whole number for each of the arms, none negative, and at most MOST_ROUNDS in all."""
    made = number_per_arm(field, value, arms)
    if (made < 0.0).any() or (made != np.floor(made)).any():
        raise ValueError(f"{field} must be a list of whole numbers, at least 0, one for each arm")
    if made.sum() > MOST_ROUNDS:
        raise ValueError(f"{field} must be at most {MOST_ROUNDS} in all, got {in_full(made.sum())}")
    return made.astype(np.int64)


def positive_vector(field: str, value: Any) -> Array:
    """Return a read-only array with one positive number per arm."""
    may_be = "a list of positive numbers, one for each arm"
    made = array(field, value, 1, may_be)
    if made.min() < SMALLEST:
        raise ValueError(f"{field} must be {may_be}, but has the entry {in_full(made.min())}")
    return made


def positive_pair(first: str, a: Any, second: str, b: Any) -> tuple[Array, Array]:
    """Return two read-only arrays of the same length, each with one positive number per arm."""
    one, other = positive_vector(first, a), positive_vector(second, b)
    if len(one) != len(other):
        raise ValueError(
            f"{first} and {second} must have one entry for each arm, got {len(one)} and {len(other)} entries"
        )
    return one, other
