"""Bernoulli arms: sums over every pull and success, closed forms for uniform arms, and terms that need no integral."""

import math

import numpy as np
import pytest

from bayesregret import BernoulliBandit, bounds
from bayesregret.bounds.bound import FINE, make_setting
from bayesregret.bounds.certified import bernoulli_index_sum
from bayesregret.bounds.gaps.bernoulli import LARGEST_COUNT, SMALLEST_COUNT, bernoulli_gaps
from bayesregret.numerics.beta_log_odds import log_gamma_ratio
from reference import slow_bounds

TWO_UNIFORM = BernoulliBandit([1.0, 1.0], [1.0, 1.0])
TEN_UNIFORM = BernoulliBandit([1.0] * 10, [1.0] * 10)
TWO_BELLS = BernoulliBandit([2.0, 3.0], [3.0, 2.5])
PROMISED = 1e-9


@pytest.mark.parametrize("bandit", [TWO_UNIFORM, TEN_UNIFORM], ids=["two", "ten"])
@pytest.mark.parametrize("horizon", [1, 2, 300, 2_500])
def test_index_sum_over_the_whole_lattice(bandit, horizon):
    """From 2,048 pulls on the lattice fades into a smooth form."""
    delta = 0.05
    every = slow_bounds.bernoulli_index_sum(bandit, math.log(1.0 / delta), horizon)
    ours = bounds.certified_index(bandit, horizon=horizon, delta=delta)
    assert ours.leading == pytest.approx(every, rel=PROMISED if horizon <= 2_048 else 1e-8, abs=0.0)
    assert abs(ours.leading - every) <= ours.error + 1e-12 * every


@pytest.mark.compiled
def test_index_sum_of_arms_that_differ():
    horizon = 2_300
    every = slow_bounds.bernoulli_index_sum(TWO_BELLS, math.log(horizon), horizon)
    ours = bounds.certified_index(TWO_BELLS, horizon=horizon)
    assert ours.leading == pytest.approx(every, rel=1e-8, abs=0.0)
    assert abs(ours.leading - every) <= ours.error + 1e-12 * every
    assert abs(ours.leading - (1.0 + 1e-6) * every) > 10.0 * ours.error, "the control"


def test_smoothing_error_is_reported(monkeypatch):
    """Fading early, the difference is larger, and the error says so."""
    bandit = BernoulliBandit([0.5, 0.7], [0.5, 1.3])
    horizon = 700
    whole = bounds.certified_index(bandit, horizon=horizon)
    monkeypatch.setattr(bernoulli_index_sum, "EXACT_PULLS", 240)
    smooth = bounds.certified_index(
        bandit, horizon=horizon, delta=(1.0 / horizon) * (1.0 + 1e-15)
    )  # not from the cache
    assert smooth.error > whole.error
    assert abs(smooth.leading - whole.leading) <= smooth.error + whole.error
    assert smooth.leading == pytest.approx(whole.leading, rel=1e-4)


@pytest.mark.parametrize("horizon", [1, 2, 3, 40, 3_000])
@pytest.mark.parametrize("delta", [0.9, 0.05, 1e-9])
def test_floor_sum_over_every_pull(horizon, delta):
    every = slow_bounds.uniform_two_arm_floor_sum(math.log(1.0 / delta), horizon)
    ours = bounds.certified_floor(TWO_UNIFORM, horizon=horizon, delta=delta)
    assert ours.leading == pytest.approx(every, rel=PROMISED, abs=0.0)
    assert abs(ours.leading - every) <= ours.error + 1e-13 * every


def test_ten_uniform_arms():
    """Order statistics: E max = 10/11, E min = 1/11; the best other arm has density 9 m^8."""
    n = 40
    assert bounds.certified_trivial(TEN_UNIFORM, horizon=n).value == pytest.approx(n * 9.0 / 11.0, rel=1e-12)
    complexity = bounds.complexity(TEN_UNIFORM, horizon=n)
    assert complexity.value == pytest.approx(10.0 * (1.0 - (1.0 / n) ** 9), rel=1e-12)
    assert complexity.details["at_zero"] == pytest.approx(10.0, rel=1e-12)
    lower = bounds.lai_lower(TEN_UNIFORM, horizon=n)
    assert lower.value == pytest.approx(math.log(n) ** 2 * 10.0, rel=1e-12)
    variance = 10.0 * 9.0 * (1.0 / 10.0 - 1.0 / 11.0)
    assert lower.details["mean_parameter_form"] == pytest.approx(0.5 * math.log(n) ** 2 * variance, rel=1e-12)


