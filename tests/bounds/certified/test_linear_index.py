"""The index form for linear bandits: the steps of its proof, run by run, and what it must be at least."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from bayesregret import LinearBandit, bounds
from bayesregret.bounds.bound import make_setting
from bayesregret.bounds.certified import linear_index
from bayesregret.bounds.certified.linear_index import GoodPulls, underestimates
from bayesregret.bounds.certified.linear_learning import information_limits
from bayesregret.bounds.certified.linear_multipliers import NONE, Multipliers, _uncovered, candidates, excess_above
from bayesregret.bounds.gaps.linear import drawn_gaps, geometry
from bayesregret.problem import common_linear

RUNS = 30
ROUNDING = 1e-9
WITNESS = LinearBandit(
    np.random.default_rng(3).standard_normal((6, 2)), prior_mean=[0.3, 0.0], prior_width=1.0, reward_noise=0.7
)
SETTING = make_setting(80, 0.05)


def random_runs(bandit, horizon, z, seed):
    """(rounds, runs): taken arms, their pulls so far, deviations, errors zeta, gaps, and (theta_* - U_*)^+."""
    rng = np.random.default_rng(seed)
    features, noise = bandit.features, bandit.reward_noise
    found = []
    for _ in range(RUNS):
        parameter = rng.multivariate_normal(bandit.prior_mean, bandit.covariance)
        means = features @ parameter
        center, spread, counts = bandit.prior_mean.copy(), bandit.covariance.copy(), np.zeros(len(features))
        for _ in range(horizon):
            deviation = np.sqrt(np.einsum("ai,ij,aj->a", features, spread, features))
            index = features @ center + z * deviation
            arm, best = int(np.argmax(index)), int(np.argmax(means))
            zeta = (features[arm] @ center - means[arm]) / deviation[arm]
            excess = max(0.0, means[best] - index[best])
            found.append((arm, counts[arm], deviation[arm], zeta, means[best] - means[arm], excess))
            counts[arm] += 1.0
            gain = spread @ features[arm] / (noise**2 + deviation[arm] ** 2)
            center = center + gain * (means[arm] + noise * rng.normal() - features[arm] @ center)
            spread = spread - np.outer(gain, spread @ features[arm])
    return np.array(found).T.reshape(6, RUNS, horizon)


def multipliers_of(bandit, setting):
    arms, limits = geometry(bandit), information_limits(bandit, setting.horizon)
    return arms, limits, list(candidates(arms, limits, setting, drawn_gaps(arms, 2000)))


def test_every_run_keeps_to_the_limits():
    """Good pulls fit the knapsack, and the rounds with zeta > u keep to the charges on average."""
    arms, limits, found = multipliers_of(WITNESS, SETTING)
    arm, count, deviation, zeta, gap, excess = random_runs(WITNESS, SETTING.horizon, SETTING.z, 7)
    W = limits.widths(SETTING.horizon)
    fullest, charged = 0.0, 0.0
    means = [multipliers for multipliers in found if multipliers.u.max() > 0.0]
    assert any(multipliers.u.shape[1] > 1 for multipliers in means)
    for multipliers in means:
        good = GoodPulls(arms, limits, SETTING, multipliers)
        row = arm.astype(int) if len(multipliers.u) > 1 else np.zeros(arm.shape, dtype=int)
        u = multipliers.u[row, np.searchsorted(multipliers.stop, count, side="right")]
        below = (zeta <= u) & (excess == 0.0)
        assert (gap <= deviation * (SETTING.z + zeta) + excess + ROUNDING).all()
        assert (
            deviation
            <= multipliers.deviation(count.ravel())[arm.astype(int).ravel(), range(count.size)].reshape(count.shape)
            * (1.0 + ROUNDING)
        ).all()
        for run in range(RUNS):
            gaps = np.zeros((1, arms.arms))
            gaps[0, arm[run].astype(int)] = gap[run]
            allowed = float(good.regret(gaps)[0])
            used = float(gap[run][below[run]].sum())
            assert used <= allowed * (1.0 + ROUNDING) + ROUNDING
            fullest = max(fullest, used / allowed if allowed > 0.0 else 0.0)
        conditional = (deviation * excess_above(SETTING.z, u)).sum(axis=1)
        assert (conditional <= multipliers.charges(W, SETTING.horizon) * (1.0 + ROUNDING)).all()
        charged = max(charged, conditional.max() / multipliers.charges(W, SETTING.horizon))
    assert fullest > 0.4  # the controls: smaller limits would be broken
    assert charged > 0.4


def test_overestimates_by_quadrature():
    z = 1.7
    for u in (-1.7, -0.4, 0.0, 1.2, 3.0):
        slow = quad(lambda x: (z + x) * norm.pdf(x), u, 12.0)[0]
        assert float(excess_above(z, np.array(u))) == pytest.approx(slow, rel=1e-9)


def test_rounds_with_a_low_best_index():
    """The worst event of this probability among those with zeta <= u, found by quadrature; none is left at u = -z."""
    arms, limits = geometry(WITNESS), information_limits(WITNESS, 80)
    for delta in (0.001, 0.3, 0.999):
        setting = make_setting(80, delta)
        z, excess = setting.z, 80 * setting.excess * arms.prior_deviation.sum()
        for u in (-z, 0.5, 2.0, 8.0):
            low = max(-z, norm.ppf(max(0.0, norm.cdf(u) - 5 * setting.tail)))
            beside = quad(lambda x, z=z: (z + x) * norm.pdf(x), low, u)[0] if u > -z else 0.0
            expected = excess + beside * limits.widths(80)
            assert underestimates(arms, limits, setting, u) == pytest.approx(expected, rel=1e-6)


def test_charges_of_counts_against_the_sum():
    rng = np.random.default_rng(4)
    start, stop = np.array([0.0, 1.0, 2.0, 5.0, 30.0]), np.array([1.0, 2.0, 5.0, 30.0, 200.0])
    pulls, rest = np.array([0.01, 1.0, 40.0]), rng.uniform(0.0, 0.5, (3, 5))
    for per_round in (0.0, 0.02, 0.1, 10.0):
        counts = np.arange(200)
        each = 0.7 / np.sqrt(pulls[:, None] + counts) * np.repeat(rest, (stop - start).astype(int), axis=1) - per_round
        slow = float(np.maximum(each, 0.0).sum())
        ours = _uncovered(start, stop, rest, per_round, 0.7, pulls)
        assert slow * (1.0 - 1e-12) <= ours <= 1.002 * slow + 1e-12


def test_pulls_and_prices_by_hand():
    """Two blocks: the last count at which an arm may be good, and the widest interval up to there."""
    bandit = LinearBandit([[1.0, 0.0], [0.0, 2.0]], [0.0, 0.0], prior_width=1.0, reward_noise=1.0)
    setting, arms, limits = make_setting(100), geometry(bandit), information_limits(bandit, 100)
    u = np.array([[1.0, 2.0], [2.0, 0.5]])
    pulls = np.array([1.0, 0.25])
    chosen = Multipliers(np.array([0.0, 10.0]), np.array([10.0, 100.0]), u, 0.0, 0.0, 0.0, 1.0, pulls)
    good = GoodPulls(arms, limits, setting, chosen)
    for first, second in ((0.3, 0.4), (0.9, 2.5), (1.2, 1.0), (1.7, 4.0), (50.0, 50.0)):
        gaps = np.array([[first, second]])
        caps, price = good._pulls_and_prices(gaps)
        for a in range(2):
            counts = np.arange(100)
            widths = setting.z + u[a][(counts >= 10).astype(int)]
            able = np.flatnonzero(widths / np.sqrt(pulls[a] + counts) >= gaps[0, a])
            assert caps[0, a] == (able[-1] + 1 if len(able) else 0)
            if len(able):
                least = math.log1p((gaps[0, a] / widths[: able[-1] + 1].max()) ** 2)
                assert price[0, a] == pytest.approx(least)


@pytest.mark.compiled
def test_the_common_problem():
    """At most 432, the best of all, and worse if the lower side of intervals is as wide as the upper one."""
    bandit = common_linear()
    bound = bounds.certified_index(bandit, horizon=1000)
    assert 370.0 < bound.value < 395.0
    best = bounds.certified(bandit, horizon=1000)
    assert best.details["name"] == "certified_index"
    assert bound.error < 0.005 * bound.value


@pytest.mark.compiled
def test_at_most_the_other_forms():
    """All gaps, of which u = z is a better form, and the sum of widths, to which u far below -z comes down."""
    wide = LinearBandit(WITNESS.features, [0.3, 0.0], prior_width=1.0, reward_noise=5.0)
    ours, theirs = (f(wide, horizon=80, delta=0.9) for f in (bounds.certified_index, bounds.certified_gap_free))
    assert ours.value == pytest.approx(theirs.value, rel=1e-9)
    assert ours.details["largest_u"] == NONE
    for width, horizon in ((0.3, 300), (1.0, 1000), (3.0, 3000)):
        bandit = common_linear(arms=8, dimension=3, prior_width=width)
        ours = bounds.certified_index(bandit, horizon=horizon)
        theirs = bounds.certified_all_gaps(bandit, horizon=horizon)
        assert ours.value <= theirs.value


def test_a_bound_without_charges_is_refuted():
    """The control: what u = -1 leaves to good pulls is less than the regret, and with its charge more."""
    arms, limits, found = multipliers_of(WITNESS, SETTING)
    greedy = next(one for one in found if one.u.max() == -1.0)
    gaps = drawn_gaps(arms, 2000)
    leading = float(GoodPulls(arms, limits, SETTING, greedy).regret(gaps).mean())
    regret = float(random_runs(WITNESS, SETTING.horizon, SETTING.z, 8)[4].sum(axis=1).mean())
    assert leading < 0.7 * regret < leading + greedy.charges(limits.widths(SETTING.horizon), SETTING.horizon)


def test_the_choice_is_made_on_other_instances(monkeypatch):
    """Few pilot instances make a worse bound and never one that is too low."""
    many = bounds.certified_index(WITNESS, horizon=80, delta=0.05)
    monkeypatch.setattr(linear_index, "PILOT", 16)
    arms, limits = geometry(WITNESS), information_limits(WITNESS, 80)
    good, charges, failures = linear_index._chosen(arms, limits, SETTING)
    value = float(good.regret(drawn_gaps(arms, 4000)).mean()) + charges + failures
    assert value > 0.97 * many.value
