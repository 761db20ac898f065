"""Labels and ranges of the sliders."""

from __future__ import annotations

from typing import NamedTuple

from bayesregret.exploring.limits import MOST_ROUNDS, MOST_RUNS, most_arms
from bayesregret.reproduction.table import Scale


class Range(NamedTuple):
    """Where a slider can move. A number that is typed may lie outside."""

    label: str
    low: float
    high: float
    scale: Scale = "linear"
    is_whole: bool = False
    step: float = 0.05  # of a linear slider

    def rounded(self, value: float) -> float:
        """Three digits, as the slider shows them."""
        short = float(f"{value:.3g}")
        return round(short) if self.is_whole else short


RANGES = {
    "arms": Range("Arms", 2, 10_000, "log", is_whole=True),
    "dimension": Range("Features", 1, 20, is_whole=True, step=1),
    "prior_gap": Range("Prior gap: mean of the first arm", 0, 4),
    "prior_width": Range("Prior width", 0.1, 4, "log"),
    "reward_noise": Range("Reward noise", 0.1, 10, "log"),
    "alpha": Range("Prior ones, alpha", 0.1, 100, "log"),
    "beta": Range("Prior zeros, beta", 0.1, 100, "log"),
    "shape": Range("Prior shape", 0.2, 20, "log"),
    "rate": Range("Prior rate", 0.1, 10, "log"),
    "prior_pulls": Range("Prior pulls", 0.1, 20, "log"),
    "scale": Range("Prior scale of the variance", 0.1, 20, "log"),
    "features_seed": Range("Seed of the features", 0, 20, is_whole=True, step=1),
    "horizon": Range("Horizon: number of rounds", 10, MOST_ROUNDS, "log", is_whole=True),
    "delta": Range("Delta: failure probability", 1e-6, 1, "log"),
    "runs": Range("Most runs", 100, MOST_RUNS, "log", is_whole=True),
}
# Shapes for which mean and variance exist.
OF_PROBLEM = {
    ("exponential", "shape"): Range("Prior shape", 2.1, 20, "log"),
    ("normal-gamma", "shape"): Range("Prior shape", 1.1, 20, "log"),
}


def range_of(problem: str, name: str) -> Range:
    """Return the range of a parameter of a problem."""
    found = OF_PROBLEM.get((problem, name), RANGES[name])
    return found._replace(high=most_arms(problem)) if name == "arms" else found
