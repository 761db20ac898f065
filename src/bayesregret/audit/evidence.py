"""Three kinds of inequality, gathering evidence block by block: about every run, on average, in every round."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from bayesregret.audit.runs import Traces
from bayesregret.audit.verdict import Check, Claim, Verdict, judge_average, make_check, unseen
from bayesregret.checks import Array
from bayesregret.simulation.result import standard_error

# The chance at which a frequency that is allowed would be called too high, all rounds taken together.
FALSE_ALARM = 1e-6
# What rounding may do to a sum over rounds, relative to it.
GATHERED = 1e-9
NOTHING_SEEN = "the horizon ends before there is a round to look at"


class Evidence(Protocol):
    claim: Claim

    def see(self, traces: Traces) -> None: ...

    def check(self) -> Check: ...


class EveryRun:
    """Holds in each run for each arm: `sides` gives what is observed and allowed, (runs, arms) or (runs,).

    NaN in what is allowed stands for an arm that the statement leaves out.
    """

    def __init__(self, claim: Claim, sides: Callable[[Traces], tuple[Array, Any]]) -> None:
        self.claim = claim
        self.sides = sides
        self.seen: list[tuple[float, float, float, str]] = []  # the worst of each block
        self.breaks = False

    def see(self, traces: Traces) -> None:
        observed, allowed = np.broadcast_arrays(*self.sides(traces))
        stated = ~np.isnan(allowed)
        if not stated.any():
            return
        breaks = stated & (observed > allowed + GATHERED * np.abs(allowed))
        self.breaks |= bool(breaks.any())
        share = np.divide(observed, allowed, out=np.where(breaks, np.inf, 0.0), where=allowed > 0.0)
        share[~stated] = -1.0
        # Of several infinite ratios the one that is furthest off.
        furthest = np.where(share == share.max(), observed - allowed, -np.inf)
        at = np.unravel_index(int(np.nanargmax(furthest)), observed.shape)
        place = f"run {traces.first_run + at[0]}" + (f", arm {at[1]}" if observed.ndim == 2 else "")
        self.seen.append((float(share[at]), float(observed[at]), float(allowed[at]), place))

    def check(self) -> Check:
        if not self.seen:
            return unseen(self.claim, "no arm is ever behind the best one")
        share, observed, allowed, where = max(self.seen, key=lambda worst: (worst[0], worst[1] - worst[2]))
        verdict: Verdict = "fails" if self.breaks else "holds"
        return make_check(self.claim, observed, allowed, verdict, where=where, worst_ratio=share)


class OnAverage:
    """Holds on average over runs and rounds. `sums` names what the traces keep summed over the rounds."""

    def __init__(self, claim: Claim, allowed: float, sums: str, *, chance: bool = False) -> None:
        self.claim = claim
        self.allowed = allowed
        self.sums = sums
        self.chance = chance
        self.runs = 0
        self.mean: Any = 0.0
        self.squares: Any = 0.0

    def see(self, traces: Traces) -> None:
        if traces.rounds == 0:
            return
        values: Array = getattr(traces, self.sums) / traces.rounds
        if values.ndim == 1:
            values = values[:, None]
        mean, runs = values.mean(axis=0), len(values)
        apart = mean - self.mean
        whole = self.runs + runs
        self.mean = self.mean + apart * (runs / whole)
        self.squares = self.squares + ((values - mean) ** 2).sum(axis=0) + apart**2 * (self.runs * runs / whole)
        self.runs = whole

    def check(self) -> Check:
        if self.runs == 0:
            return unseen(self.claim, NOTHING_SEEN)
        stderr = standard_error(self.squares, self.runs)
        if self.chance:  # what was never seen may still be: one run in all of them is the least one can say
            stderr = np.where(self.mean == 0.0, 1.0 / self.runs, stderr)
        arm = max(range(len(self.mean)), key=lambda arm: (self._verdict(arm, stderr) == "fails", self.mean[arm]))
        where = f"arm {arm}" if len(self.mean) > 1 else None
        verdict = self._verdict(arm, stderr)
        return make_check(
            self.claim, float(self.mean[arm]), self.allowed, verdict, stderr=float(stderr[arm]), where=where
        )

    def _verdict(self, arm: int, stderr: Array) -> Verdict:
        if self.chance and self.allowed >= 1.0:
            return "holds"
        return judge_average(float(self.mean[arm]), float(stderr[arm]), self.allowed)


class EveryRound:
    """The share of runs in which a round is not good is allowed to be so large, round by round."""

    def __init__(self, claim: Claim, allowed: float) -> None:
        self.claim = claim
        self.allowed = allowed
        self.runs = 0
        self.failed: Any = 0
        self.rounds = 0

    def see(self, traces: Traces) -> None:
        self.runs += len(traces.means)
        self.failed = self.failed + traces.failed_runs
        self.rounds = traces.rounds

    def check(self) -> Check:
        if self.rounds == 0:
            return unseen(self.claim, NOTHING_SEEN)
        round_ = int(np.argmax(self.failed))
        share = float(self.failed[round_] / self.runs)
        stderr = math.sqrt(share * (1.0 - share) / self.runs) if share > 0.0 else 1.0 / self.runs
        verdict = judge_average(share, stderr, self.allowed)
        if self.allowed >= 1.0:
            verdict = "holds"
        elif verdict == "fails" and self.rounds * tail_bound(share, self.allowed, self.runs) > FALSE_ALARM:
            verdict = "not decided"  # the worst of many rounds is high by chance alone
        return make_check(self.claim, share, self.allowed, verdict, stderr=stderr, where=f"round {round_ + 1}")


def tail_bound(share: float, chance: float, runs: int) -> float:
    """Chernoff's bound on the probability that an event of this chance comes in so large a share of the runs."""
    if share <= chance:
        return 1.0
    divergence = share * math.log(share / chance)
    if share < 1.0:
        divergence += (1.0 - share) * (math.log1p(-share) - math.log1p(-chance))
    return math.exp(-runs * divergence)
