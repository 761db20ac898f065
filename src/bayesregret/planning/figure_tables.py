"""A plan's figures as tables: regret by round, the best arm's chance by round, and regret with a wrong prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesregret.checks import Array
from bayesregret.experiments.table import Axis, Table, Trend
from bayesregret.planning.misspecification import Limit
from bayesregret.planning.policy_outcome import LIKELY, Outcome

if TYPE_CHECKING:
    from bayesregret.planning.result import Plan

POINTS = 21  # of the rounds that were watched: more marks would hide the lines
# Differences beyond so many times what the true prior gains would press all others into a line.
HIGHEST = 4.0


def figure_tables(plan: Plan) -> list[Table]:
    """What is drawn of a plan."""
    if plan.bandit.arms == 1 or plan.horizon == 1:
        return []
    return [_regrets(plan), _chances(plan), *wrong_prior_tables(plan)]


def _regrets(plan: Plan) -> Table:
    return Table(
        "plan-regret",
        "Regret so far",
        "Bayes regret up to each round of the same experiment, simulated; bands are one standard error.",
        Axis("round", "log"),
        Axis("Bayes regret", "log"),
        _rounds(plan),
        tuple(_trend(outcome, outcome.seen.curve, outcome.seen.curve_stderr) for outcome in plan.outcomes.values()),
    )


def _chances(plan: Plan) -> Table:
    return Table(
        "plan-best-arm",
        "How soon the best arm is found",
        "The chance that a round is on the best arm, simulated; bands are one standard error.",
        Axis("round", "log"),
        Axis("rounds on the best arm, percent", mark=100.0 * LIKELY, mark_label=f"{LIKELY:.0%}"),
        _rounds(plan),
        tuple(
            _trend(outcome, 100.0 * outcome.seen.on_best, 100.0 * outcome.seen.on_best_stderr)
            for outcome in plan.outcomes.values()
        ),
    )


def wrong_prior_tables(plan: Plan) -> list[Table]:
    """Regret with a wrong prior minus that without one, for means and for widths as far as they were looked at."""
    axes = {
        "mean": Axis("believed prior mean minus the true one"),
        "width": Axis("believed prior width, times the true one", "log"),
    }
    found = []
    for field, axis in axes.items():
        limits = [limit for limit in plan.limits if limit.field == field]
        if limits and plan.worth is not None:
            found.append(_wrong(field, axis, limits, plan.worth.known, plan.worth.without))
    return found


def _wrong(field: str, axis: Axis, limits: list[Limit], known: str, without: str) -> Table:
    drawn = sorted(
        (_signed(limit, point), value.mean, value.stderr)
        for limit in limits
        for point, value in zip(limit.points, limit.differences, strict=True)
        if value.mean <= HIGHEST * abs(limit.differences[0].mean)
    )
    points, values, errors = zip(*dict.fromkeys(drawn), strict=True)
    return Table(
        f"plan-wrong-{field}",
        f"A prior {field} that is wrong",
        f"Regret of {known} that believes in a wrong prior minus that of {without}, which knows none: "
        "above the line, no prior is better.",
        axis,
        Axis(f"regret minus that of {without}", mark=0.0, mark_label="as good as no prior"),
        points,
        (Trend("wrong", f"{known} with this prior", "regret", values, errors),),
    )


def _signed(limit: Limit, point: float) -> float:
    if limit.direction == "too low":
        return 0.0 - point
    return 1.0 / point if limit.direction == "too narrow" else point


def _places(outcome: Outcome) -> list[int]:
    """Places of the rounds that are drawn, the first and the last among them."""
    count = len(outcome.seen.rounds)
    return sorted(set(np.linspace(0, count - 1, min(POINTS, count)).round().astype(int).tolist()))


def _rounds(plan: Plan) -> tuple[float, ...]:
    outcome = next(iter(plan.outcomes.values()))
    return tuple(float(outcome.seen.rounds[i]) for i in _places(outcome))


def _trend(outcome: Outcome, values: Array, errors: Array) -> Trend:
    heights, bands = (tuple(float(numbers[i]) for i in _places(outcome)) for numbers in (values, errors))
    return Trend(outcome.name, outcome.name, "regret", heights, bands)
