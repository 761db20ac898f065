"""Shifted and stretched priors have the means and widths that their names promise."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.planning.perturbed_priors import (
    can_shift,
    can_stretch,
    prior_moments,
    shift_range,
    shifted,
    stretch_range,
    stretched,
    with_arms,
)
from bayesregret.problem import common_linear

GAUSSIAN = br.GaussianBandit([1, 0], [1.0, 2.0], 1.5)
BERNOULLI = br.BernoulliBandit([2, 1], [1, 3])
POISSON = br.PoissonBandit([2, 1], [1, 0.5])
EXPONENTIAL = br.ExponentialBandit([9, 8], [2, 1])
NORMAL_GAMMA = br.NormalGammaBandit([1, 0], 2, 3, [1, 2])
LINEAR = common_linear(arms=4, dimension=2)
INDEPENDENT = [GAUSSIAN, BERNOULLI, POISSON, EXPONENTIAL, NORMAL_GAMMA]


def drawn(bandit):
    return bandit.draw_means(3_000, seed=1)


@pytest.mark.compiled
@pytest.mark.parametrize("bandit", INDEPENDENT, ids=lambda bandit: bandit.kind)
def test_moments_are_those_of_draws(bandit):
    means, widths = prior_moments(bandit)
    values = drawn(bandit)
    stderr = widths / np.sqrt(len(values))
    assert (abs(values.mean(axis=0) - means) < 4 * stderr).all()
    assert (abs(values.mean(axis=0) - means - widths) > 10 * stderr).all()  # the control
    assert values.std(axis=0) == pytest.approx(widths, rel=0.15)


@pytest.mark.parametrize("bandit", INDEPENDENT, ids=lambda bandit: bandit.kind)
def test_a_shifted_prior_has_its_means_shifted(bandit):
    bounds = shift_range(bandit)
    for by in (-bounds.down, -0.3 * bounds.down, bounds.up):
        assert prior_moments(shifted(bandit, by))[0] == pytest.approx(prior_moments(bandit)[0] + by)
    assert bounds.down > 0 < bounds.up
    assert can_shift(bandit)


@pytest.mark.parametrize("bandit", [GAUSSIAN, BERNOULLI, POISSON, NORMAL_GAMMA], ids=lambda bandit: bandit.kind)
def test_a_stretched_prior_has_its_widths_stretched(bandit):
    bounds = stretch_range(bandit)
    for factor in (*bounds, 0.7):
        means, widths = prior_moments(stretched(bandit, factor))
        assert means == pytest.approx(prior_moments(bandit)[0])
        assert widths == pytest.approx(factor * prior_moments(bandit)[1])
    assert can_stretch(bandit)


def test_a_linear_prior_is_stretched_either_way_it_is_given():
    by_width = stretched(LINEAR, 3.0)
    given = br.LinearBandit(LINEAR.features, LINEAR.prior_mean, LINEAR.covariance, reward_noise=1)
    assert stretched(given, 3.0).covariance == pytest.approx(by_width.covariance)
    assert by_width.covariance == pytest.approx(9 * LINEAR.covariance)


def test_what_cannot_be_changed_says_so():
    assert not can_shift(LINEAR)
    assert not can_stretch(EXPONENTIAL)
    with pytest.raises(ValueError, match="bandit must be of a kind whose prior can be changed, got one that is linear"):
        shifted(LINEAR, 1.0)
    with pytest.raises(
        ValueError, match="bandit must be of a kind whose prior can be changed, got one that is exponential"
    ):
        stretched(EXPONENTIAL, 2.0)
    with pytest.raises(ValueError, match="bandit must have independent arms"):
        with_arms(LINEAR, 3)


def test_a_prior_without_variance_can_be_shifted():
    assert shift_range(br.ExponentialBandit([1.5, 2.0], [1, 1])).up > 0


def test_arms_are_the_first_ones_and_more_of_the_last():
    assert with_arms(GAUSSIAN, 1) == br.GaussianBandit([1], 1, 1.5)
    assert with_arms(GAUSSIAN, 4) == br.GaussianBandit([1, 0, 0, 0], [1, 2, 2, 2], 1.5)
    assert with_arms(BERNOULLI, 2) == BERNOULLI
