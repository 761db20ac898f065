"""Lemma 8 of the paper against UCB1 itself, with two equal means: the left side in units of sigma delta, printed as 4.

python benchmarks/lemma_8.py                       z = 12, 10 million rounds: a minute
python benchmarks/lemma_8.py --z 10 --rounds 1e5   too few rounds: the failing arm has not been left behind yet

Failures of intervals are too rare for plain simulation, so an arm's noise gets a drift until its interval fails, or to
the end, and a run counts by its likelihood ratio: a mixture over arms, directions and drifts. UCB1 is simulated round
by round, and the average is unbiased for the whole left side at the last round. (A run ends early where the lemma's arm
was left with an index below its mean: that the other arm's index gets as low, too, has a probability below 1e-25.)
docs/theory/errata.md has the short computation of the limit.
"""

from __future__ import annotations

import argparse
import math
import time

import numba
import numpy as np

# Share of runs in which the noise of the arm of the lemma, or of the other one, drifts down or up, with drifts that
# make intervals fail at counts up to this power of the number of rounds.
SHARES = {(0, -1.0, 0.5): 0.8, (0, -1.0, 1.0): 0.05, (0, 1.0, 1.0): 0.05, (1, -1.0, 1.0): 0.05, (1, 1.0, 1.0): 0.05}


@numba.njit
def play(z: float, rounds: int, arm: int, drift: float, seed: int):
    """Sums and counts of both arms after UCB1's rounds, and those at which an interval of the arm first failed."""
    np.random.seed(seed)
    sums, counts = np.zeros(2), np.zeros(2)
    first_sums, first_counts, failed = np.zeros(2), np.zeros(2), np.zeros(2, dtype=np.bool_)
    indices = np.full(2, np.inf)
    for _ in range(rounds):
        taken = 0 if indices[0] >= indices[1] else 1
        noise = np.random.standard_normal()
        if taken == arm and not failed[taken]:
            noise += drift
        sums[taken] += noise
        counts[taken] += 1.0
        width = z * math.sqrt(counts[taken])
        indices[taken] = (sums[taken] + width) / counts[taken]
        if not failed[taken]:
            first_sums[taken], first_counts[taken] = sums[taken], counts[taken]
            failed[taken] = abs(sums[taken]) > width
        if taken == 0 and indices[0] < 0.0 <= indices[1]:
            break
    return sums, counts, first_sums, first_counts


def left_side(z: float, rounds: int, runs: int, seed: int) -> tuple[float, float, float]:
    """Left side of Lemma 8 over sigma delta with its standard error, and the negative part of it."""
    parts = []
    for (arm, sign, power), share in SHARES.items():
        doublings = math.ceil(power * math.log2(rounds))
        parts += [(arm, sign * z / math.sqrt(2.0**i), share / doublings) for i in range(doublings)]
    arms, drift, shares = np.array([arm for arm, _, _ in parts]), *np.array([part[1:] for part in parts]).T
    rng = np.random.default_rng(seed)
    found = np.empty(runs)
    for run, part in enumerate(rng.choice(len(parts), size=runs, p=shares / shares.sum())):
        sums, counts, at, after = play(z, rounds, arms[part], drift[part], rng.integers(2**31))
        likelihood = shares @ np.exp(drift * at[arms] - 0.5 * drift**2 * after[arms])
        fails = bool((np.abs(sums) > z * np.sqrt(counts)).any())
        found[run] = -sums[0] / counts[0] / likelihood if fails else 0.0
    found *= math.exp(0.5 * z * z)
    return found.mean(), found.std() / math.sqrt(runs), np.minimum(found, 0.0).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description="Lemma 8 against UCB1 itself.")
    parser.add_argument("--z", type=float, default=12.0, help="width of intervals, sqrt(2 log(1/delta))")
    parser.add_argument("--rounds", type=float, default=1e7)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    start = time.process_time()
    mean, error, negative = left_side(given.z, int(given.rounds), given.runs, given.seed)
    print(f"z = {given.z:g}, {given.rounds:,.0f} rounds, {given.runs:,} runs, seed {given.seed}")
    print(f"left side {mean:.2f} ± {error:.2f} sigma delta (of which negative {negative:.2f}); printed: 4")
    print(f"{time.process_time() - start:.0f} s of one processor")


if __name__ == "__main__":
    main()
