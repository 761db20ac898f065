"""Draw a fitted prior with its history: arms with their predictions, and a calibration histogram."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.stats import binom

from bayesregret import checks
from bayesregret.plotting import labels
from bayesregret.plotting.saving import DPI, rendered
from bayesregret.plotting.scales import plain
from bayesregret.plotting.style import BLUE, GREY, GRID, PAGE, PAPER, RED, Size, paper_style
from bayesregret.priors.calibration import CalibrationCheck, check_fit
from bayesregret.priors.fitted_prior import FittedPrior
from bayesregret.writing import write_atomically

FORMS = ("png", "pdf", "svg")
SHOWN_ARMS = 60  # more marks would touch
GAP = 1.0  # between experiments, in arms
LETTERS, LONGEST_NAME = 50, 16  # most letters in all experiments' names together, and in one
BAND = 0.95
WORDS = {"bernoulli": "success rate", "gaussian": "mean reward", "poisson": "mean count"}


def save_prior_fit(fitted: FittedPrior, path: str | os.PathLike[str]) -> None:
    """Write the figure of a fit; the path's suffix is .png, .pdf or .svg."""
    form = figure_form(path)
    metadata = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}[form]
    image = rendered(draw_prior_fit(fitted), form, metadata=metadata, dpi=DPI, facecolor=PAPER)
    write_atomically(path, image)


def figure_form(path: str | os.PathLike[str]) -> str:
    """Return the file format that the suffix names."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise checks.fail("figure", "the name of a .png, a .pdf or a .svg file", os.fspath(path))
    return form


def draw_prior_fit(fitted: FittedPrior, size: Size = PAGE) -> Figure:
    """Draw observed means on their predictions, and a histogram that is flat if the prior fits."""
    with paper_style():
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        left, right = figure.subplots(1, 2, width_ratios=[2.2, 1.0])
        draw_arms(left, fitted)
        _draw_heights(right, check_fit(fitted))
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def draw_arms(axes: Axes, fitted: FittedPrior) -> None:
    """Draw the observed means of the first arms of the history on their predictions."""
    check, every = check_fit(fitted, SHOWN_ARMS), fitted.family.history.experiments
    shown = check.history.experiments
    axes.set_xlabel("experiment" if shown == every else f"experiment ({shown} of {every:,})")
    history, outside = check.history, check.outside
    x = np.arange(history.arms) + GAP * history.experiment
    axes.vlines(x, check.low, check.high, color=GREY, alpha=0.45, lw=2.4, label="90% prediction", gid="predicted")
    for where, colour, label in ((~outside, BLUE, "observed"), (outside, RED, "observed outside of it")):
        if where.any():
            axes.plot(x[where], history.means[where], "o", color=colour, ms=3.2, mec=PAPER, mew=0.3, label=label)
    # An experiment's name is at its middle; names are left out where there is no space.
    middles = [x[history.experiment == experiment].mean() for experiment in range(history.experiments)]
    names = [_short(history.labels[first][0]) for first in np.unique(history.experiment, return_index=True)[1]]
    step = sum(map(len, names)) // LETTERS + 1
    axes.set_xticks(middles[::step], names[::step])
    axes.grid(axis="x", visible=False)
    axes.set_ylabel(WORDS[fitted.model])
    axes.yaxis.set_major_formatter(lambda value, _: plain(value))
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, handletextpad=0.4)


def _short(name: object) -> str:
    text = " ".join(str(name).split())
    return labels.for_figure(text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…")


def _draw_heights(axes: Axes, check: CalibrationCheck) -> None:
    bins, arms = check.bins, check.history.arms
    low, high = (float(binom.ppf(level, arms, 1.0 / bins)) / arms for level in (0.5 - BAND / 2.0, 0.5 + BAND / 2.0))
    edges = np.linspace(0.0, 1.0, bins + 1)
    axes.bar(edges[:-1], check.heights, 1.0 / bins, align="edge", color=BLUE, alpha=0.55, ec=PAPER, lw=0.6, zorder=2.0)
    axes.axhspan(low, high, color=GRID, lw=0.0, zorder=0.5)
    label = f"{BAND:.0%} of bars end here if it fits"
    axes.hlines([low, high], 0.0, 1.0, color=GREY, lw=0.8, ls="--", zorder=3.0, label=label, gid="band")
    axes.grid(visible=False)
    axes.set(xlim=(0.0, 1.0), xlabel="predictive probability below", ylabel="arms", xticks=[0.0, 0.5, 1.0])
    axes.set_ylim(0.0, 1.08 * max(high, float(check.heights.max())))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, handletextpad=0.4)
