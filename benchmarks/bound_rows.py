"""Rows about bounds: seconds for a table, for long horizons, for lower bounds, and a sweep against Monte Carlo."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bayesregret as br
from clock import Cost, side_by_side, timed
from problems import Size
from row import Row, at_least, at_most, number

HORIZON = 1_000
DIGITS = 1e-3  # relative standard error of Monte Carlo to three digits
DRAWS = 200_000
SECOND = 1e9


def bounds(size: Size) -> Iterator[Row]:
    tables = {"Gaussian": _gaussian, "Bernoulli": _bernoulli}
    costs = [_on_new_bandits(make, lambda bandit: br.bounds.table(bandit, horizon=HORIZON)) for make in tables.values()]
    for name, cost in zip(tables, side_by_side(size.slow_repetitions, *costs), strict=True):
        work = f"table of all bounds, {name}, K=10, n={HORIZON:,}, after import"
        yield Row(work, "", cost / SECOND, "s", at_most(0.2, "s"))
    costs = [
        _on_new_bandits(make, lambda bandit: br.bounds.certified_index(bandit, horizon=10**6))
        for make in tables.values()
    ]
    for name, cost in zip(tables, side_by_side(size.slow_repetitions, *costs), strict=True):
        yield Row(f"index form, {name}, K=10, n=1,000,000", "", cost / SECOND, "s", at_most(0.5, "s"))
    yield from _lower(size)
    yield _sweep(size)


def _lower(size: Size) -> Iterator[Row]:
    """The lower bound for every policy, by arms and horizon; compiled code from the disk, nothing else in a cache."""
    cases: list[tuple[str, Callable[[float], br.Bandit], int, float]] = [
        ("Gaussian, K=10", _wide, HORIZON, 1.0),
        ("Gaussian, K=10", _wide, 10**6, 5.0),
        ("Bernoulli, K=5, all different", _five_bernoulli, HORIZON, 5.0),
        ("Bernoulli, K=5, all different", _five_bernoulli, 10**4, 60.0),
    ]
    for name, make, horizon, seconds in cases[: None if size.repetitions > 5 else 1]:
        cost = _on_new_bandits(make, functools.partial(br.bounds.certified_lower, horizon=horizon))
        (measured,) = side_by_side(1 if seconds > 5.0 else size.slow_repetitions, cost)
        yield Row(f"certified_lower, {name}, n={horizon:,}", "", measured / SECOND, "s", at_most(seconds, "s"))


def _sweep(size: Size) -> Row:
    """Theorem 1's leading term over widths, as Figure 1 has it, against the Monte Carlo average of the same."""
    points = 1_000 if size.repetitions > 5 else 50
    widths = np.geomspace(0.1, 10.0, points)
    rng = np.random.default_rng(7)
    sample = _monte_carlo(rng, 1.0)
    draws = (float(sample.std() / sample.mean()) / DIGITS) ** 2
    offsets = itertools.count(1)

    def sweep() -> None:
        gap = 1.0 + 1e-9 * next(offsets)
        for width in widths:
            br.bounds.gap_dependent(_gaussian(gap, width), horizon=HORIZON)

    here, draw = side_by_side(
        size.slow_repetitions,
        timed(sweep, points),
        timed(lambda: _monte_carlo(rng, 1.0), DRAWS),
    )
    there = draw * draws
    measured = (
        f"{number(here / 1e6)} ms a point against {number(draws / 1e6)} million draws in {number(there / 1e6)} ms"
    )
    work = f"sweep of {points:,} points, Theorem 1 with its error, against Monte Carlo to three digits"
    return Row(work, measured, there / here, target=at_least(50.0))


def _monte_carlo(rng: np.random.Generator, width: float) -> np.ndarray:
    """Draws of the sum of 8 s^2 L / max(gap, 1/n) - s^2 / s0^2 max(gap, 1/n)."""
    means = rng.standard_normal((DRAWS, 10)) * width
    means[:, 0] += 1.0
    gaps = np.maximum(means.max(axis=1, keepdims=True) - means, 1.0 / HORIZON)
    terms = 8.0 * math.log(HORIZON) / gaps - gaps / width**2
    best = 8.0 * math.log(HORIZON) * HORIZON - 1.0 / HORIZON / width**2  # of the best arm itself, whose gap is 0
    return terms.sum(axis=1) - best


def _on_new_bandits(make: Callable[[float], br.Bandit], work: Callable[[br.Bandit], Any]) -> Cost:
    """The cost of work on a bandit that no cache knows."""
    offsets = itertools.count(1)
    return timed(lambda: work(make(1.0 + 1e-9 * next(offsets))), 1)


def _gaussian(gap: float, width: float = 1.0) -> br.GaussianBandit:
    return br.GaussianBandit(prior_mean=[gap] + [0.0] * 9, prior_width=width, reward_noise=1.0)


def _wide(width: float) -> br.GaussianBandit:
    """Bandits with different prior widths have no recursion in common."""
    return _gaussian(1.0, width)


def _five_bernoulli(factor: float) -> br.BernoulliBandit:
    return br.BernoulliBandit(alpha=factor * np.array([1.0, 2.0, 0.5, 3.0, 7.0]), beta=[1.0, 1.0, 0.5, 4.0, 2.0])


def _bernoulli(alpha: float) -> br.BernoulliBandit:
    return br.BernoulliBandit(alpha=[alpha] * 10, beta=[1.0] * 10)
