"""Simulated regrets against exact ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

from bayesregret.digits import counted, exact_digits, with_error
from bayesregret.experiments.experiment import Computed, Outcome, exact_difference_of
from bayesregret.experiments.table import Claim

STATEMENT = "The simulated regrets agree with the exact ones."
# The chance, at most, that right numbers are found to disagree anywhere in a figure.
FALSE_ALARM = 1e-3
# With fewer runs that have any regret, its standard error means little.
ENOUGH_RUNS = 50.0


class Comparison(NamedTuple):
    what: str  # whose regret, and where
    mean: float
    stderr: float
    exact: Computed

    @property
    def distance(self) -> float:
        """In standard errors, beyond what the exact value's own error explains."""
        off = max(0.0, abs(self.mean - self.exact[0]) - self.exact[1])
        if self.stderr > 0.0:
            return off / self.stderr
        return math.inf if off > 0.0 else 0.0

    def __str__(self) -> str:
        return f"{self.what}: {with_error(self.mean, self.stderr)}, exactly {exact_digits(*self.exact)}"


def agreement(figure: str, outcomes: Sequence[Outcome]) -> list[Claim]:
    """Each policy's regret, and its difference from the first one's on common runs; no claim without exact numbers.

    So many comparisons have to pass that a single one must be far off to count (Bonferroni).
    """
    sound = [comparison for outcome in outcomes for comparison in _comparisons(outcome)]
    if not sound:
        return []
    too_far = NormalDist().inv_cdf(1.0 - 0.5 * FALSE_ALARM / len(sound))
    apart = [comparison for comparison in sound if comparison.distance > too_far]
    farthest = max(sound, key=lambda comparison: comparison.distance)
    left_out = sum(policy not in _sound(outcome) for outcome in outcomes for policy in _with_exact(outcome))
    evidence = (
        f"{counted(len(sound), 'comparison')}, {farthest.distance:.1f} standard errors apart at most "
        f"({farthest.what}); {too_far:.1f} would be too far"
        + (f"; {counted(left_out, 'regret')} left out that hardly any run has" if left_out else "")
    )
    return [Claim(figure, STATEMENT, "fails" if apart else "holds", evidence, tuple(map(str, apart)), "bayesregret")]


def _comparisons(outcome: Outcome) -> Iterator[Comparison]:
    policies, where = outcome.result["policies"], outcome.point.name
    sound = _sound(outcome)
    for policy, exact in sound.items():
        told = policies[policy]
        yield Comparison(f"{told['name']}, {where}", told["regret"], told["stderr"], exact)
        more = exact_difference_of(outcome.result, policy)
        if policy > 0 and 0 in sound and more is not None:
            what = f"{told['name']} minus {policies[0]['name']}, {where}"
            yield Comparison(what, told["more"], told["more_stderr"], more)


def _with_exact(outcome: Outcome) -> dict[int, Computed]:
    found = {policy: outcome.exact(policy) for policy in range(len(outcome.result["policies"]))}
    return {policy: exact for policy, exact in found.items() if exact is not None}


def _sound(outcome: Outcome) -> dict[int, Computed]:
    """Exact regrets, but for those that so few runs have that their standard errors mean little.

    How many have regret is guessed: one that does has as much as the worst policy has on average.
    """
    exact = _with_exact(outcome)
    largest = max((regret for regret, _ in exact.values()), default=0.0)
    least = ENOUGH_RUNS / outcome.point.settings["runs"] * largest
    return {policy: found for policy, found in exact.items() if found[0] >= least}
