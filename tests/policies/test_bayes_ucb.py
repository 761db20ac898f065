"""BayesUCB and UCB1 as data: defaults, formulas, what they believe, and what they refuse."""

import dataclasses
import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import confidence_width
from bayesregret.contracts.fast import mean_plus_width
from bayesregret.policies.base import log_inverse_delta
from bayesregret.policies.bayes_ucb import UpperConfidence
from bayesregret.policies.selection import is_mean_plus_width
from problems import BANDITS

GAUSSIAN = BANDITS["gaussian"]


def index_by_hand(mean, variance, delta):
    return mean + math.sqrt(2.0 * variance * math.log(1.0 / delta))


def test_bayes_ucb_index():
    bandit = br.GaussianBandit([0.5, 0.0], prior_width=2.0, reward_noise=3.0)
    settings = br.BayesUCB(delta=0.05).settings(bandit, 10)
    variance = 1.0 / (1.0 / 4.0 + 7.0 / 9.0)
    mean = variance * (0.5 / 4.0 + 11.0 / 9.0)
    index = mean_plus_width(settings, br.BayesUCB().belief(bandit), 0, 7, 11.0)
    assert index == pytest.approx(index_by_hand(mean, variance, 0.05), rel=1e-14)


def test_ucb1_index():
    settings = br.UCB1(delta=0.05).settings(GAUSSIAN, 10)
    belief = br.UCB1().belief(GAUSSIAN)
    index = mean_plus_width(settings, belief, 2, 7, 11.0)
    assert index == pytest.approx(index_by_hand(11.0 / 7.0, 1.5**2 / 7.0, 0.05), rel=1e-14)
    assert mean_plus_width(settings, belief, 2, 0, 0.0) == math.inf
    bernoulli = br.UCB1().belief(BANDITS["bernoulli"])
    assert mean_plus_width(settings, bernoulli, 2, 7, 4.0) == pytest.approx(
        index_by_hand(4.0 / 7.0, 0.25 / 7.0, 0.05), rel=1e-14
    )


def test_an_untried_arm_comes_first_even_at_horizon_one():
    """There delta is 1 and the width of everything else is 0."""
    settings = br.UCB1().settings(GAUSSIAN, 1)
    assert confidence_width(settings, math.inf) == math.inf
    assert confidence_width(settings, 5.0) == 0.0


@pytest.mark.parametrize("policy", [br.BayesUCB, br.UCB1])
def test_delta_is_one_over_the_horizon(policy):
    assert policy().settings(GAUSSIAN, 1000).log_inverse_delta == math.log(1000)
    assert policy(delta=0.2).settings(GAUSSIAN, 1000).log_inverse_delta == -math.log(0.2)
    with pytest.raises(ValueError, match=r"^delta must be given"):
        policy().settings(GAUSSIAN, None)
    assert log_inverse_delta(0.5, None) == math.log(2.0)


@pytest.mark.parametrize("policy", [br.BayesUCB, br.UCB1])
def test_the_delta_that_was_used_is_told(policy):
    name = policy.name
    given = br.simulate(GAUSSIAN, policy(delta=0.1), horizon=1000, runs=2, seed=1)[name]
    default = br.simulate(GAUSSIAN, policy(), horizon=1000, runs=2, seed=1)[name]
    assert given.delta == pytest.approx(0.1, rel=1e-12)
    assert default.delta == pytest.approx(0.001, rel=1e-12)


def test_a_prior_of_ones_own():
    other = br.GaussianBandit([1.0] * 4, 0.1, 1.5)
    assert br.BayesUCB(prior=other).belief(GAUSSIAN) is other.model
    assert br.BayesUCB().belief(GAUSSIAN) is GAUSSIAN.model


@pytest.mark.parametrize(
    ("prior", "bandit", "message"),
    [
        (br.GaussianBandit([0] * 3, 1, 1), GAUSSIAN, r"^prior must have the bandit's 4 arms, got 3$"),
        (
            BANDITS["bernoulli"],
            GAUSSIAN,
            r"^prior must be one that can learn from gaussian rewards, got a bernoulli one$",
        ),
    ],
)
def test_a_prior_that_does_not_fit(prior, bandit, message):
    with pytest.raises(ValueError, match=message):
        br.BayesUCB(prior=prior).belief(bandit)
    with pytest.raises(ValueError, match=message):
        br.simulate(bandit, br.BayesUCB(prior=prior), horizon=5, runs=1, seed=0)


def test_policies_are_frozen_data_and_equal_by_value():
    assert br.BayesUCB(delta=0.1) == br.BayesUCB(delta=0.1) != br.BayesUCB(delta=0.2)
    assert br.UCB1() != br.BayesUCB()
    assert br.BayesUCB(prior=br.GaussianBandit([0], 1, 1)) == br.BayesUCB(prior=br.GaussianBandit([0], 1, 1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        br.UCB1().delta = 0.5
    assert repr(br.UCB1(delta=0.5)) == "UCB1(delta=0.5, count_pending=True)"


def test_policies_by_name():
    assert br.Policy.classes["bayes-ucb"] is br.BayesUCB
    assert br.Policy.classes["ucb1"] is br.UCB1


def test_what_an_index_is_made_of():
    assert is_mean_plus_width(UpperConfidence(1.0))
    with pytest.raises(TypeError, match=r"^int must implement confidence_width, arm_index, rising_index or choose_arm"):
        is_mean_plus_width(3)


@pytest.mark.parametrize("variance", np.logspace(-20, 20, 9))
def test_the_width_grows_with_the_variance(variance):
    settings = UpperConfidence(2.0)
    assert confidence_width(settings, 0.0) == 0.0
    assert confidence_width(settings, variance) == 2.0 * math.sqrt(variance)
    assert confidence_width(settings, 1.01 * variance) > confidence_width(settings, variance)
