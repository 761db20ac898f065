"""Probability that a round of a Bernoulli bandit pulls the best arm.

As in gaussian/best_arm.py: for every value v of the best arm's mean there is one sweep over cells of thresholds, with
the probability that an arm's mean is below v in place of 1, and its density at v in place of the loss.
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
from bayesregret.exact.bernoulli.cells import choose_thresholds
from bayesregret.exact.bernoulli.exits import BernoulliExits, first_exits
from bayesregret.exact.bernoulli.series import apply_moves, make_sweep_state, regret_of, set_distributions
from bayesregret.exact.power_series import Transform
from bayesregret.models import BernoulliBandit
from bayesregret.numerics.expected_maximum import LOG_ODDS
from bayesregret.numerics.quadrature import even_edges, gauss_rule

# Longest horizon: tables of Beta distributions on the whole lattice grow with its square.
LONGEST = 2_000
SINGLE_THRESHOLDS, CELLS = 1_200, 400
# Panels of the best arm's mean in log-odds: PANEL times the standard deviation of the sharpest prior, or times 1.
PANEL, ORDER = 2.0, 6
SMALLEST_PROBABILITY = 1e-9


def bernoulli_best_arm_probability(
    bandit: BernoulliBandit, settings: Any, belief: Any, horizon: int, arm_kind: NDArray[np.int64], first: Sequence[int]
) -> Array | None:
    """Probability that each round pulls the best arm, (horizon,), to about three digits; None for long horizons."""
    if horizon > LONGEST:
        return None
    if bandit.arms == 1:
        return np.ones(horizon)
    thresholds, _ = choose_thresholds(settings, belief, first, horizon, SINGLE_THRESHOLDS, CELLS)
    exits = [first_exits(bandit, settings, belief, arm, horizon, thresholds) for arm in first]
    transform = Transform(horizon, oversampling=2.0, digits=9.0)
    total = np.zeros(len(transform.points), np.complex128)
    for v, weight in zip(*_values(bandit), strict=True):
        total += weight * _best_at(v, bandit, first, arm_kind, exits, len(thresholds), transform)
    return np.clip(transform.running_sums(total), 0.0, 1.0)


def _values(bandit: BernoulliBandit) -> tuple[list[tuple[float, float]], list[float]]:
    """Points (v, 1 - v) and weights for the best arm's mean v: a rule in log-odds, where priors are smooth."""
    low = float(np.max(betaincinv(bandit.alpha, bandit.beta, SMALLEST_PROBABILITY)))
    rest = float(np.min(betaincinv(bandit.beta, bandit.alpha, SMALLEST_PROBABILITY)))
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
    exits: Sequence[BernoulliExits],
    thresholds: int,
    transform: Transform,
) -> NDArray[np.complex128]:
    """Sweep over thresholds for one value v of the best arm's mean."""
    rows = np.zeros((thresholds + 1, 2, len(first), transform.terms))
    for kind, (arm, found) in enumerate(zip(first, exits, strict=True)):
        below, density = _beta_tables(bandit.alpha[arm], bandit.beta[arm], v, transform.terms)
        rows[0, :, kind, 0] = below[0, 0], density[0, 0]
        at = (found.threshold + 1) * transform.terms + found.pulls
        for part, table in enumerate((below, density)):
            weights = found.mass * table[found.pulls - found.successes, found.successes]
            rows[:, part, kind] += np.bincount(at, weights, rows[:, 0, 0].size).reshape(thresholds + 1, -1)
    series = transform.forward(rows)
    state = make_sweep_state(len(transform.points), arm_kind, transform.until_horizon())
    set_distributions(state, series[0, 0])
    changes = np.diff(series, axis=0)
    kinds = np.tile(np.arange(len(first)), thresholds)
    compile_kernel(apply_moves)(
        state,
        np.ascontiguousarray(changes[:, 0]).reshape(len(kinds), -1),
        np.ascontiguousarray(changes[:, 1]).reshape(len(kinds), -1),
        kinds,
        np.repeat(np.arange(thresholds), len(first)),
        np.ones(len(kinds), np.bool_),
        np.zeros(len(kinds)),
    )
    return regret_of(state, len(transform.points))


def _beta_tables(alpha: float, beta: float, v: tuple[float, float], horizon: int) -> tuple[Array, Array]:
    """Posterior distribution function and density at v, by numbers of failures and successes."""
    x, rest = v
    won = np.arange(horizon, dtype=np.float64)
    lost = won[:, None]
    log_total = sliding_window_view(gammaln(alpha + beta + np.arange(2.0 * horizon - 1.0)), horizon)
    # x^a (1-x)^b / B(a, b), via logarithms: for many pulls its factors overflow.
    term = np.exp(
        (alpha + won) * math.log(x)
        + (beta + lost) * math.log(rest)
        + log_total
        - gammaln(alpha + won)
        - gammaln(beta + lost)
    )
    below = np.empty((horizon, horizon))
    below[0] = betainc(alpha + won, beta, x) if x < 0.5 else betaincc(beta, alpha + won, rest)
    # One more failure adds term / b.
    below[1:] = below[0] + np.cumsum(term[:-1] / (beta + lost[:-1]), axis=0)
    return below, term / (x * rest)
