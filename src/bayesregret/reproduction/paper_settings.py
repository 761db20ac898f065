"""Settings that the paper's experiments share, with our choices where the paper is silent."""

from __future__ import annotations

from bayesregret.models import Bandit
from bayesregret.reproduction.experiment import Point
from bayesregret.reproduction.point import ALL_BOUNDS, point_settings

HORIZON = 1_000
RUNS = 10_000
SEED = 7

# The paper's text does not give the ranges of its axes: these show the trends that it describes.
WIDTHS = (0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.75, 1.0, 1.4, 2.0, 2.8, 4.0)
GAPS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
OUR_RANGE = "The paper's text does not give the range of this axis: it is ours."
OUR_NOISE = "Reward noise 1, where the paper is silent: our reading."

WIDTH_LABEL = "prior width σ₀"
GAP_LABEL = "prior gap Δ₀"
REGRET_LABEL = "Bayes regret"

BAYES_UCB = {"name": "bayes-ucb"}
UCB1 = {"name": "ucb1"}


def compared(
    bandit: Bandit, x: float, name: str, *, runs: int, seed: int, horizon: int = HORIZON, exact: bool = False
) -> Point:
    """Return a point with BayesUCB, UCB1 and every bound."""
    both = [BAYES_UCB, UCB1]
    settings = point_settings(bandit, both, horizon=horizon, runs=runs, seed=seed, bounds=ALL_BOUNDS, exact=exact)
    return Point(x, name, settings)
