"""Posteriors as bandits: against Bayes' rule by brute force, in one step or in two, and bad input."""

import math
import re

import numpy as np
import pytest
from scipy import stats as distributions

import bayesregret as br
from bayesregret.contracts import current_mean, empty_stats
from bayesregret.contracts.mixture import log_predictive, posterior_variance
from bayesregret.contracts.statistics import add_reward
from models.grid_bayes import ARMS, mixture_posterior, rule
from models.test_mixture import MIXTURES, drawn_rewards

EXACT = 1e-10
BANDITS = {name: bandits[0] for name, (_, bandits) in MIXTURES.items()}
LINEAR = br.LinearBandit([[1, 0], [0.6, 0.8], [0.3, 0.3]], [1, 0], prior_cov=[[1, 0.3], [0.3, 2]], reward_noise=0.5)


def sums(arms, rewards, many):
    """Counts, sums and squared deviations of each arm."""
    found = empty_stats(many)
    for arm, reward in zip(arms, rewards, strict=True):
        add_reward(found, arm, reward)
    return found.counts, found.totals, found.squares


def moments(bandit):
    """Prior means and variances of the arms."""
    nothing = empty_stats(bandit.arms)
    return [
        [value(bandit.model, nothing, arm) for arm in range(bandit.arms)]
        for value in (current_mean, posterior_variance)
    ]


@pytest.mark.parametrize("name", BANDITS)
def test_posteriors_are_those_of_brute_force(name):
    bandit = BANDITS[name]
    arms, rewards = drawn_rewards(bandit, 60, seed=1)
    means, variances = moments(bandit.after(*sums(arms, rewards, 2)))
    for arm in range(2):
        _, mean, variance = ARMS[bandit.kind](bandit, arm, rewards[arms == arm])
        assert means[arm] == pytest.approx(mean, rel=1e-7)
        assert variances[arm] == pytest.approx(variance, rel=1e-5)


@pytest.mark.parametrize("name", MIXTURES)
def test_posteriors_of_mixtures_are_those_of_brute_force(name):
    weights, bandits = MIXTURES[name]
    arms, rewards = drawn_rewards(bandits[0], 300, seed=1)
    found = br.MixtureBandit(weights, bandits).after(*sums(arms, rewards, 2))
    expected, mean, variance = mixture_posterior(weights, bandits, [rewards[arms == arm] for arm in range(2)])
    assert np.abs(expected - weights).max() > 0.03  # a control: the rewards matter
    assert found.weights == pytest.approx(expected, rel=EXACT)
    means, variances = np.array([moments(bandit) for bandit in found.bandits]).swapaxes(0, 1)
    assert found.weights @ means == pytest.approx(mean, rel=EXACT)
    spread = (means - found.weights @ means) ** 2
    assert found.weights @ (variances + spread) == pytest.approx(variance, rel=EXACT)


@pytest.mark.parametrize("name", BANDITS)
def test_the_evidence_is_the_product_of_predictions(name):
    """Up to terms that no prior changes: the difference between two priors."""
    first, second = MIXTURES[name][1][:2]
    arms, rewards = drawn_rewards(first, 80, seed=2)
    by_prediction, at_once = [], []
    for bandit in (first, second):
        found, total = empty_stats(2), 0.0
        for arm, reward in zip(arms, rewards, strict=True):
            total += log_predictive(bandit.model, found, arm, reward)
            add_reward(found, arm, reward)
        by_prediction.append(total)
        at_once.append(bandit.log_evidence(*sums(arms, rewards, 2)))
    assert abs(np.diff(by_prediction)[0]) > 0.05
    assert np.diff(at_once) == pytest.approx(np.diff(by_prediction), rel=1e-9)


def test_a_linear_posterior_is_that_of_brute_force():
    """Prior density times likelihood of every reward, on a grid of both coordinates."""
    rng = np.random.default_rng(3)
    arms = rng.integers(3, size=25)
    rewards = LINEAR.features[arms] @ [0.7, -0.4] + LINEAR.reward_noise * rng.normal(size=25)
    x, wx = rule(-1.0, 2.5, 60)
    y, wy = rule(-2.5, 1.5, 60)
    theta = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    log_density = distributions.multivariate_normal.logpdf(theta, LINEAR.prior_mean, LINEAR.covariance)
    for arm, reward in zip(arms, rewards, strict=True):
        log_density += distributions.norm.logpdf(reward, theta @ LINEAR.features[arm], LINEAR.reward_noise)
    mass = wx[:, None] * wy * np.exp(log_density - log_density.max())
    mass /= mass.sum()
    mean = np.einsum("ij,ijk->k", mass, theta)
    covariance = np.einsum("ij,ijk,ijl->kl", mass, theta - mean, theta - mean)
    found = LINEAR.after(*sums(arms, rewards, 3))
    assert found.prior_mean == pytest.approx(mean, rel=1e-9)
    assert found.covariance == pytest.approx(covariance, rel=1e-9)
    assert np.abs(found.covariance / LINEAR.covariance - 1.0).min() > 0.5
    assert (found.kind, found.reward_noise) == ("linear", LINEAR.reward_noise)
    assert np.array_equal(found.features, LINEAR.features)


