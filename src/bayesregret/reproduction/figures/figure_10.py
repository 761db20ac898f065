"""Figure 10: regret of five policies between a certified lower and a certified upper bound."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bayesregret.digits import brief
from bayesregret.problem import common_gaussian
from bayesregret.reproduction import claims, paper_settings
from bayesregret.reproduction.exact_agreement import agreement
from bayesregret.reproduction.experiment import (
    Decide,
    Experiment,
    Point,
    PointOutcome,
    best_regret_of,
    bound_of,
)
from bayesregret.reproduction.point import point_settings
from bayesregret.reproduction.table import Axis, Claim

HORIZONS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
LONGEST_EXACT = 20_000
ROUNDS = 800_000_000  # of all runs of a point: longer horizons get fewer runs
FEWEST_RUNS = 400
LOWER, UPPER = "certified_lower", "certified_index"
# The discounted Gittins index is at most this many times the lower bound, where the bound is more than rounding.
APART = 1.2
LABELS = {
    "gittins": "Gittins index, discounted",
    "thompson": "Thompson sampling",
    "bayes-ucb": "BayesUCB",
    "moss": "MOSS",
    "ucb1": "UCB1",
}
COMPUTED = ("gittins", "bayes-ucb", "ucb1")
TRENDS = (
    bound_of(LOWER, "no policy can be below (certified)", "certified"),
    *(best_regret_of(i, name, label) for i, (name, label) in enumerate(LABELS.items())),
    bound_of(UPPER, "BayesUCB cannot be above (certified)", "certified"),
)
SETTING = (
    "Beyond the paper: the Gaussian bandit of Figure 1, K = 10. The regret of the Gittins index with discount 1 - 1/n, "
    "of BayesUCB and of UCB1 is computed, that of the others is simulated, with bands of one standard error."
)


def figure_10a(runs: int | None, seed: int) -> Experiment:
    points = tuple(_of_horizon(horizon, runs or paper_settings.RUNS, seed) for horizon in HORIZONS)
    return Experiment(
        "figure-10a",
        "Five policies and the least possible regret, horizon",
        f"{SETTING} Width 1 and gap 1, as the horizon grows. Beyond {LONGEST_EXACT:,} rounds all are simulated.",
        Axis("horizon n", "log"),
        Axis(paper_settings.REGRET_LABEL, "log"),
        points,
        TRENDS,
        _decide("n = 1,000"),
    )


def figure_10b(runs: int | None, seed: int) -> Experiment:
    points = tuple(_of_width(width, runs or paper_settings.RUNS, seed) for width in paper_settings.WIDTHS)
    return Experiment(
        "figure-10b",
        "Five policies and the least possible regret, prior width",
        f"{SETTING} Gap 1 and n = 1,000, as the prior width changes.",
        Axis(paper_settings.WIDTH_LABEL, "log"),
        Axis(paper_settings.REGRET_LABEL),
        points,
        TRENDS,
        _decide("width 1"),
    )


def discounted_gittins(horizon: int) -> dict[str, Any]:
    """Return the settings of the Gittins index whose exact regret is computed."""
    return {"name": "gittins", "discount": 1.0 - 1.0 / horizon}


def over_lower(outcome: PointOutcome, policy: int) -> float | None:
    """Return regret over the lower bound; None where the regret is within its numerical error."""
    regret, error = outcome.best_estimate(policy)
    least = outcome.bound(LOWER)
    if regret <= error:
        return None
    return regret / least if least > 0.0 else math.inf


def between(outcome: PointOutcome, policy: int) -> str:
    """Return both ends of the least possible regret in words."""
    regret, _ = outcome.best_estimate(policy)
    return f"{outcome.point.name}: {brief(outcome.bound(LOWER))} below, {brief(regret)} above"


def _of_horizon(horizon: int, runs: int, seed: int) -> Point:
    fewer = min(runs, max(FEWEST_RUNS, ROUNDS // horizon))
    settings = _settings(common_gaussian(), horizon, fewer, seed)
    return Point(float(horizon), f"n = {horizon:,}", settings)


def _of_width(width: float, runs: int, seed: int) -> Point:
    settings = _settings(common_gaussian(prior_width=width), paper_settings.HORIZON, runs, seed)
    return Point(width, f"width {width:g}", settings)


def _settings(bandit: Any, horizon: int, runs: int, seed: int) -> dict[str, Any]:
    policies: list[Mapping[str, Any]] = [discounted_gittins(horizon), *({"name": name} for name in [*LABELS][1:])]
    exact = COMPUTED if horizon <= LONGEST_EXACT else ()
    return point_settings(bandit, policies, horizon=horizon, runs=runs, seed=seed, bounds=[LOWER, UPPER], exact=exact)


def _decide(landmark: str) -> Decide:
    def decide(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
        return [
            claims.none_is_below(figure, outcomes, [*LABELS.values()], LOWER),
            _gittins_is_near(figure, outcomes, landmark),
            _gittins_is_best(figure, outcomes),
            claims.certified_hold(figure, outcomes, [*LABELS]),
            *agreement(figure, outcomes),
        ]

    return decide


def _gittins_is_near(figure: str, outcomes: Sequence[PointOutcome], landmark: str) -> Claim:
    found = [(ratio, outcome) for outcome in outcomes if (ratio := over_lower(outcome, 0)) is not None]
    far = tuple(f"{outcome.point.name}: {ratio:.3f} times" for ratio, outcome in found if ratio > APART)
    ratios = [ratio for ratio, _ in found]
    evidence = f"{min(ratios):.3f} to {max(ratios):.3f} times; " if ratios else ""
    evidence += "".join(between(outcome, 0) for outcome in outcomes if outcome.point.name == landmark)
    statement = f"The Gittins index has at most {APART:g} times the regret that no policy can be below."
    return Claim(figure, statement, "fails" if far else "holds", evidence, far, "bayesregret")


def _gittins_is_best(figure: str, outcomes: Sequence[PointOutcome]) -> Claim:
    """Claim that no other policy has decisively less regret."""
    better, ratios = [], []
    for outcome in outcomes:
        regret, error = outcome.best_estimate(0)
        for policy, label in enumerate(LABELS.values()):
            other, other_error = outcome.best_estimate(policy)
            if other + claims.DECISIVE * math.hypot(error, other_error) < regret:
                better.append(f"{outcome.point.name}: {label} {brief(other)}, Gittins index {brief(regret)}")
            if policy > 0 and regret > error:
                ratios.append((other / regret, f"{label}, {outcome.point.name}"))
    evidence = "the nearest is {1}, {0:.3f} times its regret".format(*min(ratios)) if ratios else ""
    statement = "Of the five policies none has less regret than the Gittins index."
    return Claim(figure, statement, "fails" if better else "holds", evidence, tuple(better), "bayesregret")
