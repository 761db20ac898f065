"""A plan in sentences: the recommended policy first, then the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesregret.checks import Array
from bayesregret.digits import (
    brief,
    counted,
    exact_or_with_error,
    listed,
    lower_bound_digits,
    rounded_to_error,
    upper_bound_digits,
    with_error,
    with_interval,
    with_thousands,
)
from bayesregret.models import Bandit, LinearBandit
from bayesregret.planning.costs import largest_cost
from bayesregret.planning.delta_tuning import DeltaAdvice
from bayesregret.planning.elsewhere import Scenario
from bayesregret.planning.experiment import AB_TEST
from bayesregret.planning.misspecification import PriorLimit
from bayesregret.planning.perturbed_priors import prior_moments
from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.planning.recommendation import is_worse
from bayesregret.planning.reward import COST, REWARD, ExpectedReward, KeptControl
from bayesregret.planning.settling import Settling
from bayesregret.planning.targets import Inversion
from bayesregret.planning.value_of_prior import PriorWorth
from bayesregret.planning.zero_crossing import Z_95
from bayesregret.simulation.estimates import Estimate

if TYPE_CHECKING:
    from bayesregret.planning.result import Plan


def sentences(plan: Plan) -> list[str]:
    if plan.bandit.arms == 1:
        return [answer(plan), *(inversion_line(inversion, plan.bandit) for inversion in plan.inversions)]
    found = [answer(plan), tuned_line(plan), least_line(plan), *reward_lines(plan), ab_test_line(plan)]
    if plan.settling is not None:
        found.append(settling_line(plan.settling, plan.best.name))
    if plan.worth is not None:
        found.append(worth_line(plan.worth))
    found += prior_lines(plan)
    found += scenario_lines(plan)
    found += horizon_lines(plan)
    if plan.delta is not None:
        found.append(delta_line(plan.delta))
    found += [inversion_line(inversion, plan.bandit) for inversion in plan.inversions]
    return [line for line in found if line is not None]


def answer(plan: Plan) -> str:
    """Which policy to run, and which others are not significantly worse."""
    if plan.bandit.arms == 1:
        return "There is one arm, and nothing to choose: no policy has any regret."
    best = plan.best
    others = (outcome for outcome in plan.outcomes.values() if outcome is not best)
    close = [_close_text(outcome) for outcome in others if not is_worse(outcome, best)]
    run = f"Run {called(best.name)}: its expected regret over {counted(plan.horizon, 'round')} is {_regret_text(best)}."
    if keeps_control(plan):
        run = f"Keep the control: on average it is better than this experiment. The best policy here is {best.name}."
    return f"{run} Too close to tell apart: {listed(close)}." if close else run


def tuned_line(plan: Plan) -> str | None:
    """The risk of a recommended delta that the plan chose, and the policy to take instead."""
    if not plan.best.is_tuned or keeps_control(plan):
        return None
    risk = f"Its delta is tuned to this prior and {counted(plan.horizon, 'round')}: it fails rarely and badly."
    others = [found for found in plan.outcomes.values() if not found.is_tuned and found.name != AB_TEST]
    if not others:
        return risk
    other = min(others, key=lambda found: found.regret.mean)
    return f"{risk} The best policy without a tuned setting: {other.name}, {_regret_text(other)}."


def least_line(plan: Plan) -> str | None:
    """How much of the regret of the best policy any other one could still save, with 95 percent confidence."""
    least, most, name = plan.least, plan.best.most_regret, called(plan.best.name)
    if least is None or least.regret <= 0.0:
        return None
    no_less = f"No policy can lose less than {lower_bound_digits(least.regret, 4)}"
    if most <= least.regret:
        return f"{no_less}, and {name} loses no more, as far as was simulated."
    saved = upper_bound_digits(100.0 * (1.0 - least.regret / most), 3)
    sure = ", 95 percent sure" if plan.best.exact is None else ""
    return f"{no_less}: at most {saved} percent of the regret of {name} could still be saved{sure}."


def keeps_control(plan: Plan) -> bool:
    """Whether keeping the control is significantly better than the best policy."""
    control = plan.reward.control
    return control is not None and control.gain.mean < -Z_95 * control.gain.stderr


def called(name: str) -> str:
    return f"the {name}" if name == AB_TEST else name


def _regret_text(outcome: PolicyOutcome) -> str:
    return exact_or_with_error(outcome.regret.mean, outcome.regret.stderr, is_exact=outcome.exact is not None)


def _close_text(outcome: PolicyOutcome) -> str:
    """The name, and the regret of a tuned delta: that may be the least in the table."""
    return f"{outcome.name} with {_regret_text(outcome)}, tuned to this prior" if outcome.is_tuned else outcome.name


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
        shown = rounded_to_error(ratio, max(error, 0.01 * ratio))
        times = ", as much" if float(shown.replace(",", "")) == 1.0 else f", {shown} times as much"
    amount = f"{_regret_text(outcome)}{times}"
    if explore == 0:
        return f"No A/B test is worth its rounds: keeping the arm with the highest prior mean has a regret of {amount}."
    return (
        f"The best A/B test splits {counted(explore, 'round')} equally and then keeps the winner: "
        f"its regret is {amount}."
    )


def reward_lines(plan: Plan) -> list[str]:
    """The expected reward or cost, the part that learning costs, and the comparison with the control."""
    reward, name = plan.reward, plan.best.name
    gives, expected = _gives(reward), with_thousands(with_error(reward.policy.mean, reward.policy.stderr))
    lost = ""
    if reward.lost is not None:
        lost = f": {_percent(reward.lost)} {'more' if reward.minimise else 'is lost'} while learning"
    best = _amount(reward.best_arm, reward.unit)
    found = [f"Always pulling the best arm {gives} {best}, and {called(name)} {expected}{lost}."]
    if reward.control is not None:
        found.append(control_line(reward, reward.control, name))
        if reward.control.arm is None and any(scenario.field == "level" for scenario in plan.scenarios):
            found.append(unknown_level_line(reward.control, plan.horizon))
    return found


def _gives(reward: ExpectedReward) -> str:
    if reward.minimise:
        return "has" if reward.unit == COST else "costs"
    return "gives"


def control_line(reward: ExpectedReward, control: KeptControl, name: str) -> str:
    """The comparison with keeping the control."""
    kept = "the control" if control.arm is None else f"arm {control.arm}, the control,"
    difference = with_thousands(with_error(abs(control.gain.mean), control.gain.stderr))
    is_better = control.gain.mean >= 0.0
    if reward.minimise:
        compared = f"saves {difference}" if is_better else f"costs {difference} more"
    else:
        compared = f"gives {difference} {'more' if is_better else 'less'}"
    amount = _amount(control.amount, reward.unit)
    return (
        f"Keeping {kept} {_gives(reward)} {amount}: {called(name)} {compared} on average. "
        f"Some arm is better than the control with {_percent(control.better)} probability."
    )


def unknown_level_line(control: KeptControl, horizon: int) -> str:
    """The caveat that belongs to the comparison with a control of known mean, if the level of new arms varies."""
    return (
        "That is for new arms whose level varies as in past experiments, whatever the control is. If they are variants "
        "of the control, most of this difference may be that unknown level: fit the prior with the "
        f"control's level (bayesregret prior fit --level {control.amount.mean / horizon:.4g})."
    )


def _amount(value: Estimate, unit: str) -> str:
    amount = with_thousands(with_error(value.mean, value.stderr) if value.stderr > 0.0 else brief(value.mean))
    return f"a {unit} of {amount}" if unit in (REWARD, COST) else f"{amount} {unit}"


def _percent(fraction: float) -> str:
    return f"{100.0 * fraction:.{3 if 0.1 < fraction < 1.0 else 2}g} percent"


def settling_line(found: Settling, name: str) -> str:
    """From which round on the recommended policy is near the best arm, also beyond the plan's horizon."""
    near = f"on an arm within {found.epsilon:g} of the best with 95 percent probability"
    if found.round is None:
        return f"{name} needs more than {counted(found.reach, 'round')} to be {near}."
    at = with_interval(*found.round, reach=found.reach, is_whole=True)
    beyond = " That is beyond this horizon." if found.round.at > found.horizon else ""
    return f"{name} is {near} from round {at} on.{beyond}"


