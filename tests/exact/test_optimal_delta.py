"""The best delta against every delta of a fine grid."""

import math

import pytest

import bayesregret as br
from bayesregret.problem import common_bernoulli, common_gaussian


def regret(bandit, delta, horizon):
    return br.exact_regret(bandit, br.BayesUCB(delta), horizon=horizon).regret


@pytest.mark.compiled
@pytest.mark.parametrize("horizon", [6, 20])
def test_the_best_delta_is_no_worse_than_any_of_a_grid(horizon):
    bandit = br.BernoulliBandit([1, 1], [1, 1])
    found = br.best_delta(bandit, br.BayesUCB(), horizon=horizon)
    grid = [math.exp(-0.05 * step) for step in range(1, 60)]
    assert found.regret <= min(regret(bandit, delta, horizon) for delta in grid) + 1e-9
    assert found.regret == regret(bandit, found.delta, horizon)


@pytest.mark.compiled
def test_a_hollow_that_is_not_the_lowest_is_left():
    """A search from the middle alone ends at 0.59."""
    bandit = br.BernoulliBandit([1, 1], [1, 1])
    found = br.best_delta(bandit, br.BayesUCB(), horizon=20)
    assert 0.72 < found.delta < 0.75
    assert found.regret < 0.998 * regret(bandit, 0.5863, 20)


@pytest.mark.compiled
def test_smooth_regret_is_smallest_there():
    bandit = common_gaussian(arms=2)
    found = br.best_delta(bandit, br.BayesUCB(), horizon=30)
    for factor in (0.97, 1.03):
        assert regret(bandit, factor * found.delta, 30) > found.regret
    assert found.usual_regret == regret(bandit, 1 / 30, 30)


def test_where_nothing_is_to_be_explored_it_is_as_large_as_it_gets():
    bandit = common_bernoulli(arms=2)
    found = br.best_delta(bandit, br.BayesUCB(), horizon=4)
    assert found.delta == pytest.approx(0.99, abs=1e-3)
    assert found.regret < found.usual_regret


def test_a_delta_that_is_given_is_not_looked_for():
    with pytest.raises(ValueError, match="policy must be one whose delta is left open"):
        br.best_delta(common_bernoulli(arms=2), br.BayesUCB(0.1), horizon=4)
