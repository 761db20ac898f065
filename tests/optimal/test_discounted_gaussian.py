"""The discounted stopping problem of a Gaussian arm."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.optimal.discounted_gaussian import discounted_gaussian, make_schedule
from bayesregret.optimal.gittins_gaussian import gaussian_width

ARM = br.GaussianBandit([0.0], 1.0, 1.0)


def test_blocks_follow_on_each_other():
    schedule = make_schedule(2.0, 50, 0.1)
    assert (np.diff(schedule.pulls) == schedule.lengths[:-1]).all()
    assert schedule.lengths[0] == 1
    assert schedule.lengths[-1] > 1
    assert schedule.discounts[-1] == pytest.approx((1 - 1 / 50) ** schedule.lengths[-1])


def test_one_round_is_the_mean():
    found = discounted_gaussian(1.0, 1)
    assert found.widths[0] == pytest.approx(0.0, abs=1e-12)
    height, slope = found.margin(np.array([-1.0, 2.0]))
    np.testing.assert_allclose(height, [-1.0, 2.0])
    np.testing.assert_allclose(slope, 1.0)


@pytest.mark.compiled
@pytest.mark.parametrize("pulls", [0, 1, 5])
def test_widths_are_those_of_the_index(pulls):
    found = discounted_gaussian(1.0, 10)
    index = br.gittins_index(ARM, pulls=pulls, total=0.0, discount=0.9)
    assert found.widths[pulls] == pytest.approx(index, rel=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("pulls", "expected"), [(0, 2.346), (1, 1.601), (2, 1.269), (3, 1.072), (10, 0.575), (95, 0.128), (1_000, 0.0186)]
)
def test_landmark_widths(pulls, expected):
    found = discounted_gaussian(1.0, 1_000)
    assert found.pulls[pulls] == pulls
    assert found.widths[pulls] == pytest.approx(expected, abs=0.0005 if pulls < 1_000 else 0.00005)


@pytest.mark.parametrize("pseudo_count", [1.0, 1e5])
@pytest.mark.parametrize("whole", [True, False])
def test_no_reward_is_known_at_first(pseudo_count, whole):
    schedule = make_schedule(pseudo_count, 1_000.0, 0.1, whole)
    assert schedule.known[0] == 0.0
    assert (np.diff(schedule.known) > 0.0).all()
    assert schedule.lengths[0] == (1.0 if whole or pseudo_count == 1.0 else 0.1 * 50.0)
    assert (schedule.lengths % 1.0 == 0.0).all() == whole


@pytest.mark.compiled
@pytest.mark.parametrize("whole", [True, False])
def test_a_narrow_prior(whole):
    """Late blocks move the mean farther than the first pulls; a lattice for late ones alone is too coarse."""
    lifetime, pseudo_count = 100.0, 1e6
    found = discounted_gaussian(pseudo_count, lifetime, longest=0.05, whole=whole)
    assert found.widths[0] == pytest.approx(gaussian_width(pseudo_count, 2_063, 0.99), rel=0.01)
    height, _ = found.margin(np.array([0.0]))
    assert height[0] * pseudo_count / lifetime**0.5 == pytest.approx(0.2588, rel=0.015)


def test_margin_is_convex_between_its_ends():
    """c(x) is at least max(0, x) near the charge, x far above it, and its slope is the derivative."""
    found = discounted_gaussian(2.0, 3, points=3, longest=0.1)
    x = np.linspace(-found.widths[0], 6.0, 61)
    height, slope = found.margin(x)
    assert (height >= np.maximum(x, 0.0) - 1e-5).all()
    assert (np.diff(slope) >= -1e-7).all()
    assert height[-1] == pytest.approx(6.0, abs=1e-6)
    middle = 0.5 * (x[1:] + x[:-1])
    np.testing.assert_allclose(np.diff(height) / np.diff(x), found.margin(middle)[1], atol=2e-3)


def test_shorter_blocks_are_worth_less():
    """What is shown before a decision on a block only helps: the margin falls with shorter blocks."""
    long, short = (discounted_gaussian(1.0, 10, 3, longest) for longest in (0.4, 0.1))
    x = np.array([-0.5, 0.0, 0.5])
    assert (long.margin(x)[0] > short.margin(x)[0]).all()
