"""Problems for tests: a few fixed ones, and random ones for Hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from bayesregret import UCB1, BayesUCB, BernoulliBandit, GaussianBandit, LinearBandit

FEATURES = [[1.0, 0.0], [0.6, 0.8], [-0.5, 0.3], [0.0, 1.0], [0.9, 0.2]]

BANDITS = {
    "gaussian": GaussianBandit(prior_mean=[0.5, 0.0, 0.0, -0.5], prior_width=1.0, reward_noise=1.5),
    "rademacher": GaussianBandit([0.5, 0.0, 0.0, -0.5], 1.0, 1.5, noise_kind="rademacher"),
    "gaussian arms": GaussianBandit([0.5, 0.0, 0.0, -0.5], [0.5, 1.0, 1.0, 2.0], [1.5, 0.7, 0.7, 6.0]),
    "bernoulli": BernoulliBandit(alpha=[1.0, 0.4, 3.0, 1.0], beta=[1.0, 0.7, 2.0, 1.0]),
    "linear": LinearBandit(FEATURES, prior_mean=[0.3, -0.1], prior_cov=[[1.0, 0.4], [0.4, 0.8]], reward_noise=1.2),
    "linear of one rank": LinearBandit(FEATURES, [0.3, -0.1], prior_cov=[[1.0, 0.5], [0.5, 0.25]], reward_noise=1.2),
}
POLICIES = {"bayes-ucb": BayesUCB(), "ucb1": UCB1()}


def decimals(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers with three decimals, so that two are equal or well apart."""
    return st.integers(round(1000 * low), round(1000 * high)).map(lambda number: number / 1000)


deltas = st.none() | st.sampled_from([0.001, 0.05, 0.3, 0.999])
policies = st.builds(BayesUCB, delta=deltas) | st.builds(UCB1, delta=deltas)
horizons = st.integers(1, 60)
seeds = st.integers(0, 2**64)


few = st.integers(1, 6)


@st.composite
def gaussian_bandits(draw, arms=few):
    k = draw(arms)
    prior_mean = draw(st.lists(st.sampled_from([0.0, 1.0]) | decimals(-2, 2), min_size=k, max_size=k))
    kind = draw(st.sampled_from(["gaussian", "rademacher"]))
    return GaussianBandit(prior_mean, draw(decimals(0.01, 5)), draw(decimals(0.05, 5)), kind)


@st.composite
def gaussian_arms_bandits(draw, arms=few):
    """Heteroscedastic arms, some of them equal."""
    k = draw(arms)
    prior_mean = draw(st.lists(st.sampled_from([0.0, 1.0]) | decimals(-2, 2), min_size=k, max_size=k))
    own = st.sampled_from([0.5, 1.0]) | decimals(0.05, 5)
    widths, noises = (draw(st.lists(own, min_size=k, max_size=k)) for _ in range(2))
    return GaussianBandit(prior_mean, widths, noises)


@st.composite
def bernoulli_bandits(draw, arms=few):
    k = draw(arms)
    count = st.just(1.0) | decimals(0.01, 1) | decimals(1, 20)
    counts = st.lists(count, min_size=k, max_size=k)
    return BernoulliBandit(draw(counts), draw(counts))


many = st.integers(1, 20)
low = st.integers(1, 4)


@st.composite
def linear_bandits(draw, arms=many, dimensions=low):
    """Features in general position, so that the only ties are those made here: equal rows and rows of zeros."""
    k, d = draw(arms), draw(dimensions)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    features = rng.standard_normal((k, d))
    arm = st.integers(0, k - 1)
    for copy, original in draw(st.lists(st.tuples(arm, arm), max_size=3)):
        features[copy] = features[original]
    features[draw(st.lists(arm, max_size=2))] = 0.0
    prior_mean = rng.standard_normal(d) * draw(st.sampled_from([0.0, 1.0]))
    spread = draw(st.sampled_from(["width", "full", "singular"]))
    noise = draw(decimals(0.2, 5))
    if spread == "width":
        return LinearBandit(features, prior_mean, prior_width=draw(decimals(0.2, 5)), reward_noise=noise)
    root = rng.standard_normal((d, d + 2 if spread == "full" else draw(st.integers(0, d - 1))))
    return LinearBandit(features, prior_mean, prior_cov=root @ root.T, reward_noise=noise)


any_bandits = gaussian_bandits() | bernoulli_bandits() | linear_bandits()
