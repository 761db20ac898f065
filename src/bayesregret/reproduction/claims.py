"""Claims about the experiments, with verdicts computed from the numbers, never written by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Literal

from bayesregret.bounds.bound import ANY, Formula
from bayesregret.digits import brief, counted, with_error
from bayesregret.reproduction.experiment import PointOutcome, exact_difference_of
from bayesregret.reproduction.table import Claim

Claimant = Literal["paper", "bayesregret"]
# A difference of this many standard errors is decisive.
DECISIVE = 4.0
# Numbers whose relative difference is at most this count as equal.
SAME = 1e-9


def at_every_point(
    figure: str,
    statement: str,
    outcomes: Sequence[PointOutcome],
    holds: Callable[[PointOutcome], bool],
    describe: Callable[[PointOutcome], str],
    whose: Claimant = "paper",
) -> Claim:
    """Return a claim about each point separately; the points where it fails are its exceptions."""
    failing = [outcome for outcome in outcomes if not holds(outcome)]
    evidence = f"at {len(outcomes) - len(failing)} of {counted(len(outcomes), 'point')}"
    return Claim(
        figure,
        statement,
        "fails" if failing else "holds",
        evidence,
        tuple(f"{outcome.point.name}: {describe(outcome)}" for outcome in failing),
        whose,
    )


def regret_falls(
    figure: str, statement: str, outcomes: Sequence[PointOutcome], *, towards: Literal["first", "last"]
) -> Claim:
    """Claim that the three outermost points are in order, and the outermost is decisively below the highest."""
    ordered = list(outcomes) if towards == "first" else list(outcomes)[::-1]
    edge = ordered[:3]
    highest = max(outcomes, key=lambda outcome: outcome.regret(0))
    in_order = all(a.regret(0) <= b.regret(0) + b.stderr(0) for a, b in itertools.pairwise(edge))
    lower = edge[0].regret(0) + DECISIVE * edge[0].stderr(0) < highest.regret(0) - DECISIVE * highest.stderr(0)
    outermost = ", ".join(f"{o.point.name}: {with_error(o.regret(0), o.stderr(0))}" for o in edge)
    evidence = f"{outermost}; highest {with_error(highest.regret(0), highest.stderr(0))} at {highest.point.name}"
    return Claim(figure, statement, "holds" if in_order and lower else "fails", evidence)


def first_policy_is_better(
    figure: str, outcomes: Sequence[PointOutcome], other: int = 1, whose: Claimant = "paper"
) -> Claim:
    """Claim that BayesUCB has less regret than UCB1, by exact regrets where known, else by the paired difference."""
    exact = [found[0] for o in outcomes if (found := exact_difference_of(o.result, other)) is not None]
    claim = at_every_point(
        figure,
        "The regret of BayesUCB is below that of UCB1.",
        outcomes,
        lambda outcome: _has_more_regret(outcome, other),
        lambda outcome: f"{_describe_difference(outcome, other)}, {_distance(outcome, other):.1f} standard errors",
    )
    evidence = claim.evidence
    distances = [_distance(outcome, other) for outcome in outcomes]
    if len(exact) == len(outcomes):
        smallest = min(range(len(outcomes)), key=exact.__getitem__)
        evidence += f", smallest margin {brief(exact[smallest])} (exact) at {outcomes[smallest].point.name}; "
        evidence += f"simulated: at {counted(sum(distance > 0.0 for distance in distances), 'point')}"
    nearest = min(range(len(outcomes)), key=distances.__getitem__)
    evidence += f", smallest margin {distances[nearest]:.1f} standard errors at {outcomes[nearest].point.name}"
    unsure = sum(0.0 < distance < DECISIVE for distance in distances)
    evidence += f"; {counted(unsure, 'point')} by less than {DECISIVE:g}" if unsure else ""
    return Claim(claim.figure, claim.statement, claim.verdict, evidence, claim.exceptions, whose)


def _has_more_regret(outcome: PointOutcome, other: int) -> bool:
    exact = exact_difference_of(outcome.result, other)
    return exact[0] > exact[1] if exact is not None else bool(outcome.result["policies"][other]["more"] > 0.0)


def _distance(outcome: PointOutcome, other: int) -> float:
    """Paired difference of regrets in standard errors."""
    policy = outcome.result["policies"][other]
    return policy["more"] / policy["more_stderr"] if policy["more_stderr"] > 0.0 else float("inf")


def _describe_difference(outcome: PointOutcome, other: int) -> str:
    policy = outcome.result["policies"][other]
    exact = exact_difference_of(outcome.result, other)
    exactly = "" if exact is None else f" (exactly {brief(exact[0])})"
    return f"{with_error(policy['more'], policy['more_stderr'], signed=True)}{exactly}"


def below(
    figure: str, statement: str, outcomes: Sequence[PointOutcome], lower: str, upper: str, part: str = "leading"
) -> Claim:
    """Claim that one bound is below another at every point."""
    return at_every_point(
        figure,
        statement,
        outcomes,
        lambda outcome: outcome.bound(lower, part) <= outcome.bound(upper, part),
        lambda outcome: f"{brief(outcome.bound(lower, part))} against {brief(outcome.bound(upper, part))}",
    )


def below_somewhere(figure: str, statement: str, outcomes: Sequence[PointOutcome], lower: str, upper: str) -> Claim:
    """Claim that one bound's leading term is below another's at one point at least."""
    where = [o for o in outcomes if o.bound(lower, "leading") <= o.bound(upper, "leading")]
    names = ", ".join(o.point.name for o in where) or "none"
    return Claim(figure, statement, "holds" if where else "fails", f"{len(where)} of {len(outcomes)} points: {names}")


def does_not_move(figure: str, statement: str, outcomes: Sequence[PointOutcome], bound: str) -> Claim:
    """Claim that a bound's leading term is the same at every point."""
    values = [outcome.bound(bound, "leading") for outcome in outcomes]
    spread = (max(values) - min(values)) / max(values)
    evidence = f"from {brief(min(values))} to {brief(max(values))}"
    return Claim(figure, statement, "holds" if spread <= SAME else "fails", evidence)