def test_theorem_5_of_two_uniform_arms():
    """The gap has density 2 (1 - x), so every expectation is elementary."""
    n, delta, epsilon = 50, 0.1, 0.02
    L = math.log(10.0)
    clipped_inverse = (2.0 - epsilon) + 2.0 * (math.log(1.0 / epsilon) - (1.0 - epsilon))
    clipped = epsilon * (2.0 * epsilon - epsilon**2) + (1.0 / 3.0 - epsilon**2 + 2.0 * epsilon**3 / 3.0)
    first = bounds.gap_dependent(TWO_UNIFORM, horizon=n, delta=delta, epsilon=epsilon)
    assert first.leading == pytest.approx(2.0 * L * clipped_inverse - 3.0 * clipped, rel=1e-11)
    assert first.terms["small gaps"] == pytest.approx(epsilon * n)
    assert first.terms["failures"] == pytest.approx(2 * 2 * n * delta)
    mended = bounds.certified_epsilon(TWO_UNIFORM, horizon=n, delta=delta, epsilon=epsilon)
    inverse = 2.0 * (math.log(1.0 / epsilon) - (1.0 - epsilon))
    mean = 1.0 / 3.0 - epsilon**2 + 2.0 * epsilon**3 / 3.0
    assert mended.leading == pytest.approx(2.0 * L * inverse - 2.0 * mean, rel=1e-11)
    assert mended.terms["bad rounds"] == pytest.approx(3 * n * delta)
    assert bounds.certified_index(TWO_UNIFORM, horizon=n, delta=delta).remainder == pytest.approx(n * delta)
    log_n = math.log(n)
    second = bounds.prior_dependent(TWO_UNIFORM, horizon=n, delta=delta)
    complexity = bounds.complexity(TWO_UNIFORM, horizon=n).value
    assert complexity == pytest.approx(2.0 * (1.0 - 1.0 / n), rel=1e-12)
    assert second.leading == pytest.approx((2.0 * L * log_n - 3.0 / (2.0 * log_n)) * complexity, rel=1e-12)
    assert second.remainder == pytest.approx(2.0 * 2 * L * math.sqrt(log_n) + 2.0 * 2 * n * delta + 1.0, rel=1e-12)


@pytest.mark.parametrize("horizon", [1, 2, 7, 8, 60, 3_000])
@pytest.mark.parametrize(
    "counts", [[[1.0], [1.0]], [[1.0, 2.0, 2.0], [1.0, 1.5, 1.5]], [[1.0, 5.0, 0.5, 1.0], [1.0, 15.0, 0.7, 1.0]]]
)
def test_gap_free_sum_of_the_largest_widths(counts, horizon):
    """All widths of all arms, sorted."""
    bandit = BernoulliBandit(*counts)
    setting = make_setting(horizon, 0.1)
    deviations = 0.5 / np.sqrt(np.add.outer(bandit.alpha + bandit.beta + 1.0, np.arange(horizon)))
    largest = np.sort(deviations.ravel())[::-1][:horizon]
    ours = bounds.certified_gap_free(bandit, horizon=horizon, delta=0.1)
    assert ours.leading == pytest.approx(setting.z * largest.sum(), rel=1e-11)
    tails = math.sqrt(2.0 * math.pi) * setting.tail * deviations[:, 0].sum()
    assert ours.terms["bad rounds"] == pytest.approx(horizon * tails, rel=1e-12)


def test_small_width_takes_the_smaller():
    for count, width_decides in [(1.0, False), (300.0, True), (30_000.0, True)]:
        bandit = BernoulliBandit([count, 3.0 * count, 1e5], [count, count, 1.0])
        widest = 2.0 * math.sqrt(math.log(20.0) / (2.0 * (2.0 * count + 1.0)))
        trivial = bounds.certified_trivial(bandit, horizon=1, delta=0.05).value
        found = bounds.certified_small_width(bandit, horizon=1, delta=0.05)
        assert found.leading == pytest.approx(min(trivial, widest), rel=1e-12)
        assert (widest < trivial) == width_decides
        assert found.remainder == pytest.approx(4 * 0.05)


def test_a_sharp_arm_among_flat_ones():
    """A uniform arm beside one that is surely 1/2: either's gap has density 1 up to 1/2."""
    n, sharp, epsilon = 40, 1e6, 0.05
    L = math.log(40.0)
    bandit = BernoulliBandit([1.0, sharp], [1.0, sharp])
    assert bounds.certified_trivial(bandit, horizon=n).value == pytest.approx(n / 4.0, rel=1e-5)
    k = np.arange(n)
    reached = [np.minimum(0.5, np.sqrt(2.0 * L / (k + count + 1.0))) for count in (2.0, 2.0 * sharp)]
    floor = sum(float(np.sum(x**2)) for x in reached) / 2.0
    assert bounds.certified_floor(bandit, horizon=n).leading == pytest.approx(floor, rel=1e-4)
    once = 2.0 * L * math.log(0.5 / epsilon) - 2.0 * (0.5**2 - epsilon**2) / 2.0  # the sharp arm is never let in
    found = bounds.certified_epsilon(bandit, horizon=n, epsilon=epsilon)
    assert found.leading == pytest.approx(once, rel=1e-4)


