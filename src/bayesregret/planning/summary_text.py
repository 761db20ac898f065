"""A plan in sentences: the recommended policy first, then the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesregret.digits import (
    brief,
    counted,
    exact_or_with_error,
    listed,
    lower_bound_digits,
    rounded_to_error,
    with_error,
    with_interval,
    with_thousands,
)
from bayesregret.models import Bandit
from bayesregret.planning.delta_tuning import DeltaAdvice
from bayesregret.planning.experiment import AB_TEST
from bayesregret.planning.misspecification import PriorLimit
from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.planning.targets import Inversion
from bayesregret.planning.tracked_simulation import paired
from bayesregret.planning.value_of_prior import PriorWorth
from bayesregret.planning.zero_crossing import Z_95
from bayesregret.simulation.result import Estimate

if TYPE_CHECKING:
    from bayesregret.planning.result import Plan


def sentences(plan: Plan) -> list[str]:
    ab_test = ab_test_line(plan)
    found = [answer(plan)] if ab_test is None else [answer(plan), ab_test]
    if plan.worth is not None:
        found.append(worth_line(plan.worth))
    found += [limit_line(limit) for limit in plan.limits]
    if plan.delta is not None:
        found.append(delta_line(plan.delta))
    return found + [inversion_line(inversion, plan.bandit) for inversion in plan.inversions]


def answer(plan: Plan) -> str:
    """Which policy to run, and which others are not significantly worse."""
    if plan.bandit.arms == 1:
        return "There is one arm, and nothing to choose: no policy has any regret."
    best = plan.best
    close = [name for name, outcome in plan.outcomes.items() if outcome is not best and not _is_worse(outcome, best)]
    regret = _regret_text(best)
    run = f"Run {best.name}: its expected regret over {counted(plan.horizon, 'round')} is {regret}."
    return f"{run} Too close to tell apart: {listed(close)}." if close else run


def _regret_text(outcome: PolicyOutcome) -> str:
    return exact_or_with_error(outcome.regret.mean, outcome.regret.stderr, is_exact=outcome.exact is not None)


def _is_worse(outcome: PolicyOutcome, best: PolicyOutcome) -> bool:
    """Whether regret is significantly larger, on the runs that both have in common, or by exact regrets."""
    if outcome.exact is not None and best.exact is not None:
        return outcome.regret.mean - best.regret.mean > outcome.regret.stderr + best.regret.stderr
    more = paired(outcome.tracked.final_regret, best.tracked.final_regret)
    return more.mean > Z_95 * more.stderr


def ab_test_line(plan: Plan) -> str | None:
    """The best A/B test and its regret."""
    outcome = plan.outcomes[AB_TEST]
    if plan.bandit.arms == 1:
        return None
    explore = outcome.policy.explore  # type: ignore[attr-defined]
    regret, best = outcome.regret, plan.best.regret
    times = ""
    if best.mean > 0.0 and outcome is not plan.best:
        ratio = regret.mean / best.mean
        error = ratio * (regret.stderr / regret.mean + best.stderr / best.mean)
        times = f", {rounded_to_error(ratio, max(error, 0.01 * ratio))} times as much"
    amount = f"{_regret_text(outcome)}{times}"
    if explore == 0:
        return f"No A/B test is worth its rounds: keeping the arm with the highest prior mean has a regret of {amount}."
    return (
        f"The best A/B test splits {counted(explore, 'round')} equally and then keeps the winner: "
        f"its regret is {amount}."
    )


def worth_line(worth: PriorWorth) -> str:
    amount = exact_or_with_error(worth.regret.mean, worth.regret.stderr, is_exact=worth.is_exact)
    by_bound = (
        f"there is no certified bound for {worth.without} here to compare"
        if worth.bound is None
        else f"{with_thousands(brief(worth.bound))} by certified bounds"
    )
    return f"The prior is worth {amount}: the regret of {worth.without} minus that of {worth.known}; {by_bound}."


def limit_line(limit: PriorLimit) -> str:
    """How wrong the prior may be in one direction."""
    subject = "A prior mean" if limit.field == "mean" else "A prior width"
    by = "" if limit.field == "mean" else "a factor of "
    if limit.off is None:
        costs = "never costs" if limit.is_sure else "is not seen to cost"
        return f"{subject} {limit.direction} {costs} more than having no prior, up to {by}{limit.reach:.3g} off."
    off = with_interval(*limit.off, reach=limit.reach)
    return f"{subject} may be {limit.direction} by {by}{off} before having no prior is better."


def delta_line(advice: DeltaAdvice) -> str:
    """The best delta, and the additional regret of other deltas."""

    def cost(value: Estimate) -> str:
        if advice.is_exact and abs(value.mean) <= value.stderr:
            return "0"
        return with_thousands(brief(value.mean) if advice.is_exact else with_error(value.mean, value.stderr))

    within = "computed" if advice.is_exact else f"{advice.low:.2g} to {advice.high:.2g}"
    wrong = "".join(f", by {cost(value)} with a delta {name}" for name, value in advice.costs.items())
    return (
        f"The best delta for bayes-ucb is {advice.best:.2g} ({within}). Compared with it, regret is larger by "
        f"{cost(advice.usual_cost)} with the paper's 1/n ({advice.usual:.2g}){wrong}."
    )


def inversion_line(found: Inversion, bandit: Bandit) -> str:
    """The answer to a target search, and the answer that a certified bound guarantees."""
    within = _within(found)
    plural = "" if within == "1" else "s"
    allows = f"With {found.policy} a regret of {found.target:,g} allows"
    if found.what == "horizon":
        per_round = f"Regret per round of {found.policy} is under {found.target:,g}"
        line = f"{per_round} from a horizon of {within} round{plural} on"
    elif found.what == "arms":
        line = f"{allows} {within} arm{plural}"
    else:
        line = f"{allows} a prior {within} times as wide{_in_units(found, bandit)}"
    return f"{line}; {_guaranteed(found)}."


def _within(found: Inversion) -> str:
    """The answer with its interval, or "at least" the answer if it is the furthest point examined."""
    if found.at_least and found.low == found.reach:
        return f"at least {rounded_to_error(found.answer, 0.0)}"
    return with_interval(found.answer, found.low, found.high, reach=found.reach, is_whole=found.what != "width")


def _guaranteed(found: Inversion) -> str:
    if found.guaranteed is None:
        return "no certified bound says so"
    if found.what == "width":
        return f"certified for {lower_bound_digits(found.guaranteed)} times"
    return f"certified for {counted(int(found.guaranteed), 'round' if found.what == 'horizon' else 'arm')}"


def _in_units(found: Inversion, bandit: Bandit) -> str:
    """The width itself, where it is a single number other than 1."""
    width = getattr(bandit, "prior_width", None)
    if not isinstance(width, float) or width == 1.0:
        return ""
    return f", a prior_width of {rounded_to_error(found.answer * width, 0.25 * width * (found.high - found.low))}"
