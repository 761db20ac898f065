"""Rows about exact regret: seconds, how they grow, and the simulation that the same digits would need."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import bayesregret as br
from clock import Cost, side_by_side, timed
from problems import Size
from row import Row, at_most, number, own_limit

HORIZON = 1_000
LONG = 10_000
SECOND = 1e9
YEAR = 365.25 * 24 * 3600
SIMULATED_RUNS = 4_000


def exact(size: Size) -> Iterator[Row]:
    horizon, long = (HORIZON, LONG) if size.repetitions > 5 else (100, 1_300)
    ucb1, bayes = br.UCB1(), br.BayesUCB()
    work = {
        f"exact regret, Gaussian, K=10, n={horizon:,}": (_on(_gaussian, bayes, horizon), at_most(2.0, "s")),
        f"exact regret of UCB1, Gaussian, K=10, n={horizon:,}": (_on(_gaussian, ucb1, horizon), at_most(2.0, "s")),
        f"exact regret, Bernoulli, K=5, n={horizon:,}": (_on(_bernoulli, bayes, horizon), at_most(5.0, "s")),
    }
    costs = side_by_side(size.slow_repetitions, *(cost for cost, _ in work.values()))
    for (name, (_, target)), cost in zip(work.items(), costs, strict=True):
        yield Row(name, "", cost / SECOND, "s", target)
    for name, make in (("Gaussian, K=10", _gaussian), ("Bernoulli, K=5", _bernoulli)):
        (cost,) = side_by_side(1, _on(make, bayes, long), warm_up=False)
        yield Row(f"exact regret, {name}, n={long:,}", "", cost / SECOND, "s", at_most(60.0, "s"))
    yield from _equal_arms(size, horizon)
    for name, make in (("Gaussian, K=10", _gaussian), ("Bernoulli, K=5", _bernoulli)):
        yield _against_simulation(name, make, size, horizon)


def _equal_arms(size: Size, horizon: int) -> Iterator[Row]:
    """Equal arms cost the same however many there are."""
    few, many = 5, 50
    for name, make in (("Gaussian", _equal_gaussian), ("Bernoulli", _equal_bernoulli)):
        costs = [_on(lambda gap, k=k, make=make: make(k, gap), br.BayesUCB(), horizon) for k in (few, many)]
        here, there = side_by_side(size.slow_repetitions, *costs)
        measured = f"{number(there / SECOND)} against {number(here / SECOND)} s"
        yield Row(
            f"exact regret, {name}, {many} equal arms against {few}", measured, there / here, "times", own_limit(1.5)
        )


def _against_simulation(name: str, make: Callable[[float], br.Bandit], size: Size, horizon: int) -> Row:
    """How long a simulation would have to run for a standard error as small as the computed error."""
    bandit = make(1.0)
    found = br.exact_regret(bandit, br.BayesUCB(), horizon=horizon)
    few = br.simulate(bandit, br.BayesUCB(), horizon=horizon, runs=SIMULATED_RUNS, seed=7, progress=False)["bayes-ucb"]
    runs = SIMULATED_RUNS * (few.stderr / found.error) ** 2
    here, there = side_by_side(
        size.slow_repetitions,
        _on(make, br.BayesUCB(), horizon),
        timed(
            lambda: br.simulate(bandit, br.BayesUCB(), horizon=horizon, runs=SIMULATED_RUNS, seed=7, progress=False),
            SIMULATED_RUNS,
        ),
    )
    seconds = there * runs / SECOND
    measured = (
        f"error {found.error:.0e} of {found.regret:.4g} in {number(here / SECOND)} s against {runs:.0e} runs, "
        f"{number(seconds / YEAR)} years"
    )
    return Row(f"simulation to the digits of exact regret, {name}, n={horizon:,}", measured, seconds * SECOND / here)


def _on(make: Callable[[float], br.Bandit], policy: br.Policy, horizon: int) -> Cost:
    """The cost on a bandit that no cache knows."""
    offsets = itertools.count(1)

    def work() -> Any:
        return br.exact_regret(make(1.0 + 1e-9 * next(offsets)), policy, horizon=horizon)

    return timed(work, 1)


def _gaussian(width: float) -> br.GaussianBandit:
    return br.GaussianBandit(prior_mean=[1.0] + [0.0] * 9, prior_width=width, reward_noise=1.0)


def _bernoulli(alpha: float) -> br.BernoulliBandit:
    return br.BernoulliBandit(alpha=[alpha] * 5, beta=[1.0] * 5)


def _equal_gaussian(arms: int, width: float) -> br.GaussianBandit:
    return br.GaussianBandit(prior_mean=[0.0] * arms, prior_width=width, reward_noise=1.0)


def _equal_bernoulli(arms: int, alpha: float) -> br.BernoulliBandit:
    return br.BernoulliBandit(alpha=[alpha] * arms, beta=[1.0] * arms)
