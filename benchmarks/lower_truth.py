"""The lower bound for every policy against simulated regrets, on random conjugate problems: minutes.

    python benchmarks/lower_truth.py [problems]

On each problem all policies that run on it are simulated. The smallest mean regret may be below the bound by chance
alone: the report has the largest excess of the bound over it in standard errors, and the ratio of the two. A wrong
discount, 1 - 1/(4n) in place of 1 - 1/n, must be found out.
"""

from __future__ import annotations

import sys

import numpy as np

import bayesregret as br

RUNS = 2_000
CONTROLS = 10  # problems on which the wrong discount is tried
POLICIES = ["bayes-ucb", "thompson", "quantile-ucb", "kl-ucb", "greedy"]
NO_KL = "normal-gamma"  # its divergences are not between distributions with one parameter


def random_problem(rng: np.random.Generator, kind: str) -> br.Bandit:
    """Return arms of similar means, with prior pseudo-counts from 1/3 to 10, and of one kind half of the time."""
    arms = int(rng.integers(2, 7))
    size = 1 if rng.random() < 0.5 else arms

    def spread(low: float, high: float) -> np.ndarray:
        return np.resize(np.exp(rng.uniform(np.log(low), np.log(high), size)), arms)

    if kind == "poisson":
        rate = spread(0.3, 10.0)
        return br.PoissonBandit(rate * spread(0.5, 5.0), rate)
    if kind == "exponential":
        shape = 2.5 + spread(0.3, 10.0)
        return br.ExponentialBandit(shape, (shape - 1.0) * spread(0.5, 2.0))
    means = np.resize(rng.normal(0.0, 0.5, size), arms)
    return br.NormalGammaBandit(means, spread(0.3, 10.0), 1.2 + spread(0.3, 10.0), spread(0.5, 2.0))


def compare(kind: str, number: int, runs: int = RUNS, control: bool = True) -> tuple[float, float, float]:
    """Return how far the bound is above the smallest regret, in standard errors, the same for a wrong one, a ratio."""
    rng = np.random.default_rng([number, len(kind)])
    bandit = random_problem(rng, kind)
    horizon = int(np.exp(rng.uniform(np.log(2.0), np.log(1_000.0))))
    policies = [policy for policy in POLICIES if kind != NO_KL or policy != "kl-ucb"]
    result = br.simulate(bandit, policies, horizon=horizon, runs=runs, seed=number)
    smallest = min((result[policy] for policy in policies), key=lambda regret: regret.mean)
    bound = br.bounds.certified_lower(bandit, horizon=horizon).value
    wrong = br.bounds.certified_lower(bandit, horizon=4 * horizon).value if control else float("nan")
    ratio = smallest.mean / bound if bound > 0.0 else float("nan")
    return (bound - smallest.mean) / smallest.stderr, (wrong - smallest.mean) / smallest.stderr, ratio


def main(problems: int = 50) -> None:
    """Print one line for each kind of arms."""
    for kind in ("poisson", "exponential", "normal-gamma"):
        found = np.array([compare(kind, number, control=number < CONTROLS) for number in range(problems)])
        print(
            f"{kind}: {problems} problems, largest excess {found[:, 0].max():.1f} standard errors; "
            f"wrong discount: {np.mean(found[:CONTROLS, 1] > 4.0):.0%} found out, "
            f"largest {np.nanmax(found[:, 1]):.0f}; "
            f"smallest regret over bound: median {np.nanmedian(found[:, 2]):.3f}, "
            f"least {np.nanmin(found[:, 2]):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
