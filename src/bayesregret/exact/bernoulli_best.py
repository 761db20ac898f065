"""The chance that a round of a Bernoulli bandit is on the best arm.

As in gaussian_best.py: a sweep of cells is made for every value v of the best arm's mean, with the chance that an arm's
mean is below v in place of 1, and its density at v in place of the loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, betaincinv, betaln, expit, polygamma

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel, jitable
from bayesregret.exact.bernoulli_cells import choose_levels, fewest_by_index, fewest_by_width
from bayesregret.exact.bernoulli_lattice import NOTHING, ONE, ZERO, polya_step
from bayesregret.exact.bernoulli_series import make_book, make_moves, start_batch, whole_series
from bayesregret.exact.prior_best import LOG_ODDS
from bayesregret.exact.transform import Transform
from bayesregret.models import BernoulliBandit
from bayesregret.policies.policy import is_mean_plus_width
from bayesregret.quadrature import even_edges, gauss_rule

# Tables of Beta distributions on the whole lattice grow with the square of the horizon.
LONGEST = 2_000
SINGLE_LEVELS, CELLS = 1_200, 400
# Values of the best arm's mean: in log-odds, panels of so many deviations of the sharpest prior, one at most.
PANEL, ORDER = 2.0, 6
LEAST_CHANCE = 1e-9


class Exits(NamedTuple):
    """All first exits of one kind below all levels."""

    level: NDArray[np.int64]
    pulls: NDArray[np.int64]
    successes: NDArray[np.int64]
    mass: Array


def bernoulli_best_chance(
    bandit: BernoulliBandit, settings: Any, belief: Any, horizon: int, arm_kind: NDArray[np.int64], first: Sequence[int]
) -> Array | None:
    """(horizon,): the chance that each round is on the best arm, to about four digits; None for long horizons."""
    if horizon > LONGEST:
        return None
    if bandit.arms == 1:
        return np.ones(horizon)
    levels, _ = choose_levels(settings, belief, first, horizon, SINGLE_LEVELS, CELLS)
    exits = [_exits(bandit, settings, belief, arm, horizon, levels) for arm in first]
    transform = Transform(horizon, oversampling=2.0, digits=9.0)
    total = np.zeros(len(transform.points), np.complex128)
    for v, weight in zip(*_values(bandit), strict=True):
        total += weight * _best_at(v, bandit, first, arm_kind, exits, len(levels), transform)
    return np.clip(transform.running_sums(total), 0.0, 1.0)


def _values(bandit: BernoulliBandit) -> tuple[list[tuple[float, float]], list[float]]:
    """Where the best arm's mean v may be, as pairs of v and 1 - v: a rule in log-odds, in which priors are smooth."""
    low = float(np.max(betaincinv(bandit.alpha, bandit.beta, LEAST_CHANCE)))
    rest = float(np.min(betaincinv(bandit.beta, bandit.alpha, LEAST_CHANCE)))
    first = max(-LOG_ODDS, math.log(low) - math.log1p(-low)) if 0.0 < low < 1.0 else -LOG_ODDS
    last = min(LOG_ODDS, math.log1p(-rest) - math.log(rest)) if 0.0 < rest < 1.0 else LOG_ODDS
    sharpest = math.sqrt(float(np.min(polygamma(1, bandit.alpha) + polygamma(1, bandit.beta))))
    log_odds, weights = gauss_rule(even_edges(first, last, PANEL * min(1.0, sharpest)), ORDER)
    x, rest_of_x = expit(log_odds), expit(-log_odds)
    return list(zip(x.tolist(), rest_of_x.tolist(), strict=True)), (weights * x * rest_of_x).tolist()


