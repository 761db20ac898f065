"""Mixtures of bandits: their posteriors against brute force, their instances, and bad input."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats as distributions

from bayesregret import (
    KLUCB,
    MOSS,
    UCB1,
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    LinearBandit,
    MixtureBandit,
    NormalGammaBandit,
    PoissonBandit,
    simulate,
)
from bayesregret.contracts import current_mean, empty_stats
from bayesregret.contracts.mixture import current_weight, draw_component, log_predictive, posterior_variance
from bayesregret.contracts.statistics import learn
from bayesregret.models.mixture import mixture_memory
from bayesregret.rng import POLICY, open_stream, run_word, seed_key
from models.grid_bayes import mixture_posterior

REWARDS = 300
EXACT = 1e-10  # accuracy of weights, means and variances

# Components that are alike, so that hundreds of rewards do not decide between them.
MIXTURES = {
    "gaussian": ([0.3, 0.7], [GaussianBandit([0.0, 0.2], 1.0, 1.0), GaussianBandit([0.5, 0.4], 0.7, 1.0)]),
    "gaussian of different noises": (
        [0.5, 0.3, 0.2],
        [
            GaussianBandit([0.0, 0.2], [1.0, 0.5], [1.0, 1.05]),
            GaussianBandit([0.5, 0.4], 0.7, 1.02),
            GaussianBandit([-0.5, 0.1], 1.5, [0.98, 1.0]),
        ],
    ),
    "bernoulli": ([0.25, 0.75], [BernoulliBandit([2, 3], [5, 4]), BernoulliBandit([3, 3], [4, 9])]),
    "poisson": ([0.6, 0.4], [PoissonBandit([4, 5], [2, 1.5]), PoissonBandit([3, 2], [1, 1.5])]),
    "exponential": ([0.6, 0.4], [ExponentialBandit([4, 5], [6, 7]), ExponentialBandit([3, 6], [5, 6])]),
    "normal-gamma": (
        [0.5, 0.5],
        [NormalGammaBandit([0, 0.2], 1, [2, 3], [2, 3]), NormalGammaBandit([0.4, 0], [2, 1], 2.5, [1.5, 3])],
    ),
}


def drawn_rewards(bandit, count, seed):
    """Arms and rewards, with a mean reward for each arm that every component finds plausible."""
    rng = np.random.default_rng(seed)
    arms = rng.integers(bandit.arms, size=count)
    if bandit.kind == "bernoulli":
        return arms, (rng.random(count) < np.array([0.4, 0.35])[arms]).astype(float)
    if bandit.kind == "poisson":
        return arms, rng.poisson(np.array([2.2, 2.0])[arms]).astype(float)
    if bandit.kind == "exponential":
        return arms, rng.exponential(np.array([2.0, 1.5])[arms])
    return arms, rng.normal(np.array([0.3, 0.1])[arms], 1.0)


def after(mixture, arms, rewards):
    stats = empty_stats(mixture.arms, mixture_memory(mixture.model))
    for arm, reward in zip(arms, rewards, strict=True):
        learn(mixture.model, stats, arm, reward)
    return stats


def current_weights(model, stats):
    return np.array([current_weight(model, stats, number) for number in range(len(model.weights))])


def moments(mixture, stats):
    model, arms = mixture.model, range(mixture.arms)
    return [current_mean(model, stats, arm) for arm in arms], [posterior_variance(model, stats, arm) for arm in arms]


@pytest.mark.parametrize("name", MIXTURES)
def test_posteriors_are_those_of_brute_force(name):
    weights, bandits = MIXTURES[name]
    mixture = MixtureBandit(weights, bandits)
    arms, rewards = drawn_rewards(bandits[0], REWARDS, seed=1)
    expected, mean, variance = mixture_posterior(weights, bandits, [rewards[arms == arm] for arm in range(2)])
    stats = after(mixture, arms, rewards)
    assert expected.min() > 0.01
    assert np.abs(expected - weights).max() > 0.03
    assert current_weights(mixture.model, stats) == pytest.approx(expected, rel=EXACT)
    means, variances = moments(mixture, stats)
    assert means == pytest.approx(mean, rel=EXACT)
    assert variances == pytest.approx(variance, rel=EXACT)


@pytest.mark.parametrize("name", MIXTURES)
def test_the_order_of_rewards_does_not_matter(name):
    weights, bandits = MIXTURES[name]
    mixture = MixtureBandit(weights, bandits)
    arms, rewards = drawn_rewards(bandits[0], 100, seed=2)
    forwards, backwards = after(mixture, arms, rewards), after(mixture, arms[::-1], rewards[::-1])
    assert current_weights(mixture.model, forwards) == pytest.approx(
        current_weights(mixture.model, backwards), rel=1e-11
    )


def test_posteriors_do_not_drift_over_many_rewards():
    """Poisson rewards, whose log-gamma functions grow: closed form of the evidence from sums alone."""
    bandits = [PoissonBandit([4.0], [2.0]), PoissonBandit([3.0], [1.0])]
    mixture = MixtureBandit([0.5, 0.5], bandits)
    rewards = np.random.default_rng(3).poisson(2.5, 20_000).astype(float)
    stats = after(mixture, np.zeros(len(rewards), int), rewards)
    import mpmath

    with mpmath.workdps(40):
        total, count = mpmath.mpf(int(rewards.sum())), len(rewards)
        evidence = [
            mpmath.gamma(a + total) / mpmath.gamma(a) * mpmath.mpf(b) ** a * mpmath.mpf(b + count) ** -(a + total)
            for a, b in ((4, 2), (3, 1))
        ]
        expected = float(evidence[0] / sum(evidence))
    assert current_weights(mixture.model, stats)[0] == pytest.approx(expected, rel=EXACT)


def shared_level(arms_off, width, spread, noise, nodes):
    """Gaussian arms around a level that they share, as a mixture over levels and as the exact linear bandit."""
    off = np.array(arms_off)
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    mixture = MixtureBandit(w / w.sum(), [GaussianBandit(off + spread * level, width, noise) for level in x])
    covariance = width**2 * np.eye(len(off)) + spread**2 * np.ones((len(off), len(off)))
    return mixture, LinearBandit(np.eye(len(off)), off, covariance, reward_noise=noise)


def test_a_shared_level_has_the_posterior_of_the_linear_form():
    width, spread, noise = 0.8, 0.6, 1.5
    mixture, linear = shared_level([0.2, 0.0, -0.1], width, spread, noise, nodes=40)
    rng = np.random.default_rng(4)
    arms, rewards = rng.integers(3, size=200), rng.normal(0.9, noise, 200)
    precision = np.linalg.inv(linear.covariance) + np.diag(np.bincount(arms, minlength=3)) / noise**2
    covariance = np.linalg.inv(precision)
    totals = np.bincount(arms, rewards - linear.prior_mean[arms], 3)
    means, variances = moments(mixture, after(mixture, arms, rewards))
    assert means == pytest.approx(linear.prior_mean + covariance @ totals / noise**2, rel=1e-9)
    assert variances == pytest.approx(np.diagonal(covariance), rel=1e-9)
    # The level matters: beliefs that leave it out are visibly different.
    alone = 1 / (1 / (width**2 + spread**2) + np.bincount(arms) / noise**2)
    assert np.abs(np.diagonal(covariance) / alone - 1).max() > 1e-3
    assert mixture.conjugate().covariance == pytest.approx(linear.covariance, rel=1e-12)


# --- edge cases -----------------------------------------------------------------------------------------------------

EXTREME = (1e-50, 1.0, 1e50)
HARSH = {
    "gaussian": (
        [GaussianBandit([m], w, s) for m in (-1e50, 0.0, 1e50) for w in EXTREME for s in EXTREME],
        (-1e50, -1.0, 0.0, 1e50),
    ),
    "bernoulli": ([BernoulliBandit([a], [b]) for a in EXTREME for b in EXTREME], (0.0, 1.0)),
    "poisson": ([PoissonBandit([a], [b]) for a in EXTREME for b in EXTREME], (0.0, 1.0, 1e50)),
    "exponential": (
        [ExponentialBandit([a], [b]) for a in (np.nextafter(1.0, 2.0), 2.0, 1e50) for b in EXTREME],
        (0.0, 1e-50, 1.0, 1e50),
    ),
    "normal-gamma": (
        [
            NormalGammaBandit([m], p, a, s)
            for m in (-1e50, 0.0)
            for p in EXTREME
            for a in (0.6, 1.0, 1e50)
            for s in EXTREME
        ],
        (-1e50, -1.0, 0.0, 1e50),
    ),
}


@pytest.mark.parametrize("kind", HARSH)
def test_extreme_components_and_rewards_give_no_nan(kind):
    bandits, rewards = HARSH[kind]
    mixture = MixtureBandit(np.full(len(bandits), 1 / len(bandits)), bandits)
    for sequence in itertools.product(rewards, repeat=2):
        stats = after(mixture, [0] * 6, sequence * 3)
        weights = current_weights(mixture.model, stats)
        assert math.fsum(weights) == pytest.approx(1.0)
        means, variances = moments(mixture, stats)
        assert np.isfinite(means).all()
        assert not np.isnan(variances).any()
        assert min(variances) >= 0.0


def test_a_success_among_failures_leaves_no_pseudo_count_at_0():
    """beta + counts - wins rounds to 0 if it is added in this order."""
    mixture = MixtureBandit([0.5, 0.5], [BernoulliBandit([1.0], [1e-40]), BernoulliBandit([1.0], [1e-30])])
    stats = after(mixture, [0] * 6, [1.0] * 5 + [0.0])
    assert current_weights(mixture.model, stats) == pytest.approx([1e-10, 1.0], rel=1e-9)


def test_a_reward_that_no_component_allows_leaves_the_weights(monkeypatch):
    mixture = MixtureBandit(*MIXTURES["bernoulli"])
    stats = after(mixture, [0, 1, 0], [1.0, 0.0, 0.0])
    before = current_weights(mixture.model, stats).copy()
    monkeypatch.setitem(log_predictive.bodies, type(mixture.bandits[0].model), lambda *_: -math.inf)
    learn(mixture.model, stats, 0, 1.0)
    assert current_weights(mixture.model, stats) == pytest.approx(before, rel=1e-15)
    assert stats.counts[0] == 3


def test_weights_that_underflow_come_back():
    """A component that is all but excluded keeps its gain, and with it what later rewards say for it."""
    mixture = MixtureBandit([0.5, 0.5], [GaussianBandit([0.0, 0.0], 1e-3, 1.0), GaussianBandit([1.0, 1.0], 1e-3, 1.0)])
    stats = after(mixture, [0] * 60 + [1] * 60, [30.0] * 60 + [-29.0] * 60)
    low = after(mixture, [0] * 60, [30.0] * 60)
    assert current_weights(mixture.model, low)[0] == 0.0
    assert current_weights(mixture.model, stats) == pytest.approx([0.5, 0.5], rel=1e-6)


def test_no_component_of_weight_0_is_drawn():
    """Also where the sum of the weights is rounded down, so that a uniform draw may exceed it."""
    mixture, key = MixtureBandit([0.2] * 5, [GaussianBandit([0.0], 1.0, 1.0)] * 5), seed_key(5)
    stats = empty_stats(1, mixture_memory(mixture.model))
    stats.memory[5:], stats.received[0] = [0.0, 1e-300, 0.5, 0.0, 0.0], 1
    with np.errstate(over="ignore"):
        stream = open_stream(key, run_word(key, 0), POLICY)
        for _ in range(50):
            number, stream = draw_component(mixture.model, stats, stream)
            assert number == 2


def test_a_thousand_components():
    levels = np.linspace(0.01, 0.99, 1_000)
    mixture = MixtureBandit(np.full(1_000, 1e-3), [BernoulliBandit([50 * p], [50 * (1 - p)]) for p in levels])
    stats = after(mixture, [0] * 10, [1.0, 0.0] * 5)
    assert current_mean(mixture.model, stats, 0) == pytest.approx(0.5, abs=1e-12)
    assert mixture.conjugate().alpha == pytest.approx(mixture.conjugate().beta)


# --- the world ------------------------------------------------------------------------------------------------------


def test_instances_have_the_distribution_of_the_mixture():
    weights, centres = [0.2, 0.8], [0.0, 3.0]
    mixture = MixtureBandit(weights, [GaussianBandit([c, c], 1.0, 1.0) for c in centres])
    means = mixture.draw_means(3_000, seed=6)

    def below(x, weights):
        return sum(w * distributions.norm.cdf(x, c) for w, c in zip(weights, centres, strict=True))

    for arm in range(2):
        assert distributions.kstest(means[:, arm], lambda x: below(x, weights)).pvalue > 1e-3
        assert distributions.kstest(means[:, arm], lambda x: below(x, [0.3, 0.7])).pvalue < 1e-6  # the control
    between = np.dot(weights, np.square(centres)) - np.dot(weights, centres) ** 2
    assert np.corrcoef(means.T)[0, 1] == pytest.approx(between / (between + 1), abs=4 / math.sqrt(3_000))


def test_noise_is_that_of_the_component():
    """An arm of mean m gives rewards of noise 0.1 in one component and 3 in the other."""
    mixture = MixtureBandit([0.5, 0.5], [GaussianBandit([0.0], 1e-9, 0.1), GaussianBandit([10.0], 1e-9, 3.0)])
    from bayesregret.contracts import draw_means, draw_reward

    key, world, seen = seed_key(7), mixture.world(), {0.1: [], 3.0: []}
    with np.errstate(over="ignore"):
        for run in range(400):
            stream, means = open_stream(key, run_word(key, run), POLICY), np.empty(1)
            stream = draw_means(world, means, stream)
            reward, _ = draw_reward(world, 0, means[0], stream)
            seen[0.1 if means[0] < 5 else 3.0].append(reward - means[0])
    for noise, errors in seen.items():
        assert np.std(errors) == pytest.approx(noise, rel=4 / math.sqrt(2 * len(errors)))


def test_policies_without_a_prior_use_the_largest_proxy():
    same = MixtureBandit([0.5, 0.5], [GaussianBandit([0, 0], 1.0, 1.0), GaussianBandit([0, 0], 1.0, 2.0)])
    assert same.no_prior_model().reward_proxy == same.reward_proxy == 4.0
    some = MixtureBandit([0.5, 0.5], [GaussianBandit([0, 0], 1.0, 1.0), GaussianBandit([0, 0], 1.0, [0.5, 2.0])])
    for mixture in (some, MixtureBandit([0.5, 0.5], some.bandits[::-1])):
        assert mixture.no_prior_model().reward_proxy.tolist() == [1.0, 4.0]
        result = simulate(mixture, [UCB1(), KLUCB(), MOSS()], horizon=5, runs=2, seed=1, progress=False)
        assert all(np.isfinite(result[name].mean) for name in result.policies)
    with pytest.raises(ValueError, match="sub-Gaussian rewards: those of poisson bandits are not"):
        MixtureBandit(*MIXTURES["poisson"]).no_prior_model()


def test_equal_mixtures():
    one, other = MixtureBandit(*MIXTURES["gaussian"]), MixtureBandit(*MIXTURES["gaussian"])
    assert one == other
    assert hash(one) == hash(other)
    assert one != MixtureBandit([0.7, 0.3], one.bandits)
    assert one != MixtureBandit(one.weights, one.bandits[::-1])
    assert one != one.bandits[0]


def test_weights_written_with_a_few_digits_are_divided_out_once():
    bandits = [BernoulliBandit([1.0], [k]) for k in (1.0, 2.0, 3.0)]
    mixture = MixtureBandit([0.333333] * 3, bandits)
    assert math.fsum(mixture.weights) == pytest.approx(1.0, abs=1e-15)
    assert (MixtureBandit(mixture.weights, bandits).weights == mixture.weights).all()


# --- bad input ------------------------------------------------------------------------------------------------------

GOOD = [BernoulliBandit([1, 1], [1, 1]), BernoulliBandit([2, 2], [1, 1])]
FLAT = GaussianBandit([0, 0], 1.0, 1.0)
SIGNS = GaussianBandit([0, 0], 1.0, 1.0, noise_kind="rademacher")
PLANE = LinearBandit(np.eye(2), [0, 0], prior_width=1.0, reward_noise=1.0)
LINE = LinearBandit(np.eye(2), [0, 0], prior_cov=[[1, 1], [1, 1]], reward_noise=1.0)
BAD = [
    ([0.5, 0.4], GOOD, "weights must be a list of positive numbers that sum to 1.*, but their sum is 0.9"),
    ([1.5, -0.5], GOOD, "weights must be a list of positive numbers.*, but one is -0.5"),
    ([1.0, 0.0], GOOD, "weights must be a list of positive numbers.*, but one is 0"),
    ([1.0], GOOD, "weights must be .* one for each of the 2 bandits, got 1"),
    (["a", "b"], GOOD, "weights must be a list of positive numbers"),
    ([0.5, math.nan], GOOD, "weights must be .* not a finite number"),
    ([], [], "bandits must be a list of bandits"),
    ([1.0], GOOD[0], "bandits must be a list of bandits"),
    ([1.0], "ab", "bandits must be a list of bandits"),
    ([0.5, 0.5], [GOOD[0], 3], "bandits must be a list of bandits .* got 3"),
    ([0.5, 0.5], [GOOD[0], MixtureBandit([1.0], GOOD[:1])], "and none a mixture"),
    (
        [0.5, 0.5],
        [GOOD[0], FLAT],
        "one kind .* first is a bernoulli bandit with 2 and number 2 a gaussian bandit with 2",
    ),
    (
        [0.5, 0.5],
        [GOOD[0], BernoulliBandit([1], [1])],
        "the same number of arms, .* number 2 a bernoulli bandit with 1",
    ),
    ([1.0], [SIGNS], "bandits must have gaussian noise to be mixed, not rademacher noise"),
    ([0.5, 0.5], [FLAT, SIGNS], "bandits must have gaussian noise to be mixed, not rademacher noise"),
    ([0.5, 0.5], [PLANE, LINE], "bandits must have prior covariances of the same rank to be mixed"),
]


@pytest.mark.parametrize(("weights", "bandits", "message"), BAD)
def test_bad_input_is_one_line(weights, bandits, message):
    with pytest.raises(ValueError, match=message) as caught:
        MixtureBandit(weights, bandits)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("reward", [0.5, "a", math.nan])
def test_rewards_are_checked_as_by_a_component(reward):
    with pytest.raises(ValueError, match="reward must be 0 or 1"):
        MixtureBandit([0.5, 0.5], GOOD).check_reward(reward)
