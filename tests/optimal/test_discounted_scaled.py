"""The recursion for arms of a location-scale family: limits, refinement, and properties of a surplus."""

import numpy as np
import pytest

from bayesregret.optimal.discounted_exponential import ExponentialArm
from bayesregret.optimal.discounted_normal_gamma import NormalGammaArm
from bayesregret.optimal.discounted_scaled import Accuracy, solve_scaled
from bayesregret.optimal.scaled_arm import unit_of_mean

pytestmark = pytest.mark.compiled

ARMS = {"exponential": ExponentialArm(3.0), "normal-gamma": NormalGammaArm(1.5, 2.0)}
kinds = pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS.keys())


def probes(arm):
    return unit_of_mean(arm, 0.0) * np.linspace(-3.0, 1.7, 15)  # means of exponential arms are below 1


@kinds
def test_one_round_is_the_mean_above_the_charge(arm):
    t = probes(arm)
    assert solve_scaled(arm, 1, Accuracy())(t) == pytest.approx(np.maximum(0.0, t), abs=1e-12)


@kinds
def test_between_the_mean_now_and_the_mean_itself(arm):
    t = probes(arm)
    found, over = solve_scaled(arm, 20, Accuracy())(t), arm.excess(0, t)[0]
    assert (found >= np.maximum(0.0, t)).all()
    assert (found <= over + 1e-12).all()


@kinds
def test_a_finer_solution_is_the_same_to_six_digits(arm):
    t = probes(arm)
    found = solve_scaled(arm, 25, Accuracy())(t)
    finer = solve_scaled(arm, 25, Accuracy().coarser(0.6))(t)
    coarse = solve_scaled(arm, 25, Accuracy().coarser(4.0))(t)
    assert found == pytest.approx(finer, abs=1e-6)
    assert coarse != pytest.approx(finer, abs=1e-6)


@kinds
def test_blocks_raise_it_a_little(arm):
    t = probes(arm)
    single, blocks, longer = (solve_scaled(arm, 60, Accuracy(longest))(t) for longest in (1e-9, 0.05, 0.2))
    assert (blocks >= single - 1e-8).all()
    assert (longer >= blocks - 1e-8).all()
    assert np.abs(blocks - single).max() < 5e-5 < np.abs(longer - single).max()


@kinds
def test_convex_with_slopes_of_probabilities(arm):
    found = solve_scaled(arm, 25, Accuracy())
    t = np.linspace(found.zero - 0.5, 0.99, 400)
    slopes = np.diff(found(t)) / np.diff(t)
    assert (slopes >= -1e-12).all()
    assert (slopes <= 1.0 + 1e-9).all()
    assert (np.diff(slopes) >= -1e-6).all()


@kinds
def test_longer_horizons_are_worth_more(arm):
    t = probes(arm)
    few, many = (solve_scaled(arm, n, Accuracy())(t) for n in (5, 50))
    assert (many >= few - 1e-9).all()
    assert many.sum() > few.sum()
