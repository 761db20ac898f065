"""Speed and memory as ratios, measured side by side in one run, as a Markdown table to paste.

python benchmarks/table.py                      everything, some minutes
python benchmarks/table.py --quick              everything at sizes for development
python benchmarks/table.py --only gaussian      some groups of rows
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

# NumPy's matrix products are faster without threads that wait for each other at this size; the loops get the best.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numba
import numpy as np

import accelerator_rows
import bound_rows
import cluster_rows
import exact_rows
import experiment_rows
import growth_rows
import linear_rows
import peer_rows
import pending_rows
import policy_rows
import problems
import process_rows
import reproduce_rows
import speed_rows
from bayesregret.simulation.engines.threads import available_threads
from clock import Neighbours
from problems import Size
from row import MOST_NOISE, MOST_OTHERS, Row, number

GROUPS: dict[str, Callable[[Size], Iterator[Row]]] = {
    "control": speed_rows.control,
    "gaussian": speed_rows.gaussian,
    "simulators": peer_rows.simulators,
    "bernoulli": speed_rows.bernoulli,
    "linear": speed_rows.linear,
    "ucb1": speed_rows.ucb1,
    "policies": policy_rows.policies,
    "linear-thompson": linear_rows.thompson,
    "accelerators": accelerator_rows.accelerators,
    "pending": pending_rows.pending,
    "arms": growth_rows.arms,
    "runs": growth_rows.runs,
    "horizon": growth_rows.horizon,
    "threads": speed_rows.threads,
    "cluster": cluster_rows.cluster,
    "memory": process_rows.memory,
    "start": process_rows.start,
    "first": process_rows.first,
    "agent": peer_rows.agent,
    "bounds": bound_rows.bounds,
    "exact": exact_rows.exact,
    "experiments": experiment_rows.experiments,
    "reproduce": reproduce_rows.reproduce,
}
HEADER = ("work", "measured", "figure", "target", "met", "others")


def measure(groups: Iterable[str], size: Size) -> Iterator[Row]:
    neighbours = Neighbours()
    for group in groups:
        begin = time.perf_counter()
        share = 0.0
        try:
            for row in GROUPS[group](size):
                # Rows that come out of one measurement follow each other at once and share its neighbours.
                share = neighbours.share() if neighbours.waited() else share
                yield replace(row, others=share)
        except Exception as error:  # one group that fails must not cost the others
            yield Row(group, f"not measured: {type(error).__name__}: {error}")
        print(f"{group}: {time.perf_counter() - begin:.0f} s", file=sys.stderr)


def print_table(rows: Iterable[Row]) -> tuple[list[Row], float]:
    """Print each row as soon as it is measured; return them and the noise that the control showed."""
    _print_line(HEADER)
    _print_line(["---"] * len(HEADER))
    printed, noise = [], 1.0
    for row in rows:
        if row.work.startswith("control") and row.figure is not None:
            noise = row.figure
        _print_line(row.cells(noise))
        printed.append(row)
    return printed, noise


def _print_line(cells: Iterable[str]) -> None:
    print("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |", flush=True)


def print_profiles(rows: Sequence[Row]) -> None:
    """Once for each reason, however many rows it explains."""
    missed = {row.why: row for row in reversed(rows) if row.missed() and row.why is not None}
    for why, row in reversed(missed.items()):
        print(f"\nWhy not: {row.work}\n")
        try:
            lines = why()
        except Exception as error:  # nor one profile the others
            lines = [f"no profile: {type(error).__name__}: {error}"]
        print("\n".join(f"- {line}" for line in lines), flush=True)


def machine(size: Size) -> str:
    return (
        f"{size.runs:,} runs of {size.horizon:,} rounds on {size.threads} threads unless a row says otherwise. "
        f"Python {platform.python_version()}, NumPy {np.__version__}, Numba {numba.__version__}, "
        f"{platform.system()} on {platform.machine()}, {available_threads()} processors, "
        f"load {number(os.getloadavg()[0])} at the start."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, for development")
    parser.add_argument("--only", action="append", choices=GROUPS, metavar="GROUP", help=f"one of {', '.join(GROUPS)}")
    parser.add_argument("--threads", type=int, default=available_threads(), help="default: all processors")
    asked = parser.parse_args()
    size = (problems.quick if asked.quick else problems.full)(asked.threads)

    print(machine(size) + "\n", flush=True)
    rows, noise = print_table(measure(asked.only or GROUPS, size))
    disturbed = sum(row.disturbed() for row in rows)
    if disturbed:
        print(f"\n{disturbed} rows were measured while others took more than {MOST_OTHERS:.0%} of the processors.")
    if noise > MOST_NOISE:
        print(f"\nThe same work timed again differs by {number(noise)} times.")
    if disturbed or noise > MOST_NOISE:
        print("\nMeasure anew on a quieter machine: a ratio between rows of this run may be the neighbours' doing.")
    print_profiles(rows)


if __name__ == "__main__":
    main()
