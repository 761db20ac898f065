"""The chance that a round of a Bernoulli bandit is on the best arm.

As in gaussian_best.py: a sweep of cells is made for every value v of the best arm's mean, with the chance that an arm's
mean is below v in place of 1, and its density at v in place of the loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, betaincinv, expit, gammaln, polygamma

from bayesregret.checks import Array
from bayesregret.dispatch import compile_kernel
from bayesregret.exact.bernoulli.cells import choose_levels
from bayesregret.exact.bernoulli.exits import Exits, first_exits
from bayesregret.exact.bernoulli.series import make_book, make_moves, regret_of, start_batch
from bayesregret.exact.power_series import Transform
from bayesregret.models import BernoulliBandit
from bayesregret.numerics.expected_maximum import LOG_ODDS
from bayesregret.numerics.quadrature import even_edges, gauss_rule

# Tables of Beta distributions on the whole lattice grow with the square of the horizon.
LONGEST = 2_000
SINGLE_LEVELS, CELLS = 1_200, 400
# Values of the best arm's mean: in log-odds, panels of so many deviations of the sharpest prior, one at most.
PANEL, ORDER = 2.0, 6
LEAST_CHANCE = 1e-9


def bernoulli_best_chance(
    bandit: BernoulliBandit, settings: Any, belief: Any, horizon: int, arm_kind: NDArray[np.int64], first: Sequence[int]
) -> Array | None:
    """(horizon,): the chance that each round is on the best arm, to about three digits; None for long horizons."""
    if horizon > LONGEST:
        return None
    if bandit.arms == 1:
        return np.ones(horizon)
    levels, _ = choose_levels(settings, belief, first, horizon, SINGLE_LEVELS, CELLS)
    exits = [first_exits(bandit, settings, belief, arm, horizon, levels) for arm in first]
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
            weights = found.mass * table[found.pulls - found.successes, found.successes]
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
    return regret_of(book, len(transform.points))


def _beta_tables(alpha: float, beta: float, v: tuple[float, float], horizon: int) -> tuple[Array, Array]:
    """Beta distribution function and density at v after all failures and successes."""
    x, rest = v
    won = np.arange(horizon, dtype=np.float64)
    lost = won[:, None]
    log_total = sliding_window_view(gammaln(alpha + beta + np.arange(2.0 * horizon - 1.0)), horizon)
    # x^a (1-x)^b / B(a, b), in logarithms: with many pulls its parts are beyond the range of numbers
    term = np.exp(
        (alpha + won) * math.log(x)
        + (beta + lost) * math.log(rest)
        + log_total
        - gammaln(alpha + won)
        - gammaln(beta + lost)
    )
    below = np.empty((horizon, horizon))
    below[0] = betainc(alpha + won, beta, x) if x < 0.5 else betaincc(beta, alpha + won, rest)
    # One failure more adds term / b.
    below[1:] = below[0] + np.cumsum(term[:-1] / (beta + lost[:-1]), axis=0)
    return below, term / (x * rest)