def worth_line(worth: PriorWorth) -> str:
    amount = exact_or_with_error(worth.regret.mean, worth.regret.stderr, is_exact=worth.is_exact)
    by_bound = "" if worth.bound is None else f"; {with_thousands(brief(worth.bound))} by certified bounds"
    return (
        f"For {worth.known}, the prior is worth {amount}: the regret of {worth.without}, the best policy here without "
        f"a prior, minus that of {worth.known}{by_bound}."
    )


def prior_lines(plan: Plan) -> list[str]:
    """How wrong the prior may be in each direction, after the numbers of a prior that stands for a mixture."""
    if not plan.limits:
        return []
    return [*belief_lines(plan, plan.limits[0].policy), *map(limit_line, plan.limits)]


def belief_lines(plan: Plan, name: str) -> list[str]:
    """Mean and width of the prior that a policy believes in, where this is another one than the problem's."""
    believed = getattr(plan.outcomes[name].policy, "prior", None)
    if believed is None or isinstance(believed, LinearBandit):
        return []
    means, widths = prior_moments(believed)
    if plan.reward.minimise:
        means = largest_cost(plan.bandit) - means
    return [
        f"{name} believes in arms with a prior mean of {_range(means)} and a prior width (standard deviation) of "
        f"{_range(widths)}, which match the mixture on average (bandit.conjugate()). It is these that may be wrong:"
    ]


