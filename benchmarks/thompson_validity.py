"""Regret of Thompson sampling between its certified bounds, and equal to its identity, on random problems.

python benchmarks/thompson_validity.py                    300 problems and 20 identities: some minutes
python benchmarks/thompson_validity.py --problems 30 --runs 500 --identities 4

Prints every problem in which the simulated regret is more than four standard errors outside, and controls: how many
problems refute half of the upper bound, twice the lower bound, and the identity with one imaginary pull too many.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

from bayesregret import BernoulliBandit, GaussianBandit, LinearBandit, Thompson, bounds, simulate, thompson_identity
from bayesregret.audit.thompson_ties import tied_estimate
from bayesregret.audit.tied_instances import TiedInstances
from bayesregret.simulation.engines.threads import ThreadsEngine

STANDARD_ERRORS = 4.0
KINDS = ("gaussian, equal", "gaussian, unequal", "bernoulli", "linear")
FIRST_IDENTITY_SEED = 10**6


def random_bandit(kind: str, rng: np.random.Generator) -> GaussianBandit | BernoulliBandit | LinearBandit:
    """Widths, noises and pseudo-counts over two decades; equal, close and distant arms; singular linear priors."""
    arms = int(rng.integers(2, 13))
    means = rng.choice([0.0, 0.3, 1.0, 3.0]) * rng.standard_normal(arms)
    if kind == "gaussian, equal":
        width, noise = 10.0 ** rng.uniform(-1.0, 1.0, size=2)
        return GaussianBandit(means * width, width, noise)
    if kind == "gaussian, unequal":
        widths, noises = 10.0 ** rng.uniform(-1.0, 1.0, size=(2, arms))
        return GaussianBandit(means, widths, noises)
    if kind == "bernoulli":
        counts = 10.0 ** rng.uniform(-0.7, 1.5, size=(2, arms))
        return BernoulliBandit(*(counts if rng.random() < 0.5 else np.repeat(counts[:, :1], arms, axis=1)))
    dimension = int(rng.integers(1, 9))
    features = rng.standard_normal((arms, dimension))
    if rng.random() < 0.2:
        features[-1] = features[0]
    root = rng.standard_normal((dimension, int(rng.integers(1, dimension + 1)))) * 10.0 ** rng.uniform(-1.0, 0.5)
    mean = rng.standard_normal(dimension) * rng.integers(0, 2)
    return LinearBandit(features, mean, prior_cov=root @ root.T, reward_noise=float(10.0 ** rng.uniform(-1.0, 0.5)))


def check_bounds(problems: int, runs: int, rng: np.random.Generator, seed: int) -> None:
    """Compare both bounds with simulated regret."""
    outside, started = 0, time.perf_counter()
    above: dict[str, list[float]] = {kind: [] for kind in KINDS}
    below: list[float] = []
    refuted = {"half of the upper bound": 0, "twice the lower bound": 0}
    for problem in range(problems):
        kind = KINDS[problem % len(KINDS)]
        bandit, horizon = random_bandit(kind, rng), int(rng.choice([1, 5, 30, 200, 1000]))
        regret = simulate(bandit, Thompson(), horizon=horizon, runs=runs, seed=seed + problem, progress=False)[
            Thompson.name
        ]
        low, high = (regret.mean + side * STANDARD_ERRORS * regret.stderr for side in (-1.0, 1.0))
        upper = bounds.certified_thompson(bandit, horizon=horizon)
        refuted["half of the upper bound"] += low > 0.5 * upper.value
        if low > upper.value:
            outside += 1
            print(f"problem {problem}: regret {regret.mean:.4g}, above certified_thompson {upper.value:.4g}")
        if low <= 0.0:  # where hardly a run has any regret, its mean and standard error say little
            continue
        above[kind].append(upper.value / regret.mean)
        if bounds.certified_thompson_lower.covers(bandit):
            lower = bounds.certified_thompson_lower(bandit, horizon=horizon).value
            below.append(lower / regret.mean)
            refuted["twice the lower bound"] += high < 2.0 * lower
            if high < lower:
                outside += 1
                print(f"problem {problem}: regret {regret.mean:.4g}, below certified_thompson_lower {lower:.4g}")
    print(f"{problems} problems with {runs} runs, {time.perf_counter() - started:.0f} s: {outside} outside")
    for kind, ratios in above.items():
        if ratios:
            print(f"certified_thompson / regret, {kind}: least {min(ratios):.3g}, median {np.median(ratios):.3g}")
    print(f"certified_thompson_lower / regret: median {np.median(below):.3g}, largest {max(below):.3g}")
    for name, count in refuted.items():
        print(f"control, {name}: refuted in {count} problems")


def check_identity(problems: int, runs: int, rng: np.random.Generator, seed: int) -> None:
    """Compare the identity with plain runs."""
    outside, refuted, factors = 0, 0, []
    for problem in range(problems):
        kind = KINDS[problem % 3]
        bandit, horizon = random_bandit(kind, rng), int(rng.choice([5, 30, 200, 1000]))
        setting = {"horizon": horizon, "runs": runs, "seed": seed + FIRST_IDENTITY_SEED + problem}
        found = thompson_identity(bandit, **setting)
        error = math.hypot(found.stderr, found.plain_stderr)
        apart = (found.regret - found.plain_regret) / error
        outside += abs(apart) > STANDARD_ERRORS
        factors.append(found.variance_factor)
        instances = TiedInstances(bandit)
        instances.pseudo_counts = instances.pseudo_counts + 1.0
        wrong = tied_estimate(bandit, instances, engine=ThreadsEngine(), **setting)
        refuted += abs(wrong.mean - found.plain_regret) > STANDARD_ERRORS * error
        print(
            f"identity, {kind}, {bandit.arms} arms, {horizon} rounds: {found.regret:.4g} ± {found.stderr:.2g}, plain "
            f"{found.plain_regret:.4g} ± {found.plain_stderr:.2g}, {apart:+.1f} errors, factor {factors[-1]:.3g}"
        )
    print(f"{problems} identities with {runs} runs: {outside} outside")
    print(f"variance factor: least {min(factors):.3g}, median {np.median(factors):.3g}, largest {max(factors):.3g}")
    print(f"control, one imaginary pull too many: refuted in {refuted} problems")


def main(problems: int, runs: int, identities: int, identity_runs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    check_bounds(problems, runs, rng, seed)
    check_identity(identities, identity_runs, rng, seed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=300)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--identities", type=int, default=20)
    parser.add_argument("--identity-runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    main(**vars(parser.parse_args()))
