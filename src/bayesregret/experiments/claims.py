"""What is claimed of the experiments, decided by their numbers. No verdict is written by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Literal

from bayesregret.digits import brief, counted, with_error
from bayesregret.experiments.experiment import Outcome, exact_difference_of
from bayesregret.experiments.table import Claim

Whose = Literal["paper", "bayesregret"]
# A difference of so many standard errors decides.
DECISIVE = 4.0
# Numbers that agree to this share are the same.
SAME = 1e-9


def at_every_point(
    figure: str,
    statement: str,
    outcomes: Sequence[Outcome],
    holds: Callable[[Outcome], bool],
    tell: Callable[[Outcome], str],
    whose: Whose = "paper",
) -> Claim:
    """A claim about each point alone; the points where it fails are its exceptions."""
    failing = [outcome for outcome in outcomes if not holds(outcome)]
    evidence = f"at {len(outcomes) - len(failing)} of {counted(len(outcomes), 'point')}"
    return Claim(
        figure,
        statement,
        "fails" if failing else "holds",
        evidence,
        tuple(f"{outcome.point.name}: {tell(outcome)}" for outcome in failing),
        whose,
    )


def regret_falls(
    figure: str, statement: str, outcomes: Sequence[Outcome], *, towards: Literal["first", "last"]
) -> Claim:
    """The three outermost points are in order, and the outermost is decisively below the highest."""
    ordered = list(outcomes) if towards == "first" else list(outcomes)[::-1]
    edge = ordered[:3]
    highest = max(outcomes, key=lambda outcome: outcome.regret(0))
    in_order = all(a.regret(0) <= b.regret(0) + b.stderr(0) for a, b in itertools.pairwise(edge))
    lower = edge[0].regret(0) + DECISIVE * edge[0].stderr(0) < highest.regret(0) - DECISIVE * highest.stderr(0)
    told = ", ".join(f"{o.point.name}: {with_error(o.regret(0), o.stderr(0))}" for o in edge)
    evidence = f"{told}; highest {with_error(highest.regret(0), highest.stderr(0))} at {highest.point.name}"
    return Claim(figure, statement, "holds" if in_order and lower else "fails", evidence)


def first_policy_is_better(figure: str, outcomes: Sequence[Outcome], other: int = 1, whose: Whose = "paper") -> Claim:
    """BayesUCB below UCB1: by exact regrets where there are; by how many standard errors of the paired difference."""
    exact = [found[0] for o in outcomes if (found := exact_difference_of(o.result, other)) is not None]
    claim = at_every_point(
        figure,
        "The regret of BayesUCB is below that of UCB1.",
        outcomes,
        lambda outcome: _has_more(outcome, other),
        lambda outcome: f"{_told_difference(outcome, other)}, {_distance(outcome, other):.1f} standard errors",
    )
    evidence = claim.evidence
    distances = [_distance(outcome, other) for outcome in outcomes]
    if len(exact) == len(outcomes):
        smallest = min(range(len(outcomes)), key=exact.__getitem__)
        evidence += f", least by {brief(exact[smallest])} (exact), {outcomes[smallest].point.name}; "
        evidence += f"simulated, at {sum(distance > 0.0 for distance in distances)}"
    nearest = min(range(len(outcomes)), key=distances.__getitem__)
    evidence += f", least by {distances[nearest]:.1f} standard errors, {outcomes[nearest].point.name}"
    unsure = sum(0.0 < distance < DECISIVE for distance in distances)
    evidence += f"; {counted(unsure, 'point')} by less than {DECISIVE:g}" if unsure else ""
    return Claim(claim.figure, claim.statement, claim.verdict, evidence, claim.exceptions, whose)


def _has_more(outcome: Outcome, other: int) -> bool:
    exact = exact_difference_of(outcome.result, other)
    return exact[0] > exact[1] if exact is not None else bool(outcome.result["policies"][other]["more"] > 0.0)


def _distance(outcome: Outcome, other: int) -> float:
    told = outcome.result["policies"][other]
    return told["more"] / told["more_stderr"] if told["more_stderr"] > 0.0 else float("inf")


def _told_difference(outcome: Outcome, other: int) -> str:
    told = outcome.result["policies"][other]
    exact = exact_difference_of(outcome.result, other)
    exactly = "" if exact is None else f" (exactly {brief(exact[0])})"
    return f"{with_error(told['more'], told['more_stderr'], signed=True)}{exactly}"


def below(
    figure: str, statement: str, outcomes: Sequence[Outcome], lower: str, upper: str, part: str = "leading"
) -> Claim:
    """One bound below another at every point."""
    return at_every_point(
        figure,
        statement,
        outcomes,
        lambda outcome: outcome.bound(lower, part) <= outcome.bound(upper, part),
        lambda outcome: f"{brief(outcome.bound(lower, part))} against {brief(outcome.bound(upper, part))}",
    )


def below_somewhere(figure: str, statement: str, outcomes: Sequence[Outcome], lower: str, upper: str) -> Claim:
    where = [o for o in outcomes if o.bound(lower, "leading") <= o.bound(upper, "leading")]
    names = ", ".join(o.point.name for o in where) or "none"
    return Claim(figure, statement, "holds" if where else "fails", f"{len(where)} of {len(outcomes)} points: {names}")


def does_not_move(figure: str, statement: str, outcomes: Sequence[Outcome], bound: str) -> Claim:
    values = [outcome.bound(bound, "leading") for outcome in outcomes]
    spread = (max(values) - min(values)) / max(values)
    evidence = f"from {brief(min(values))} to {brief(max(values))}"
    return Claim(figure, statement, "holds" if spread <= SAME else "fails", evidence)


def certified_hold(figure: str, outcomes: Sequence[Outcome], policies: Sequence[str] = ("bayes-ucb", "ucb1")) -> Claim:
    """Every certified bound against the regret of its policy, at every point."""
    exceptions = []
    compared, tightest = 0, float("inf")
    for outcome in outcomes:
        for name, told in outcome.result["bounds"].items():
            if told["form"] == "certified" and told["policy"] in policies:
                policy = list(policies).index(told["policy"])
                compared += 1
                value = outcome.bound(name)
                regret, stderr = outcome.regret(policy), outcome.stderr(policy)
                tightest = min(tightest, value / regret if regret > 0.0 else float("inf"))
                if regret - DECISIVE * stderr > value + told["error"]:
                    exceptions.append(
                        f"{outcome.point.name}: {name} {brief(value)}, regret {with_error(regret, stderr)}"
                    )
    evidence = f"{counted(compared, 'bound')} compared; the tightest is {tightest:.2f} times the regret"
    verdict: Literal["holds", "fails"] = "fails" if exceptions else "holds"
    statement = "Every certified bound is above the simulated regret."
    return Claim(figure, statement, verdict, evidence, tuple(exceptions), "bayesregret")


def printed_holds(figure: str, what: str, outcomes: Sequence[Outcome], bound: str, policy: int = 0) -> Claim:
    """A printed bound, remainder included, against the regret: violated or negative, the report shows where."""
    return at_every_point(
        figure,
        f"{what}, with its remainder, is above the regret.",
        outcomes,
        lambda o: o.bound(bound) >= max(0.0, o.regret(policy) - DECISIVE * o.stderr(policy)),
        lambda o: f"{brief(o.bound(bound))}, regret {with_error(o.regret(policy), o.stderr(policy))}",
    )
