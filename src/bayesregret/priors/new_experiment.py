"""Bandits of new experiments: the level that their arms share, and the prior's own uncertainty, as mixtures.

The level of a new experiment is unknown until it is run. Under the fit it is normal on the link's scale, around a
typical level that is itself known with an error. Given the level, arms are independent. So the prior of a new
experiment is a mixture over levels and over spreads of arms; gaussian arms need no mixture over levels, because there
the shared level is a covariance between arms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.models import Bandit, LinearBandit, MixtureBandit
from bayesregret.priors.families.family import Family
from bayesregret.priors.families.gaussian import GaussianArms

# Levels are equally spaced, at most as far apart as arms vary around them, so that they look continuous to a policy.
FARTHEST_LEVEL = 3.6  # standard deviations
LARGEST_STEP, SMALLEST_STEP = 0.75, 0.225  # standard deviations: 10 to 33 levels
# Gauss-Hermite rule for the logarithm of the spread of arms: standard normal points and their weights.
SPREAD_POINTS, SPREAD_WEIGHTS = (-math.sqrt(3.0), 0.0, math.sqrt(3.0)), (1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0)
# Fewer experiments count as this many, which doubles the variance of levels: the true factor grows to infinity.
FEWEST_EXPERIMENTS = 6
NEGLIGIBLE = 1e-9  # standard deviation of a location, relative to its scale, or of a log-spread


class NewLevel(NamedTuple):
    """Distribution of the location of a new experiment: normal on the link's scale."""

    location: float
    deviation: float


def predicted_deviation(level_spread: float, log_error: float, location_error: float, experiments: int) -> float:
    """Standard deviation of the location of a new experiment, given estimates from past experiments and their errors.

    If the locations of n past experiments were known, that of a new one would have Student's t distribution with n - 1
    degrees of freedom (Jeffreys' prior). Maximum likelihood underestimates its variance by the factor (n - 3) / n, and
    a plan with too few high levels recommends policies that fail there.

    Locations are known with errors, so they seem to vary more, by a factor k in variance: only this larger variance is
    estimated from n values. The standard error of the logarithm of the level spread, k / sqrt(2 n), shows k.
    """
    excess = max(1.0, math.sqrt(2.0 * experiments) * log_error)
    missing = 3.0 / (max(FEWEST_EXPERIMENTS, experiments) - 3)  # n / (n - 3) - 1
    variance = level_spread**2 * (1.0 + missing * excess) + location_error**2 * (1.0 + missing)
    return math.sqrt(variance)


def new_bandit(family: Family, arms: int, level: NewLevel, spread: float, spread_error: float) -> Bandit:
    """Bandit of a new experiment; `spread_error` is the standard error of the spread's logarithm."""
    if spread_error <= NEGLIGIBLE:
        spreads, weights = np.array([spread]), np.ones(1)
    else:
        spreads, weights = spread * np.exp(spread_error * np.array(SPREAD_POINTS)), np.array(SPREAD_WEIGHTS)
    parts = [_at_spread(family, arms, level, value) for value in spreads]
    together = np.concatenate([weight * shares for weight, (shares, _) in zip(weights, parts, strict=True)])
    bandits = [bandit for _, made in parts for bandit in made]
    return bandits[0] if len(bandits) == 1 else MixtureBandit(together / together.sum(), bandits)


def _at_spread(family: Family, arms: int, level: NewLevel, spread: float) -> tuple[Array, list[Bandit]]:
    """Weights and bandits of one spread of arms."""
    is_known = level.deviation <= NEGLIGIBLE * family.link_scale
    if isinstance(family, GaussianArms) and not is_known:
        return np.ones(1), [_gaussian(family, arms, level, spread)]
    locations, weights = (np.array([level.location]), np.ones(1)) if is_known else _levels(family, level, spread)
    levels = family.inverse_link(locations).tolist()
    return weights, [family.bandit(arms, value, family.width(value, spread)) for value in levels]


def _gaussian(family: GaussianArms, arms: int, level: NewLevel, spread: float) -> Bandit:
    """Exact: one feature for each arm, and the shared level as a covariance."""
    covariance = np.full((arms, arms), level.deviation**2) + spread * np.eye(arms)
    return LinearBandit(np.eye(arms), np.full(arms, level.location), covariance, reward_noise=family.noise)


def _levels(family: Family, level: NewLevel, spread: float) -> tuple[Array, Array]:
    """Equally spaced locations and their weights: the trapezoidal rule, whose error is below 1e-13 for these steps."""
    step = family.link_width(level.location, spread) / level.deviation
    half = math.ceil(FARTHEST_LEVEL / min(LARGEST_STEP, max(SMALLEST_STEP, step)))
    z = np.linspace(-FARTHEST_LEVEL, FARTHEST_LEVEL, 2 * half + 1)
    weights = np.exp(-0.5 * z * z)
    return level.location + level.deviation * z, weights / weights.sum()
