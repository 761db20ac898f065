"""What the view "one run" shows after some of its rounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayesregret.agent import Posterior
from bayesregret.digits import PLUS_MINUS, counted, typeset_value
from bayesregret.exploring.one_run import LEVEL, OneRun, watched_run
from bayesregret.exploring.settings import PageState
from bayesregret.exploring.snapshot import IsAbandoned, Line, Reading, Snapshot, never
from bayesregret.models import Bandit

HEADINGS = ("arm", "true mean", "pulls", "posterior mean", f"{LEVEL:.0%} interval", "best, probability")
MOST_LINES = 20


@dataclass(frozen=True, eq=False)
class RunFrame:
    """A run after some rounds."""

    run: OneRun
    rounds: int
    posterior: Posterior | None

    def snapshot(self) -> Snapshot:
        total = len(self.run.taken)
        if self.rounds:
            arm, regret = int(self.run.taken[self.rounds - 1]), self.run.regret[self.rounds - 1]
            status = f"Round {self.rounds:,} of {total:,}: arm {arm}, regret so far {typeset_value(regret)}."
        else:
            status = f"Before the first of {counted(total, 'round')}: {self.run.policy} has only the prior."
        run = self.run
        return Snapshot(run.table(), HEADINGS, tuple(self._lines()), status, True, numbers=run.numbers())

    def _lines(self) -> Iterator[Line]:
        pulls = self.run.pulls(self.rounds)
        order = np.argsort(-self.run.means, kind="stable")[:MOST_LINES]
        for arm in map(int, order):
            mean, pulled = Reading.computed(float(self.run.means[arm])), Reading(f"{pulls[arm]:,}", float(pulls[arm]))
            yield Line(f"arm {arm}", f"arm {arm}", (mean, pulled, *self._posterior(arm)))

    def _posterior(self, arm: int) -> tuple[Reading, ...]:
        if self.posterior is None:
            return ()
        found = self.posterior
        low, high = float(found.low[arm]), float(found.high[arm])
        best, error = float(found.best_probability[arm]), float(found.best_stderr[arm])
        share = f"{best:.1%}" if error == 0.0 else f"{best:.1%} {PLUS_MINUS} {error:.1%}"
        return (
            Reading.computed(float(found.mean[arm])),
            Reading(f"{typeset_value(low)} to {typeset_value(high)}"),
            Reading(share, best, error),
        )


def run_steps(state: PageState, bandit: Bandit, is_abandoned: IsAbandoned = never) -> Iterator[RunFrame]:
    """Yield the one frame of a state."""
    run = watched_run(state, bandit)
    rounds = min(state.round, len(run.taken))
    yield RunFrame(run, rounds, run.posterior(rounds))
