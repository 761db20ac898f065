"""`certified_lower` against the optimum, and against simulated regrets, on random problems.

python benchmarks/lower_truth.py                    200 + 500 problems: an hour on two cores
python benchmarks/lower_truth.py --optimum 20 --policies 40 --runs 500

First part: two- and three-arm Bernoulli problems whose optimum the dynamic programme computes. The bound may never be
above it, and must be at least 0.85 of it from 10 rounds on.

Second part: problems of all models, without those in which hardly a run has any regret. All policies that run on a
problem are simulated. The bound may not be more than four standard errors above any of their regrets.

The control, in both parts: the least regret with discount 1 - 1/(4n) in place of 1 - 1/n. The theorem does not cover it
(that regret times n (1 - g) = 1/4 would be a bound), and the same tests must find that out.
"""

from __future__ import annotations

import argparse
import functools
import time
from typing import NamedTuple

import numpy as np

import bayesregret as br
from bayesregret.planning.experiment import runs_on

STANDARD_ERRORS, LEAST_RATIO, FROM = 4.0, 0.85, 10
POLICIES = (
    br.BayesUCB(),
    br.Thompson(),
    br.QuantileUCB(),
    br.KLUCB(),
    br.Greedy(),
    br.UCB1(),
    br.MOSS(),
)
MOST_ROUNDS = {"poisson": 20, "exponential": 200, "normal-gamma": 200}  # of random problems; of others 1,000
CONTROLS = 0.2  # fraction of the problems on which the wrong discount is tried, too


class Comparison(NamedTuple):
    """One problem: by how much bounds exceed the smallest regret."""

    excess: float  # of the bound, in standard errors; nan if hardly a run has any regret
    wrong: float  # of the wrong bound; nan if it was not computed
    ratio: float  # of the smallest regret to the bound
    policy: str  # with the smallest regret


def wrong_bound(bandit: br.Bandit, horizon: int) -> float:
    """Return the least regret with discount 1 - 1/(4 horizon): not a bound."""
    bound = br.bounds.certified_lower(bandit, horizon=4 * horizon)
    return bound.leading - bound.error


def against_optimum(number: int) -> tuple[int, float, float]:
    """Return a horizon, and the bound and the wrong bound over the optimum, for one random Bernoulli problem."""
    rng = np.random.default_rng([1, number])
    arms = 2 + number % 2
    horizon = int(np.exp(rng.uniform(np.log(2.0), np.log(120.0 if arms == 2 else 30.0))))
    bandit = br.BernoulliBandit(*np.exp(rng.uniform(np.log(0.2), np.log(8.0), (2, arms))))
    optimum = br.bayes_optimal_regret(bandit, horizon=horizon).regret
    bound = br.bounds.certified_lower(bandit, horizon=horizon)
    return horizon, bound.value / optimum, wrong_bound(bandit, horizon) / optimum


def _spread(rng: np.random.Generator, arms: int, equal: bool, low: float, high: float) -> np.ndarray:
    return np.resize(np.exp(rng.uniform(np.log(low), np.log(high), 1 if equal else arms)), arms)


def _gaussian(rng: np.random.Generator, arms: int, equal: bool) -> br.Bandit:
    spread = functools.partial(_spread, rng, arms, equal)
    return br.GaussianBandit(rng.normal(0.0, 0.5, arms) * (not equal), spread(0.1, 5.0), spread(0.3, 3.0))


def _bernoulli(rng: np.random.Generator, arms: int, equal: bool) -> br.Bandit:
    return br.BernoulliBandit(_spread(rng, arms, equal, 0.3, 10.0), _spread(rng, arms, equal, 0.3, 10.0))


def _poisson(rng: np.random.Generator, arms: int, equal: bool) -> br.Bandit:
    rate = _spread(rng, arms, equal, 0.3, 10.0)
    return br.PoissonBandit(rate * _spread(rng, arms, equal, 0.5, 5.0), rate)


def _exponential(rng: np.random.Generator, arms: int, equal: bool) -> br.Bandit:
    shape = 2.5 + _spread(rng, arms, equal, 0.3, 10.0)
    return br.ExponentialBandit(shape, (shape - 1.0) * _spread(rng, arms, equal, 0.5, 2.0))


def _normal_gamma(rng: np.random.Generator, arms: int, equal: bool) -> br.Bandit:
    spread = functools.partial(_spread, rng, arms, equal)
    means = rng.normal(0.0, 0.5, arms) * (not equal)
    return br.NormalGammaBandit(means, spread(0.3, 10.0), 1.2 + spread(0.3, 10.0), spread(0.5, 2.0))


