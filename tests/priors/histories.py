"""Histories with a known prior."""

import numpy as np
from scipy.special import expit


def simulated(model, *, seed, experiments, arms, pulls, location, spread, level_spread=0.0, noise=2.0):
    """Columns of a history: levels normal on the link's scale, arms around them with this spread."""
    rng = np.random.default_rng(seed)
    experiment = np.repeat(np.arange(experiments), arms)
    level = (location + level_spread * rng.normal(size=experiments))[experiment]
    size = len(experiment)
    columns = {"experiment": experiment, "arm": np.tile(np.arange(arms), experiments), "pulls": np.full(size, pulls)}
    if model == "bernoulli":
        columns["successes"] = rng.binomial(pulls, rng.beta(expit(level) / spread, expit(-level) / spread))
    elif model == "poisson":
        columns["total"] = rng.poisson(pulls * rng.gamma(1.0 / spread, np.exp(level) * spread))
    else:
        means = level + np.sqrt(spread) * rng.normal(size=size)
        columns["mean"] = means + noise / np.sqrt(pulls) * rng.normal(size=size)
        columns["variance"] = noise**2 * rng.chisquare(pulls - 1, size=size) / (pulls - 1)
    return columns


def one_experiment(model, seed, arms=60, pulls=60, **prior):
    return simulated(model, seed=seed, experiments=1, arms=arms, pulls=pulls, **prior)
