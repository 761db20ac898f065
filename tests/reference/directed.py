"""Information-directed sampling the slow way: every posterior on a very fine grid, every quantity by its definition."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from scipy import optimize, special, stats

ORDER = 8
OUTCOMES = 401


class Posteriors(NamedTuple):
    """(arms, points) each, on a grid of mean rewards x with weights for integrals over it."""

    x: np.ndarray
    weights: np.ndarray
    mean: np.ndarray  # (arms,)
    density: np.ndarray
    below: np.ndarray  # P(mean reward < x)
    mean_below: np.ndarray  # E[mean reward; it is < x]


def grid(low, high, longest):
    points, weights = np.polynomial.legendre.leggauss(ORDER)
    edges = np.linspace(low, high, int((high - low) / longest) + 2)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1.0 + points)).ravel(), (half * weights).ravel()


def normal_posteriors(mean, deviation):
    mean, deviation = np.asarray(mean, float), np.asarray(deviation, float)
    x, weights = grid((mean - 9.0 * deviation).max(), (mean + 9.0 * deviation).max(), 0.25 * deviation.min())
    distribution = stats.norm(mean[:, None], deviation[:, None])
    below, density = distribution.cdf(x), distribution.pdf(x)
    return Posteriors(x, weights, mean, density, below, mean[:, None] * below - deviation[:, None] ** 2 * density)


def beta_posteriors(alpha, beta):
    """The grid is even in log-odds; the weights have its slope."""
    alpha, beta = np.asarray(alpha, float)[:, None], np.asarray(beta, float)[:, None]
    log_odds, weights = grid(-60.0, 60.0, 0.5 * np.sqrt(1 / alpha + 1 / beta).min())
    x, rest = special.expit(log_odds), special.expit(-log_odds)
    mean = alpha / (alpha + beta)
    density = np.exp((alpha - 1) * np.log(x) + (beta - 1) * np.log(rest) - special.betaln(alpha, beta))
    mean_below = mean * special.betainc(alpha + 1, beta, x)
    return Posteriors(x, weights * x * rest, mean[:, 0], density, special.betainc(alpha, beta, x), mean_below)


def product_without(below, *arms):
    return np.prod(np.delete(below, arms, axis=0), axis=0)


def probabilities(posteriors: Posteriors):
    """P(arm is best)."""
    return np.array(
        [
            np.sum(posteriors.weights * f * product_without(posteriors.below, arm))
            for arm, f in enumerate(posteriors.density)
        ]
    )


def gaps(posteriors: Posteriors):
    """E[best] - E[arm]."""
    best = sum(
        np.sum(posteriors.weights * posteriors.x * f * product_without(posteriors.below, arm))
        for arm, f in enumerate(posteriors.density)
    )
    return best - posteriors.mean


def conditional_means(posteriors: Posteriors):
    """(arms, arms): E[arm | other is best]."""
    arms = len(posteriors.mean)
    made = np.empty((arms, arms))
    for arm in range(arms):
        for other, f in enumerate(posteriors.density):
            if other == arm:
                joint = posteriors.x * f * product_without(posteriors.below, arm)
            else:
                joint = f * product_without(posteriors.below, arm, other) * posteriors.mean_below[arm]
            made[arm, other] = np.sum(posteriors.weights * joint)
    return made / probabilities(posteriors)


def variance_gains(posteriors: Posteriors):
    return (conditional_means(posteriors) - posteriors.mean[:, None]) ** 2 @ probabilities(posteriors)


def bernoulli_gains(posteriors: Posteriors):
    """Divergence of the rewards given the best arm from those without."""
    given, mean = conditional_means(posteriors), posteriors.mean[:, None]
    return (special.rel_entr(given, mean) + special.rel_entr(1 - given, 1 - mean)) @ probabilities(posteriors)


def normal_gains(mean, deviation, noise):
    """Entropy of the best arm less the expected one after a reward: by the posterior after each of many rewards.

    `noise` is a number, or one for each arm.
    """
    before = normal_posteriors(mean, deviation)
    made = []
    for arm, (m, s, own) in enumerate(zip(mean, deviation, np.broadcast_to(noise, len(mean)), strict=True)):
        spread = np.hypot(s, own)
        z = np.linspace(-8.5, 8.5, OUTCOMES)
        density = stats.norm.pdf(z) * (z[1] - z[0])
        after_mean, after = m + s * s / spread * z, s * own / spread
        below = stats.norm.cdf(before.x, after_mean[:, None], after)
        pdf = stats.norm.pdf(before.x, after_mean[:, None], after)
        found = []
        for other, f in enumerate(before.density):
            if other == arm:
                found.append(pdf @ (before.weights * product_without(before.below, arm)))
            else:
                found.append(below @ (before.weights * f * product_without(before.below, arm, other)))
        p = probabilities(before)[:, None]
        made.append(np.sum(density * special.kl_div(np.array(found), p)))
    return np.array(made)


def ratio(gap, gain, weights):
    return (weights @ gap) ** 2 / (weights @ gain)


def mixture(gap, gain):
    """The best weights of all arms: over all pairs, by minimising over the weight of one."""
    arms = np.eye(len(gap))
    best = arms[np.argmin(gap**2 / gain)]
    for first, second in itertools.combinations(arms, 2):
        found = optimize.minimize_scalar(
            lambda weight, a=first, b=second: ratio(gap, gain, weight * a + (1.0 - weight) * b),
            bounds=(0, 1),
            method="bounded",
            options={"xatol": 1e-10},
        )
        if found.fun < ratio(gap, gain, best) * (1.0 - 1e-9):
            best = found.x * first + (1.0 - found.x) * second
    return best