def _best_at(
    v: tuple[float, float],
    bandit: BernoulliBandit,
    first: Sequence[int],
    arm_kind: NDArray[np.int64],
    exits: Sequence[Exits],
    levels: int,
    transform: Transform,
) -> NDArray[np.complex128]:
    """The sweep for one value of the best arm's mean."""
    rows = np.zeros((levels + 1, 2, len(first), transform.terms))
    for kind, (arm, found) in enumerate(zip(first, exits, strict=True)):
        below, density = _beta_tables(bandit.alpha[arm], bandit.beta[arm], v, transform.terms)
        rows[0, :, kind, 0] = below[0, 0], density[0, 0]
        at = (found.level + 1) * transform.terms + found.pulls
        for part, table in enumerate((below, density)):
            weights = found.mass * table[found.pulls, found.successes]
            rows[:, part, kind] += np.bincount(at, weights, rows[:, 0, 0].size).reshape(levels + 1, -1)
    series = transform.forward(rows)
    book = make_book(len(transform.points), arm_kind, transform.until_horizon())
    start_batch(book, series[0, 0])
    changes = np.diff(series, axis=0)
    kinds = np.tile(np.arange(len(first)), levels)
    compile_kernel(make_moves)(
        book,
        np.ascontiguousarray(changes[:, 0]).reshape(len(kinds), -1),
        np.ascontiguousarray(changes[:, 1]).reshape(len(kinds), -1),
        kinds,
        np.repeat(np.arange(levels), len(first)),
        np.ones(len(kinds), np.bool_),
        np.zeros(len(kinds)),
    )
    return whole_series(book.regret, len(transform.points))


def _beta_tables(alpha: float, beta: float, v: tuple[float, float], horizon: int) -> tuple[Array, Array]:
    """Beta distribution function and density at v after all pulls and successes, by recurrences in the failures."""
    x, rest = v
    below, density = np.zeros((horizon, horizon)), np.zeros((horizon, horizon))
    s = np.arange(horizon, dtype=np.float64)
    # With successes alone; from there one failure after the other.
    diagonal = np.arange(horizon)
    below[diagonal, diagonal] = betainc(alpha + s, beta, x) if x < 0.5 else betaincc(beta, alpha + s, rest)
    term = np.exp((alpha + s) * math.log(x) + beta * math.log(rest) - betaln(alpha + s, beta))  # x^a (1-x)^b / B(a, b)
    density[diagonal, diagonal] = term / (x * rest)
    for failures in range(1, horizon):
        a, b = alpha + s[: horizon - failures], beta + failures - 1.0
        rows = np.arange(failures, horizon)
        below[rows, rows - failures] = below[rows - 1, rows - failures] + term[: len(a)] / b
        term = term[: len(a)] * rest * (a + b) / b
        density[rows, rows - failures] = term / (x * rest)
    return below, density


def _exits(bandit: BernoulliBandit, settings: Any, belief: Any, arm: int, horizon: int, levels: Array) -> Exits:
    lowest = np.zeros((len(levels), horizon), np.uint64)
    fill = fewest_by_width if is_mean_plus_width(settings) else fewest_by_index
    compile_kernel(fill, type(settings), type(belief))(settings, belief, arm, levels, lowest)
    most = 2 * horizon
    pulls, successes = np.zeros((len(levels), most), np.int64), np.zeros((len(levels), most), np.int64)
    mass, count = np.zeros((len(levels), most)), np.zeros(len(levels), np.int64)
    scratch = [np.zeros(horizon + 2), np.zeros(horizon + 2), np.arange(horizon + 2.0)]
    run = compile_kernel(list_exits)
    run(bandit.alpha[arm], bandit.beta[arm], lowest, *scratch, pulls, successes, mass, count)
    used = np.arange(most) < count[:, None]
    level = np.broadcast_to(np.arange(len(levels))[:, None], used.shape)
    return Exits(level[used], pulls[used], successes[used], mass[used])


def list_exits(alpha, beta, lowest, here, there, numbers, pulls, successes, mass, count):
    """For each level the points at which an arm is first below it, with their chances."""
    for i in range(lowest.shape[0]):
        found = walk(alpha, alpha + beta, lowest[i], here, there, numbers, pulls[i], successes[i], mass[i])
        count[i] = found


@jitable
def walk(alpha, total, lowest, here, there, numbers, pulls, successes, mass):
    here[0] = 1.0
    low, high = ZERO, ZERO
    found = 0
    for k in range(lowest.shape[0]):
        if k > 0:
            polya_step(alpha, total, float(k) - 1.0, numbers, low, high, here, there)
            here, there = there, here
            high += ONE
        while low <= high and low < lowest[k]:
            pulls[found], successes[found], mass[found] = k, low, here[low]
            found += 1
            low += ONE
        if low > high:
            return found
        while high > low and here[high] < NOTHING:
            high -= ONE
    return found
