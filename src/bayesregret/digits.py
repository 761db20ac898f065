"""Format numbers for people: only digits that carry information, and plain-text tables.

All functions take plain numbers. Most return ASCII text; those that begin with `typeset_` use a real minus sign and an
infinity sign, for figures and pages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from html import escape

PLUS_MINUS = "±"
MINUS = "\N{MINUS SIGN}"
INFINITY = "∞"

ENOUGH = 1e-5  # relative: a computed number is printed with no more digits than this, nobody decides by more
ROUNDING = 1e-9  # relative: differences below this are floating-point rounding


# --- a number with its error -----------------------------------------------------------------------------------------


def with_error(mean: float, stderr: float, *, signed: bool = False) -> str:
    """Return a mean and its standard error, with the digits that the error justifies: 75.74 ± 0.30, 2200 ± 1500."""
    if 100.0 <= stderr < 1e7:
        place = _last_decimal(stderr, 2)
        mean, stderr = round(mean, place), round(stderr, place)
    decimals = _decimals(stderr, 2) if 0.0 < stderr < math.inf else _decimals(mean, 4)
    sign = "+" if signed and mean > 0.0 else ""
    return f"{sign}{_fixed(mean, decimals)} {PLUS_MINUS} {_fixed(stderr, decimals)}"


def exact_digits(value: float, error: float) -> str:
    """Return the digits of a computed value that are certain given its error, at most twelve: 75.69691254."""
    if not error < abs(value):
        return brief(value)
    significant = math.floor(math.log10(abs(value))) - math.ceil(math.log10(max(error, 1e-300))) + 1
    return _fixed(value, _decimals(value, min(12, max(1, significant))), most_decimals=14)


def exact_or_with_error(mean: float, error: float, *, is_exact: bool) -> str:
    """Return the certain digits of a computed value, or a mean with its error if it is simulated or none is certain."""
    if is_exact and mean == 0.0:
        return "0"
    if is_exact and error < abs(mean):
        return with_thousands(exact_digits(mean, max(error, ENOUGH * abs(mean))))
    return with_thousands(with_error(mean, error))


def rounded_to_error(value: float, error: float) -> str:
    """Round to the first uncertain digit: 12,300 for 12345 with an error of 450.

    A value of at least 1 keeps one digit, however large the error is.
    """
    if not 0.0 < error < math.inf or value == 0.0:
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    place = min(math.floor(math.log10(error)), max(0, math.floor(math.log10(abs(value)))))
    return f"{round(value, -place):,.{max(0, -place)}f}"


def with_interval(value: float, low: float, high: float, *, reach: float = math.inf, is_whole: bool = False) -> str:
    """Return a value with its 95 percent interval: 12,300 (11,900 to 12,700).

    An interval that ends at `reach`, the furthest point examined, ends "beyond" it. Whole numbers have no decimals.
    """
    error = 0.25 * (high - low)
    if is_whole:
        value, low, high, error = round(value), round(low), round(high), max(1.0, error)
    beyond = "beyond " if high >= reach * (1.0 - ROUNDING) else ""
    middle, first, last = (rounded_to_error(number, error) for number in (value, low, high))
    return middle if first == last else f"{middle} ({first} to {beyond}{last})"


def percent(fraction: float, stderr: float) -> str:
    """Return a fraction and its standard error as percentages: 95.54 ± 0.30%."""
    return f"{with_error(100.0 * fraction, 100.0 * stderr)}%"


# --- a number alone --------------------------------------------------------------------------------------------------


def brief(value: float) -> str:
    """Return four significant digits."""
    return _fixed(value, _decimals(value, 4))


def upper_bound_digits(value: float, significant: int = 4) -> str:
    """Return significant digits of an upper bound, rounded up."""
    return _rounded_in_one_direction(value, significant, math.ceil)


def lower_bound_digits(value: float, significant: int = 3) -> str:
    """Return significant digits of a lower bound, rounded down."""
    return _rounded_in_one_direction(value, significant, math.floor)


def _rounded_in_one_direction(value: float, significant: int, to_whole: Callable[[float], int]) -> str:
    if not 0.0 < value < math.inf:
        return f"{value:g}"
    decimals = _last_decimal(value, significant)
    units = value * 10.0**decimals
    nearest = round(units)
    # A number that has only this many digits stays as it is, whatever floating-point rounding did to it.
    rounded = (nearest if math.isclose(units, nearest, rel_tol=ROUNDING) else to_whole(units)) / 10.0**decimals
    return _fixed(rounded, decimals, most_decimals=7, significant=significant, separator=",")


def with_thousands(text: str) -> str:
    """Insert thousands separators into the whole parts of the numbers in a text: 1,234,567.8 for 1234567.8."""
    return re.sub(r"(?<![\d.,])\d{4,}", lambda whole: f"{int(whole[0]):,}", text)


def counted(number: int, thing: str) -> str:
    """Return a number with its noun in singular or plural: 1 run, 1,000 runs."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _last_decimal(value: float, significant: int) -> int:
    """Position after the decimal point of the last of the significant digits; negative before the point."""
    return significant - 1 - math.floor(math.log10(abs(value)))