def test_linear_evidence_is_the_density_of_all_rewards():
    other = br.LinearBandit(LINEAR.features, [1, 2], prior_width=2, reward_noise=0.7)
    rng = np.random.default_rng(4)
    arms, rewards = np.repeat([0, 1], [3, 5]), rng.normal(size=8)
    features = LINEAR.features[arms]
    for bandit in (LINEAR, other):
        covariance = features @ bandit.covariance @ features.T + bandit.reward_noise**2 * np.eye(8)
        density = distributions.multivariate_normal.logpdf(rewards, features @ bandit.prior_mean, covariance)
        expected = density + 4.0 * math.log(2.0 * math.pi)
        assert bandit.log_evidence(*sums(arms, rewards, 3)) == pytest.approx(expected, rel=1e-12)


def test_a_mixture_of_linear_bandits_learns_which_is_true():
    low, high = (br.LinearBandit(LINEAR.features, [m, m], prior_width=0.5, reward_noise=1.0) for m in (0.0, 2.0))
    found = br.MixtureBandit([0.5, 0.5], [low, high]).after([3, 0, 0], [6.0, 0, 0])
    odds = math.exp(low.log_evidence(np.array([3, 0, 0]), np.array([6.0, 0, 0]), np.zeros(3)))
    odds /= math.exp(high.log_evidence(np.array([3, 0, 0]), np.array([6.0, 0, 0]), np.zeros(3)))
    assert found.weights == pytest.approx([odds / (1 + odds), 1 / (1 + odds)], rel=1e-12)
    assert found.bandits[1] == high.after([3, 0, 0], [6.0, 0, 0])
    assert odds < 0.1


@pytest.mark.parametrize("name", [*BANDITS, "linear", "mixture"])
def test_two_steps_are_one(name):
    mixture = br.MixtureBandit(*MIXTURES["gaussian of different noises"])
    bandit = {"linear": LINEAR, "mixture": mixture}.get(name) or BANDITS[name]
    arms, rewards = drawn_rewards(BANDITS.get(name, BANDITS["gaussian"]), 40, seed=5)
    at_once = bandit.after(*sums(arms, rewards, bandit.arms))
    steps = bandit.after(*sums(arms[:15], rewards[:15], bandit.arms)).after(*sums(arms[15:], rewards[15:], bandit.arms))
    for one, other in zip(numbers(at_once), numbers(steps), strict=True):
        assert one == pytest.approx(other, rel=1e-11)


def numbers(bandit):
    if bandit.kind == "mixture":
        return [bandit.weights, *(number for each in bandit.bandits for number in numbers(each))]
    return [np.asarray(value) for value in bandit.settings().values() if not isinstance(value, str)]


def test_equal_widths_become_one_number():
    bandit = br.GaussianBandit([0, 1], 1.0, 2.0)
    assert bandit.after([4, 4], [1.0, 2.0]).prior_width == pytest.approx(1 / math.sqrt(2), rel=1e-15)
    assert bandit.after([4, 4], [1.0, 2.0]).arms_differ is False
    some = bandit.after([0, 4], [0.0, 2.0])
    assert some.prior_width.tolist() == pytest.approx([1.0, 1 / math.sqrt(2)])
    assert some.prior_mean.tolist() == [0.0, 0.75]


@pytest.mark.parametrize("bandit", [*BANDITS.values(), LINEAR, br.MixtureBandit(*MIXTURES["poisson"])], ids=repr)
def test_no_rewards_leave_the_bandit(bandit):
    nothing = [0] * bandit.arms
    assert bandit.after(nothing, nothing) is bandit


def test_a_component_of_weight_0_is_left_out():
    low, high = br.GaussianBandit([0, 0], 0.1, 1.0), br.GaussianBandit([9, 9], 0.1, 1.0)
    bandit = br.MixtureBandit([0.5, 0.5], [low, high])
    assert len(bandit.after([1, 0], [4.0, 0]).bandits) == 2
    alone = bandit.after([50, 0], [5.0, 0])
    assert alone.weights.tolist() == [1.0]
    assert alone.bandits == (low.after([50, 0], [5.0, 0]),)  # still a mixture: policies treat it as one


