"""Results of the runs so far, added up in the order of runs: the same bits wherever the runs were played."""

from __future__ import annotations

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel
from bayesregret.simulation.estimates import Estimate, Moments
from bayesregret.simulation.kernels.run import BLOCK, Record, add_blocks
from bayesregret.simulation.policy_result import Kept
from bayesregret.simulation.regret_counts import RegretCounts

MANY_BLOCKS = 256  # from which on compiled code adds them up


class Tally:
    """Results of the runs so far: mean and squared deviations of the curve, pulls and final regrets.

    With `keep`, those of each run; without, memory does not grow with runs.
    """

    def __init__(self, arms: int, checkpoints: int, *, keep: bool = True) -> None:
        self.runs = 0
        self.curve_mean = np.zeros(checkpoints)
        self.curve_squares = np.zeros(checkpoints)
        self.pulls = np.zeros(arms, np.int64)
        # Numbers of runs on the best arm and near it, before each checkpoint.
        self.on_best = np.zeros(checkpoints, np.int64)
        self.near_best = np.zeros(checkpoints, np.int64)
        self.best = 0  # pulls of the best arm in all runs
        self.keep = keep
        self.moments = Moments()  # of the final regret
        self.regret_counts = None if keep else RegretCounts()
        self.expected = 0  # runs in the end, for which space is made at once
        self.each_run = Kept(np.empty(0), np.empty(0, np.int64))

    def add(self, record: Record) -> None:
        """Add the next task's runs; the order of blocks is fixed, so the sums always have the same bits."""
        self.pulls += record.pulls
        self.on_best += record.on_best
        self.near_best += record.near_best
        self.best += int(record.best_pulls.sum())
        self.moments.add(record.final_regret)
        runs, blocks = len(record.final_regret), len(record.block_mean)
        if self.keep:
            self._make_space(self.runs + runs)
            self.each_run.final_regret[self.runs : self.runs + runs] = record.final_regret
            self.each_run.best_pulls[self.runs : self.runs + runs] = record.best_pulls
        if self.regret_counts is not None:
            self.regret_counts.add(record.final_regret)
        add = _add_few_blocks if blocks < MANY_BLOCKS else compile_kernel(add_blocks)
        last_size = runs - BLOCK * (blocks - 1)
        add(record.block_mean, record.block_squares, last_size, self.runs, self.curve_mean, self.curve_squares)
        self.runs += runs

    def _make_space(self, runs: int) -> None:
        if runs > len(self.each_run.final_regret):
            most = max(runs, self.expected)
            longer = Kept(np.empty(most), np.empty(most, np.int64))
            for new, old in zip(longer, self.each_run, strict=True):
                new[: self.runs] = old[: self.runs]
            self.each_run = longer

    def estimate(self) -> Estimate:
        """Mean of the final regret; the bits do not depend on `keep`."""
        return self.moments.estimate()

    def kept(self) -> Kept | None:
        """Results of each run, if they are kept."""
        final_regret, best_pulls = self.each_run
        return Kept(final_regret[: self.runs], best_pulls[: self.runs]) if self.keep else None


def _add_few_blocks(
    block_mean: Array, block_squares: Array, last_size: int, runs: int, mean: Array, squares: Array
) -> None:
    """Add blocks as `add_blocks` does, with the same bits, without compiled code."""
    for block in range(len(block_mean)):
        size = BLOCK if block < len(block_mean) - 1 else last_size
        fraction = size / (runs + size)
        off = block_mean[block] - mean
        mean += fraction * off
        squares += block_squares[block] + off * off * (runs * fraction)
        runs += size
