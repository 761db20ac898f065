"""Evidence on three kinds of inequality, gathered block by block: in every run, on average, in every round."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from bayesregret.audit.runs import Traces
from bayesregret.audit.verdict import Check, Inequality, Verdict, judge_average, make_check, not_applicable
from bayesregret.checks import Array
from bayesregret.simulation.estimates import standard_error

# Upper bound on the probability that an allowed frequency is judged too high in any round.
FALSE_ALARM = 1e-6
# Relative rounding error of a sum over rounds.
SUM_ROUNDING = 1e-9
NO_ROUNDS = "the horizon ends before the first round to check"


class Evidence(Protocol):
    """An inequality with the evidence gathered so far."""

    inequality: Inequality

    def add(self, traces: Traces) -> None:
        """Add the evidence of a block of runs."""

    def check(self) -> Check:
        """Return the verdict on all evidence."""
        ...


class EveryRun:
    """An inequality for each run and arm: `sides` returns the observed and allowed values, (runs, arms) or (runs,).

    An allowed value of NaN excludes an arm from the inequality.
    """

    def __init__(self, inequality: Inequality, sides: Callable[[Traces], tuple[Array, Any]]) -> None:
        self.inequality = inequality
        self.sides = sides
        self.worst: list[tuple[float, float, float, str]] = []  # of each block: ratio, observed, allowed, where
        self.is_violated = False

    def add(self, traces: Traces) -> None:
        observed, allowed = np.broadcast_arrays(*self.sides(traces))
        stated = ~np.isnan(allowed)
        if not stated.any():
            return
        violated = stated & (observed > allowed + SUM_ROUNDING * np.abs(allowed))
        self.is_violated |= bool(violated.any())
        ratio = np.divide(observed, allowed, out=np.where(violated, np.inf, 0.0), where=allowed > 0.0)
        ratio[~stated] = -1.0
        # Among several infinite ratios, take the largest excess.
        furthest = np.where(ratio == ratio.max(), observed - allowed, -np.inf)
        at = np.unravel_index(int(np.nanargmax(furthest)), observed.shape)
        place = f"run {traces.first_run + at[0]}" + (f", arm {at[1]}" if observed.ndim == 2 else "")
        self.worst.append((float(ratio[at]), float(observed[at]), float(allowed[at]), place))

    def check(self) -> Check:
        if not self.worst:
            return not_applicable(self.inequality, "no arm is ever behind the best one")
        ratio, observed, allowed, where = max(self.worst, key=lambda worst: (worst[0], worst[1] - worst[2]))
        verdict: Verdict = "fails" if self.is_violated else "holds"
        return make_check(self.inequality, observed, allowed, verdict, where=where, worst_ratio=ratio)


class OnAverage:
    """An inequality for an average over runs and rounds.

    `sums` names the field of `Traces` that has the sum over rounds; `is_probability` says whether the average estimates
    a probability.
    """

    def __init__(self, inequality: Inequality, allowed: float, sums: str, *, is_probability: bool = False) -> None:
        self.inequality = inequality
        self.allowed = allowed
        self.sums = sums
        self.is_probability = is_probability
        self.runs = 0
        self.mean: Any = 0.0
        self.squares: Any = 0.0

    def add(self, traces: Traces) -> None:
        if traces.rounds == 0:
            return
        values: Array = getattr(traces, self.sums) / traces.rounds
        if values.ndim == 1:
            values = values[:, None]
        mean, runs = values.mean(axis=0), len(values)
        difference = mean - self.mean
        total = self.runs + runs
        self.mean = self.mean + difference * (runs / total)
        self.squares = self.squares + ((values - mean) ** 2).sum(axis=0) + difference**2 * (self.runs * runs / total)
        self.runs = total

    def check(self) -> Check:
        if self.runs == 0:
            return not_applicable(self.inequality, NO_ROUNDS)
        stderr = standard_error(self.squares, self.runs)
        if self.is_probability:  # an event that no run had may still have a probability of about 1 / runs
            stderr = np.where(self.mean == 0.0, 1.0 / self.runs, stderr)
        arm = max(range(len(self.mean)), key=lambda arm: (self._verdict(arm, stderr) == "fails", self.mean[arm]))
        where = f"arm {arm}" if len(self.mean) > 1 else None
        verdict = self._verdict(arm, stderr)
        return make_check(
            self.inequality, float(self.mean[arm]), self.allowed, verdict, stderr=float(stderr[arm]), where=where
        )

    def _verdict(self, arm: int, stderr: Array) -> Verdict:
        if self.is_probability and self.allowed >= 1.0:
            return "holds"
        return judge_average(float(self.mean[arm]), float(stderr[arm]), self.allowed)


class EveryRound:
    """An inequality for the fraction of runs in which a round is not good, round by round."""

    def __init__(self, inequality: Inequality, allowed: float) -> None:
        self.inequality = inequality
        self.allowed = allowed
        self.runs = 0
        self.failed: Any = 0
        self.rounds = 0

    def add(self, traces: Traces) -> None:
        self.runs += len(traces.means)
        self.failed = self.failed + traces.failed_runs
        self.rounds = traces.rounds

    def check(self) -> Check:
        if self.rounds == 0:
            return not_applicable(self.inequality, NO_ROUNDS)
        round_ = int(np.argmax(self.failed))
        fraction = float(self.failed[round_] / self.runs)
        stderr = math.sqrt(fraction * (1.0 - fraction) / self.runs) if fraction > 0.0 else 1.0 / self.runs
        verdict = judge_average(fraction, stderr, self.allowed)
        if self.allowed >= 1.0:
            verdict = "holds"
        elif verdict == "fails" and self.rounds * tail_bound(fraction, self.allowed, self.runs) > FALSE_ALARM:
            verdict = "not decided"  # the worst of many rounds may be high by chance alone
        return make_check(self.inequality, fraction, self.allowed, verdict, stderr=stderr, where=f"round {round_ + 1}")


def tail_bound(fraction: float, probability: float, runs: int) -> float:
    """Chernoff's bound on the probability that an event occurs in at least this fraction of independent runs."""
    if fraction <= probability:
        return 1.0
    divergence = fraction * math.log(fraction / probability)
    if fraction < 1.0:
        divergence += (1.0 - fraction) * (math.log1p(-fraction) - math.log1p(-probability))
    return math.exp(-runs * divergence)