MODELS = (_gaussian, _bernoulli, _poisson, _exponential, _normal_gamma)


def random_problem(number: int) -> tuple[br.Bandit, int]:
    """Return arms of one kind or of several, with prior pseudo-counts over two decades, and a horizon."""
    rng = np.random.default_rng([2, number])
    bandit = MODELS[number % len(MODELS)](rng, int(rng.integers(2, 6)), bool(rng.random() < 0.5))
    most = MOST_ROUNDS.get(bandit.kind, 1_000)
    return bandit, int(np.exp(rng.uniform(np.log(2.0), np.log(most))))


def against_policies(number: int, runs: int, control: bool) -> Comparison:
    """Compare the bound with the smallest simulated regret of all policies that run on a random problem."""
    bandit, horizon = random_problem(number)
    policies = [*POLICIES, br.Gittins(discount=1.0 - 1.0 / horizon)]
    policies = [policy for policy in policies if runs_on(policy, bandit, horizon)]
    result = br.simulate(bandit, policies, horizon=horizon, runs=runs, seed=number, progress=False)
    smallest = min(result.policies.values(), key=lambda regret: regret.mean)
    bound = br.bounds.certified_lower(bandit, horizon=horizon).value
    wrong = wrong_bound(bandit, horizon) if control else float("nan")
    if smallest.mean <= STANDARD_ERRORS * smallest.stderr:  # hardly a run has any regret: the mean says little
        return Comparison(float("nan"), float("nan"), float("nan"), "none")
    name = next(name for name, regret in result.policies.items() if regret is smallest)
    return Comparison(
        (bound - smallest.mean) / smallest.stderr,
        (wrong - smallest.mean) / smallest.stderr,
        smallest.mean / bound,
        name,
    )


def optimum_part(problems: int) -> bool:
    """Print the first part; return whether it holds."""
    started = time.perf_counter()
    horizons, ratios, wrong = np.array([against_optimum(number) for number in range(problems)]).T
    long = ratios[horizons >= FROM]
    print(
        f"optimum: {problems} problems in {time.perf_counter() - started:.0f} s; bound over optimum: least "
        f"{ratios.min():.4f}, from {FROM} rounds on {long.min():.4f}, median {np.median(ratios):.4f}, "
        f"largest {ratios.max():.6f}; wrong discount: above the optimum in {np.mean(wrong > 1.0):.0%}, "
        f"largest {wrong.max():.3f}",
        flush=True,
    )
    return bool(ratios.max() <= 1.0 and long.min() >= LEAST_RATIO and np.mean(wrong > 1.0) > 0.5)


def policies_part(problems: int, runs: int) -> bool:
    """Print the second part, a line for each model; return whether it holds."""
    started, good = time.perf_counter(), True
    found: dict[str, list[Comparison]] = {}
    for number in range(problems):
        kind = random_problem(number)[0].kind
        control = len(found.get(kind, [])) < CONTROLS * problems / len(MODELS)
        found.setdefault(kind, []).append(against_policies(number, runs, control))
    for kind, comparisons in found.items():
        excess, wrong, ratio = (np.array([each[i] for each in comparisons]) for i in range(3))
        caught = np.mean(wrong[~np.isnan(wrong)] > STANDARD_ERRORS)
        best = [each.policy for each in comparisons]
        print(
            f"{kind}: {np.sum(~np.isnan(excess))} of {len(comparisons)} problems, bound at most "
            f"{np.nanmax(excess):.1f} standard errors above a regret; smallest regret over bound: "
            f"median {np.nanmedian(ratio):.3f}, least {np.nanmin(ratio):.3f} "
            f"(most often {max(set(best), key=best.count)}); wrong discount: {caught:.0%} caught, "
            f"largest excess {np.nanmax(wrong):.0f}",
            flush=True,
        )
        good &= bool(np.nanmax(excess) <= STANDARD_ERRORS and caught > 0.0)
    print(f"policies: {problems} problems in {time.perf_counter() - started:.0f} s", flush=True)
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optimum", type=int, default=200, help="problems with a known optimum")
    parser.add_argument("--policies", type=int, default=500, help="problems with simulated policies")
    parser.add_argument("--runs", type=int, default=2_000, help="runs for each policy")
    args = parser.parse_args()
    good = [
        args.optimum < 1 or optimum_part(args.optimum),
        args.policies < 1 or policies_part(args.policies, args.runs),
    ]
    raise SystemExit(0 if all(good) else "the bound does not hold, or the control was not caught")


if __name__ == "__main__":
    main()
