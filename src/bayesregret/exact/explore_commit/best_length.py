"""Best length of exploration before committing to an arm, from the expected highest posterior mean after exploration.

Before exploration, an arm's future posterior mean is a normal variable for a Gaussian arm and, up to scale, a
beta-binomial variable for a Bernoulli arm; conjugate.py has the other models. Arms are independent, so the probability
that the highest posterior mean is below x is a product.
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
from bayesregret.models.mixture import MixtureBandit
from bayesregret.models.normal_gamma import NormalGammaBandit
from bayesregret.models.poisson import PoissonBandit
from bayesregret.numerics.expected_maximum import best_of_discrete
from bayesregret.numerics.quadrature import even_edges, gauss_rule, merge_edges

ARMS_DIFFER = "whose arms have different priors in a component: the regret of explore-then-commit is simulated"
ORDER = 12
# In double precision, a standard normal has no mass below -REACH, and the best of any number of them none above TOP.
REACH, TOP, PANEL = 9.0, 10.5, 0.5
AT_ONCE = 10_000_000  # largest table, in values
# Probabilities beyond these log-odds are 0 or 1 to the last digit.
LOG_ODDS = 40.0
# Search for the number of cycles: geometric steps, then grids between the best one's neighbours, finally every value.
GROWTH, TRIES, FEW = 1.25, 9, 16


def best_exploration_length(bandit: Bandit, horizon: int) -> int:
    """Return the number of exploration rounds, a multiple of the number of arms, with the highest expected reward."""
    means = prior_means(bandit)
    if means is None and isinstance(bandit, MixtureBandit):
        raise ValueError("explore must be given, a whole number of rounds, on a mixture " + ARMS_DIFFER)
    if means is None:
        kind = f"{bandit.a_kind} bandit" + (f" with {bandit.noise_kind} noise" if hasattr(bandit, "noise_kind") else "")
        raise ValueError(f"explore must be given, a whole number of rounds, on {kind}")

    @functools.cache
    def loss(cycles: int) -> float:
        """Expected reward lost relative to the highest prior mean: rewards themselves are large and would cancel."""
        pulls = np.full(bandit.arms, cycles)
        rest = horizon - bandit.arms * cycles
        return float(cycles * np.sum(top - means) - rest * (expected_highest(bandit, pulls) - top))

    top = float(means.max())
    above = expected_best(bandit) - top
    cycles = _minimise(
        loss, horizon // bandit.arms, lambda cycles: cycles * np.sum(top + above - means) - horizon * above
    )
    return bandit.arms * cycles


def _minimise(loss: Callable[[int], float], most: int, at_least: Callable[[int], float]) -> int:
    """Number of cycles, at most `most`, with the lowest loss; `at_least` is an increasing lower bound on the loss."""
    tried = [0]
    cycles = 1
    while cycles <= most and at_least(cycles) < min(map(loss, tried)):
        tried.append(cycles)
        cycles = max(cycles + 1, round(GROWTH * cycles))
    tried.append(min(cycles, most))
    while True:
        best = min(range(len(tried)), key=lambda place: loss(tried[place]))
        low, high = tried[max(0, best - 1)], tried[min(len(tried) - 1, best + 1)]
        if high - low <= FEW:
            return min(range(low, high + 1), key=loss)
        tried = sorted({round(low + (high - low) * step / (TRIES - 1)) for step in range(TRIES)})


def prior_means(bandit: Bandit) -> Array | None:
    """Prior means of the arms; None for bandits without an exact explore-then-commit regret.

    On a mixture the winner depends on the components' weights, unless the arms have the same prior in every component:
    then the highest posterior mean after an equal split is that of the arm with the highest sample mean.
    """
    if isinstance(bandit, MixtureBandit):
        means = [prior_means(part) for part in bandit.bandits]
        known = [each for each in means if each is not None]
        is_exact = len(known) == len(means) and (len(means) == 1 or all(map(_has_equal_arms, bandit.bandits)))
        return np.asarray(bandit.weights @ np.array(known)) if is_exact else None
    if isinstance(bandit, GaussianBandit) and bandit.noise_kind == "gaussian":
        return bandit.prior_mean
    if isinstance(bandit, BernoulliBandit):
        return np.asarray(bandit.alpha / (bandit.alpha + bandit.beta))
    if isinstance(bandit, PoissonBandit):
        return np.asarray(bandit.shape / bandit.rate)
    if isinstance(bandit, ExponentialBandit):
        return np.asarray(bandit.rate / (bandit.shape - 1.0))
    return bandit.prior_mean if isinstance(bandit, NormalGammaBandit) else None


def _has_equal_arms(bandit: Bandit) -> bool:
    """Whether all arms of a bandit with independent arms have the same prior."""
    return all(np.ptp(value) == 0.0 for value in bandit.settings().values() if isinstance(value, np.ndarray))


def expected_highest(bandit: Any, pulls: NDArray[np.int64] | None) -> float:
    """E[highest posterior mean] after `pulls` of each arm; None means infinitely many."""
    if isinstance(bandit, MixtureBandit):
        return float(bandit.weights @ [expected_highest(part, pulls) for part in bandit.bandits])
    if isinstance(bandit, GaussianBandit):
        fraction = np.ones(bandit.arms) if pulls is None else pulls / (bandit.model.pseudo_count + pulls)
        return _expected_max_normal(bandit.prior_mean, bandit.prior_width * np.sqrt(fraction))
    if isinstance(bandit, PoissonBandit):
        return highest_gamma(bandit, pulls)
    if isinstance(bandit, ExponentialBandit):
        return highest_inverse_gamma(bandit, pulls)
    if isinstance(bandit, NormalGammaBandit):
        return highest_student(bandit, pulls)
    if pulls is None:
        return _expected_max_beta(bandit.alpha, bandit.beta)
    return best_of_discrete(_beta_binomial_means, bandit.alpha, bandit.beta, pulls)


def expected_best(bandit: Any) -> float:
    """E[mean reward of the best arm]."""
    return expected_highest(bandit, None)


def _expected_max_normal(means: Array, deviations: Array) -> float:
    """E[maximum] of independent normal variables; those with deviation 0 are constants."""
    top = float(means.max())
    certain = float(means[deviations == 0.0].max(initial=-np.inf)) - top
    varies = deviations > 0.0
    if not varies.any():
        return top
    centres, widths = (means - top)[varies], deviations[varies]
    low = max(certain, float(np.max(centres - REACH * widths)))
    x, weights = gauss_rule(_adaptive_edges(low, centres, widths), ORDER)
    some_above = 0.0
    for part in np.array_split(np.arange(len(x)), 1 + len(x) * len(widths) // AT_ONCE):
        all_below = np.prod(ndtr((x[part] - centres[:, None]) / widths[:, None]), axis=0)
        some_above += float(np.sum(weights[part] * (1.0 - all_below)))
    return top + low + some_above


def _adaptive_edges(low: float, centres: Array, widths: Array) -> Array:
    """Edges of panels that resolve the narrowest variable with mass there: widths may differ by orders of magnitude."""
    starts, ends = centres - REACH * widths, centres + TOP * widths
    edges, high = [low], float(ends.max())
    while (here := edges[-1]) < high:
        panel = PANEL * float(widths[(starts <= here) & (here < ends)].min(initial=np.inf))
        end = min(here + panel, float(starts[starts > here].min(initial=high)))
        edges.append(max(end, float(np.nextafter(here, np.inf))))
    return np.array(edges)


def _beta_binomial_means(alpha: float, beta: float, pulls: int) -> tuple[Array, Array]:
    """Possible values of a posterior mean, and their cumulative probabilities."""
    wins = np.arange(pulls + 1.0)
    ratios = (pulls - wins[:-1]) / wins[1:] * (alpha + wins[:-1]) / (beta + (pulls - wins[1:]))
    log_mass = np.append(0.0, np.cumsum(np.log(ratios)))
    below = np.cumsum(np.exp(log_mass - log_mass.max()))
    return (alpha + wins) / (alpha + beta + pulls), below / below[-1]


def _expected_max_beta(alpha: Array, beta: Array) -> float:
    """E[maximum] of independent Beta variables: the integral of P(some arm above x), in log-odds."""
    pairs, counts = np.unique(np.stack([alpha, beta]), axis=1, return_counts=True)
    a, b = pairs[:, :, None]
    middle, deviation = digamma(a) - digamma(b), np.sqrt(polygamma(1, a) + polygamma(1, b))
    humps = middle + deviation * np.linspace(-10.0, 10.0, 41)
    edges = merge_edges(even_edges(-LOG_ODDS, LOG_ODDS, 1.0), humps, low=-LOG_ODDS, high=LOG_ODDS)
    log_odds, weights = gauss_rule(edges, ORDER)
    x, rest = expit(log_odds), expit(-log_odds)
    below = np.where(x <= 0.5, betainc(a, b, x), betaincc(b, a, rest))
    return float(np.sum(weights * x * rest * (1.0 - np.prod(below ** counts[:, None], axis=0))))