def _range(values: Array) -> str:
    low, high = (f"{end:.3g}" for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def limit_line(limit: PriorLimit) -> str:
    """How wrong the prior may be in one direction, for the recommended policy."""
    by = "" if limit.field == "mean" else "a factor of "
    if limit.off is not None:
        off = with_interval(*limit.off, reach=limit.reach)
        return (
            f"A prior {limit.field} may be {limit.direction} by {by}{off} before {limit.rival} has less regret than "
            f"{limit.policy}."
        )
    has_less = "still has less regret" if limit.is_sure else "was not seen to have more regret"
    return (
        f"With a prior {limit.field} {limit.direction} by up to {by}{limit.reach:.3g}, {limit.policy} {has_less} than "
        f"{limit.rival}."
    )


def scenario_lines(plan: Plan) -> list[str]:
    """Whether the recommendation holds at the ends of what the prior allows."""
    changed = [scenario for scenario in plan.scenarios if scenario.compared.changes_order]
    name = plan.best.name
    lines = [
        f"The recommendation depends on the {scenario.field}: {_end_text(scenario)}, {scenario.compared.best} is best, "
        f"and {name} has {with_error(scenario.compared.excess.mean, scenario.compared.excess.stderr)} more regret."
        for scenario in changed
    ]
    if plan.scenarios and not changed:
        fields = listed(list(dict.fromkeys(scenario.field for scenario in plan.scenarios)), "or")
        lines.append(
            f"If the {fields} is at either end of its 90 percent interval, no policy is clearly better than {name}."
        )
    return lines


def _end_text(scenario: Scenario) -> str:
    return f"at the {scenario.end} end of its 90 percent interval, {scenario.value:.3g}"


def horizon_lines(plan: Plan) -> list[str]:
    """What a horizon half or twice as long would change."""
    found = []
    for other in plan.other_horizons:
        regret, excess, best = other.compared.regret, other.compared.excess, other.compared.best
        rounds = counted(other.horizon, "round")
        shown = with_thousands(with_error(regret.mean, regret.stderr))
        better = f", and {called(best)} is better by {with_thousands(with_error(excess.mean, excess.stderr))}"
        found.append(
            f"With a horizon {other.name}, {rounds}, {plan.best.name} has a regret of {shown}"
            f"{better if other.compared.changes_order else ''}."
        )
    return found


def delta_line(advice: DeltaAdvice) -> str:
    """The best delta, and the additional regret of other deltas."""

    def cost(value: Estimate) -> str:
        if value.mean <= value.stderr:  # not larger, as far as was computed
            return "0" if advice.is_exact else "no more than chance"
        return with_thousands(brief(value.mean) if advice.is_exact else with_error(value.mean, value.stderr))

    within = "computed" if advice.is_exact else _examined_interval(advice)
    wrong = "".join(f", by {cost(value)} with a delta {name}" for name, value in advice.costs.items())
    return (
        f"The best delta for bayes-ucb is {advice.best:.2g} ({within}). Compared with it, regret is larger by "
        f"{cost(advice.usual_cost)} with the usual 1/n ({advice.usual:.2g}){wrong}."
    )


def _examined_interval(advice: DeltaAdvice) -> str:
    """The interval; an end at which the sweep ended is not one of the interval."""
    low = f"below {advice.low:.2g}" if advice.low == min(advice.deltas) else f"{advice.low:.2g}"
    beyond = "beyond " if advice.high == max(advice.deltas) else ""
    return f"{low} to {beyond}{advice.high:.2g}"


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
