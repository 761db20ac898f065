"""Exact regret against simulation on random problems of every kind.

    python tests/exact/validate.py gaussian                   # 36 problems, ten million runs each: some minutes
    python tests/exact/validate.py bernoulli --problems 40 --runs 1000000

It prints one line per problem and, at the end, the differences in standard errors. Ten million runs give a regret to a
relative accuracy of about 1e-4. The tests do the same with fewer problems and runs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import bayesregret as br

WORST = 4.0  # standard errors
BEST = {"gaussian": 2e-5, "bernoulli": 1e-3}  # accuracy of the probability of pulling the best arm


class Problem(NamedTuple):
    what: str
    bandit: br.Bandit
    policy: br.Policy
    horizon: int


class Compared(NamedTuple):
    """Differences between exact and simulated numbers, in standard errors."""

    exact: float
    error: float
    simulated: float
    stderr: float
    regret: float
    curve: float  # the worst of four earlier rounds
    best_share: float
    pulls: float  # the worst arm's
    seconds: tuple[float, float]  # exact, simulated

    @property
    def worst(self) -> float:
        return max(map(abs, (self.regret, self.curve, self.best_share, self.pulls)))


def random_problems(kind: str, seed: int, longest: int = 100) -> Iterator[Problem]:
    """Endless random problems: one arm or many, equal or not, weak and strong priors, right and wrong ones."""
    rng = np.random.default_rng(seed)
    make = {"gaussian": _gaussian, "bernoulli": _bernoulli}[kind]
    number = 0
    while True:
        arms = int(rng.choice([1, 2, 2, 3, 4, 5, 7, 9, 12], p=[0.04, *[0.12] * 8]))
        horizon = int(rng.integers(min(10, longest), longest + 1))
        delta = None if rng.random() < 0.5 else float(f"{10 ** rng.uniform(-4, -0.05):.3g}")
        yield make(rng, ("right", "wrong", "ucb1")[number % 3], arms, horizon, delta)
        number += 1


def _gaussian(rng: np.random.Generator, how: str, arms: int, horizon: int, delta: float | None) -> Problem:
    width = float(f"{10 ** rng.uniform(-0.7, 0.5):.3g}")
    noise = float(f"{10 ** rng.uniform(-0.5, 0.5):.3g}")
    means = _some_equal(rng, width * rng.normal(size=arms).round(2))
    bandit = br.GaussianBandit(means, width, noise)
    wrong_means = _some_equal(rng, means + (width * rng.uniform(-1.5, 1.5, arms)).round(2))
    wrong_width = width * float(rng.choice([0.6, 1.0, 1.0, 2.0]))
    wrong = br.GaussianBandit(wrong_means, wrong_width, noise * float(rng.choice([1.0, 1.0, 1.5])))
    return _with_policy(bandit, wrong, how, horizon, delta, f"width {width:g}, noise {noise:g}")


def _bernoulli(rng: np.random.Generator, how: str, arms: int, horizon: int, delta: float | None) -> Problem:
    counts = [[1.0], [1.0, 2.0], [0.5, 1.0], [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 7.0, 30.0], [0.2, 1.3, 2.7]]
    mine, theirs = (counts[int(rng.integers(len(counts)))] for _ in range(2))
    bandit = br.BernoulliBandit(rng.choice(mine, arms), rng.choice(mine, arms))
    wrong: br.Bandit = br.BernoulliBandit(rng.choice(theirs, arms), rng.choice(theirs, arms))
    if rng.random() < 0.4:
        wrong = br.GaussianBandit(_some_equal(rng, rng.uniform(0.0, 1.0, arms).round(1)), 0.4, 0.5)
    return _with_policy(bandit, wrong, how, horizon, delta, f"counts of {mine}")


def _some_equal(rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    """All different, or some equal to the first."""
    fraction = rng.choice([0.0, 0.5, 1.0])
    return np.where(rng.random(len(means)) < fraction, means[0], means)


def _with_policy(
    bandit: br.Bandit, wrong: br.Bandit, how: str, horizon: int, delta: float | None, what: str
) -> Problem:
    policies = {
        "right": br.BayesUCB(delta=delta),
        "wrong": br.BayesUCB(delta=delta, prior=wrong),
        "ucb1": br.UCB1(delta=delta),
    }
    belief = f", believes {wrong.kind}" if how == "wrong" else ""
    return Problem(f"{how}{belief}; {what}", bandit, policies[how], horizon)


def compare(problem: Problem, runs: int, seed: int, few_arms: int = 1000) -> Compared:
    """Compare a problem's exact and simulated numbers; the best arm's probability, the slowest, for few arms only."""
    start = time.perf_counter()
    found = br.exact_regret(problem.bandit, problem.policy, horizon=problem.horizon)
    share = found.best_share if problem.bandit.arms <= few_arms else None
    middle = time.perf_counter()
    rounds = sorted({1 + (problem.horizon - 1) * i // 4 for i in range(5)})
    result = br.simulate(
        problem.bandit, problem.policy, horizon=problem.horizon, runs=runs, seed=seed, checkpoints=rounds
    )[problem.policy.name]
    end = time.perf_counter()

    def apart(exact: object, simulated: object, stderr: object) -> float:
        """Largest difference in standard errors; numbers without variance must agree up to rounding."""
        off = np.atleast_1d(np.abs(np.subtract(exact, simulated)))
        return float(np.max(off / np.maximum(stderr, 1e-9)))

    best = result.best_pulls / problem.horizon
    # No variable between 0 and n has a greater variance than this; pulls of single runs are not kept.
    spread = np.sqrt(np.maximum(found.pulls * (problem.horizon - found.pulls), 0.0) / runs)
    return Compared(
        found.regret,
        found.error,
        result.mean,
        result.stderr,
        (found.regret - result.mean) / max(result.stderr, 1e-9),
        apart(found.curve[np.array(rounds) - 1], result.curve.mean, result.curve.stderr),
        # The probability of the best arm has few digits, and is not computed where that takes too long.
        0.0
        if share is None
        else apart(share, best.mean(), np.hypot(best.std() / np.sqrt(runs), BEST[problem.bandit.kind])),
        apart(found.pulls, result.mean_pulls, spread),
        (middle - start, end - middle),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Exact regret against simulation.")
    parser.add_argument("kind", choices=["gaussian", "bernoulli"])
    parser.add_argument("--problems", type=int, default=36)
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--longest", type=int, default=100)
    given = parser.parse_args()
    problems = random_problems(given.kind, given.seed, given.longest)
    print(
        "      z   curve    best   pulls |      exact    error  simulated   stderr |  K   n    delta |  s, s    | what"
    )
    far, offs = 0, []
    for number in range(given.problems):
        problem = next(problems)
        got = compare(problem, given.runs, given.seed + number)
        offs.append(got.regret)
        far += got.worst > WORST
        delta = problem.policy.delta
        print(
            f"{got.regret:+7.2f} {got.curve:7.2f} {got.best_share:7.2f} {got.pulls:7.2f} | {got.exact:10.6f} "
            f"{got.error:8.0e} {got.simulated:10.6f} {got.stderr:8.0e} | {problem.bandit.arms:2d} {problem.horizon:3d} "
            f"{delta or 1 / problem.horizon:8.3g} | {got.seconds[0]:3.1f} {got.seconds[1]:4.1f} | {problem.what}"
            f"{'   <-- FAR' if got.worst > WORST else ''}",
            flush=True,
        )
    root = float(np.sqrt(np.mean(np.square(offs))))
    print(
        f"{given.problems} problems, {given.runs:,} runs each: {far} further than {WORST:g} standard errors;", end=" "
    )
    print(f"of the regrets, root mean square {root:.2f}, worst {np.abs(offs).max():.2f}")
    return int(far > 0)


if __name__ == "__main__":
    sys.exit(main())
