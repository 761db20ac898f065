"""Figure 11: the least possible regret between its two ends, on the 81 bandits of Figure 3."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from bayesregret.digits import brief
from bayesregret.problem import problem_from_dict
from bayesregret.reproduction import claims, paper_settings
from bayesregret.reproduction.experiment import Experiment, Point, PointOutcome, TrendOf, best_estimate_of
from bayesregret.reproduction.figures import figure_3
from bayesregret.reproduction.figures.figure_10 import LOWER, between, discounted_gittins, over_lower
from bayesregret.reproduction.point import Result, number, point_settings
from bayesregret.reproduction.table import Axis, Claim

RUNS = 2_000
UPPER = "certified"
# At most this many times the lower bound, in the median.
APART = 1.08
LANDMARK = "K=10 noise 1 gap 1 width 1"
LABELS = {"gittins": "Gittins index, discounted", "thompson": "Thompson sampling", "bayes-ucb": "BayesUCB"}


def figure_11(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(point, runs or RUNS, seed) for point in figure_3.bandits("gaussian", runs, seed))
    return Experiment(
        "figure-11",
        "81 bandits, and the least possible regret",
        "Beyond the paper: regret divided by the certified lower bound, which no policy can be below, on the "
        f"{len(points)} bandits of Figure 3a. A bar ends at the smallest certified upper bound on the regret of "
        "BayesUCB; bandits are in the order of these ends. The regret of the Gittins index with discount 1 - 1/n and "
        "of BayesUCB is computed, that of Thompson sampling is simulated.",
        Axis("bandit, in order of upper over lower bound"),
        Axis("regret / certified lower bound", "log", mark=1.0, mark_label="no policy can be below"),
        points,
        (
            TrendOf(UPPER, "up to what is certified for BayesUCB", "certified", _upper_ratio, form="bars"),
            *(_ratio_of(i, name, label) for i, (name, label) in enumerate(LABELS.items())),
        ),
        _claims,
        sort_by=lambda outcome: _upper_ratio(outcome.result)[0],
        name=lambda outcome: f"{outcome.point.name}, lower bound {brief(outcome.bound(LOWER))}",
    )


def _point(point: Point, runs: int, seed: int) -> Point:
    horizon = paper_settings.HORIZON
    settings = point_settings(
        problem_from_dict(point.settings["problem"]),
        [discounted_gittins(horizon), {"name": "thompson"}, paper_settings.BAYES_UCB],
        horizon=horizon,
        runs=runs,
        seed=seed,
        bounds=[LOWER, UPPER],
        exact=["gittins", "bayes-ucb"],
    )
    return Point(point.x, point.name, settings)


def _upper_ratio(result: Result) -> tuple[float, None]:
    bounds = result["bounds"]
    return number(bounds[UPPER]["value"]) / number(bounds[LOWER]["value"]), None


def _ratio_of(policy: int, name: str, label: str) -> TrendOf:
    def read(result: Result) -> tuple[float, float]:
        (regret, error), least = best_estimate_of(result, policy), number(result["bounds"][LOWER]["value"])
        return regret / least, error / least

    return TrendOf(name, label, "regret", read, form="marks")


def _claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    return [
        claims.none_is_below(figure, outcomes, [*LABELS.values()], LOWER),
        _enclosed(figure, outcomes),
        _upper_holds(figure, outcomes),
    ]


def _enclosed(figure: str, outcomes: Sequence[PointOutcome]) -> Claim:
    """Claim that the two ends of the least possible regret are close to each other in the median."""
    ratios = [math.inf if (ratio := over_lower(outcome, 0)) is None else ratio for outcome in outcomes]
    median = statistics.median(ratios)
    evidence = f"median {median:.4f}, from {min(ratios):.3f} to {max(ratios):.3f}"
    evidence += "".join(f"; {between(outcome, 0)}" for outcome in outcomes if outcome.point.name == LANDMARK)
    statement = (
        f"The Gittins index has at most {APART:g} times the regret that no policy can be below, in the median of all "
        "bandits."
    )
    return Claim(figure, statement, "holds" if median <= APART else "fails", evidence, (), "bayesregret")


def _upper_holds(figure: str, outcomes: Sequence[PointOutcome]) -> Claim:
    """Claim that no bar ends below the exact regret of BayesUCB."""
    place = [*LABELS].index("bayes-ucb")

    def holds(outcome: PointOutcome) -> bool:
        regret, error = outcome.best_estimate(place)
        return outcome.bound(UPPER) >= regret - error

    return claims.at_every_point(
        figure,
        "The smallest certified upper bound is above the regret of BayesUCB.",
        outcomes,
        holds,
        lambda outcome: f"{brief(outcome.bound(UPPER))}, regret {brief(outcome.best_estimate(place)[0])}",
        "bayesregret",
    )
