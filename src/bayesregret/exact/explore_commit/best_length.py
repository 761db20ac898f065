"""How long to explore before committing to an arm: the expected highest posterior mean after equal exploration.

Before exploration, the posterior mean that an arm will have is a normal variable for a Gaussian arm and, but for a
scale, a beta-binomial one for a Bernoulli arm; exploration_conjugate.py has the other models. Arms are independent, so
the highest of them is below x with the product of their chances.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, digamma, expit, ndtr, polygamma

from bayesregret.checks import Array
from bayesregret.exact.explore_commit.conjugate import highest_gamma, highest_inverse_gamma, highest_student
from bayesregret.models.bandit import Bandit
from bayesregret.models.bernoulli import BernoulliBandit
from bayesregret.models.exponential import ExponentialBandit
from bayesregret.models.gaussian import GaussianBandit
from bayesregret.models.normal_gamma import NormalGammaBandit
from bayesregret.models.poisson import PoissonBandit
from bayesregret.numerics.maximum_of_distributions import highest_of_steps
from bayesregret.numerics.quadrature import even_edges, gauss_rule, merge_edges

ORDER = 12
# A standard normal below -REACH, and the best of any number of them above TOP, are of no weight in a float.
REACH, TOP, PANEL = 9.0, 10.5, 0.5
AT_ONCE = 10_000_000  # values in a table
# Shares beyond these log-odds are 0 or 1 to the last digit.
LOG_ODDS = 40.0
# Numbers of turns are tried in steps of this growth, then between the best one's neighbours, at last all of a few.
GROWTH, TRIES, FEW = 1.25, 9, 16


def best_exploration(bandit: Bandit, horizon: int) -> int:
    """How many rounds of all arms in turn, then the highest posterior mean for good, bring the highest reward."""
    means = prior_means(bandit)
    if means is None:
        kind = f"{bandit.a_kind} bandit" + (f" with {bandit.noise_kind} noise" if hasattr(bandit, "noise_kind") else "")
        raise ValueError(f"explore must be given, a whole number of rounds, on {kind}")

    @functools.cache
    def loss(turns: int) -> float:
        """Against the highest prior mean: differences are small beside the rewards themselves."""
        pulls = np.full(bandit.arms, turns)
        rest = horizon - bandit.arms * turns
        return float(turns * np.sum(top - means) - rest * (expected_highest(bandit, pulls) - top))

    top = float(means.max())
    above = expected_best(bandit) - top
    turns = _lowest(loss, horizon // bandit.arms, lambda turns: turns * np.sum(top + above - means) - horizon * above)
    return bandit.arms * turns


def _lowest(loss: Callable[[int], float], most: int, at_least: Callable[[int], float]) -> int:
    """The number of turns, `most` at most, with the lowest loss. `at_least` is a rising bound from below."""
    tried = [0]
    turns = 1
    while turns <= most and at_least(turns) < min(map(loss, tried)):
        tried.append(turns)
        turns = max(turns + 1, round(GROWTH * turns))
    tried.append(min(turns, most))
    while True:
        best = min(range(len(tried)), key=lambda place: loss(tried[place]))
        low, high = tried[max(0, best - 1)], tried[min(len(tried) - 1, best + 1)]
        if high - low <= FEW:
            return min(range(low, high + 1), key=loss)
        tried = sorted({round(low + (high - low) * step / (TRIES - 1)) for step in range(TRIES)})


def prior_means(bandit: Bandit) -> Array | None:
    """None for bandits of which nothing is known here."""
    if isinstance(bandit, GaussianBandit) and bandit.noise_kind == "gaussian":
        return bandit.prior_mean
    if isinstance(bandit, BernoulliBandit):
        return np.asarray(bandit.alpha / (bandit.alpha + bandit.beta))
    if isinstance(bandit, PoissonBandit):
        return np.asarray(bandit.shape / bandit.rate)
    if isinstance(bandit, ExponentialBandit):
        return np.asarray(bandit.rate / (bandit.shape - 1.0))
    return bandit.prior_mean if isinstance(bandit, NormalGammaBandit) else None


def expected_highest(bandit: Any, pulls: NDArray[np.int64] | None) -> float:
    """E[highest posterior mean] after so many pulls of each arm; None are pulls without end."""
    if isinstance(bandit, GaussianBandit):
        share = np.ones(bandit.arms) if pulls is None else pulls / (bandit.model.strength + pulls)
        return _highest_normal(bandit.prior_mean, bandit.prior_width * np.sqrt(share))
    if isinstance(bandit, PoissonBandit):
        return highest_gamma(bandit, pulls)
    if isinstance(bandit, ExponentialBandit):
        return highest_inverse_gamma(bandit, pulls)
    if isinstance(bandit, NormalGammaBandit):
        return highest_student(bandit, pulls)
    if pulls is None:
        return _highest_beta(bandit.alpha, bandit.beta)
    return highest_of_steps(_beta_binomial_means, bandit.alpha, bandit.beta, pulls)


def expected_best(bandit: Any) -> float:
    """E[mean reward of the best arm]."""
    return expected_highest(bandit, None)


def _highest_normal(means: Array, deviations: Array) -> float:
    """E[highest] of independent normal variables; those of no deviation are numbers."""
    top = float(means.max())
    sure = float(means[deviations == 0.0].max(initial=-np.inf)) - top
    moving = deviations > 0.0
    if not moving.any():
        return top
    centres, widths = (means - top)[moving], deviations[moving]
    low = max(sure, float(np.max(centres - REACH * widths)))
    x, weights = gauss_rule(_edges_under_way(low, centres, widths), ORDER)
    some_above = 0.0
    for part in np.array_split(np.arange(len(x)), 1 + len(x) * len(widths) // AT_ONCE):
        all_below = np.prod(ndtr((x[part] - centres[:, None]) / widths[:, None]), axis=0)
        some_above += float(np.sum(weights[part] * (1.0 - all_below)))
    return top + low + some_above


def _edges_under_way(low: float, centres: Array, widths: Array) -> Array:
    """Edges of panels as short as the narrowest variable needs that is under way there: widths may differ vastly."""
    starts, ends = centres - REACH * widths, centres + TOP * widths
    edges, high = [low], float(ends.max())
    while (here := edges[-1]) < high:
        panel = PANEL * float(widths[(starts <= here) & (here < ends)].min(initial=np.inf))
        end = min(here + panel, float(starts[starts > here].min(initial=high)))
        edges.append(max(end, float(np.nextafter(here, np.inf))))
    return np.array(edges)


def _beta_binomial_means(alpha: float, beta: float, pulls: int) -> tuple[Array, Array]:
    """The values that a posterior mean can have, and the chances that it is at most each."""
    wins = np.arange(pulls + 1.0)
    ratios = (pulls - wins[:-1]) / wins[1:] * (alpha + wins[:-1]) / (beta + pulls - wins[1:])
    log_mass = np.append(0.0, np.cumsum(np.log(ratios)))
    below = np.cumsum(np.exp(log_mass - log_mass.max()))
    return (alpha + wins) / (alpha + beta + pulls), below / below[-1]


def _highest_beta(alpha: Array, beta: Array) -> float:
    """E[highest] of independent Beta variables: the integral of P(some arm above x), in log-odds."""
    pairs, counts = np.unique(np.stack([alpha, beta]), axis=1, return_counts=True)
    a, b = pairs[:, :, None]
    middle, deviation = digamma(a) - digamma(b), np.sqrt(polygamma(1, a) + polygamma(1, b))
    humps = middle + deviation * np.linspace(-10.0, 10.0, 41)
    edges = merge_edges(even_edges(-LOG_ODDS, LOG_ODDS, 1.0), humps, low=-LOG_ODDS, high=LOG_ODDS)
    log_odds, weights = gauss_rule(edges, ORDER)
    x, rest = expit(log_odds), expit(-log_odds)
    below = np.where(x <= 0.5, betainc(a, b, x), betaincc(b, a, rest))
    return float(np.sum(weights * x * rest * (1.0 - np.prod(below ** counts[:, None], axis=0))))
