"""Blocks of pulls whose rewards are revealed in advance, and masses at points that spread a random variable."""

import math

import numpy as np
import pytest
from scipy import stats

from bayesregret.optimal.discounted_stages import HORIZONS, hat_weights, kept_points, make_stages


@pytest.mark.parametrize(("horizon", "pseudo_count"), [(2, 1.0), (50, 0.3), (1_000, 5.0), (1_000, 1e6)])
def test_a_block_reveals_what_its_last_pull_may_know_and_no_more(horizon, pseudo_count):
    stages = make_stages(horizon, pseudo_count, 0.1)
    pulled = np.cumsum([0] + [stage.length for stage in stages])
    assert [stage.revealed for stage in stages] == [end - 1 for end in pulled[1:]]
    assert stages[0].revealed == 0
    assert pulled[-2] < HORIZONS * horizon <= pulled[-1]
    for stage in stages:
        assert stage.discount == pytest.approx((1.0 - 1.0 / horizon) ** stage.length, rel=1e-9)
        assert stage.gain + stage.discount == pytest.approx(1.0)


def test_one_round_has_no_later_ones():
    (stage,) = make_stages(1, 2.0, 0.1)
    assert (stage.revealed, stage.gain, stage.discount) == (0, 1.0, 0.0)


def test_long_horizons_take_few_stages():
    assert len(make_stages(10**6, 1.0, 0.05)) < 2 * math.log(HORIZONS * 1e6) / 0.05


def spread_exponential(points):
    """Weights for an exponential variable of mean 1."""
    above = np.exp(-points)
    return hat_weights(points, 1.0 - above, above, 1.0 - (1.0 + points) * above, (1.0 + points) * above)


def test_masses_keep_the_mean_and_spread():
    points = np.linspace(0.0, 40.0, 401)
    weights = spread_exponential(points)
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights @ points == pytest.approx(1.0, abs=1e-12)
    for convex, mean in [(np.square, 2.0), (lambda x: np.maximum(x - 1.23, 0.0), math.exp(-1.23))]:
        found = float(weights @ convex(points))
        assert mean < found < mean * 1.01
        coarse = float(spread_exponential(points[::2]) @ convex(points[::2]))
        assert found < coarse


def test_tails_far_out_keep_their_digits():
    points = np.linspace(0.0, 80.0, 401)
    assert spread_exponential(points)[300] == pytest.approx(0.2 * math.exp(-60.0), rel=1e-2)


def test_points_that_coincide_are_left_out():
    points = stats.norm.ppf([0.1, 0.3, 0.5, 0.7, 0.9])
    crowded = np.insert(points, 2, points[1] + 1e-12)
    assert kept_points(crowded).tolist() == points.tolist()
