"""Comparison of simulated regrets with exact ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

from bayesregret.digits import counted, exact_digits, with_error
from bayesregret.reproduction.experiment import ExactValue, PointOutcome, exact_difference_of
from bayesregret.reproduction.table import Claim

STATEMENT = "The simulated regrets agree with the exact ones."
# Upper bound on the probability that correct numbers are found to disagree anywhere in a figure.
FALSE_ALARM = 1e-3
# If fewer runs have any regret, its standard error means little.
ENOUGH_RUNS = 50.0


class SimulatedVsExact(NamedTuple):
    """A simulated regret, or difference of regrets, and its exact value."""

    subject: str  # the policy or policies, and the point
    mean: float
    stderr: float
    exact: ExactValue

    @property
    def distance(self) -> float:
        """Distance in standard errors, less what the numerical error of the exact value explains."""
        off = max(0.0, abs(self.mean - self.exact[0]) - self.exact[1])
        if self.stderr > 0.0:
            return off / self.stderr
        return math.inf if off > 0.0 else 0.0

    def __str__(self) -> str:
        return f"{self.subject}: {with_error(self.mean, self.stderr)}, exactly {exact_digits(*self.exact)}"


def agreement(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    """Claim that each policy's regret, and its paired difference from the first policy's, agree with the exact ones.

    The threshold allows for the number of comparisons (Bonferroni). Without exact numbers there is no claim.
    """
    comparisons = [comparison for outcome in outcomes for comparison in _comparisons(outcome)]
    if not comparisons:
        return []
    too_far = NormalDist().inv_cdf(1.0 - 0.5 * FALSE_ALARM / len(comparisons))
    apart = [comparison for comparison in comparisons if comparison.distance > too_far]
    farthest = max(comparisons, key=lambda comparison: comparison.distance)
    left_out = sum(policy not in _reliable(outcome) for outcome in outcomes for policy in _with_exact(outcome))
    evidence = (
        f"{counted(len(comparisons), 'comparison')}, at most {farthest.distance:.1f} standard errors apart "
        f"({farthest.subject}); the threshold is {too_far:.1f}"
        + (f"; {counted(left_out, 'regret')} left out because hardly any run has regret" if left_out else "")
    )
    return [Claim(figure, STATEMENT, "fails" if apart else "holds", evidence, tuple(map(str, apart)), "bayesregret")]


def _comparisons(outcome: PointOutcome) -> Iterator[SimulatedVsExact]:
    policies, where = outcome.result["policies"], outcome.point.name
    reliable = _reliable(outcome)
    for policy, exact in reliable.items():
        simulated = policies[policy]
        yield SimulatedVsExact(f"{simulated['name']}, {where}", simulated["regret"], simulated["stderr"], exact)
        more = exact_difference_of(outcome.result, policy)
        if policy > 0 and 0 in reliable and more is not None:
            subject = f"{simulated['name']} minus {policies[0]['name']}, {where}"
            yield SimulatedVsExact(subject, simulated["more"], simulated["more_stderr"], more)


def _with_exact(outcome: PointOutcome) -> dict[int, ExactValue]:
    found = {policy: outcome.exact(policy) for policy in range(len(outcome.result["policies"]))}
    return {policy: exact for policy, exact in found.items() if exact is not None}


def _reliable(outcome: PointOutcome) -> dict[int, ExactValue]:
    """Exact regrets, without those that too few runs have for a meaningful standard error.

    The number of runs with regret is a guess: a run that has any is taken to have the worst policy's mean regret.
    """
    exact = _with_exact(outcome)
    largest = max((regret for regret, _ in exact.values()), default=0.0)
    least = ENOUGH_RUNS / outcome.point.settings["runs"] * largest
    return {policy: found for policy, found in exact.items() if found[0] >= least}
