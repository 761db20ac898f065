"""Figure 3: UCB1 against BayesUCB on 81 bandits (appendix)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bayesregret.problem import common_gaussian
from bayesregret.reproduction import claims, paper_settings
from bayesregret.reproduction.exact_agreement import agreement
from bayesregret.reproduction.experiment import Experiment, Point, PointOutcome, difference_of, exact_difference_of
from bayesregret.reproduction.point import ALL_BOUNDS, point_settings
from bayesregret.reproduction.table import Axis, Claim

ARMS = (5, 10, 20)
SIZES = (0.5, 1.0, 2.0)  # of reward noise, prior gap and prior width
RUNS = 1_000
TRENDS = (difference_of(1, "ucb1", "regret of UCB1 minus regret of BayesUCB"),)


def figure_3a(runs: int | None, seed: int) -> Experiment:
    return _experiment(
        "figure-3a",
        "gaussian",
        "Gaussian noise",
        "The line is the exact difference, computed without simulation; bandits are sorted by it.",
        runs,
        seed,
    )


def figure_3b(runs: int | None, seed: int) -> Experiment:
    return _experiment(
        "figure-3b",
        "rademacher",
        "noise of plus or minus σ",
        "There is no exact difference to compare with: the policies' posterior is not the true one.",
        runs,
        seed,
    )


def _experiment(figure: str, noise_kind: str, words: str, about_exact: str, runs: int | None, seed: int) -> Experiment:
    points = bandits(noise_kind, runs, seed)
    return Experiment(
        figure,
        f"81 Gaussian bandits, {words}",
        f"The regret of UCB1 minus that of BayesUCB on {len(points)} bandits, sorted, {words}; standard errors are "
        f"those of the difference on common instances and noise. {about_exact}",
        Axis("bandit, in order of the difference"),
        Axis("difference in regret"),
        points,
        TRENDS,
        _claims,
        sort_by=_difference,
    )


def bandits(noise_kind: str, runs: int | None, seed: int) -> tuple[Point, ...]:
    """Return a point per combination, with exact regrets and every bound if the noise is Gaussian."""
    combinations = itertools.product(ARMS, SIZES, SIZES, SIZES)
    return tuple(
        _point(i, arms, noise, gap, width, noise_kind, runs, seed)
        for i, (arms, noise, gap, width) in enumerate(combinations, start=1)
    )


def _difference(outcome: PointOutcome) -> float:
    """Difference in regret: exact where computed, simulated otherwise."""
    exact = exact_difference_of(outcome.result, 1)
    return exact[0] if exact is not None else float(outcome.result["policies"][1]["more"])


def _point(
    number: int, arms: int, noise: float, gap: float, width: float, noise_kind: str, runs: int | None, seed: int
) -> Point:
    bandit = common_gaussian(arms=arms, prior_gap=gap, prior_width=width, reward_noise=noise, noise_kind=noise_kind)
    settings = point_settings(
        bandit,
        [paper_settings.BAYES_UCB, paper_settings.UCB1],
        horizon=paper_settings.HORIZON,
        runs=runs or RUNS,
        seed=seed,
        bounds=ALL_BOUNDS if noise_kind == "gaussian" else (),
        exact=noise_kind == "gaussian",
    )
    return Point(float(number), f"K={arms} noise {noise:g} gap {gap:g} width {width:g}", settings)


def _claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    found = [claims.first_policy_is_better(figure, outcomes)]
    if outcomes[0].result["bounds"]:
        found += [
            claims.printed_holds(figure, "Theorem 1", outcomes, "gap_dependent"),
            claims.certified_hold(figure, outcomes),
        ]
    return found + agreement(figure, outcomes)