def _decimals(value: float, significant: int) -> int:
    """Number of decimals that show this many significant digits."""
    return max(0, _last_decimal(value, significant)) if value != 0.0 else 0


def _fixed(value: float, decimals: int, *, most_decimals: int = 6, significant: int = 4, separator: str = "") -> str:
    """Fixed-point notation while that is short, otherwise an exponent and the significant digits."""
    if decimals <= most_decimals and abs(value) < 1e7:
        return f"{value:{separator}.{max(0, decimals)}f}"
    return f"{value:.{significant}g}"


# --- for figures and pages -------------------------------------------------------------------------------------------


def typeset_value(value: float) -> str:
    """Return four significant digits; a dash for nan."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else INFINITY if value > 0.0 else f"{MINUS}{INFINITY}"
    return _with_minus_sign(brief(value))


def typeset_with_error(value: float, stderr: float | None) -> str:
    """Return a value with its standard error, or alone where either is missing or infinite."""
    if stderr is None or not math.isfinite(value) or not math.isfinite(stderr):
        return typeset_value(value)
    return _with_minus_sign(with_error(value, stderr))


def typeset_exact(value: float, error: float) -> str:
    """Return the certain digits of a computed value, at most six; an upper bound if none is certain."""
    if not error < abs(value):
        return f"< {value + error:.0e}"
    return _with_minus_sign(exact_digits(value, max(error, 1e-6 * abs(value))))


def typeset_setting(value: float) -> str:
    """Return a setting with four significant digits, whole numbers in full: 0.25, 20, 1000000."""
    if not math.isfinite(value):
        return typeset_value(value)
    return _with_minus_sign(f"{value:.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.4g}")


def _with_minus_sign(text: str) -> str:
    return text.replace("-", MINUS)


# --- lists and tables ------------------------------------------------------------------------------------------------


def listed(names: Sequence[str], last: str = "and") -> str:
    """Join names into a list: a, b and c."""
    *first, final = names
    return f"{', '.join(first)} {last} {final}" if first else final


def text_table(rows: list[list[str]], words: Collection[str] = ()) -> str:
    """Align rows in columns, with a rule below the headings; the first column and those named in `words` align left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = [i == 0 or heading in words for i, heading in enumerate(rows[0])]

    def line(row: list[str]) -> str:
        cells = (
            text.ljust(width) if to_left else text.rjust(width)
            for text, width, to_left in zip(row, widths, left, strict=True)
        )
        return "  ".join(cells).rstrip()

    heading, *others = map(line, rows)
    return "\n".join([heading, "-" * len(heading), *others])


def html_table(rows: list[list[str]], words: Collection[str] = ()) -> str:
    """Return rows as an HTML table, aligned like `text_table`."""
    left = [i == 0 or heading in words for i, heading in enumerate(rows[0])]

    def line(row: list[str], tag: str) -> str:
        cells = (
            f'<{tag} style="text-align: {"left" if to_left else "right"}">{escape(text)}</{tag}>'
            for text, to_left in zip(row, left, strict=True)
        )
        return f"<tr>{''.join(cells)}</tr>"

    heading, *others = rows
    body = "".join(line(row, "td") for row in others)
    return f"<table><thead>{line(heading, 'th')}</thead><tbody>{body}</tbody></table>"