def test_evidence_has_digits_for_huge_pseudo_counts():
    """One success among two: the probability is that of the prior mean."""
    low, high = (br.BernoulliBandit([mean * 1e30], [(1 - mean) * 1e30]) for mean in (0.25, 0.75))
    found = br.MixtureBandit([0.5, 0.5], [low, high]).after([3], [1])
    assert found.weights == pytest.approx([0.75, 0.25], rel=1e-12)


BAD = [
    ("gaussian", ([1], [1.0]), "counts must be a list of 2 numbers, one for each arm, got 1"),
    ("gaussian", ([1, 0.5], [1.0, 0]), "counts must be a list of whole numbers, at least 0, one for each arm"),
    ("gaussian", ([1, -1], [1.0, 0]), "counts must be a list of whole numbers, at least 0, one for each arm"),
    ("gaussian", ([1e17, 0], [1.0, 0]), "counts must be at most 9007199254740992 in all, got 1e+17"),
    ("gaussian", ("ab", [1.0, 0]), "counts must be a list of 2 numbers, one for each arm, got 'ab'"),
    ("gaussian", ([1, 0], [math.nan, 0]), "totals must be a list of 2 numbers, one for each arm, but has an entry"),
    ("gaussian", ([1, 0], [1.0, 2.0]), "totals must be sums of as many rewards as counts"),
    ("gaussian", ([2, 0], [1.0, 0], [-1.0, 0]), "squares must be sums of squared deviations"),
    ("bernoulli", ([1, 0], [2, 0]), "totals must be whole numbers of successes"),
    ("bernoulli", ([1, 0], [0.5, 0]), "totals must be whole numbers of successes"),
    ("poisson", ([1, 0], [-1, 0]), "totals must not be negative"),
    ("exponential", ([1, 0], [-1, 0]), "totals must not be negative"),
    ("exponential", ([1000, 0], [5e52, 0]), "rate must be a list of positive numbers, one for each arm, none beyond"),
    ("normal-gamma", ([2, 0], [1.0, 0]), "squares must be given for a normal-gamma posterior"),
]


@pytest.mark.parametrize(("name", "given", "line"), BAD, ids=[line for _, _, line in BAD])
def test_rewards_that_cannot_be_are_refused_in_one_line(name, given, line):
    with pytest.raises(ValueError, match=f"^{re.escape(line)}[^\n]*$"):
        BANDITS[name].after(*given)


def test_squares_are_needed_where_noise_is_uncertain():
    bandit = BANDITS["normal-gamma"]
    assert bandit.after([1, 1], [0.5, 0.2]) == bandit.after([1, 1], [0.5, 0.2], [0, 0])
    different = br.MixtureBandit(*MIXTURES["gaussian of different noises"])
    with pytest.raises(ValueError, match=r"^squares must be given for this mixture"):
        different.after([2, 0], [1.0, 0.0])
    same = br.MixtureBandit(*MIXTURES["gaussian"])
    one, other = same.after([2, 0], [1.0, 0.0]), same.after([2, 0], [1.0, 0.0], [3.0, 0.0])
    assert one.weights == pytest.approx(other.weights, rel=1e-12)  # the same noise: squares say nothing


def test_what_has_no_conjugate_posterior_says_so():
    rademacher = br.GaussianBandit([0, 0], 1, 1, noise_kind="rademacher")
    with pytest.raises(ValueError, match=r"^noise_kind must be gaussian for a posterior that is a bandit[^\n]*$"):
        rademacher.after([1, 0], [1.0, 0.0])

    class Ours(br.Bandit):
        kind = "ours"
        arms = 2

    line = r"^bandit must be of a kind whose posterior is a bandit, got an ours one, which has no conjugate_posterior$"
    with pytest.raises(ValueError, match=line):
        Ours().after([1, 0], [1.0, 0.0])


def test_a_linear_posterior_without_enough_digits_is_refused():
    """One pull along (0.6, 0.8) with a prior a hundred million times as wide as the noise."""
    wide = br.LinearBandit(LINEAR.features, [0, 0], prior_width=1e8, reward_noise=1.0)
    with pytest.raises(ValueError, match=r"^prior_cov must have enough digits for the posterior[^\n]*$"):
        wide.after([0, 1, 0], [0, 3.0, 0])
    wide = br.LinearBandit(LINEAR.features, [0, 0], prior_width=1e4, reward_noise=1.0)
    assert wide.after([0, 1, 0], [0, 3.0, 0]).model.offset[1] == pytest.approx(3.0, abs=1e-6)


def test_a_parameter_that_is_known_stays_known():
    known = br.LinearBandit(LINEAR.features, [1, 0], prior_cov=np.zeros((2, 2)), reward_noise=1.0)
    assert known.after([0, 1, 0], [0, 3.0, 0]) == known
