"""Long sums over pulls by few points equal the sums over every pull, for Gaussian arms."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from bayesregret import GaussianBandit, bounds
from bayesregret.bounds.bound import FINE, make_setting
from bayesregret.bounds.gaps import gaussian
from bayesregret.bounds.gaps.gaussian import gaussian_gaps
from reference import slow_bounds

LONG = 3_000
SAME = 1e-9
TWO_ARMS = [
    GaussianBandit([0.7, 0.0], 1.0, 1.0),
    GaussianBandit([0.0, 0.0], 0.3, 2.0),
    GaussianBandit([0.0, 5.0], 2.0, 0.1),
]
THREE_ARMS = GaussianBandit([0.5, 0.0, -0.7], 0.8, 1.3)


def tell(bandit):
    return f"{bandit.arms}-{bandit.prior_width}-{bandit.reward_noise}"


@pytest.mark.parametrize("bandit", TWO_ARMS, ids=tell)
@pytest.mark.parametrize("delta", [None, 0.3])
def test_index_sum_over_every_pull(bandit, delta):
    setting = make_setting(LONG, delta)
    every = slow_bounds.two_arm_index_sum(bandit, setting.z, LONG)
    ours = bounds.certified_index(bandit, horizon=LONG, delta=delta)
    assert ours.leading == pytest.approx(every, rel=SAME, abs=0.0)
    assert abs(ours.leading - every) <= ours.error + 1e-13 * every
    one_less = slow_bounds.two_arm_index_sum(bandit, setting.z, LONG - 1)
    assert ours.leading != pytest.approx(one_less, rel=SAME, abs=0.0), "the control: one pull is seen"


@pytest.mark.parametrize("bandit", TWO_ARMS, ids=tell)
@pytest.mark.parametrize("delta", [None, 0.3])
def test_floor_sum_over_every_pull(bandit, delta):
    setting = make_setting(LONG, delta)
    every = slow_bounds.two_arm_floor_sum(bandit, setting.L, LONG)
    ours = bounds.certified_floor(bandit, horizon=LONG, delta=delta)
    assert ours.leading == pytest.approx(every, rel=SAME, abs=0.0)
    assert abs(ours.leading - every) <= ours.error + 1e-13 * every
    one_less = slow_bounds.two_arm_floor_sum(bandit, setting.L, LONG - 1)
    assert ours.leading != pytest.approx(one_less, rel=SAME, abs=0.0)


def test_index_sum_of_three_arms(monkeypatch):
    """The same terms for every k of 400."""
    horizon = 400
    ours = bounds.certified_index(THREE_ARMS, horizon=horizon).leading
    monkeypatch.setattr(
        gaussian, "sum_rule", lambda first, last, order: (np.arange(float(first), last), np.ones(last - first))
    )
    every = gaussian_gaps(THREE_ARMS, FINE).index_sum(THREE_ARMS.model.pseudo_count, make_setting(horizon).z, horizon)
    assert ours == pytest.approx(THREE_ARMS.prior_width * every, rel=SAME, abs=0.0)


def test_floor_sum_of_many_arms():
    """Over every k, the expected sum of the gaps at which k pulls are allowed."""
    bandit = GaussianBandit([1.0] + [0.0] * 9, 1.0, 1.0)
    L = math.log(LONG)
    reached = np.sqrt(8.0 * L / (np.arange(LONG) + 1.0))
    gaps = gaussian_gaps(bandit, FINE)
    every = math.fsum(gaps.expect(lambda x: x, high=float(x)) for x in reached[::100])
    assert every == pytest.approx(float(gaps.partial_means(reached[::100]).sum()), rel=SAME)
    assert bounds.certified_floor(bandit, horizon=LONG).leading == pytest.approx(
        float(gaps.partial_means(reached).sum()), rel=SAME, abs=0.0
    )


@pytest.mark.parametrize("arms", [1, 2, 7])
@pytest.mark.parametrize("horizon", [1, 2, 13, 14, LONG])
def test_gap_free_sum_over_the_balanced_allocation(arms, horizon):
    bandit = GaussianBandit([0.0] * arms, 0.5, 1.2)
    setting = make_setting(horizon, 0.1)
    counts = [0] * arms
    widths = 0.0
    for pull in range(horizon):
        arm = pull % arms
        widths += setting.z / math.sqrt(1.0 / 0.5**2 + counts[arm] / 1.2**2)
        counts[arm] += 1
    ours = bounds.certified_gap_free(bandit, horizon=horizon, delta=0.1)
    assert ours.leading == pytest.approx(widths, rel=1e-11)
    assert ours.terms["bad rounds"] == pytest.approx(horizon * arms * 0.5 * setting.excess, rel=1e-13)


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-12])
def test_ucb1_sum_over_every_pull(delta):
    """Two arms: the gap is the size of a normal variable, and every pull is looked at."""
    bandit = TWO_ARMS[0]
    z = make_setting(LONG, delta).z
    points, weights = np.polynomial.legendre.leggauss(24)
    edges = np.concatenate([[0.0], np.geomspace(1e-6, 15.0, 400)])
    half = 0.5 * np.diff(edges)[:, None]
    x, weights = (edges[:-1, None] + half * (1.0 + points)).ravel(), (half * weights).ravel()
    spread = math.sqrt(2.0)
    weights = weights * (slow_bounds.density((x - 0.7) / spread) + slow_bounds.density((x + 0.7) / spread)) / spread
    every = float(weights @ x)
    for k in range(1, LONG):
        every += float(weights @ (x * ndtr(z - math.sqrt(k) * x)))
    ours = bounds.certified_ucb1(bandit, horizon=LONG, delta=delta)
    assert abs(ours.leading - every) <= ours.error + 1e-12 * every
    assert ours.leading == pytest.approx(every, rel=SAME, abs=0.0)
