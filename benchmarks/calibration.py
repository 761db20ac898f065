"""Calibration of plans: is the regret that a plan promises for its recommendation the regret that follows?

python benchmarks/calibration.py                        100 worlds, minutes
python benchmarks/calibration.py --hyperprior drawn     every world has a hyperprior of its own
python benchmarks/calibration.py --without-levels       the control, which fails: one level for all experiments

In each world a prior is fitted to 12 past experiments and a plan is made with it; then the recommended policy is run in
new experiments of that world, simulated in NumPy without the package (tests/planning/independent_world.py). The exit
status is 0 if both claims hold.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from planning.calibration_study import DRAWN, FIXED, Outcome, Setting, Summary, one_world

PROCESSES = 2
HEADINGS = ("recommended", "worlds", "promised", "realised", "ratio", "5%", "50%", "95%")


def study(setting: Setting, worlds: int) -> list[Outcome]:
    """Outcomes of all worlds, in order."""
    outcomes = []
    with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as pool:
        for outcome in pool.map(functools.partial(one_world, setting), range(worlds)):
            outcomes.append(outcome)
            if len(outcomes) % 10 == 0:
                print(f"{len(outcomes)} of {worlds} worlds", file=sys.stderr)
    return outcomes


def table(outcomes: Sequence[Outcome]) -> list[Sequence[str]]:
    """One row for each recommended policy and one for all, with quantiles of the ratio over worlds."""
    rows: list[Sequence[str]] = [HEADINGS]
    for name, _ in Counter(outcome.policy for outcome in outcomes).most_common():
        rows.append(_row(name, [outcome for outcome in outcomes if outcome.policy == name]))
    return [*rows, _row("all", outcomes)]


def _row(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    summary = Summary(outcomes)
    numbers = (summary.promised.mean(), summary.realised.mean())
    ratios = (summary.ratio, *np.exp(np.quantile(summary.log_ratios, [0.05, 0.5, 0.95])))
    return [name, str(summary.worlds), *(f"{x:.2f}" for x in numbers), *(f"{x:.3f}" for x in ratios)]


def verdict(summary: Summary) -> list[str]:
    logs = summary.log_ratios
    return [
        f"promised / realised on average: {summary.ratio:.3f} ± {summary.ratio_error:.3f}, "
        f"mean of log ratios {logs.mean():+.3f} ± {logs.std() / summary.worlds**0.5:.3f}",
        f"(1) within 10 percent on average: {_holds(summary.is_close)}",
        f"(2) promised at least half of realised in 95 of 100 worlds: {_holds(summary.is_rarely_far)}, "
        f"in {100.0 * summary.at_least_half:.0f} of 100",
    ]


def _holds(claim: bool) -> str:
    return "holds" if claim else "FAILS"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description="Calibration of plans.")
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--experiments", type=int, default=2_000, help="new experiments per world")
    parser.add_argument("--horizon", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=1_000, help="of each simulation of a plan")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hyperprior", choices=[FIXED, DRAWN], default=FIXED, help="of all worlds, or of each")
    parser.add_argument("--without-levels", action="store_true", help="plan with one level for all experiments")
    given = parser.parse_args()
    setting = Setting(
        given.horizon, given.experiments, given.runs, given.seed, given.hyperprior, None, not given.without_levels
    )
    start = time.perf_counter()
    outcomes = study(setting, given.worlds)
    summary = Summary(outcomes)
    print(aligned(table(outcomes)), *verdict(summary), sep="\n")
    print(f"{given.worlds} worlds with {given.experiments:,} new experiments each, {given.horizon:,} rounds, ", end="")
    print(f"seed {given.seed}: {time.perf_counter() - start:.0f} s")
    return int(not (summary.is_close and summary.is_rarely_far))


if __name__ == "__main__":
    sys.exit(main())
