"""Numbers for people: as many digits as mean something."""

from __future__ import annotations

import math
from collections.abc import Collection

PLUS_MINUS = "±"


def with_error(mean: float, stderr: float, *, signed: bool = False) -> str:
    """A mean with the digits that its standard error gives meaning to: 75.74 ± 0.30."""
    decimals = _decimals(stderr, 2) if 0.0 < stderr < math.inf else _decimals(mean, 4)
    sign = "+" if signed and mean > 0.0 else ""
    return f"{sign}{_fixed(mean, decimals)} {PLUS_MINUS} {_fixed(stderr, decimals)}"


def exact_digits(value: float, error: float) -> str:
    """The digits of a computed value that its error leaves alone, twelve at most: 75.69691254."""
    if not error < abs(value):
        return brief(value)
    significant = math.floor(math.log10(abs(value))) - math.ceil(math.log10(max(error, 1e-300))) + 1
    return _fixed(value, _decimals(value, min(12, max(1, significant))), most=14)


def brief(value: float) -> str:
    """Four significant digits."""
    return _fixed(value, _decimals(value, 4))


def counted(number: int, thing: str) -> str:
    """1 run, 1,000 runs."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _decimals(value: float, significant: int) -> int:
    """Decimals that show so many significant digits."""
    return max(0, significant - 1 - math.floor(math.log10(abs(value)))) if value != 0.0 else 0


def _fixed(value: float, decimals: int, most: int = 6) -> str:
    """Without an exponent as long as that is short."""
    return f"{value:.{decimals}f}" if decimals <= most and abs(value) < 1e7 else f"{value:.4g}"


def text_table(rows: list[list[str]], words: Collection[str] = ()) -> str:
    """Headings, a rule and lines in columns; the first column and those headed by `words` begin at the left."""
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
