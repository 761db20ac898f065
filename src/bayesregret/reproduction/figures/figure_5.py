"""Figure 5: regret and bounds against the horizon."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bayesregret.problem import common_gaussian
from bayesregret.reproduction import claims, paper_settings
from bayesregret.reproduction.experiment import Experiment, Point, PointOutcome, bound_of, regret_of
from bayesregret.reproduction.table import Axis, Claim

HORIZONS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
ROUNDS = 400_000_000  # of all runs of a point: longer horizons get fewer runs
FEWEST_RUNS = 400
TRENDS = (
    regret_of(0, "bayes-ucb", "BayesUCB"),
    regret_of(1, "ucb1", "UCB1"),
    bound_of("gap_dependent", "BayesUCB bound (Theorem 1)", "printed", "leading"),
    bound_of("sqrt", "square-root bound (3)", "printed", "leading"),
    bound_of("certified_index", "certified (index form)", "certified"),
    bound_of("certified_gap_free", "certified (gap-free)", "certified"),
)


def figure_5(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(horizon, runs or paper_settings.RUNS, seed) for horizon in HORIZONS)
    return Experiment(
        "figure-5",
        "Growth with the horizon",
        "Beyond the paper: the Gaussian bandit of Figure 1 with width 1 and gap 1, as the horizon grows; "
        "delta = epsilon = 1/n. On these axes a logarithm bends down and a square root is straight.",
        Axis("horizon n", "log"),
        Axis(paper_settings.REGRET_LABEL, "log"),
        points,
        TRENDS,
        _claims,
    )


def _point(horizon: int, runs: int, seed: int) -> Point:
    fewer = max(FEWEST_RUNS, min(runs, ROUNDS // horizon))
    name = f"n = {horizon:,}"
    return paper_settings.compared(
        common_gaussian(), float(horizon), name, runs=min(runs, fewer), seed=seed, horizon=horizon
    )


def _claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    return [
        _slower_than_square_root(figure, outcomes),
        claims.first_policy_is_better(figure, outcomes, whose="bayesregret"),
        claims.certified_hold(figure, outcomes),
    ]


def _slower_than_square_root(figure: str, outcomes: Sequence[PointOutcome]) -> Claim:
    """Compare exponents of n over the last 1.3 decades or so, from the last point and the fifth from the end."""
    first, last = outcomes[-5], outcomes[-1]
    log_ratio = math.log(last.point.x / first.point.x)
    exponent = math.log(last.regret(0) / first.regret(0)) / log_ratio
    bound = math.log(last.bound("sqrt") / first.bound("sqrt")) / log_ratio
    evidence = f"between {first.point.name} and {last.point.name} like n^{exponent:.2f}; the bound like n^{bound:.2f}"
    statement = "The regret of BayesUCB grows much slower than the square-root bound."
    return Claim(figure, statement, "holds" if exponent < 0.5 * bound else "fails", evidence, (), "bayesregret")
