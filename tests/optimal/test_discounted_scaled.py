"""The recursion for arms of a location-scale family: against plain ones, limits, and refinement."""

import numpy as np
import pytest

from bayesregret.optimal.discounted_exponential import ExponentialArm
from bayesregret.optimal.discounted_normal_gamma import NormalGammaArm
from bayesregret.optimal.discounted_scaled import Accuracy, solve_scaled

ARMS = {"exponential": ExponentialArm(3.0), "normal-gamma": NormalGammaArm(1.5, 2.0)}
kinds = pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS.keys())
QUICK = Accuracy(0.1, 24, 10)


def probes(arm):
    return arm.deviation(0) * np.linspace(-3.0, 1.7, 15)  # means of exponential arms are below 1


@kinds
def test_one_round_is_the_mean_above_the_charge(arm):
    t = probes(arm)
    assert solve_scaled(arm, 1, QUICK)(t) == pytest.approx(np.maximum(0.0, t), abs=1e-12)


@kinds
def test_between_the_mean_now_and_the_mean_itself(arm):
    t = probes(arm)
    found, over = solve_scaled(arm, 20, QUICK)(t), arm.excess(0, t)[0]
    assert (found >= np.maximum(0.0, t)).all()
    assert (found <= 1.001 * over + 1e-12).all()


@kinds
def test_every_refinement_lowers_it(arm):
    t = probes(arm)
    found = solve_scaled(arm, 25, QUICK)(t)
    for finer in (Accuracy(0.05, 24, 10), Accuracy(0.1, 48, 10), Accuracy(0.1, 24, 20)):
        less = solve_scaled(arm, 25, finer)(t)
        assert (less <= found + 1e-12).all()
        assert less.sum() < found.sum()


@kinds
def test_convex_with_slopes_of_probabilities(arm):
    found = solve_scaled(arm, 25, QUICK)
    t = np.linspace(found.points[0] - 1.0, min(found.points[-1], 10.0), 400)
    slopes = np.diff(found(t)) / np.diff(t)
    assert (slopes >= -1e-12).all()
    assert (slopes <= 1.0 + 1e-9).all()
    assert (np.diff(slopes) >= -1e-9).all()


@kinds
def test_more_rounds_are_worth_more(arm):
    t = probes(arm)
    few, many = (solve_scaled(arm, n, QUICK)(t) for n in (5, 50))
    assert (many >= few - 1e-9).all()
    assert many.sum() > few.sum()
