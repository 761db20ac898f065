"""Figure 3: UCB1 against BayesUCB on 81 bandits (appendix)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bayesregret.experiments import claims, paper
from bayesregret.experiments.experiment import Experiment, Outcome, Point, difference_of
from bayesregret.experiments.point import ALL_BOUNDS, point_settings
from bayesregret.experiments.table import Axis, Claim
from bayesregret.problem import common_gaussian

ARMS = (5, 10, 20)
LEVELS = (0.5, 1.0, 2.0)  # of reward noise, prior gap and prior width
RUNS = 1_000
TRENDS = (difference_of(1, "ucb1", "regret of UCB1 minus regret of BayesUCB"),)


def figure_3a(runs: int | None, seed: int) -> Experiment:
    return _experiment("figure-3a", "gaussian", "Gaussian noise", runs, seed)


def figure_3b(runs: int | None, seed: int) -> Experiment:
    return _experiment("figure-3b", "rademacher", "noise of plus or minus σ", runs, seed)


def _experiment(figure: str, noise_kind: str, words: str, runs: int | None, seed: int) -> Experiment:
    combinations = itertools.product(ARMS, LEVELS, LEVELS, LEVELS)
    points = tuple(
        _point(i, arms, noise, gap, width, noise_kind, runs, seed)
        for i, (arms, noise, gap, width) in enumerate(combinations, start=1)
    )
    return Experiment(
        figure,
        f"81 Gaussian bandits, {words}",
        f"The difference in regret of UCB1 and BayesUCB on {len(points)} bandits, sorted, {words}; standard errors are "
        "those of the difference on common instances and noise.",
        Axis("bandit, in order of the difference"),
        Axis("difference in regret"),
        points,
        TRENDS,
        _claims,
        sort_by="ucb1",
    )


def _point(
    number: int, arms: int, noise: float, gap: float, width: float, noise_kind: str, runs: int | None, seed: int
) -> Point:
    bandit = common_gaussian(arms=arms, prior_gap=gap, prior_width=width, reward_noise=noise, noise_kind=noise_kind)
    settings = point_settings(
        bandit,
        [paper.BAYES_UCB, paper.UCB1],
        horizon=paper.HORIZON,
        runs=runs or RUNS,
        seed=seed,
        bounds=ALL_BOUNDS if noise_kind == "gaussian" else (),
    )
    return Point(float(number), f"K={arms} noise {noise:g} gap {gap:g} width {width:g}", settings)


def _claims(figure: str, outcomes: Sequence[Outcome]) -> list[Claim]:
    found = [claims.first_policy_is_better(figure, outcomes)]
    if outcomes[0].result["bounds"]:
        found += [
            claims.printed_holds(figure, "Theorem 1", outcomes, "gap_dependent"),
            claims.certified_hold(figure, outcomes),
        ]
    return found
