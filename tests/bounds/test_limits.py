"""Limits that the paper names, those it names wrongly, and growth in n. Each is followed over several steps."""

import itertools
import math

import pytest

from bayesregret import GaussianBandit, bounds

pytestmark = pytest.mark.compiled  # nothing here is needed for coverage, which makes it slow

EQUAL, DISTINCT = [0.0, 0.0, 0.0], [1.0, 0.4, 0.0]


def by_width(name, means, widths, **setting):
    setting = {"horizon": 1_000} | setting
    return [getattr(bounds, name)(GaussianBandit(means, width, 1.0), **setting).value for width in widths]


def falls(values):
    return all(later < earlier for earlier, later in itertools.pairwise(values))


def test_lemma_3_as_the_prior_narrows():
    """The paper says it goes to zero; that is so only if all means differ."""
    widths = [0.3, 0.1, 0.05, 0.03, 0.01]
    apart = by_width("complexity_bound", DISTINCT, widths)
    assert falls(apart)
    assert 0.0 < apart[-1] < 1e-100
    near, far = (2.0 * math.exp(-((d / (2.0 * 0.03)) ** 2)) for d in (0.4, 0.6))
    assert apart[3] == pytest.approx((near + far) / (2.0 * math.sqrt(math.pi) * 0.03), rel=1e-9), "nothing cancels"
    equal = by_width("complexity_bound", EQUAL, widths)
    assert falls(equal[::-1])
    assert equal == pytest.approx([6.0 / (2.0 * math.sqrt(math.pi) * width) for width in widths])


def test_the_complexity_goes_to_infinity_only_if_two_share_the_highest_mean():
    def at_zero(means, width):
        return bounds.complexity(GaussianBandit(means, width, 1.0), horizon=100).details["at_zero"]

    assert at_zero([1.0, 1.0, 0.0], 1e-3) == pytest.approx(1e3 / math.sqrt(math.pi), rel=1e-9)
    assert at_zero([1.0, 0.0, 0.0], 1e-2) < 1e-100
    lemma = bounds.complexity_bound(GaussianBandit([1.0, 0.0, 0.0], 1e-2, 1.0), horizon=100)
    assert lemma.value > 50.0, "where Lemma 3 goes to infinity all the same"


@pytest.mark.parametrize("means", [EQUAL, DISTINCT])
def test_lemma_3_as_the_prior_widens(means):
    wide = by_width("complexity_bound", means, [1.0, 10.0, 1e3, 1e10, 1e50])
    assert falls(wide)
    assert wide[-1] < 1e-49


def test_lemma_3_as_means_part():
    apart = [
        bounds.complexity_bound(GaussianBandit([d, 0.0, -d], 1.0, 1.0), horizon=9).value for d in (1, 3, 9, 30, 1e9)
    ]
    assert falls(apart[:-1])
    assert apart[-2] < 1e-90
    assert apart[-1] == 0.0


def test_theorem_1_as_printed_falls_without_bound():
    narrow = by_width("gap_dependent", DISTINCT, [0.3, 0.1, 0.03, 1e-3, 1e-6])
    assert falls(narrow)
    assert narrow[-1] < -1e11
    assert narrow[-1] == pytest.approx(-1.6e12, rel=0.01)  # r times the gaps, 0.6 and 1
    landmark = GaussianBandit([1.0] + [0.0] * 9, 0.1, 1.0)
    assert round(bounds.gap_dependent(landmark, horizon=1_000).value) == -344


@pytest.mark.parametrize("name", ["certified_floor", "certified_index", "certified_small_width"])
def test_certified_bounds_vanish_with_the_prior(name):
    """With distinct means a narrow prior knows the best arm."""
    widths = [0.1, 0.03, 0.01, 1e-3, 1e-6]
    narrow = by_width(name, DISTINCT, widths)
    assert falls(narrow)
    assert 0.0 < narrow[-1] < 0.05
    best = by_width("certified", DISTINCT, widths)
    assert all(least <= each for least, each in zip(best, narrow, strict=True))


