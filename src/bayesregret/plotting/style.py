"""Style of figures: sizes, fonts, and a colour, line and marker for each trend, the same in every figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import NamedTuple

import matplotlib.style

from bayesregret.reproduction.table import Kind, Trend

# Okabe and Ito's colours, which colour-blind readers can distinguish; light ones are darkened for thin lines.
BLUE, RED, GREEN, PINK, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#b5598a", "#c98a00", "#4aa3df"
INK, GREY, GRID, PAPER = "#222222", "#777777", "#e6e6e6", "#ffffff"
COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, INK, SKY)


class Size(NamedTuple):
    """Size of a figure in inches, without the legend's height."""

    width: float
    height: float


COLUMN = Size(3.3, 2.3)  # one of two columns
PAGE = Size(6.9, 3.7)  # both columns, and the report

STYLE = {
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.02,
    "figure.constrained_layout.w_pad": 0.02,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    # Similar to Times, like most papers, and part of matplotlib: the same letters on every machine.
    "font.family": ["STIXGeneral", "DejaVu Sans"],
    "mathtext.fontset": "stix",
    "font.size": 8.0,
    "axes.labelsize": 8.0,
    "legend.fontsize": 7.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.facecolor": "none",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "bayesregret",  # the same ids in the file every time
}


class Look(NamedTuple):
    """Colour, line and marker of one trend."""

    colour: str
    dashes: tuple[float, ...] = ()  # on, off, ... in line widths; empty for a solid line
    marker: str = ""
    line_width: float = 1.2
    hollow: bool = False  # whether markers are hollow, so that an exact line is visible through them
    opacity: float = 1.0

    @property
    def line_style(self) -> str | tuple[float, tuple[float, ...]]:
        return (0.0, self.dashes) if self.dashes else "-"


MARKERS = ("o", "s", "^", "D", "v", "p", "<")
PRINTED = ((5.0, 2.0), (2.5, 1.5), (1.0, 1.3), (8.0, 2.0), (8.0, 1.5, 2.5, 1.5))
CERTIFIED = ((7.0, 1.6, 1.0, 1.6), (3.5, 1.4, 1.0, 1.4), (7.0, 1.4, 1.0, 1.4, 1.0, 1.4), (11.0, 1.6, 1.0, 1.6))

BAR_SAMPLE, BAR_OPACITY = 4.0, 0.3  # width in the legend

FRONT = Look(GREEN, marker="o", line_width=2.2)
FIXED_LOOKS: dict[tuple[Kind, str], Look] = {
    ("regret", "bayes-ucb"): Look(BLUE, marker="o"),
    ("regret", "ucb1"): Look(RED, marker="s"),
    ("regret", "gittins"): Look(PINK, marker="D"),
    ("regret", "thompson"): Look(ORANGE, marker="v"),
    ("printed", "gap_dependent"): Look(BLUE, PRINTED[0]),
    ("printed", "ucb1_gap_dependent"): Look(RED, PRINTED[1]),
    ("printed", "sqrt"): Look(PINK, PRINTED[2], line_width=1.5),
    ("printed", "prior_dependent"): Look(SKY, PRINTED[3]),
    ("printed", "ucb1_prior_dependent"): Look(ORANGE, PRINTED[4]),
    ("certified", "certified"): Look(GREEN, CERTIFIED[0]),
    ("certified", "certified_lower"): Look(INK, CERTIFIED[0], line_width=1.5),
    ("certified", "certified_index"): Look(GREEN, CERTIFIED[1]),
    ("certified", "certified_all_gaps"): Look(GREEN, CERTIFIED[2]),
    ("certified", "certified_floor"): Look(SKY, CERTIFIED[2]),
    ("certified", "certified_gap_free"): Look(PINK, CERTIFIED[3]),
    ("certified", "certified_ucb1"): Look(ORANGE, CERTIFIED[1]),
    ("certified", "certified_trivial"): Look(INK, CERTIFIED[3]),
    # Wider, because the trivial bound would often hide it.
    ("certified", "certified_small_width"): Look(GREY, CERTIFIED[3], line_width=2.4),
    ("certified", "certified_epsilon"): Look(RED, CERTIFIED[1]),
    ("certified", "certified_prior_dependent"): Look(ORANGE, CERTIFIED[0]),
    ("certified", "certified_first_passage"): Look(BLUE, CERTIFIED[0]),
    ("difference", "difference"): Look(BLUE, marker="o"),
}


def looks(trends: Sequence[Trend], front: str | None = None) -> list[Look]:
    """Return a look per trend, no two the same; trends in `FIXED_LOOKS` look the same in every figure.

    `front` is the name of the trend that is drawn in front of the others: it always has the look `FRONT`.
    """
    chosen = {i: FRONT for i, trend in enumerate(trends) if trend.name == front}
    taken = set(chosen.values())
    # Fixed looks come first, so that they never depend on the other trends.
    others = (i for i in range(len(trends)) if i not in chosen)
    for i in sorted(others, key=lambda i: (trends[i].kind, trends[i].name) not in FIXED_LOOKS):
        trend = trends[i]
        fixed = FIXED_LOOKS.get((trend.kind, trend.name))
        chosen[i] = fixed if fixed is not None and fixed not in taken else _first_free(trend.kind, taken)
        taken.add(chosen[i])
    return [_in_form(chosen[i], trend) for i, trend in enumerate(trends)]


def _in_form(look: Look, trend: Trend) -> Look:
    """Adapt a look to the form in which the trend is drawn."""
    if trend.form == "bars":
        return look._replace(dashes=(), line_width=BAR_SAMPLE, opacity=BAR_OPACITY)
    if trend.form == "marks":
        return look._replace(line_width=0.0)
    return look._replace(hollow=trend.exact is not None)


def _first_free(kind: Kind, taken: set[Look]) -> Look:
    """Return an unused look, with an unused colour if there is one."""
    colours = {look.colour for look in taken}
    fresh = (_numbered(kind, i) for i in range(len(COLOURS)))
    distinct = next((look for look in fresh if look.colour not in colours), None)
    return distinct or next(look for look in (_numbered(kind, i) for i in count()) if look not in taken)


def _numbered(kind: Kind, i: int) -> Look:
    """Return the i-th look of a kind; colours repeat with another line or marker."""
    turn = i + i // len(COLOURS)
    colour = COLOURS[i % len(COLOURS)]
    if kind in ("regret", "difference"):
        return Look(colour, marker=MARKERS[turn % len(MARKERS)], line_width=1.2 + 0.3 * (i // 49))
    patterns = PRINTED if kind == "printed" else CERTIFIED
    return Look(colour, patterns[turn % len(patterns)], line_width=1.2 + 0.3 * (i // 35))


@contextmanager
def paper_style() -> Iterator[None]:
    """Apply our matplotlib settings only, whatever the user's are."""
    with matplotlib.style.context(STYLE, after_reset=True):
        yield
