"""Tables behind the figures of a plan: regret and near-best probability by round, and regret with a wrong prior."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bayesregret.checks import Array
from bayesregret.planning.misspecification import PriorLimit
from bayesregret.planning.policy_outcome import LIKELY, PolicyOutcome
from bayesregret.planning.reward import COST, REWARD
from bayesregret.policies import Thompson
from bayesregret.reproduction.table import Axis, Table, Trend

if TYPE_CHECKING:
    from bayesregret.planning.result import Plan

MOST_POINTS = 50  # rounds that are drawn; simulated rounds are dense near the first, where a linear axis has no room
# Differences beyond this multiple of the true prior's gain are left out: they would flatten all others.
HIGHEST = 4.0
CLEARLY = 2.0  # standard errors
# Up to this delta the bonus for uncertainty decides how much a policy explores. With larger ones it is small, and a
# narrow prior may even make a policy explore more, because the first rewards then mislead it less.
EXPLORING = 0.1


def figure_tables(plan: Plan) -> list[Table]:
    """All tables of a plan; none if there is nothing to choose."""
    return [*round_tables(plan), *wrong_prior_tables(plan)]


def round_tables(plan: Plan) -> list[Table]:
    """Regret, and the probability of an arm within epsilon of the best, over the rounds; none with one arm or round."""
    return [] if plan.bandit.arms == 1 or plan.horizon == 1 else [_regrets(plan), _near_best_probabilities(plan)]


# --- over the rounds ------------------------------------------------------------------------------------------------


def _regrets(plan: Plan) -> Table:
    unit = plan.reward.unit
    return Table(
        "plan-regret",
        "Regret so far",
        "Bayes regret up to each round of the same experiment, simulated; bands are one standard error.",
        Axis("round"),
        Axis("regret so far" if unit in (REWARD, COST) else f"regret so far, {unit}"),
        _rounds(plan),
        tuple(_trend(outcome, outcome.tracked.curve, outcome.tracked.curve_stderr) for outcome in _in_order(plan)),
        front=plan.best.name,
    )


def _near_best_probabilities(plan: Plan) -> Table:
    near = f"within {plan.epsilon:g} of the best" if plan.epsilon > 0.0 else "on the best arm"
    arm = f"an arm {near}" if plan.epsilon > 0.0 else "the best arm"
    return Table(
        "plan-near-best",
        f"How soon a policy is on {arm}",
        f"The probability that a round is on {arm}, simulated; bands are one standard error. The table above "
        f"has the round from which on it stays over {LIKELY:.0%}.",
        Axis("round"),
        Axis(f"rounds {near}, percent", mark=100.0 * LIKELY, mark_label=f"{LIKELY:.0%}"),
        _rounds(plan),
        tuple(
            _trend(outcome, 100.0 * outcome.tracked.near_best, 100.0 * outcome.tracked.near_best_stderr)
            for outcome in _in_order(plan)
        ),
        front=plan.best.name,
    )


def _in_order(plan: Plan) -> list[PolicyOutcome]:
    """Outcomes in the order of the plan's table: the recommended policy first."""
    return sorted(plan.outcomes.values(), key=lambda outcome: outcome.regret.mean)


def _drawn(outcome: PolicyOutcome) -> list[int]:
    """Indices of the rounds that are drawn: the first, the last, and others that are not too close together."""
    rounds = outcome.tracked.rounds.tolist()
    apart = rounds[-1] / MOST_POINTS
    kept = [0]
    for i, round_ in enumerate(rounds[:-1]):
        if round_ - rounds[kept[-1]] >= apart:
            kept.append(i)
    return [*kept, len(rounds) - 1]


def _rounds(plan: Plan) -> tuple[float, ...]:
    return tuple(float(plan.best.tracked.rounds[i]) for i in _drawn(plan.best))


