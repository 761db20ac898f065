"""A plan in sentences: the answer first, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesregret.digits import brief, counted, with_error
from bayesregret.models import Bandit
from bayesregret.planning.delta_tuning import DeltaAdvice
from bayesregret.planning.experiment import SPLIT_TEST
from bayesregret.planning.misspecification import Limit
from bayesregret.planning.numbers import at_least, in_thousands, listed, rounded, told, with_interval
from bayesregret.planning.policy_outcome import Outcome
from bayesregret.planning.targets import Inversion
from bayesregret.planning.tracked_simulation import paired
from bayesregret.planning.value_of_prior import PriorWorth
from bayesregret.planning.zero_crossing import SURE, Crossing
from bayesregret.simulation.result import Estimate

if TYPE_CHECKING:
    from bayesregret.planning.result import Plan


def sentences(plan: Plan) -> list[str]:
    split = split_line(plan)
    found = [answer(plan)] if split is None else [answer(plan), split]
    if plan.worth is not None:
        found.append(worth_line(plan.worth))
    found += [limit_line(limit) for limit in plan.limits]
    if plan.delta is not None:
        found.append(delta_line(plan.delta))
    return found + [inversion_line(inversion, plan.bandit) for inversion in plan.inversions]


def answer(plan: Plan) -> str:
    """Which policy to run; all that come as close as the runs can tell."""
    if plan.bandit.arms == 1:
        return "There is one arm, and nothing to choose: no policy has any regret."
    best = plan.best
    close = [name for name, outcome in plan.outcomes.items() if outcome is not best and not _is_worse(outcome, best)]
    regret = told(best.regret, best.exact is not None)
    run = f"Run {best.name}: its expected regret over {counted(plan.horizon, 'round')} is {regret}."
    return f"{run} Too close to tell apart: {listed(close)}." if close else run


def _is_worse(outcome: Outcome, best: Outcome) -> bool:
    """Surely, on the runs that both have in common, or by what was computed."""
    if outcome.exact is not None and best.exact is not None:
        return outcome.regret.mean - best.regret.mean > outcome.regret.stderr + best.regret.stderr
    more = paired(outcome.seen.final_regret, best.seen.final_regret)
    return more.mean > SURE * more.stderr


def split_line(plan: Plan) -> str | None:
    """What an A/B test comes to."""
    outcome = plan.outcomes[SPLIT_TEST]
    if plan.bandit.arms == 1:
        return None
    explore = outcome.policy.explore  # type: ignore[attr-defined]
    regret, best = outcome.regret, plan.best.regret
    times = ""
    if best.mean > 0.0 and outcome is not plan.best:
        ratio = regret.mean / best.mean
        error = ratio * (regret.stderr / regret.mean + best.stderr / best.mean)
        times = f", {rounded(ratio, max(error, 0.01 * ratio))} times as much"
    amount = f"{told(regret, outcome.exact is not None)}{times}"
    if explore == 0:
        return f"No A/B test is worth its rounds: to keep the arm that the prior puts first has a regret of {amount}."
    return (
        f"The best A/B test splits {counted(explore, 'round')} equally and then keeps the winner: "
        f"its regret is {amount}."
    )


def worth_line(worth: PriorWorth) -> str:
    amount = told(worth.regret, worth.is_exact)
    by_bound = (
        f"there is no certified bound for {worth.without} here to compare"
        if worth.bound is None
        else f"{in_thousands(brief(worth.bound))} by certified bounds"
    )
    return f"The prior is worth {amount}: the regret of {worth.without} minus that of {worth.known}; {by_bound}."


def limit_line(limit: Limit) -> str:
    """How wrong the prior may be in one direction."""
    subject = "A prior mean" if limit.field == "mean" else "A prior width"
    by = "" if limit.field == "mean" else "a factor of "
    if limit.off is None:
        costs = "never costs" if limit.is_sure else "is not seen to cost"
        return f"{subject} {limit.direction} {costs} more than having no prior, up to {by}{limit.reach:.3g} off."
    off = with_interval(limit.off, limit.reach)
    return f"{subject} may be {limit.direction} by {by}{off} before no prior is better."


def delta_line(advice: DeltaAdvice) -> str:
    def cost(value: Estimate) -> str:
        if advice.is_exact and abs(value.mean) <= value.stderr:
            return "0"
        return in_thousands(brief(value.mean) if advice.is_exact else with_error(value.mean, value.stderr))

    within = "computed" if advice.is_exact else f"{advice.low:.2g} to {advice.high:.2g}"
    wrong = ", ".join(f"{name} by {cost(value)}" for name, value in advice.costs.items())
    return (
        f"The best delta for bayes-ucb is {advice.best:.2g} ({within}). Regret is larger with the paper's 1/n, "
        f"{advice.usual:.2g}, by {cost(advice.usual_cost)}; with one {wrong}."
    )


def inversion_line(found: Inversion, bandit: Bandit) -> str:
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
    """The answer with its interval; one that is no less than all that was looked at says so."""
    if found.at_least and found.low == found.reach:
        return f"at least {rounded(found.answer, 0.0)}"
    return with_interval(Crossing(found.answer, found.low, found.high), found.reach, is_whole=found.what != "width")


def _guaranteed(found: Inversion) -> str:
    if found.guaranteed is None:
        return "no certified bound says so"
    if found.what == "width":
        return f"certified for {at_least(found.guaranteed)} times"
    return f"certified for {counted(int(found.guaranteed), 'round' if found.what == 'horizon' else 'arm')}"


def _in_units(found: Inversion, bandit: Bandit) -> str:
    """The width itself, where it is one number that is not 1."""
    width = getattr(bandit, "prior_width", None)
    if not isinstance(width, float) or width == 1.0:
        return ""
    return f", a prior_width of {rounded(found.answer * width, 0.25 * width * (found.high - found.low))}"
