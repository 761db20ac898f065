"""Draws the book's figures into docs/_static, the same ones every time: `make figures`.

Each SVG is transparent, and has a twin in lighter colours for dark pages: book/backgrounds.py.
"""

from __future__ import annotations

import io
import math
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import matplotlib.ticker
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import brentq

import bayesregret as br
from bayesregret.plotting import PAGE, draw
from bayesregret.plotting.saving import rendered
from bayesregret.problem import COMMON_PROBLEMS
from bayesregret.reproduction import EXPERIMENTS
from bayesregret.reproduction.figures.figure_10 import LOWER, UPPER
from bayesregret.reproduction.runner import Finished, run_experiments
from bayesregret.reproduction.table import Table
from bayesregret.study import Study
from book.backgrounds import ON_DARK, write_pair
from book.doors import DOORS

OUTPUT = Path(__file__).parent / "_static"
HORIZON = 1_000
RUNS = 4_000
SEED = 7

# Okabe and Ito's colours, which everyone can tell apart, two of them darker so that text in them can be read.
BLACK, BLUE, RED, GREEN, PINK, ORANGE = "#222222", "#0072B2", "#D55E00", "#009E73", "#B5598A", "#C98A00"
GREY = "#777777"
PRINTED = {"ls": (0, (4, 2)), "lw": 1.5}  # dashed: as printed
PROVED = {"ls": "-", "lw": 2.0}  # solid: certified

STYLE = {
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e9e9e9",
    "grid.linewidth": 0.7,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "svg.hashsalt": "bayesregret",  # the same file every time
    "svg.fonttype": "path",
}


def gaussian(width: float = 1.0, gap: float = 1.0) -> br.GaussianBandit:
    """The paper's problem: ten arms, the first ahead by the gap."""
    return br.GaussianBandit(prior_mean=[gap] + [0.0] * 9, prior_width=width, reward_noise=1.0)


def value(formula: Any, bandit: Any, horizon: int = HORIZON) -> float:
    found = float(formula(bandit, horizon=horizon).value)
    return found if math.isfinite(found) else math.nan


def positive(numbers: Iterable[float]) -> np.ndarray:
    """What a logarithmic axis can show; the rest is a break in the line."""
    array = np.array(list(numbers))
    return np.where(array > 0.0, array, np.nan)


def label(axes: Axes, x: float, y: float, text: str, colour: str, **more: Any) -> None:
    more = {"va": "center", "ha": "left", "fontsize": 8.8} | more
    axes.text(x, y, text, color=colour, **more)


def ticks(axis: Any, numbers: list[float]) -> None:
    """These and no others, written out."""
    axis.set_ticks(numbers, [f"{number:,g}" if number < 1e4 else f"{number:,.0f}" for number in numbers])
    axis.set_minor_locator(mpl.ticker.NullLocator())


# --- regret and bounds over the prior width ------------------------------------------------------------------------