@pytest.mark.parametrize("sharp", [50.0, 1e3, 1e6])
@pytest.mark.parametrize("horizon", [40, 400, 4_000])
def test_floor_sum_beside_a_sharp_arm(sharp, horizon):
    """The gap has a sharp end at 1/2, and so has its sum over k where intervals become that narrow."""
    bandit = BernoulliBandit([1.0, sharp], [1.0, sharp])
    gaps = bernoulli_gaps(bandit, FINE)
    every = 0.0
    for density in gaps.densities:
        counts = np.arange(horizon) + density.kind.pseudo_count + 1.0
        reached = np.minimum(1.0, np.sqrt(2.0 * math.log(horizon) / counts))
        every += density.kind.copies * float(gaps.partial_means(density, reached).sum())
    ours = bounds.certified_floor(bandit, horizon=horizon)
    assert abs(ours.leading - every) <= ours.error
    assert ours.leading == pytest.approx(every, rel=1e-8)


@pytest.mark.parametrize("horizon", [20, 2_500])
def test_an_arm_that_is_surely_the_best(horizon):
    """The other arm's gap is 1 and its index never reaches: no regret but bad rounds."""
    bandit = BernoulliBandit([1e5, 1.0], [1.0, 1e5])
    assert bounds.certified_trivial(bandit, horizon=horizon).value == pytest.approx(horizon, rel=1e-4)
    for name in ("certified_floor", "certified_index"):
        found = getattr(bounds, name)(bandit, horizon=horizon)
        assert 0.0 <= found.leading <= found.error
        assert found.remainder > 0.9


def test_where_theorem_5_holds():
    farthest = math.sqrt(2.0 * math.log(50.0) / 3.0)
    assert bounds.gap_dependent(TWO_UNIFORM, horizon=50, epsilon=0.99 * farthest).applies
    assert not bounds.gap_dependent(TWO_UNIFORM, horizon=50, epsilon=1.01 * farthest).applies
    enough = 2.0 * math.log(50.0) ** 2 - 1.0
    for count, applies in [(0.49 * enough, True), (0.51 * enough, False)]:
        found = bounds.prior_dependent(BernoulliBandit([count] * 2, [count] * 2), horizon=50)
        assert found.applies == applies
        assert applies or "min(alpha + beta) + 1" in found.why_not


def test_infinite_densities_are_explained():
    flat_at_zero = BernoulliBandit([0.5, 1.0], [0.5, 1.0])
    for name in ("complexity", "prior_dependent", "certified_prior_dependent"):
        found = getattr(bounds, name)(flat_at_zero, horizon=50)
        assert found.value == math.inf
        assert found.error == 0.0
        assert "alpha < 1" in found.note
    assert math.isfinite(bounds.lai_lower(BernoulliBandit([0.6, 1.0], [0.6, 1.0]), horizon=50).value)
    both = bounds.lai_lower(BernoulliBandit([0.4, 0.4], [1.0, 1.0]), horizon=50)
    assert both.value == math.inf
    assert "infinite" in both.note
    assert math.isfinite(both.details["mean_parameter_form"])
    only_at_one = bounds.complexity(BernoulliBandit([2.0, 2.0], [0.5, 0.5]), horizon=50)
    assert math.isfinite(only_at_one.value), "xi is at least 1/n, and keeps away from 1"


def test_pulls_of_one_gap():
    bandit = BernoulliBandit([2.0, 1.0], [3.0, 1.0])
    for arm, count in [(0, 5.0), (1, 2.0)]:
        for gap in (0.05, 0.4, 0.99):
            most = 2.0 * math.log(50.0) / gap**2 - (count + 1.0)
            found = bounds.action_bound(bandit, horizon=50, gap=gap, arm=arm)
            assert found.value == pytest.approx(most, rel=1e-12)
            assert found.details["certified"] == min(50, max(0, math.floor(most) + 1))
    with pytest.raises(ValueError, match="arm must be a whole number, at least 0 and at most 1, got 2"):
        bounds.action_bound(bandit, horizon=50, gap=0.1, arm=2)


@pytest.mark.parametrize(("count", "said"), [(0.5 * SMALLEST_COUNT, "alpha"), (2.0 * LARGEST_COUNT, "alpha")])
def test_priors_beyond_reach_are_refused(count, said):
    with pytest.raises(ValueError, match=f"{said} must be between .* for a bound, got"):
        bounds.certified_floor(BernoulliBandit([count, 1.0], [1.0, 1.0]), horizon=50)


@pytest.mark.parametrize("shift", [-0.6, 0.0, 1.0, 7.5])
def test_ratios_of_gamma_functions(shift):
    x = np.array([1.0, 3.5, 15.9, 16.0, 40.0, 171.0])
    truth = [math.lgamma(value + shift) - math.lgamma(value) for value in x]
    assert log_gamma_ratio(x, shift) == pytest.approx(truth, rel=1e-12, abs=1e-12)
    assert float(log_gamma_ratio(np.array(1e15), 1.0)) == pytest.approx(math.log(1e15), rel=1e-15)
