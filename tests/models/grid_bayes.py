"""Bayes' rule by brute force: prior density times likelihood, summed over a fine grid. Nothing here is conjugate."""

import numpy as np
from scipy import stats

PANELS, ORDER = 2_000, 8
COARSE_PANELS = 60  # of each axis of a grid in the plane


def rule(low, high, panels=PANELS):
    """Points and weights of Gauss-Legendre quadrature on equal panels."""
    x, w = np.polynomial.legendre.leggauss(ORDER)
    edges = np.linspace(low, high, panels + 1)
    half = (edges[1:] - edges[:-1]) / 2
    return ((edges[:-1] + half)[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


def summed(log_density, values, weights):
    """Logarithm of the evidence, and posterior mean and variance of `values`."""
    top = log_density.max()
    mass = weights * np.exp(log_density - top)
    mean = np.sum(mass * values) / np.sum(mass)
    return top + np.log(np.sum(mass)), mean, np.sum(mass * (values - mean) ** 2) / np.sum(mass)


def gaussian_arm(bandit, arm, rewards):
    centre, width, noise = bandit.prior_mean[arm], bandit.prior_widths[arm], bandit.reward_noises[arm]
    theta, weights = rule(centre - 12 * width, centre + 12 * width)
    log_density = stats.norm.logpdf(theta, centre, width)
    for reward in rewards:
        log_density = log_density + stats.norm.logpdf(reward, theta, noise)
    return summed(log_density, theta, weights)


def bernoulli_arm(bandit, arm, rewards):
    theta, weights = rule(0.0, 1.0)
    log_density = stats.beta.logpdf(theta, bandit.alpha[arm], bandit.beta[arm])
    for reward in rewards:
        log_density = log_density + np.log(theta if reward == 1.0 else 1.0 - theta)
    return summed(log_density, theta, weights)


def poisson_arm(bandit, arm, rewards):
    shape, rate = bandit.shape[arm], bandit.rate[arm]
    theta, weights = rule(0.0, (shape + 15 * np.sqrt(shape) + 60) / rate)
    log_density = stats.gamma.logpdf(theta, shape, scale=1 / rate)
    for reward in rewards:
        log_density = log_density + stats.poisson.logpmf(reward, theta)
    return summed(log_density, theta, weights)


def exponential_arm(bandit, arm, rewards):
    """By the rate; its mean reward is one over it."""
    shape, rate = bandit.shape[arm], bandit.rate[arm]
    theta, weights = rule(0.0, (shape + 15 * np.sqrt(shape) + 60) / rate)
    log_density = stats.gamma.logpdf(theta, shape, scale=1 / rate)
    for reward in rewards:
        log_density = log_density + stats.expon.logpdf(reward, scale=1 / theta)
    return summed(log_density, 1 / theta, weights)


def normal_gamma_arm(bandit, arm, rewards):
    """By the mean, in units of its range in the sample, and the logarithm of the variance.

    The tails of a Student distribution are cut off where rewards leave no mass.
    """
    centre, deviation = np.mean(rewards), np.std(rewards)
    reach = 12 * deviation / np.sqrt(len(rewards))
    mean, mean_weights = rule(centre - reach, centre + reach, COARSE_PANELS)
    log_variance, weights = rule(2 * np.log(deviation) - 2, 2 * np.log(deviation) + 2, COARSE_PANELS)
    mean, variance = mean[:, None], np.exp(log_variance)
    log_density = (
        stats.invgamma.logpdf(variance, bandit.shape[arm], scale=bandit.scale[arm])
        + log_variance  # the density of the logarithm
        + stats.norm.logpdf(mean, bandit.prior_mean[arm], np.sqrt(variance / bandit.prior_pulls[arm]))
    )
    for reward in rewards:
        log_density = log_density + stats.norm.logpdf(reward, mean, np.sqrt(variance))
    return summed(log_density, mean, mean_weights[:, None] * weights)


ARMS = {
    "gaussian": gaussian_arm,
    "bernoulli": bernoulli_arm,
    "poisson": poisson_arm,
    "exponential": exponential_arm,
    "normal-gamma": normal_gamma_arm,
}


def mixture_posterior(weights, bandits, rewards):
    """Posterior weights of the components, and means and variances of the arms; `rewards` has a list for each arm."""
    found = np.array(
        [[ARMS[bandit.kind](bandit, arm, rewards[arm]) for arm in range(bandit.arms)] for bandit in bandits]
    )
    log_evidence, means, variances = np.moveaxis(found, 2, 0)
    log_weights = np.log(weights) + log_evidence.sum(axis=1)
    posterior = np.exp(log_weights - log_weights.max())
    posterior /= posterior.sum()
    mean = posterior @ means
    return posterior, mean, posterior @ (variances + (means - mean) ** 2)