def over_width() -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.9), sharex=True, sharey=True)
    widths = np.geomspace(0.05, 5.0, 41)
    bandits = [gaussian(width) for width in widths]
    bounds = br.bounds

    zero = brentq(lambda width: value(bounds.gap_dependent, gaussian(width)), 0.1, 0.5)
    dive = np.append(zero * (1.0 + np.geomspace(1e-5, 0.3, 40)), widths[widths > 1.3 * zero])
    left.plot(dive, [value(bounds.gap_dependent, gaussian(width)) for width in dive], color=RED, **PRINTED)
    label(left, 5.5, value(bounds.gap_dependent, gaussian(5.0)), "Theorem 1", RED)
    lines = (
        (left, bounds.prior_dependent, "Corollary 2", ORANGE, PRINTED),
        (left, bounds.sqrt, "eq. (3)", PINK, PRINTED),
        (left, bounds.certified_gap_free, "certified_gap_free", PINK, PROVED),
        (left, bounds.certified_floor, "certified_floor", BLUE, PROVED),
        (left, bounds.certified_index, "certified_index", GREEN, PROVED),
        (right, bounds.ucb1_prior_dependent, "Theorem 4\n(not proved)", ORANGE, PRINTED),
        (right, bounds.ucb1_gap_dependent, "Figure 1's trend\n(no theorem)", RED, PRINTED),
        (right, bounds.certified_ucb1, "certified_ucb1", GREEN, PROVED),
    )
    for axes, formula, name, colour, style in lines:
        values = [value(formula, bandit) for bandit in bandits]
        axes.plot(widths, values, color=colour, **style)
        label(axes, 5.5, values[-1], name, colour)

    few, more = widths[::4], widths[::2]
    for axes, policy in ((left, br.BayesUCB()), (right, br.UCB1())):
        exact = [br.exact_regret(gaussian(width), policy, horizon=HORIZON) for width in more]
        # What is nothing but numerical error is far below the axis.
        axes.plot(more, [max(found.regret - found.error, 1e-9) for found in exact], color=BLACK, lw=1.0)
        regrets = [
            br.simulate(gaussian(width), [policy], horizon=HORIZON, runs=RUNS, seed=SEED, progress=False)[policy.name]
            for width in few
        ]
        axes.errorbar(
            few,
            positive(regret.mean for regret in regrets),
            yerr=[2.0 * regret.stderr for regret in regrets],
            fmt="o",
            ms=5.0,
            mfc="none",
            lw=1.0,
            color=BLACK,
            zorder=5,
        )
        axes.set(xscale="log", yscale="log", xlim=(0.047, 5.3), ylim=(0.08, 1e4), xlabel="prior width $s_0$")
        ticks(axes.xaxis, [0.05, 0.1, 0.2, 0.5, 1, 2, 5])
        ticks(axes.yaxis, [0.1, 1, 10, 100, 1000, 10_000])

    left.set(title="BayesUCB", ylabel=f"regret after {HORIZON:,} rounds")
    right.set(title="UCB1")
    left.annotate(
        "Theorem 1 is negative: "
        + f"{value(bounds.gap_dependent, gaussian(0.1)):.0f}".replace("-", "\N{MINUS SIGN}")
        + " at 0.1",
        (0.98 * zero, 0.125),
        (0.21, 0.125),
        color=RED,
        fontsize=8.8,
        va="center",
        arrowprops={"arrowstyle": "->", "color": RED, "shrinkA": 1},
    )
    label(left, 0.54, 37, "regret, simulated and exact", BLACK)
    label(right, 0.54, 40, "regret, simulated and exact", BLACK)
    return figure


# --- how many times tighter ----------------------------------------------------------------------------------------


def beta_bandit(width: float, gap: float) -> br.BernoulliBandit:
    """Ten arms whose Beta priors have this standard deviation; means half the gap above and below one half."""
    means = np.array([0.5 + 0.5 * gap] + [0.5 - 0.5 * gap] * 9)
    counts = means * (1.0 - means) / width**2 - 1.0
    return br.BernoulliBandit(alpha=means * counts, beta=(1.0 - means) * counts)


def linear(width: float, gap: float) -> br.LinearBandit:
    return COMMON_PROBLEMS["linear"](prior_width=width, prior_gap=gap)


COLUMNS: tuple[tuple[str, Callable[..., Any], np.ndarray, np.ndarray, float, float], ...] = (
    ("Gaussian", gaussian, np.geomspace(0.1, 5.0, 25), np.linspace(0.0, 4.0, 17), 1.0, 1.0),
    ("Bernoulli", beta_bandit, np.geomspace(0.03, 0.28, 15), np.linspace(0.0, 0.8, 17), 0.1, 0.2),
    ("linear", linear, np.geomspace(0.1, 5.0, 15), np.linspace(0.0, 4.0, 9), 1.0, 1.0),
)
LABELS = (
    (0, 0.6, 75, "Corollary 2", ORANGE),
    (0, 0.13, 12.0, "Theorem 1", RED),
    (0, 0.55, 7.0, "eq. (3), leading term", PINK),
    (1, 0.085, 230, "Theorem 5, by prior", ORANGE),
    (1, 0.055, 10.0, "Theorem 5, by gaps", RED),
    (2, 0.85, 190, "Theorem 6", RED),
    (2, 1.5, 4.0, "eq. (4)", PINK),
)
LINES = (("gap_dependent", RED), ("prior_dependent", ORANGE), ("sqrt", PINK))


