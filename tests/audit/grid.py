"""Random problems of every kind, from tiny priors to huge ones and from hardly any noise to much."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesregret import Bandit, BernoulliBandit, GaussianBandit, LinearBandit

Draw = np.random.Generator


def problem(seed: int) -> tuple[Bandit, dict[str, Any]]:
    """A bandit and the setting to audit it in."""
    draw = np.random.default_rng(seed)
    make = (gaussian, bernoulli, gaussian, linear, gaussian)[seed % 5]
    horizon = round(between(draw, 1, 300))
    delta = None if draw.random() < 0.4 else float(draw.choice([between(draw, 1e-7, 0.5), 0.9]))
    epsilon = None if draw.random() < 0.6 else between(draw, 1e-3, 10)
    return make(draw, int(draw.integers(1, 9))), {"horizon": horizon, "delta": delta, "epsilon": epsilon}


def between(draw: Draw, low: float, high: float) -> float:
    """A number of any size from low to high."""
    return float(np.exp(draw.uniform(np.log(low), np.log(high))))


def gaussian(draw: Draw, arms: int) -> GaussianBandit:
    width, noise = between(draw, 1e-2, 1e2), between(draw, 1e-2, 10)
    apart = float(draw.choice([0.0, 0.3 * width, width, 5.0 * width, 1.0, noise]))
    means = apart * (draw.integers(0, 3, arms) if draw.random() < 0.3 else draw.normal(size=arms))
    return GaussianBandit(means, width, noise, "rademacher" if draw.random() < 0.1 else "gaussian")


def bernoulli(draw: Draw, arms: int) -> BernoulliBandit:
    kinds = np.array([[between(draw, 0.3, 30) for _ in range(2)] for _ in range(int(draw.integers(1, 3)))])
    alpha, beta = kinds[draw.integers(len(kinds), size=arms)].T
    return BernoulliBandit(alpha, beta)


def linear(draw: Draw, arms: int) -> LinearBandit:
    dimension = int(draw.integers(1, 5))
    features = draw.normal(size=(arms, dimension))
    if arms > 2 and draw.random() < 0.2:
        features[1] = features[0]
    width, noise = between(draw, 1e-2, 1e2), between(draw, 1e-2, 10)
    root = width * draw.normal(size=(dimension, int(draw.integers(1, dimension + 1))))
    cov = width**2 * np.eye(dimension) if draw.random() < 0.5 else root @ root.T
    mean = float(draw.choice([0.0, width, 1.0])) * draw.normal(size=dimension)
    return LinearBandit(features, mean, prior_cov=cov, reward_noise=noise)
