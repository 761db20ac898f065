"""Tables like those of the experiments, small and made up."""

import math
from dataclasses import replace

from bayesregret.reproduction.table import Axis, Claim, Exact, Table, Trend

WIDTHS = (0.1, 0.3, 1.0, 3.0)


def width_table(**changes):
    """Regret and bounds on a log axis; one bound is negative at first."""
    settings = {
        "figure": "figure-1a",
        "title": "Gaussian bandit, prior width",
        "caption": "Gaussian bandit as the prior width changes.",
        "x": Axis(r"prior width $\sigma_0$", "log"),
        "y": Axis("Bayes regret", "log"),
        "points": WIDTHS,
        "trends": (
            Trend("bayes-ucb", "BayesUCB", "regret", (0.5, 12.25, 77.8, 76.6), (0.2, 0.8, 1.1, 0.5)),
            Trend("ucb1", "UCB1", "regret", (107.1, 111.0, 88.1, 78.1), (0.6, 0.9, 0.8, 0.5)),
            Trend("gap_dependent", "BayesUCB bound (Theorem 1)", "printed", (-343.6, 665.3, 1352.0, 2164.0)),
            Trend("certified_index", "certified (index form)", "certified", (0.9, 46.2, 124.4, 101.6)),
        ),
        "settings": {"runs": 10_000, "horizon": 1000, "epsilon": None},
    }
    return Table(**(settings | changes))


def difference_table(**changes):
    settings = {
        "figure": "figure-3a",
        "title": "81 bandits",
        "caption": "Sorted by the difference.",
        "x": Axis("bandit, in order of the difference"),
        "y": Axis("difference in regret"),
        "points": (1.0, 2.0, 3.0, 4.0),
        "trends": (Trend("ucb1", "UCB1 − BayesUCB", "difference", (-3.25, 0.5, 12.0, 407.0), (2.5, 0.4, 1.0, 6.0)),),
        "point_names": ("K=5 noise 2", "K=5 noise 1", "K=10 noise 1", "K=20 noise 2"),
    }
    return Table(**(settings | changes))


def exact_table(**changes):
    """The first two trends with exact values, of which the first is nothing but numerical error."""
    plain = width_table(**changes)
    exact = (Exact((2e-10, 12.5, 77.5, 76.9), (5e-9,) * 4), Exact((106.6054387, 111.2, 88.1, 78.0), (1e-6,) * 4))
    first = (replace(trend, exact=found) for trend, found in zip(plain.trends, exact, strict=False))
    return replace(plain, trends=(*first, *plain.trends[2:]))


def exact_difference_table(**changes):
    (trend,) = difference_table().trends
    found = Exact((-3.0, 0.6, 11.5, 405.0), (1e-9,) * 4)
    return difference_table(trends=(replace(trend, exact=found),), **changes)


def ranked_table(**changes):
    """Ratios to an exact value, each bound in an order of its own."""
    settings = {
        "figure": "figure-7",
        "x": Axis("bandits, each line in its own order"),
        "y": Axis("bound / exact regret", "log", mark=1.0, mark_label="exact regret"),
        "points": (1.0, 2.0, 3.0, 4.0),
        "point_names": ("K=5", "K=10", "K=20", "K=40"),
        "trends": (
            Trend("gap_dependent", "Theorem 1", "printed", (20.0, 15.0, 40.0, 25.0)),
            Trend("certified_index", "certified (index)", "certified", (2.0, math.inf, 3.0, 1.5)),
        ),
        "ranked": True,
    }
    return width_table(**(settings | changes))


def one_trend(values, *, errors=None, scale="log", kind="printed", points=None):
    points = tuple(float(i + 1) for i in range(len(values))) if points is None else points
    trend = Trend("gap_dependent", "a bound", kind, tuple(values), errors)
    return width_table(y=Axis("Bayes regret", scale), points=points, trends=(trend,))


HARD_VALUES = (
    (-1.0, -2.0, 0.0, -3.0),
    (math.inf, math.inf, math.inf, math.inf),
    (math.nan, math.nan, math.nan, math.nan),
    (1e-300, 1.0, 1e300, math.inf),
    (-math.inf, 5.0, math.nan, 5.0),
    (5.0, 5.0, 5.0, 5.0),
    (0.0, 0.0, 0.0, 0.0),
)
CLAIMS = (
    Claim("figure-1a", "The regret falls.", "holds", "from 77.8 ± 1.1 to 0.50 ± 0.20"),
    Claim("figure-1a", "Theorem 1 is above the regret.", "fails", "at 3 of 4 points", ("width 0.1: −343.6",)),
    Claim("figure-3a", "Certified bounds are above the regret.", "holds", "108 compared", whose="bayesregret"),
)
