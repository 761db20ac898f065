"""Figure 4: a Bernoulli experiment, which the paper does not have."""

from __future__ import annotations

from collections.abc import Sequence

from bayesregret.problem import common_bernoulli
from bayesregret.reproduction import claims, paper_settings
from bayesregret.reproduction.experiment import Experiment, Point, PointOutcome, bound_of, regret_of
from bayesregret.reproduction.table import Axis, Claim

COUNTS = (1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 100.0)
ARMS = (2, 3, 5, 8, 12, 20, 30, 50, 80)
TRENDS = (
    regret_of(0, "bayes-ucb", "BayesUCB"),
    regret_of(1, "ucb1", "UCB1"),
    bound_of("gap_dependent", "Theorem 5, first part", "printed"),
    bound_of("prior_dependent", "Theorem 5, second part", "printed"),
    bound_of("certified_index", "certified (index form)", "certified"),
    bound_of("certified_trivial", "certified (trivial)", "certified"),
)


def figure_4a(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(10, count, f"alpha = beta = {count:g}", count, runs, seed) for count in COUNTS)
    return Experiment(
        "figure-4a",
        "Bernoulli bandit, pseudo-counts",
        "Beyond the paper: ten arms with Beta(c, c) priors, as the pseudo-count c grows and the prior narrows. "
        "Bounds are whole.",
        Axis("pseudo-count α = β", "log"),
        Axis(paper_settings.REGRET_LABEL, "log"),
        points,
        TRENDS,
        _claims,
    )


def figure_4b(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(arms, 1.0, f"K = {arms}", float(arms), runs, seed) for arms in ARMS)
    return Experiment(
        "figure-4b",
        "Bernoulli bandit, number of arms",
        "Beyond the paper: K arms with uniform priors. Bounds are whole.",
        Axis("number of arms K", "log"),
        Axis(paper_settings.REGRET_LABEL, "log"),
        points,
        TRENDS,
        _claims,
    )


def _point(arms: int, count: float, name: str, x: float, runs: int | None, seed: int) -> Point:
    bandit = common_bernoulli(arms=arms, alpha=count, beta=count)
    return paper_settings.compared(bandit, x, name, runs=runs or paper_settings.RUNS, seed=seed)


def _claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    return [
        claims.first_policy_is_better(figure, outcomes, whose="bayesregret"),
        claims.printed_holds(figure, "Theorem 5, first part", outcomes, "gap_dependent"),
        claims.certified_hold(figure, outcomes),
    ]
