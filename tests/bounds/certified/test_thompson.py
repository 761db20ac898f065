"""The certified bound for Thompson sampling: its values, its parts against slow ones, and simulated regret below it."""

import math

import numpy as np
import pytest
from scipy.special import expit, ndtri
from scipy.stats import beta, norm

from bayesregret import BernoulliBandit, GaussianBandit, LinearBandit, Thompson, bounds, simulate
from bayesregret.bounds.certified.thompson import drawn_entropy, entropy_of, reward_proxy
from problems import BANDITS

LANDMARK = GaussianBandit([1.0] + [0.0] * 9, 1.0, 1.0)
TWO = GaussianBandit([0.0, 0.0], 1.0, 1.0)


def test_the_landmark():
    found = bounds.certified_thompson(LANDMARK, horizon=1_000)
    assert found.details["information"] == pytest.approx(274.284, abs=0.001)
    assert found.details["refined"] == pytest.approx(214.066, abs=0.02)
    assert found.leading == found.details["ties"] == pytest.approx(181.919, abs=0.02)
    assert found.details["form"] == "ties"
    assert found.error < 1e-6
    assert found.policy == "thompson"


@pytest.mark.parametrize("order", [9, 12])
def test_information_by_hand(order):
    """Two arms alike: entropy log 2, and sum (1 - p) = 1."""
    details = bounds.certified_thompson(TWO, horizon=1_000).details
    assert details["entropy"] == pytest.approx(math.log(2.0), rel=1e-8)
    assert details["information"] == pytest.approx(math.sqrt(2.0 * 1_000 * 2.0 * math.log(2.0)), rel=1e-8)
    uniform = bounds.certified_thompson(BernoulliBandit([1, 1], [1, 1]), horizon=500).details
    assert uniform["information"] == pytest.approx(math.sqrt(2.0 * 500 * 0.25 * math.log(2.0)), rel=1e-8)


def test_one_round_is_exact():
    """Before the first reward nothing is known: the bounds from above, by ties, and from below are the regret."""
    assert bounds.certified_thompson(TWO, horizon=1).value == pytest.approx(1.0 / math.sqrt(math.pi), rel=1e-9)
    for bandit in (TWO, LANDMARK, BANDITS["gaussian arms"], BANDITS["bernoulli"]):
        above = bounds.certified_thompson(bandit, horizon=1).details["ties"]
        assert above == pytest.approx(regret_of_one_round(bandit), rel=1e-9)
        assert bounds.certified_thompson_lower(bandit, horizon=1).value <= above * (1.0 + 1e-9)
    assert bounds.certified_thompson_lower(LANDMARK, horizon=1).value == pytest.approx(
        regret_of_one_round(LANDMARK), rel=1e-9
    )


def test_an_arm_that_is_all_but_certainly_the_best():
    """Its probability is 1 to all digits, but neither the entropy nor the regret is 0."""
    for ahead in (9.9, 30.0):
        bandit = GaussianBandit([0.0, ahead], 1.0, 1.0)
        above = bounds.certified_thompson(bandit, horizon=1_000)
        assert 0.0 < bounds.certified_thompson_lower(bandit, horizon=1_000).value < above.value < 1e-7
        assert above.details["entropy"] > 0.0
        assert above.details["information"] > above.value


def regret_of_one_round(bandit):
    """E[best arm] - sum over arms of the probability to be the best times the prior mean, by plain integrals."""
    if isinstance(bandit, GaussianBandit):
        laws = [norm(m, w) for m, w in zip(bandit.prior_mean, bandit.prior_widths, strict=True)]
        y = x = np.linspace(-25.0, 25.0, 50_001)
        slope = np.ones_like(y)
    else:
        laws = [beta(a, b) for a, b in zip(bandit.alpha, bandit.beta, strict=True)]
        y = np.linspace(-80.0, 34.0, 50_001)
        x, slope = expit(y), expit(y) * expit(-y)
    below, density = np.array([law.cdf(x) for law in laws]), np.array([law.pdf(x) * slope for law in laws])
    total = 0.0
    for arm, law in enumerate(laws):
        others = np.delete(below, arm, axis=0).prod(axis=0)
        total += np.trapezoid((x - law.mean()) * density[arm] * others, y)
    return total


def slow_slope(information, nu, k):
    """sup over q of (l(q) - nu) / q on a fine grid, for unit width and noise."""
    q, rest = expit(np.arange(-25.0, 12.0, 1e-3)), expit(-np.arange(-25.0, 12.0, 1e-3))
    variance = 1.0 / (1.0 + k)
    most = math.sqrt(variance) * norm.pdf(ndtri(q))
    best = np.minimum((1.0 + variance) * rest / information, most)
    return float(((best - information * best**2 / (2.0 * (1.0 + variance) * rest) - nu) / q).max())


def test_slopes_against_a_grid():
    from bayesregret.bounds.certified.thompson import _problem
    from bayesregret.bounds.certified.thompson_forms import FreeNumbers, slopes

    (arms,) = _problem(TWO, 9).kinds
    for information, nu in [(30.0, 0.02), (5.0, 1e-3), (200.0, 1e-3)]:
        pulls = np.array([0.0, 1.0, 4.0, 30.0])
        found = slopes(arms, pulls, FreeNumbers(information, 0.0, nu))
        slow = np.array([slow_slope(information, nu, k) for k in pulls])
        assert (found >= slow - 1e-6).all(), "certified from above"
        assert found == pytest.approx(slow, abs=2e-3)


