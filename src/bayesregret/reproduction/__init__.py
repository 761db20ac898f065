"""Experiments of the paper and beyond it: each gives a figure, its numbers, and verdicts on claims about them."""

from __future__ import annotations

from collections.abc import Callable

from bayesregret.reproduction import claims
from bayesregret.reproduction.experiment import Experiment, Point, bound_of, ratio_of, regret_of
from bayesregret.reproduction.figures.figure_1 import figure_1a, figure_1b
from bayesregret.reproduction.figures.figure_2 import figure_2a, figure_2b
from bayesregret.reproduction.figures.figure_3 import figure_3a, figure_3b
from bayesregret.reproduction.figures.figure_4 import figure_4a, figure_4b
from bayesregret.reproduction.figures.figure_5 import figure_5
from bayesregret.reproduction.figures.figure_6 import figure_6a, figure_6b
from bayesregret.reproduction.figures.figure_7 import figure_7
from bayesregret.reproduction.figures.figure_8 import figure_8
from bayesregret.reproduction.figures.figure_9 import figure_9
from bayesregret.reproduction.figures.figure_10 import figure_10a, figure_10b
from bayesregret.reproduction.figures.figure_11 import figure_11
from bayesregret.reproduction.point import point_settings
from bayesregret.reproduction.runner import run_experiments
from bayesregret.reproduction.sweep import load_sweep
from bayesregret.reproduction.table import Axis

__all__ = [
    "BEYOND",
    "EXPERIMENTS",
    "PAPER",
    "Axis",
    "Experiment",
    "Point",
    "bound_of",
    "claims",
    "load_sweep",
    "point_settings",
    "ratio_of",
    "regret_of",
    "run_experiments",
]

Builder = Callable[[int | None, int], Experiment]  # takes runs (None: the figure's default) and seed

PAPER: dict[str, Builder] = {
    "figure-1a": figure_1a,
    "figure-1b": figure_1b,
    "figure-2a": figure_2a,
    "figure-2b": figure_2b,
    "figure-3a": figure_3a,
    "figure-3b": figure_3b,
}
BEYOND: dict[str, Builder] = {
    "figure-4a": figure_4a,
    "figure-4b": figure_4b,
    "figure-5": figure_5,
    "figure-6a": figure_6a,
    "figure-6b": figure_6b,
    "figure-7": figure_7,
    "figure-8": figure_8,
    "figure-9": figure_9,
    "figure-10a": figure_10a,
    "figure-10b": figure_10b,
    "figure-11": figure_11,
}
EXPERIMENTS: dict[str, Builder] = PAPER | BEYOND
