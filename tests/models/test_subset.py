"""`Bandit.subset` and `Bandit.with_arm`: bandits of some of the arms, and of one arm more."""

import re

import numpy as np
import pytest

import bayesregret as br

ONE_MORE = [
    (br.BernoulliBandit([1, 2], [3, 4]), {"alpha": 5, "beta": 6}, br.BernoulliBandit([1, 2, 5], [3, 4, 6])),
    (
        br.GaussianBandit([0, 1], 1, 2, "rademacher"),
        {"prior_mean": 2},
        br.GaussianBandit([0, 1, 2], 1, 2, "rademacher"),
    ),
    (
        br.GaussianBandit([0, 1], 1, 2),
        {"prior_mean": 2, "prior_width": 3},
        br.GaussianBandit([0, 1, 2], [1, 1, 3], 2),
    ),
    (br.PoissonBandit([1, 2], [3, 4]), {"shape": 5, "rate": 6}, br.PoissonBandit([1, 2, 5], [3, 4, 6])),
    (br.ExponentialBandit([2, 3], [3, 4]), {"shape": 5, "rate": 6}, br.ExponentialBandit([2, 3, 5], [3, 4, 6])),
    (
        br.NormalGammaBandit([0, 1], 1, 2, 3),
        {"prior_mean": 2, "prior_pulls": 4, "shape": 5, "scale": 6},
        br.NormalGammaBandit([0, 1, 2], [1, 1, 4], [2, 2, 5], [3, 3, 6]),
    ),
    (
        br.LinearBandit([[1, 0], [0, 1]], [0.5, 1], prior_width=2, reward_noise=1),
        {"features": [0.6, 0.8]},
        br.LinearBandit([[1, 0], [0, 1], [0.6, 0.8]], [0.5, 1], prior_width=2, reward_noise=1),
    ),
    (
        br.MixtureBandit([0.5, 0.5], [br.BernoulliBandit([1, 2], [3, 4]), br.BernoulliBandit([1, 1], [1, 1])]),
        {"bandits": [{"alpha": 5, "beta": 6}, {"alpha": 7, "beta": 8}]},
        br.MixtureBandit(
            [0.5, 0.5], [br.BernoulliBandit([1, 2, 5], [3, 4, 6]), br.BernoulliBandit([1, 1, 7], [1, 1, 8])]
        ),
    ),
]


@pytest.mark.parametrize(("bandit", "fields", "expected"), ONE_MORE, ids=[each[0].kind for each in ONE_MORE])
def test_one_arm_more_and_back(bandit, fields, expected):
    more = bandit.with_arm(**fields)
    assert more == expected
    assert type(more.model) is type(expected.model)
    assert more.subset([0, 1]) == bandit
    assert np.array_equal(more.subset([2, 0]).draw_means(0, seed=1), np.empty((0, 2)))
    assert more.subset([2, 0]).subset([1, 0]) == more.subset([0, 2]) != bandit


def test_a_mixture_may_give_all_components_one_prior():
    mixture = br.MixtureBandit([0.5, 0.5], [br.BernoulliBandit([1], [3]), br.BernoulliBandit([2], [1])])
    assert [each.alpha.tolist() for each in mixture.with_arm(alpha=9, beta=1).bandits] == [[1, 9], [2, 9]]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"alpha": 1}, "beta must be given for an arm of a bernoulli bandit"),
        (
            {"alpha": 1, "betta": 1},
            "the prior of an arm of a bernoulli bandit must have the fields alpha, beta, got 'betta'",
        ),
        ({"alpha": 1, "beta": -1}, "beta must be a list of positive numbers, one for each arm, but has the entry -1"),
        ({"alpha": "1", "beta": 1}, "alpha must be a finite number, got '1'"),
    ],
)
def test_wrong_fields_are_refused_in_one_line(fields, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        br.BernoulliBandit([1], [1]).with_arm(**fields)


@pytest.mark.parametrize("arms", [[], [0, 0], [2], ["0"], [-1]])
def test_arms_of_a_subset_are_different_numbers(arms):
    with pytest.raises(ValueError, match="arms must be"):
        br.BernoulliBandit([1, 1], [1, 1]).subset(arms)


def test_features_of_another_length_are_refused():
    bandit = br.LinearBandit([[1, 0]], [0, 0], prior_width=1, reward_noise=1)
    for features in ([1], None, [[1, 0]]):
        with pytest.raises(ValueError, match="features must be a list of 2 numbers"):
            bandit.with_arm(features=features)
    with pytest.raises(ValueError, match="features must be given"):
        bandit.with_arm()


def test_a_model_of_ones_own_without_arm_fields_is_refused():
    class Own(br.Bandit):
        kind = "own"

    with pytest.raises(ValueError, match="bandit must be of a kind whose arms can change, got an own one"):
        Own().subset([0])
