"""Every expectation over the prior against a plain average over drawn instances, and against a likely mistake."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from bayesregret import BernoulliBandit, GaussianBandit, bounds
from reference import slow_bounds
from reference.slow_bounds import average, index_excess, largest_gap, over_gaps, pulls_before

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

DRAWS = 1_000_000
HORIZON, DELTA, EPSILON = 25, 0.05, 0.15
UNSURE = 0.7
GAUSSIAN = GaussianBandit([0.4, 0.0, 0.0, -0.9], prior_width=0.8, reward_noise=0.7)
BERNOULLI = BernoulliBandit([1.0, 2.0, 2.0, 0.6], [1.0, 1.5, 1.5, 3.0])
BANDITS = pytest.mark.parametrize("bandit", [GAUSSIAN, BERNOULLI], ids=["gaussian", "bernoulli"])


def ask(function, bandit):
    return function(bandit, horizon=HORIZON, delta=DELTA, epsilon=EPSILON)


def agree(value, bandit, definition, mistake, draws=DRAWS):
    truth = average(bandit, definition, draws, seed=80)
    wrong = average(bandit, mistake, draws, seed=81)
    assert abs(value - truth.mean) < 4.0 * truth.stderr
    assert abs(value - wrong.mean) > 10.0 * wrong.stderr


def printed(bandit, *, clipped=False):
    before = pulls_before(bandit, UNSURE)

    def count_times_gap(gap):
        gap = np.maximum(gap, EPSILON)
        return np.maximum(before(gap), 0.0) * gap if clipped else before(gap) * gap

    return over_gaps(count_times_gap)


@BANDITS
def test_gap_dependent_as_printed(bandit):
    """With wide gaps against narrow intervals, so that negative pulls are seen."""
    value = bounds.gap_dependent(bandit, horizon=HORIZON, delta=UNSURE, epsilon=EPSILON).leading
    agree(value, bandit, printed(bandit), printed(bandit, clipped=True))


def test_ucb1_trend():
    def inverse(gap):
        return 8.0 * GAUSSIAN.reward_noise**2 * math.log(1.0 / UNSURE) / np.maximum(gap, EPSILON)

    value = bounds.ucb1_gap_dependent(GAUSSIAN, horizon=HORIZON, delta=UNSURE, epsilon=EPSILON).leading
    agree(value, GAUSSIAN, over_gaps(inverse), printed(GAUSSIAN))


@BANDITS
def test_floor(bandit):
    before = pulls_before(bandit, DELTA)

    def whole(gap):
        return gap * np.clip(np.floor(before(gap)) + 1.0, 0.0, HORIZON)

    def broken(gap):
        return gap * np.clip(before(gap), 0.0, HORIZON)

    agree(ask(bounds.certified_floor, bandit).leading, bandit, over_gaps(whole), over_gaps(broken))


@BANDITS
def test_epsilon(bandit):
    before = pulls_before(bandit, DELTA)

    def one_more(gap):
        return gap * (before(gap) + 1.0) * ((before(gap) >= 0.0) & (gap >= EPSILON))

    def no_more(gap):
        return gap * before(gap) * ((before(gap) >= 0.0) & (gap >= EPSILON))

    found = ask(bounds.certified_epsilon, bandit)
    agree(found.leading, bandit, over_gaps(one_more), over_gaps(no_more))
    assert found.terms["small gaps"] == pytest.approx(EPSILON * HORIZON)


@BANDITS
def test_largest_gap(bandit):
    def to_the_first(means, rng):
        return means.max(axis=1) - means[:, 0]

    agree(ask(bounds.certified_trivial, bandit).value / HORIZON, bandit, largest_gap, to_the_first)


def test_sum_of_gaps():
    def not_of_the_last(means, rng):
        return (means.max(axis=1, keepdims=True) - means)[:, :-1].sum(axis=1)

    value = ask(bounds.ucb1_prior_dependent, GAUSSIAN).terms["first pulls"]
    agree(value, GAUSSIAN, over_gaps(lambda gap: gap), not_of_the_last)


def test_ucb1():
    z = math.sqrt(2.0 * math.log(1.0 / DELTA))

    def pulled(last):
        def count_times_gap(gap):
            misled = sum(ndtr(z - math.sqrt(k) * gap / GAUSSIAN.reward_noise) for k in range(1, last))
            return gap * np.minimum(HORIZON, 1.0 + misled)

        return over_gaps(count_times_gap)

    agree(ask(bounds.certified_ucb1, GAUSSIAN).leading, GAUSSIAN, pulled(HORIZON), pulled(HORIZON - 2), draws=300_000)


@BANDITS
def test_index(bandit):
    value = ask(bounds.certified_index, bandit).leading
    agree(
        value,
        bandit,
        index_excess(bandit, HORIZON, DELTA),
        index_excess(bandit, HORIZON, 1.4 * DELTA),
        draws=300_000,
    )


@BANDITS
def test_chance_that_two_arms_meet(bandit):
    """The complexity at xi = 0 is the density of gaps at 0: P(a gap below x) / x for a small x."""
    small = 0.01

    def near(means, rng):
        return over_gaps(lambda gap: (gap < small) / small)(means, rng)

    at_zero = bounds.complexity(bandit, horizon=HORIZON).details["at_zero"]
    truth = average(bandit, near, DRAWS, seed=80)
    assert abs(at_zero - truth.mean) < 4.0 * truth.stderr + 0.02 * at_zero
    assert abs(0.8 * at_zero - truth.mean) > 8.0 * truth.stderr


def test_draws_are_those_of_the_priors():
    rng = np.random.default_rng(82)
    means = slow_bounds.draw_instances(BERNOULLI, 200_000, rng).mean(axis=0)
    assert means == pytest.approx(BERNOULLI.alpha / (BERNOULLI.alpha + BERNOULLI.beta), abs=0.004)
    means = slow_bounds.draw_instances(GAUSSIAN, 200_000, rng)
    assert means.mean(axis=0) == pytest.approx(GAUSSIAN.prior_mean, abs=0.01)
    assert means.std(axis=0) == pytest.approx(GAUSSIAN.prior_width, abs=0.01)
