"""Figure 8: regret of policies divided by the optimal regret."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bayesregret.digits import with_error
from bayesregret.problem import common_bernoulli
from bayesregret.reproduction.claims import DECISIVE
from bayesregret.reproduction.experiment import Experiment, Point, PointOutcome, TrendOf
from bayesregret.reproduction.point import Result, point_settings
from bayesregret.reproduction.table import OVER_OPTIMAL, Axis, Claim

HORIZONS = (5, 10, 20, 35, 50, 75, 100, 150, 200)
RUNS = 20_000
# The first, optimal policy has no line: the others' paired differences from it are much less noisy than regrets.
# The rest are in the order of the legend. Names as on the command line.
POLICIES = (
    ({"name": "bayes-optimal"}, "optimal"),
    ({"name": "gittins"}, "Gittins index"),
    ({"name": "information-directed"}, "information-directed"),
    ({"name": "thompson"}, "Thompson sampling"),
    ({"name": "quantile-ucb"}, "Bayes-UCB (quantile)"),
    ({"name": "kl-ucb"}, "KL-UCB"),
    ({"name": "bayes-ucb"}, "BayesUCB"),
    ({"name": "moss"}, "MOSS"),
    ({"name": "ucb1"}, "UCB1"),
    ({"name": "explore-commit"}, "explore, then commit"),
    ({"name": "greedy"}, "greedy"),
)
GITTINS = [settings["name"] for settings, _ in POLICIES].index("gittins")


def figure_8(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(horizon, runs or RUNS, seed) for horizon in HORIZONS)
    return Experiment(
        "figure-8",
        "Policies against the best there can be",
        "Beyond the paper: two Bernoulli arms with uniform priors. Regret of each policy, divided by that of the "
        "Bayes-optimal one, which is computed by dynamic programming, as the horizon grows. No policy can be below 1.",
        Axis("horizon n", "log"),
        OVER_OPTIMAL,
        points,
        tuple(_paired_ratio_of(i) for i in _drawn()),
        _claims,
    )


def _point(horizon: int, runs: int, seed: int) -> Point:
    policies = [settings for settings, _ in POLICIES]
    bandit = common_bernoulli(arms=2)
    settings = point_settings(bandit, policies, horizon=horizon, runs=runs, seed=seed, optimal=True)
    return Point(float(horizon), f"n = {horizon}", settings)


def _paired_ratio_of(policy: int) -> TrendOf:
    """Trend of a ratio to the optimal regret, which is known: only the difference from it is simulated."""

    def read(result: Result) -> tuple[float, float | None]:
        found, optimal = result["policies"][policy], result["optimal"]["regret"]
        return 1.0 + found["more"] / optimal, found["more_stderr"] / optimal

    settings, label = POLICIES[policy]
    return TrendOf(settings["name"], label, "regret", read)


def _claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    return [_none_is_better(figure, outcomes), _gittins_is_near(figure, outcomes)]


def _none_is_better(figure: str, outcomes: Sequence[PointOutcome]) -> Claim:
    """Claim that no policy is below the optimum by more than noise explains."""
    ratios = [(outcome, i, *_paired_ratio_of(i).read(outcome.result)) for outcome in outcomes for i in _drawn()]
    below = [
        f"{outcome.point.name}: {POLICIES[i][1]} {ratio:.4f} times the least regret"
        for outcome, i, ratio, error in ratios
        if ratio + DECISIVE * (error or 0.0) < 1.0
    ]
    nearest, i, ratio, error = min(ratios, key=lambda entry: entry[2])
    evidence = f"{len(_drawn())} policies at {len(outcomes)} horizons; the nearest is {POLICIES[i][1]}, "
    evidence += f"{with_error(ratio, error or 0.0)} times the least regret at {nearest.point.name}"
    statement = "No policy has less regret than the Bayes-optimal one."
    return Claim(figure, statement, "fails" if below else "holds", evidence, tuple(below), "bayesregret")


def _gittins_is_near(figure: str, outcomes: Sequence[PointOutcome]) -> Claim:
    """Claim that no other policy is decisively below the Gittins index, which is nearly optimal at a finite horizon."""
    ratios, better = [], []
    for outcome in outcomes:
        found = {i: _paired_ratio_of(i).read(outcome.result) for i in _drawn()}
        gittins, gittins_error = found[GITTINS]
        ratios.append(gittins)
        better += [
            f"{outcome.point.name}: {POLICIES[i][1]} {ratio:.4f} times the least regret, Gittins index {gittins:.4f}"
            for i, (ratio, error) in found.items()
            if ratio + DECISIVE * math.hypot(error or 0.0, gittins_error or 0.0) < gittins
        ]
    evidence = f"{min(ratios):.3f} to {max(ratios):.3f} times the least regret"
    statement = "Of the other policies, none has less regret than the finite-horizon Gittins index."
    return Claim(figure, statement, "fails" if better else "holds", evidence, tuple(better), "bayesregret")


def _drawn() -> range:
    """Indices of the policies with a line."""
    return range(1, len(POLICIES))
