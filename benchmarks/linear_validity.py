"""Regret of linear bandits between `certified_lower` and `certified_index`, on random problems.

python benchmarks/linear_validity.py                      200 problems: some minutes
python benchmarks/linear_validity.py --problems 20 --runs 500

Prints every problem in which a simulated regret is more than four standard errors outside, and the control: how many
problems refute the index form without its charges for overestimated arms and low indices.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from bayesregret import BayesUCB, Greedy, LinearBandit, Thompson, bounds, simulate

STANDARD_ERRORS = 4.0
POLICIES = (BayesUCB(), Thompson(), Greedy())


def random_problem(rng: np.random.Generator) -> tuple[LinearBandit, int, float | None]:
    """Widths and noises over two decades; correlated, singular and narrow priors; copies of arms."""
    arms, dimension = int(rng.integers(2, 25)), int(rng.integers(1, 9))
    features = rng.standard_normal((arms, dimension))
    if rng.random() < 0.3:
        features /= np.linalg.norm(features, axis=1, keepdims=True)
    if rng.random() < 0.2:
        features[-1] = features[0]
    root = rng.standard_normal((dimension, int(rng.integers(1, dimension + 1)))) * 10.0 ** rng.uniform(-1.0, 0.5)
    mean = rng.standard_normal(dimension) * rng.integers(0, 2)
    bandit = LinearBandit(features, mean, prior_cov=root @ root.T, reward_noise=float(10.0 ** rng.uniform(-1.0, 0.5)))
    return bandit, int(rng.choice([1, 5, 30, 200, 1000])), [None, 0.05, 0.3, 0.9][int(rng.integers(4))]


def main(problems: int, runs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    outside, refuted, better, started = 0, 0, [], time.perf_counter()
    above, below = [], []
    for problem in range(problems):
        bandit, horizon, delta = random_problem(rng)
        upper = bounds.certified_index(bandit, horizon=horizon, delta=delta)
        lower = bounds.certified_lower(bandit, horizon=horizon)
        policies = [BayesUCB(delta=delta), *POLICIES[1:]]
        result = simulate(bandit, policies, horizon=horizon, runs=runs, seed=problem, progress=False)
        regret = result["bayes-ucb"]
        slack = STANDARD_ERRORS * regret.stderr
        if regret.mean - slack > upper.value:
            outside += 1
            print(f"problem {problem}: regret {regret.mean:.4g}, above certified_index {upper.value:.4g}")
        for policy in policies:
            found = result[policy.name]
            # Where hardly a run has any regret, its mean and standard error say little.
            enough = found.mean > STANDARD_ERRORS * found.stderr
            if enough and found.mean + STANDARD_ERRORS * found.stderr < lower.value:
                outside += 1
                print(f"problem {problem}: {policy.name} has {found.mean:.4g}, below certified_lower {lower.value:.4g}")
            if enough:
                below.append(found.mean / lower.value)
        refuted += regret.mean - slack > upper.leading
        if regret.mean > slack:
            above.append(upper.value / regret.mean)
        others = min(
            formula(bandit, horizon=horizon, delta=delta).value
            for formula in (bounds.certified_all_gaps, bounds.certified_min_gap, bounds.certified_gap_free)
        )
        better.append(upper.value / others if others > 0.0 else 1.0)
    print(f"{problems} problems with {runs} runs, {time.perf_counter() - started:.0f} s: {outside} outside")
    print(f"certified_index / regret of BayesUCB: least {min(above):.3g}, median {np.median(above):.3g}")
    print(f"regret of three policies / certified_lower: least {min(below):.3g}, median {np.median(below):.3g}")
    print(f"certified_index / least of the other linear forms: median {np.median(better):.3g}")
    print(f"  below 1 in {np.mean(np.array(better) < 1.0):.0%} of the problems")
    print(f"control: without its charges the index form is refuted in {refuted} problems")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    main(**vars(parser.parse_args()))
