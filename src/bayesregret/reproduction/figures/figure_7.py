"""Figure 7: every bound divided by the exact regret, on the 81 bandits of Figure 3."""

from __future__ import annotations

import collections
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesregret.digits import brief, counted
from bayesregret.models import GaussianBandit
from bayesregret.reproduction import paper_settings
from bayesregret.reproduction.experiment import Experiment, PointOutcome, TrendOf
from bayesregret.reproduction.figures import figure_3
from bayesregret.reproduction.point import Result, number
from bayesregret.reproduction.table import Axis, Claim, Kind

if TYPE_CHECKING:
    from bayesregret.bounds.bound import Formula

POLICY = paper_settings.BAYES_UCB["name"]
PRINTED = {"gap_dependent": "Theorem 1", "prior_dependent": "Corollary 2", "sqrt": "square-root bound (3)"}


def figure_7(runs: int | None, seed: int) -> Experiment:
    """Return the experiment. Its points are those of Figure 3a, so a study with that figure has all its numbers."""
    points = figure_3.bandits("gaussian", runs, seed)
    return Experiment(
        "figure-7",
        "Bounds, in units of the exact regret",
        "Beyond the paper: every bound on the regret of BayesUCB, whole, divided by the exact regret, on the "
        f"{len(points)} bandits of Figure 3a. Each line has the bandits in its own order, so that it only rises; below "
        "1 a bound would be broken.",
        Axis("bandits, each line in its own order"),
        Axis("bound / exact regret", "log", mark=1.0, mark_label="exact regret"),
        points,
        tuple(_ratio_of(formula) for formula in bounds_of_policy()),
        _claims,
        sort_by=_regret,
        name=lambda outcome: f"{outcome.point.name}, regret {brief(_regret(outcome))}",
        ranked=True,
    )


def bounds_of_policy() -> list[Formula]:
    """Return all upper bounds on the regret of BayesUCB, printed ones first."""
    from bayesregret.bounds.bound import Formula

    found = [
        formula
        for formula in Formula.every.values()
        if formula.kind == "upper" and formula.listed and formula.is_about(POLICY) and formula.covers(GaussianBandit)
    ]
    return sorted(found, key=lambda formula: formula.form == "certified")


def _ratio_of(formula: Formula) -> TrendOf:
    def read(result: Result) -> tuple[float, float | None]:
        return ratio(result, formula.name), None

    kind: Kind = "certified" if formula.form == "certified" else "printed"
    return TrendOf(formula.name, _label(formula.name), kind, read)


def _label(bound: str) -> str:
    """Return the legend's name: certified (gap free) for certified_gap_free."""
    family, _, form = bound.partition("_")
    return PRINTED.get(bound) or f"{family} ({form.replace('_', ' ')})"


def ratio(result: Result, bound: str, part: str = "value") -> float:
    """Bound over exact regret; infinite where the bound's assumptions fail."""
    found = result["bounds"].get(bound)
    return math.inf if found is None else number(found[part]) / float(result["policies"][0]["exact"])


def _regret(outcome: PointOutcome) -> float:
    return float(outcome.result["policies"][0]["exact"])


def _claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    formulas = bounds_of_policy()
    certified = [formula.name for formula in formulas if formula.form == "certified"]
    printed = [formula.name for formula in formulas if formula.form == "paper"]
    return [
        *(_printed_holds(figure, name, outcomes) for name in printed),
        _certified_hold(figure, certified, outcomes),
        _certified_is_tighter(figure, certified, printed, outcomes),
    ]


def _printed_holds(figure: str, bound: str, outcomes: Sequence[PointOutcome]) -> Claim:
    broken = [outcome for outcome in outcomes if _is_broken(outcome, bound)]
    whole = [ratio(outcome.result, bound) for outcome in outcomes]
    leading = [ratio(outcome.result, bound, "leading") for outcome in outcomes]
    evidence = f"at {len(outcomes) - len(broken)} of {counted(len(outcomes), 'point')}, {_span(whole)} the regret"
    if leading != whole:
        evidence += f"; its leading term alone {_span(leading)}"
    name = _label(bound)
    statement = f"{name if name[0].isupper() else f'The {name}'} is above the exact regret of BayesUCB."
    exceptions = tuple(_exception(outcome, bound) for outcome in broken)
    return Claim(figure, statement, "fails" if broken else "holds", evidence, exceptions)


def _certified_hold(figure: str, bounds: Sequence[str], outcomes: Sequence[PointOutcome]) -> Claim:
    broken = [(outcome, bound) for outcome in outcomes for bound in bounds if _is_broken(outcome, bound)]
    nearest, outcome = min(
        ((bound, outcome) for outcome in outcomes for bound in bounds),
        key=lambda pair: ratio(pair[1].result, pair[0]),
    )
    evidence = (
        f"{counted(len(bounds), 'bound')} at {counted(len(outcomes), 'point')}; the nearest is {nearest}, "
        f"{ratio(outcome.result, nearest):.3f} times the regret, {outcome.point.name}"
    )
    return Claim(
        figure,
        "Every certified bound is above the exact regret of BayesUCB.",
        "fails" if broken else "holds",
        evidence,
        tuple(_exception(outcome, bound) for outcome, bound in broken),
        "bayesregret",
    )


def _certified_is_tighter(
    figure: str, certified: Sequence[str], printed: Sequence[str], outcomes: Sequence[PointOutcome]
) -> Claim:
    """Compare the best certified bound with the best printed one, bandit by bandit."""
    best = [min((ratio(outcome.result, bound), bound) for bound in certified) for outcome in outcomes]
    others = [min(ratio(outcome.result, bound) for bound in printed) for outcome in outcomes]
    wins = collections.Counter(name for _, name in best)
    named = ", ".join(f"{name} at {count}" for name, count in wins.most_common())
    evidence = f"{named}: {_span([value for value, _ in best])} the regret; the best printed one {_span(others)}"
    looser = [i for i, (value, _) in enumerate(best) if value >= others[i]]
    return Claim(
        figure,
        "The best certified bound is below every printed one.",
        "fails" if looser else "holds",
        evidence,
        tuple(f"{outcomes[i].point.name}: {best[i][0]:.3f} against {others[i]:.3f} times the regret" for i in looser),
        "bayesregret",
    )


def _is_broken(outcome: PointOutcome, bound: str) -> bool:
    """Return whether the bound is below the regret by more than numerical errors explain.

    The value of a certified bound contains its own error already.
    """
    found = outcome.result["bounds"].get(bound)
    if found is None:
        return False
    policy = outcome.result["policies"][0]
    error = 0.0 if found["form"] == "certified" else float(found["error"])
    return number(found["value"]) + error < float(policy["exact"]) - float(policy["exact_error"])


def _exception(outcome: PointOutcome, bound: str) -> str:
    return f"{outcome.point.name}: {bound} {brief(outcome.bound(bound))}, exactly {brief(_regret(outcome))}"


def _span(ratios: Sequence[float]) -> str:
    return f"{min(ratios):.2f} to {max(ratios):.2f} times"
