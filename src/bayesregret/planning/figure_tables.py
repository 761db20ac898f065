"""Tables behind the figures of a plan: regret and best-arm probability by round, and regret with a wrong prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesregret.checks import Array
from bayesregret.experiments.table import Axis, Table, Trend
from bayesregret.planning.misspecification import PriorLimit
from bayesregret.planning.policy_outcome import LIKELY, PolicyOutcome

if TYPE_CHECKING:
    from bayesregret.planning.result import Plan

POINTS = 21  # rounds that are drawn: more marks would hide the lines
# Differences beyond this multiple of the true prior's gain are left out: they would flatten all others.
HIGHEST = 4.0


def figure_tables(plan: Plan) -> list[Table]:
    """All tables of a plan; none if there is nothing to choose."""
    if plan.bandit.arms == 1 or plan.horizon == 1:
        return []
    return [_regrets(plan), _best_arm_probabilities(plan), *wrong_prior_tables(plan)]


def _regrets(plan: Plan) -> Table:
    return Table(
        "plan-regret",
        "Regret so far",
        "Bayes regret up to each round of the same experiment, simulated; bands are one standard error.",
        Axis("round", "log"),
        Axis("Bayes regret", "log"),
        _rounds(plan),
        tuple(
            _trend(outcome, outcome.tracked.curve, outcome.tracked.curve_stderr) for outcome in plan.outcomes.values()
        ),
    )


def _best_arm_probabilities(plan: Plan) -> Table:
    return Table(
        "plan-best-arm",
        "How soon the best arm is found",
        "The probability that a round is on the best arm, simulated; bands are one standard error.",
        Axis("round", "log"),
        Axis("rounds on the best arm, percent", mark=100.0 * LIKELY, mark_label=f"{LIKELY:.0%}"),
        _rounds(plan),
        tuple(
            _trend(outcome, 100.0 * outcome.tracked.on_best, 100.0 * outcome.tracked.on_best_stderr)
            for outcome in plan.outcomes.values()
        ),
    )


def wrong_prior_tables(plan: Plan) -> list[Table]:
    """Regret with a wrong prior minus regret without one, over wrong means and over wrong widths."""
    axes = {
        "mean": Axis("believed prior mean minus the true one"),
        "width": Axis("believed prior width, times the true one", "log"),
    }
    found = []
    for field, axis in axes.items():
        limits = [limit for limit in plan.limits if limit.field == field]
        if limits and plan.worth is not None:
            found.append(_wrong_prior(field, axis, limits, plan.worth.known, plan.worth.without))
    return found


def _wrong_prior(field: str, axis: Axis, limits: list[PriorLimit], known: str, without: str) -> Table:
    drawn = sorted(
        (_signed(limit, point), value.mean, value.stderr)
        for limit in limits
        for point, value in zip(limit.points, limit.differences, strict=True)
        if value.mean <= HIGHEST * abs(limit.differences[0].mean)
    )
    points, values, errors = zip(*dict.fromkeys(drawn), strict=True)
    return Table(
        f"plan-wrong-{field}",
        f"A wrong prior {field}",
        f"Regret of {known} with a wrong prior minus that of {without}, which has none: "
        "above the line, having no prior is better.",
        axis,
        Axis(f"regret minus that of {without}", mark=0.0, mark_label="as good as no prior"),
        points,
        (Trend("wrong", f"{known} with this prior", "regret", values, errors),),
    )


def _signed(limit: PriorLimit, point: float) -> float:
    if limit.direction == "too low":
        return 0.0 - point
    return 1.0 / point if limit.direction == "too narrow" else point


def _drawn(outcome: PolicyOutcome) -> list[int]:
    """Indices of the rounds that are drawn, including the first and the last."""
    count = len(outcome.tracked.rounds)
    return sorted(set(np.linspace(0, count - 1, min(POINTS, count)).round().astype(int).tolist()))


def _rounds(plan: Plan) -> tuple[float, ...]:
    outcome = next(iter(plan.outcomes.values()))
    return tuple(float(outcome.tracked.rounds[i]) for i in _drawn(outcome))


def _trend(outcome: PolicyOutcome, values: Array, errors: Array) -> Trend:
    heights, bands = (tuple(float(numbers[i]) for i in _drawn(outcome)) for numbers in (values, errors))
    return Trend(outcome.name, outcome.name, "regret", heights, bands)