def random_problem(rng):
    arms = int(rng.integers(2, 7))
    if rng.random() < 0.5:
        counts = 10.0 ** rng.uniform(-0.5, 1.3, size=(2, arms))
        return BernoulliBandit(*counts)
    widths, noises = 10.0 ** rng.uniform(-1.0, 0.7, size=(2, arms))
    if rng.random() < 0.5:
        widths, noises = widths[0], noises[0]
    return GaussianBandit(rng.choice([0.0, 0.3, 1.0]) * rng.standard_normal(arms), widths, noises)


@pytest.mark.compiled
def test_regret_lies_between():
    rng = np.random.default_rng(95)
    nearest, from_below = math.inf, 0.0
    for problem in range(30):
        bandit, horizon = random_problem(rng), int(10.0 ** rng.uniform(0.3, 2.3))
        regret = simulate(bandit, Thompson(), horizon=horizon, runs=1_500, seed=problem)["thompson"]
        above = bounds.certified_thompson(bandit, horizon=horizon).value
        below = bounds.certified_thompson_lower(bandit, horizon=horizon).value
        assert regret.mean <= above + 4.0 * regret.stderr, (bandit, horizon)
        if regret.mean <= 4.0 * regret.stderr:  # hardly a run with any regret: the standard error says little
            continue
        assert below <= regret.mean + 4.0 * regret.stderr, (bandit, horizon)
        nearest, from_below = min(nearest, above / regret.mean), max(from_below, below / regret.mean)
    assert nearest < 1.3, "some bound is near enough to the regret for a mistake to be seen"
    assert from_below > 0.8


@pytest.mark.compiled
def test_regret_of_linear_bandits_is_below():
    for kind in ("linear", "linear of one rank"):
        regret = simulate(BANDITS[kind], Thompson(), horizon=60, runs=1_000, seed=5)["thompson"]
        bound = bounds.certified_thompson(BANDITS[kind], horizon=60)
        assert regret.mean + 4.0 * regret.stderr < bound.value
        assert bound.details["rank"] == (2.0 if kind == "linear" else 1.0)


def test_a_linear_bandit_with_independent_arms():
    """The rank of the differences of K independent arms is K - 1: the bound is that of Gaussian arms."""
    linear = LinearBandit(np.eye(3), np.zeros(3), prior_cov=np.eye(3), reward_noise=1.0)
    there = bounds.certified_thompson(linear, horizon=50)
    assert there.details["rank"] == 2.0
    here = bounds.certified_thompson(GaussianBandit([0.0] * 3, 1.0, 1.0), horizon=50).details["information"]
    assert there.value == pytest.approx(here, rel=1e-6)
    alone = LinearBandit([[1.0, 0.0], [1.0, 0.0]], np.zeros(2), prior_cov=np.eye(2), reward_noise=1.0)
    assert bounds.certified_thompson(alone, horizon=50).value == 0.0


def test_the_entropy_of_drawn_probabilities():
    entropy, error = drawn_entropy(np.array([0.5, 0.0, -0.3]), np.diag([1.0, 0.7, 2.0]))
    exact = bounds.certified_thompson(GaussianBandit([0.5, 0.0, -0.3], [1.0, 0.7, 2.0], 1.0), horizon=5).details
    assert 0.0 < error < 0.01
    assert abs(entropy - exact["entropy"]) < 4.0 * error
    assert entropy_of(np.array([0.5, 0.5, 0.0])) == pytest.approx(math.log(2.0))


def test_the_variance_proxy_of_a_reward():
    """E exp(t (X - m)) <= exp(t^2 proxy / 2), with equality somewhere: the proxy is the least one (Kearns and Saul)."""
    mean = np.array([0.5, 0.5 + 1e-8, 0.3, 0.02, 0.999])
    proxy = reward_proxy(mean, 1.0 - mean)
    assert proxy[:2] == pytest.approx([0.25, 0.25])
    t = np.linspace(-40.0, 40.0, 16_001)[:, None]
    t = t[np.abs(t[:, 0]) > 0.01]
    logs = np.log1p(mean * np.expm1(t)) - t * mean
    needed = (2.0 * logs / t**2).max(axis=0)
    assert (needed <= proxy * (1.0 + 1e-6)).all()
    assert needed == pytest.approx(proxy, rel=1e-3)


def test_what_is_refused():
    for formula in (bounds.certified_thompson, bounds.certified_thompson_lower):
        with pytest.raises(bounds.DoesNotHold, match="noise_kind is rademacher"):
            formula(BANDITS["rademacher"], horizon=10)
        with pytest.raises(ValueError, match="alpha must be between"):
            formula(BernoulliBandit([1e-5, 1], [1, 1]), horizon=10)
        with pytest.raises(bounds.DoesNotHold, match="prior widths must be at least"):
            formula(GaussianBandit([0, 0], [1.0, 1e-8], 1.0), horizon=10)
        assert formula(GaussianBandit([0.0], 1.0, 1.0), horizon=10).value == 0.0
        assert formula(BernoulliBandit([1], [1]), horizon=10).value == 0.0


def test_many_different_arms_share_multipliers():
    many = GaussianBandit(np.linspace(0.0, 1.0, 40), np.linspace(0.5, 1.0, 40), 1.0)
    found = bounds.certified_thompson(many, horizon=200)
    assert found.value < found.details["information"]
    assert found.value < bounds.certified_trivial(many, horizon=200).value


def test_a_huge_horizon():
    few, many = (bounds.certified_thompson(LANDMARK, horizon=n).value for n in (10**6, 10**9))
    assert 5.0 < many / few < 30.0, "about the third root of the horizon"
