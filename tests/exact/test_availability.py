"""Where exact regrets are computed without being requested."""

import pytest

from bayesregret import BernoulliBandit, GaussianBandit
from bayesregret.exact.availability import distinct_priors, why_simulated
from problems import BANDITS


@pytest.mark.parametrize(
    ("bandit", "horizon", "quick"),
    [
        (GaussianBandit([1, 0, 0, 0, 0], 1, 1), 1_000, True),
        (GaussianBandit([1, 0, 0, 0, 0], 1, 1), 1_001, False),
        (GaussianBandit([1, 2, 3, 4, 5], 1, 1), 400, True),
        (GaussianBandit([1, 2, 3, 4, 5], 1, 1), 401, False),
        (BernoulliBandit([1, 1, 2], [1, 1, 1]), 300, True),
        (BernoulliBandit([1, 1, 2], [1, 1, 1]), 301, False),
        (BernoulliBandit([1, 2] * 5, range(1, 11)), 100, True),
        (BernoulliBandit([1, 2] * 5, range(1, 11)), 101, False),
    ],
)
def test_a_long_computation_is_left_to_those_who_ask_for_it(bandit, horizon, quick):
    assert (why_simulated(bandit, horizon, None) is None) == quick
    assert why_simulated(bandit, horizon, True) is None
    assert why_simulated(bandit, horizon, False) == "a simulation was requested"


def test_distinct_priors():
    assert distinct_priors(GaussianBandit([1, 0, 1, 2], 1, 1)) == 3
    assert distinct_priors(BernoulliBandit([1, 1, 1, 2], [1, 2, 1, 1])) == 3


def test_arms_share_a_prior_if_all_parameters_are_equal():
    assert distinct_priors(BANDITS["gaussian arms"]) == 3
    assert distinct_priors(BANDITS["gaussian"]) == 3