def ratios(formula: Any, bandits: list[Any]) -> np.ndarray:
    return positive(value(formula, bandit) / value(br.bounds.certified, bandit) for bandit in bandits)


def tighter() -> Figure:
    figure, grid = plt.subplots(2, 3, figsize=(10.4, 6.6), sharey=True)
    for column, (name, make, widths, gaps, width, gap) in enumerate(COLUMNS):
        above, below = grid[:, column]
        rows = (
            (above, widths, [make(width=x, gap=gap) for x in widths]),
            (below, gaps, [make(width=width, gap=x) for x in gaps]),
        )
        for axes, x, bandits in rows:
            for formula, colour in LINES:
                if getattr(br.bounds, formula).covers(bandits[0]):
                    axes.plot(x, ratios(getattr(br.bounds, formula), bandits), color=colour, **PRINTED)
            axes.axhline(1.0, color=GREY, lw=1.0)
            axes.set(yscale="log", ylim=(0.8, 1e4))
            ticks(axes.yaxis, [1, 10, 100, 1000, 10_000])
        above.set(xscale="log", xlim=(widths[0], widths[-1]), title=name)
        ticks(above.xaxis, [0.03, 0.05, 0.1, 0.2] if name == "Bernoulli" else [0.1, 0.2, 0.5, 1, 2, 5])
        above.set_xlabel(f"prior width (gap {gap:g})")
        below.set_xlabel(f"prior gap (width {width:g})")
        below.set_xlim(gaps[0], gaps[-1])
    for axes in grid[:, 0]:
        axes.set_ylabel("printed bound / certified")
    for column, x, y, name, colour in LABELS:
        label(grid[0, column], x, y, name, colour)
    return figure


# --- growth --------------------------------------------------------------------------------------------------------


def growth() -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.4), sharex=True)
    horizons = [round(float(10**power)) for power in np.linspace(2, 9, 29)]
    log_n = np.log(horizons)
    bandit = gaussian()
    lines = (
        ("prior_dependent", "Corollary 2", ORANGE, PRINTED),
        ("gap_dependent", "Theorem 1", RED, PRINTED),
        ("certified_floor", "certified_floor", BLUE, PROVED),
        ("certified_index", "certified_index", GREEN, PROVED),
    )
    for formula, name, colour, style in lines:
        values = np.array([value(getattr(br.bounds, formula), bandit, horizon) for horizon in horizons])
        for axes, power in ((left, 1), (right, 2)):
            axes.plot(horizons, values / log_n**power, color=colour, **style)
            label(axes, 1.15e9, values[-1] / log_n[-1] ** power, name, colour, clip_on=False)
    meeting = br.bounds.complexity(bandit, horizon=HORIZON).details["at_zero"]
    for factor, colour in ((8, RED), (4, BLUE), (1, GREEN)):
        right.axhline(factor * meeting, color=colour, lw=0.9, ls=":")
        label(right, 1.2e2, factor * meeting, f"{factor if factor > 1 else ''}$s^2 p(0)$", colour, va="bottom")
    for axes, title in ((left, "bound / log n"), (right, "bound / log² n")):
        axes.set(xscale="log", yscale="log", xlim=(1e2, 1e9), xlabel="rounds $n$", title=title)
        axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
    ticks(left.yaxis, [10, 20, 50, 100, 200, 500, 1000])
    ticks(right.yaxis, [1, 2, 5, 10, 20, 50, 100])
    return figure


# --- the figure of the README --------------------------------------------------------------------------------------