def certified_hold(
    figure: str, outcomes: Sequence[PointOutcome], policies: Sequence[str] = ("bayes-ucb", "ucb1")
) -> Claim:
    """Claim that at every point each certified upper bound is above the regret of its policy."""
    exceptions = []
    compared, tightest = 0, float("inf")
    for outcome in outcomes:
        for name, bound in outcome.result["bounds"].items():
            if bound["form"] == "certified" and bound["policy"] in (*policies, ANY) and not _is_lower(name):
                places = range(len(policies)) if bound["policy"] == ANY else [list(policies).index(bound["policy"])]
                policy = max(places, key=outcome.regret)
                compared += 1
                value = outcome.bound(name)
                regret, stderr = outcome.regret(policy), outcome.stderr(policy)
                tightest = min(tightest, value / regret if regret > 0.0 else float("inf"))
                if regret - DECISIVE * stderr > value:
                    exceptions.append(
                        f"{outcome.point.name}: {name} {brief(value)}, regret {with_error(regret, stderr)}"
                    )
    evidence = f"{counted(compared, 'bound')} compared; the tightest is {tightest:.2f} times the regret"
    verdict: Literal["holds", "fails"] = "fails" if exceptions else "holds"
    statement = "Every certified bound is above the simulated regret."
    return Claim(figure, statement, verdict, evidence, tuple(exceptions), "bayesregret")


def none_is_below(figure: str, outcomes: Sequence[PointOutcome], labels: Sequence[str], bound: str) -> Claim:
    """Claim that no policy has less regret than a lower bound, by exact regrets where known."""
    below, nearest = [], (float("inf"), "")
    for outcome in outcomes:
        least = outcome.bound(bound)
        for policy, label in enumerate(labels):
            regret, error = outcome.best_estimate(policy)
            reach = error if outcome.exact(policy) is not None else DECISIVE * error
            if regret + reach < least:
                below.append(f"{outcome.point.name}: {label} {with_error(regret, error)}, bound {brief(least)}")
            if least > reach:
                nearest = min(nearest, (regret / least, f"{label}, {outcome.point.name}"))
    evidence = f"{len(labels)} policies at {counted(len(outcomes), 'point')}; the nearest is {nearest[1]}, "
    evidence += f"{nearest[0]:.3f} times the bound"
    statement = "No policy has less regret than the certified lower bound."
    return Claim(figure, statement, "fails" if below else "holds", evidence, tuple(below), "bayesregret")


def _is_lower(bound: str) -> bool:
    return bound in Formula.every and Formula.every[bound].kind == "lower"


def printed_holds(figure: str, theorem: str, outcomes: Sequence[PointOutcome], bound: str, policy: int = 0) -> Claim:
    """Claim that a printed bound, remainder included, is above the regret: it fails where violated or negative."""
    return at_every_point(
        figure,
        f"{theorem}, with its remainder, is above the regret.",
        outcomes,
        lambda o: o.bound(bound) >= max(0.0, o.regret(policy) - DECISIVE * o.stderr(policy)),
        lambda o: f"{brief(o.bound(bound))}, regret {with_error(o.regret(policy), o.stderr(policy))}",
    )
