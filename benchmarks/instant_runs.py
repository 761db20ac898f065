"""Runs that take no time, in the place of a simulation: only the costs around them remain. Workers import this file."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bayesregret.simulation.kernels.run import Record, make_record
from bayesregret.simulation.simulation import Simulation


class InstantRuns(Simulation):
    """A simulation whose runs are made up."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.recipe = partial(InstantRuns, *self.recipe.args, **self.recipe.keywords)  # type: ignore[attr-defined]
        self.classes = (*self.classes, InstantRuns)  # so that this file travels
        self.cost = partial(int, 1)  # type: ignore[assignment]

    def play(self, first_run: int, runs: int) -> Record:
        record = make_record(runs, self.arms, len(self.plan.checkpoints))
        record.final_regret[:] = np.arange(first_run, first_run + runs) % 1_009 / 7.0
        record.best_pulls[:] = 1
        record.block_mean[:] = record.block_squares[:] = 1.0
        return record