def _trend(outcome: PolicyOutcome, values: Array, errors: Array) -> Trend:
    heights, bands = (tuple(float(numbers[i]) for i in _drawn(outcome)) for numbers in (values, errors))
    return Trend(outcome.name, outcome.name, "regret", heights, bands)


# --- with a wrong prior ---------------------------------------------------------------------------------------------


def wrong_prior_tables(plan: Plan) -> list[Table]:
    """Regret with a wrong prior minus regret without one, over wrong means and over wrong widths."""
    if plan.worth is None or plan.horizon == 1:
        return []
    # Policies believe in one prior that matches a mixture: it is as right as such a prior can be, and not the true one.
    true = "matched" if plan.bandit.kind == "mixture" else "true"
    axes = {
        "mean": Axis(f"believed prior mean minus the {true} one"),
        "width": Axis(f"believed prior width, times the {true} one", "log"),
    }
    found = []
    for field, axis in axes.items():
        limits = [limit for limit in plan.limits if limit.field == field]
        if limits:
            found.append(_wrong_prior(plan, axis, limits))
    return found


def _wrong_prior(plan: Plan, axis: Axis, limits: list[PriorLimit]) -> Table:
    field, policy, rival = limits[0].field, limits[0].policy, limits[0].rival
    drawn = sorted(
        (_signed(limit, point), value.mean, value.stderr)
        for limit in limits
        for point, value in zip(limit.points, limit.differences, strict=True)
        if value.mean <= HIGHEST * abs(limit.differences[0].mean)
    )
    points, values, errors = zip(*dict.fromkeys(drawn), strict=True)
    caption = (
        f"Regret of {policy} with a wrong prior {field}, minus that of {rival}, which uses no prior: "
        f"above the line, {rival} is better."
    )
    return Table(
        f"plan-wrong-{field}",
        f"A wrong prior {field}",
        " ".join([caption, *wrong_is_better(plan, limits)]),
        axis,
        Axis(f"regret minus that of {rival}", mark=0.0, mark_label=f"as good as {rival}"),
        points,
        (Trend("wrong", f"{policy} with this prior", "regret", values, errors),),
    )


def wrong_is_better(plan: Plan, limits: list[PriorLimit]) -> list[str]:
    """The sentence that explains a wrong prior with significantly less regret than the true one, if there is any."""
    limit, point, best = min(
        ((limit, *pair) for limit in limits for pair in zip(limit.points, limit.differences, strict=True)),
        key=lambda found: found[2].mean,
    )
    true = limit.differences[0]  # both have the rival's noise in them, so this standard error is rather too large
    if true.mean - best.mean <= CLEARLY * math.hypot(true.stderr, best.stderr):
        return []
    by = f"{point:.2g}" if limit.field == "mean" else f"a factor of {point:.2g}"
    return [
        f"{limit.policy} has less regret with a prior {limit.field} {limit.direction} by {by}: {_why(plan, limit)}."
    ]


def _why(plan: Plan, limit: PriorLimit) -> str:
    """Why a prior that is wrong in this direction may be better than the true one."""
    if plan.bandit.kind == "mixture":
        return "it believes in one prior that matches the mixture, which is not quite the true one"
    outcome = plan.outcomes[limit.policy]
    delta = outcome.tracked.delta
    if not isinstance(outcome.policy, Thompson) and (delta is None or delta > EXPLORING):
        return "it is not the best possible policy, and a wrong prior can make up for some of that"
    # Policies that explore where they are uncertain explore more if the prior is wide, or expects much of every arm.
    is_eager = limit.direction in ("too wide", "too low" if plan.reward.minimise else "too high")
    setting = "with the true prior" if delta is None else f"at delta {delta:.2g}"
    return f"{setting} it explores {'less than would be best' if is_eager else 'more than needed'}"


def _signed(limit: PriorLimit, point: float) -> float:
    if limit.direction == "too low":
        return 0.0 - point
    return 1.0 / point if limit.direction == "too narrow" else point
