"""The discounted stopping problem of a Bernoulli arm, and the charges at which its time of giving up jumps."""

import functools

import numpy as np
import pytest

import bayesregret as br
from bayesregret.optimal.bernoulli_jumps import bernoulli_jumps
from bayesregret.optimal.discounted_bernoulli import (
    bernoulli_boundaries,
    bernoulli_discounted_index,
    bernoulli_margins,
)
from bayesregret.optimal.gittins_bernoulli import bernoulli_index


def margin(alpha, beta, charge, discount, pulls):
    """By recursion over all states, giving up for good after `pulls`."""

    @functools.cache
    def going_on(wins, losses):
        mean = (alpha + wins) / (alpha + beta + wins + losses)
        if wins + losses == pulls:
            return max(0.0, mean - charge)
        later = mean * max(0.0, going_on(wins + 1, losses)) + (1 - mean) * max(0.0, going_on(wins, losses + 1))
        return (1 - discount) * (mean - charge) + discount * later

    return going_on(0, 0)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.3, 2.0), (5.0, 1.5)])
def test_margins_by_recursion_over_states(alpha, beta):
    charges = np.array([0.1, 0.4, 0.6, 0.9])
    found = bernoulli_margins(alpha, beta, 5, charges)
    expected = [margin(alpha, beta, charge, 0.8, 90) for charge in charges]
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert (found >= np.array(expected) - 1e-12).all()  # showing the mean only helps


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.3, 2.0), (30.0, 70.0)])
def test_index(alpha, beta):
    assert bernoulli_discounted_index(alpha, beta, 10) == pytest.approx(
        bernoulli_index(alpha, beta, 200, 0.9), rel=1e-6
    )


def test_boundaries_pass_states_at_their_indices():
    """At the index of a state, the boundary of its number of pulls is the state's number of successes."""
    for pulls, wins in ((0, 0), (1, 0), (1, 1), (3, 2)):
        index = bernoulli_discounted_index(1.0 + wins, 1.0 + pulls - wins, 8)
        boundary = bernoulli_boundaries(1.0, 1.0, 8, np.array([index - 1e-4, index, index + 1e-4]), 4)[:, pulls]
        assert boundary[0] < boundary[2]
        if pulls:
            assert boundary[1] == pytest.approx(wins, abs=1e-3)


def test_jumps_are_indices_of_states():
    jumps = bernoulli_jumps(1.0, 1.0, 20, bernoulli_discounted_index(1.0, 1.0, 20))
    states = [(1, 1), (1, 0), (2, 1), (3, 2)]
    indices = [bernoulli_discounted_index(1.0 + wins, 1.0 + pulls - wins, 20) for pulls, wins in states]
    reachable = [index for index in indices if index < bernoulli_discounted_index(1.0, 1.0, 20)]
    assert reachable
    for index in reachable:
        assert np.abs(jumps - index).min() < 1e-6


def test_gittins_index_agrees():
    bandit = br.BernoulliBandit([2.0], [3.0])
    assert bernoulli_discounted_index(2.0, 3.0, 20) == pytest.approx(br.gittins_index(bandit, discount=0.95), rel=1e-6)