DARK = {
    "figure.facecolor": "#0d1117",
    "axes.facecolor": "#0d1117",
    "text.color": "#e6edf3",
    "axes.labelcolor": "#e6edf3",
    "axes.edgecolor": "#8b949e",
    "xtick.color": "#c9d1d9",
    "ytick.color": "#c9d1d9",
    "grid.color": "#21262d",
}


NAME, FIGURE = "least-regret", "figure-10a"
# Name, label, colour, and how far the label is above the line's end.
POLICIES = (
    ("ucb1", "UCB1", RED, 5.0),
    ("bayes-ucb", "BayesUCB", BLUE, -4.0),
    ("thompson", "Thompson sampling", ORANGE, 0.0),
    ("gittins", "Gittins index", PINK, 5.0),
)


def enclosed(table: Table, tone: Callable[[str], str]) -> Figure:
    """Regret of policies over rounds above the least possible one; `tone` adapts a colour to the background."""
    figure, axes = plt.subplots(figsize=(7.6, 4.1))
    rounds, (least, proved) = table.points, (table[name].values for name in (LOWER, UPPER))
    axes.fill_between(rounds, 0.0, least, color=GREY, alpha=0.22, lw=0)
    axes.plot(rounds, least, color=tone(BLACK), lw=2.4)
    axes.plot(rounds, proved, color=tone(GREEN), ls=(0, (5, 2)), lw=1.8)
    for name, text, colour, nudge in POLICIES:
        values = table[name].values
        axes.plot(rounds, values, color=tone(colour), lw=2.0)
        label(axes, 1.12 * rounds[-1], values[-1] + nudge, text, tone(colour), clip_on=False)
    label(axes, 1.12 * rounds[-1], proved[-1], "BayesUCB stays below:\nproved", tone(GREEN), clip_on=False)
    label(axes, 1_500, 17, "no policy can be here: proved", tone(BLACK), fontsize=9.5)
    axes.set(xscale="log", xlim=(10, 1e5), ylim=(0, 290), xlabel="rounds")
    axes.set_title("Reward lost while learning which of ten arms is best")
    ticks(axes.xaxis, [10, 100, 1_000, 10_000, 100_000])
    return figure


def draw_readme() -> None:
    table = reproduced(FIGURE).table
    tones: dict[str, Callable[[str], str]] = {NAME: str, f"{NAME}-dark": lambda colour: ON_DARK[colour.lower()]}
    for name, tone in tones.items():
        more = DARK if name != NAME else {}
        with mpl.rc_context(STYLE | more):
            figure = enclosed(table, tone)
            figure.savefig(OUTPUT / f"{name}.png", dpi=200, metadata={"Software": None})
            if not more:
                write_pair(OUTPUT / f"{name}.svg", as_svg(figure))
            plt.close(figure)


README = "readme"
FIGURES = {"figure-width": over_width, "figure-tighter": tighter, "figure-growth": growth, **DOORS}

# --- figures of the reproduction ------------------------------------------------------------------------------------

REPRODUCED = ("figure-1a", "figure-7", "figure-8", "figure-10b", "figure-11")


def reproduced(name: str) -> Finished:
    """Run a figure of `bayesregret reproduce`."""
    with tempfile.TemporaryDirectory() as folder, Study.open(Path(folder) / "study.sqlite") as study:
        (finished,) = run_experiments([EXPERIMENTS[name](None, SEED)], study)
    return finished


def as_svg(figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def main(names: list[str]) -> None:
    OUTPUT.mkdir(exist_ok=True)
    for name in names or [README, *FIGURES, *REPRODUCED]:
        if name == README:
            draw_readme()
            continue
        path = OUTPUT / f"{name}.svg"
        if name in REPRODUCED:
            drawn = draw(reproduced(name).table, PAGE)
            write_pair(path, rendered(drawn, "svg", metadata={"Date": None}).decode())
            continue
        with mpl.rc_context(STYLE):
            write_pair(path, as_svg(FIGURES[name]()))
            plt.close("all")


if __name__ == "__main__":
    main(sys.argv[1:])