def test_first_passages_of_arms_that_the_prior_knows_apart():
    """They cost nothing but the numerical error."""
    narrow = by_width("certified_first_passage", DISTINCT, [0.3, 0.1, 0.06, 0.03, 1e-3])
    assert falls(narrow[:3])
    assert narrow[2] < 1e-6
    assert 0.0 <= min(narrow[3:]) <= max(narrow[3:]) < 1e-8


@pytest.mark.parametrize("name", ["certified_gap_free", "certified_small_width", "certified_epsilon", "sqrt"])
@pytest.mark.parametrize("means", [EQUAL, DISTINCT], ids=["equal", "distinct"])
def test_bounds_fall_like_the_width_when_it_is_small(name, means):
    first, second = by_width(name, means, [1e-6, 1e-7])
    assert first == pytest.approx(10.0 * second, rel=1e-3)
    assert first < 0.1


def test_a_wide_prior_costs_first_pulls_only():
    """Gaps are so large that one look is enough: the regret is that of one pull of every arm."""
    bandit = GaussianBandit(EQUAL, 1e6, 1.0)
    gaps = bounds.ucb1_prior_dependent(bandit, horizon=100, delta=1e-9).terms["first pulls"]
    for name in ("certified_floor", "certified_index", "certified_ucb1"):
        assert getattr(bounds, name)(bandit, horizon=100, delta=1e-9).leading == pytest.approx(gaps, rel=1e-3)


def test_theorem_1_grows_like_the_square_of_log_n():
    """Not like log n: with epsilon = 1/n the constant grows, too."""
    bandit = GaussianBandit([1.0] + [0.0] * 9, 1.0, 1.0)
    slope = 8.0 * bounds.complexity(bandit, horizon=10).details["at_zero"]
    logs = [math.log(10.0) * power for power in (3, 6, 9, 12, 15)]
    leading = [bounds.gap_dependent(bandit, horizon=round(math.exp(log_n))).leading for log_n in logs]
    second = [
        (a - 2 * b + c) / (logs[1] - logs[0]) ** 2 for a, b, c in zip(leading, leading[1:], leading[2:], strict=False)
    ]
    assert second == pytest.approx([2.0 * slope] * 3, rel=1e-3), "the second difference in log n is twice the constant"
    assert leading[-1] / leading[0] > 0.6 * (logs[-1] / logs[0]) ** 2 > 2.0 * logs[-1] / logs[0]


@pytest.mark.parametrize("name", ["certified_floor", "certified_index", "certified_epsilon"])
def test_certified_bounds_grow_slower_than_any_power(name):
    bandit = GaussianBandit([1.0, 0.0], 1.0, 1.0)
    values = [getattr(bounds, name)(bandit, horizon=10**power).value for power in (4, 8, 15)]
    assert values[0] < values[1] < values[2] < 20.0 * values[0]
    trivial = [bounds.certified_trivial(bandit, horizon=10**power).value for power in (4, 15)]
    assert trivial[1] == pytest.approx(1e11 * trivial[0])


def test_square_root_bounds_grow_like_the_square_root():
    bandit = GaussianBandit([1.0, 0.0], 1.0, 1.0)
    for name in ("sqrt", "certified_gap_free"):
        small, large = (getattr(bounds, name)(bandit, horizon=n, delta=1e-3).leading for n in (10**8, 10**12))
        assert large == pytest.approx(100.0 * small, rel=1e-3)
    ratio = bounds.sqrt(bandit, horizon=10**12).leading / bounds.certified_gap_free(bandit, horizon=10**12).leading
    assert ratio == pytest.approx(2.0, rel=1e-5)


def test_ucb1s_trend_is_theorem_1_at_infinite_width():
    """With the gaps held: a wide prior's density of gaps, the prior's pulls left out."""
    bandit = GaussianBandit(EQUAL, 1e6, 1.0)
    theorem = bounds.gap_dependent(bandit, horizon=100)
    trend = bounds.ucb1_gap_dependent(bandit, horizon=100)
    assert theorem.leading < trend.leading
    assert theorem.leading == pytest.approx(trend.leading, rel=0.1)
    narrow = GaussianBandit(EQUAL, 1e-2, 1.0)
    assert (
        bounds.gap_dependent(narrow, horizon=100).leading
        < 0.999 * bounds.ucb1_gap_dependent(narrow, horizon=100).leading
    )
