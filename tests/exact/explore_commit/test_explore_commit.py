"""Explore-then-commit: exact regret against enumeration and simulation, and the best exploration length."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, special, stats

import bayesregret as br
from bayesregret.exact.explore_commit import conjugate as exploration_conjugate
from bayesregret.exact.explore_commit.best_length import expected_best, expected_highest, prior_means
from conftest import JIT_IS_OFF
from problems import BANDITS

HALVES = br.BernoulliBandit([1, 2, 1], [1, 1, 3])
GAUSSIAN = br.GaussianBandit([0.5, 0.0, -0.2], prior_width=1.0, reward_noise=2.0)
POISSON = br.PoissonBandit([2.0, 0.6, 2.0], [1.0, 0.5, 1.0])
EXPONENTIAL = br.ExponentialBandit([3.0, 2.2, 3.0], [2.0, 1.5, 2.0])
NORMAL_GAMMA = br.NormalGammaBandit([0.5, 0.0, 0.0], [1.0, 0.5, 0.5], [2.0, 1.2, 1.2], [1.0, 2.0, 2.0])
CONJUGATE = [POISSON, EXPONENTIAL, NORMAL_GAMMA]
BEST_OF_HALVES = Fraction(53, 70)  # the integral of 1 - x x^2 (1 - (1 - x)^3)


def rising(start, steps):
    return math.prod(start + step for step in range(steps))


def enumerated_highest(pulls):
    """E[highest posterior mean] of HALVES in fractions: over all numbers of successes."""
    priors = [(int(a), int(b)) for a, b in zip(HALVES.alpha, HALVES.beta, strict=True)]
    total = Fraction(0)
    for wins in itertools.product(*(range(k + 1) for k in pulls)):
        probability, means = Fraction(1), []
        for (a, b), k, won in zip(priors, pulls, wins, strict=True):
            ways = math.comb(k, won) * rising(a, won) * rising(b, k - won)
            probability *= Fraction(ways, rising(a + b, k))
            means.append(Fraction(a + won, a + b + k))
        total += probability * max(means)
    return total


@pytest.mark.parametrize("pulls", [(0, 0, 0), (1, 1, 0), (3, 2, 2), (6, 6, 6)])
def test_the_highest_posterior_mean_by_enumeration(pulls):
    assert expected_highest(HALVES, np.array(pulls)) == pytest.approx(float(enumerated_highest(pulls)), rel=1e-13)


@pytest.mark.parametrize("explore", [0, 1, 2, 3, 7, 12, 40])
def test_a_bernoulli_regret_by_enumeration(explore):
    horizon = 12
    rounds = min(explore, horizon)
    pulls = [len(range(arm, rounds, 3)) for arm in range(3)]
    means = [Fraction(1, 2), Fraction(2, 3), Fraction(1, 4)]
    expected = sum(k * (BEST_OF_HALVES - mean) for k, mean in zip(pulls, means, strict=True))
    expected += (horizon - rounds) * (BEST_OF_HALVES - enumerated_highest(pulls))
    assert br.explore_commit_regret(HALVES, horizon=horizon, explore=explore) == pytest.approx(
        float(expected), rel=1e-12
    )


def test_the_best_of_betas():
    assert expected_best(HALVES) == pytest.approx(float(BEST_OF_HALVES), rel=1e-13)
    few = br.BernoulliBandit([0.02, 0.5], [0.03, 2.0])

    def both_below(log_odds):
        x = special.expit(log_odds)
        return x * special.expit(-log_odds) * math.prod(special.betainc(few.alpha, few.beta, x))

    both = integrate.quad(both_below, -40, 40, epsabs=1e-13, limit=500)[0]
    assert expected_best(few) == pytest.approx(1.0 - both, abs=1e-10)


def test_the_highest_of_normals():
    """Two have a closed form (Clark 1961); one that is not pulled is a number."""
    two = br.GaussianBandit([0.3, 0.0], 1.0, 1.0)
    spread = math.sqrt(2.0 * 3.0 / 4.0)
    z = 0.3 / spread
    clark = 0.3 * special.ndtr(z) + spread * stats.norm.pdf(z)
    assert expected_highest(two, np.array([3, 3])) == pytest.approx(clark, rel=1e-12)
    spread, z = math.sqrt(0.5), -0.3 / math.sqrt(0.5)
    hinge = 0.3 + spread * stats.norm.pdf(z) + (0.0 - 0.3) * special.ndtr(z)
    assert expected_highest(two, np.array([0, 1])) == pytest.approx(hinge, rel=1e-12)
    assert expected_highest(two, np.array([0, 0])) == 0.3


@pytest.mark.parametrize("widths", [(1.0, 1e-3), (1e-8, 2.0), (1e8, 1e-8), (0.7, 3.0)])
def test_the_highest_of_heteroscedastic_normals(widths):
    """By Clark's formula, however much the widths differ."""
    two = br.GaussianBandit([0.3, 0.0], widths, 1.0)
    spread = math.hypot(*widths)
    clark = 0.3 * special.ndtr(0.3 / spread) + spread * stats.norm.pdf(0.3 / spread)
    assert expected_best(two) == pytest.approx(clark, rel=1e-12)
    assert 0 <= two.best_exploration(1000) <= 1000


def distributions_of_means(bandit, pulls):
    """SciPy's distribution of each arm's posterior mean after `pulls` pulls."""
    if bandit is NORMAL_GAMMA:
        fraction = pulls / (bandit.prior_pulls + pulls)
        spreads = np.sqrt(bandit.scale / (bandit.shape * bandit.prior_pulls) * fraction)
        return [stats.t(2.0 * a, m, s) for a, m, s in zip(bandit.shape, bandit.prior_mean, spreads, strict=True)]
    arms = zip(bandit.shape, bandit.rate, pulls, strict=True)
    scaled = [(a, r, k, r / (a - 1.0 + k)) for a, r, k in arms]
    return [stats.betaprime(k, a, loc=unit, scale=unit) for a, r, k, unit in scaled]


def distributions_of_rewards(bandit):
    if bandit is POISSON:
        return [stats.gamma(a, scale=1.0 / r) for a, r in zip(bandit.shape, bandit.rate, strict=True)]
    if bandit is EXPONENTIAL:
        return [stats.invgamma(a, scale=r) for a, r in zip(bandit.shape, bandit.rate, strict=True)]
    return distributions_of_means(bandit, np.full(3, 1e18))


def highest_of(distributions):
    """By adaptive integration, decade by decade, to the right and to the left of 1."""
    decades = np.append(0.0, 10.0 ** np.arange(-3.0, 16.0))

    def integral(f):
        return sum(integrate.quad(f, *ends, epsabs=1e-14, epsrel=1e-12)[0] for ends in itertools.pairwise(decades))

    above = integral(
        lambda x: -math.expm1(sum(math.log1p(-distribution.sf(1.0 + x)) for distribution in distributions))
    )
    return 1.0 + above - integral(lambda x: math.prod(distribution.cdf(1.0 - x) for distribution in distributions))


@pytest.mark.parametrize("bandit", [EXPONENTIAL, NORMAL_GAMMA], ids=lambda bandit: bandit.kind)
@pytest.mark.parametrize("pulls", [(1, 1, 1), (7, 6, 6), (400, 400, 400)])
def test_the_highest_of_heavy_tails(bandit, pulls):
    found = expected_highest(bandit, np.array(pulls))
    assert found == pytest.approx(highest_of(distributions_of_means(bandit, np.array(pulls))), rel=1e-8)


@pytest.mark.parametrize("bandit", CONJUGATE, ids=lambda bandit: bandit.kind)
def test_the_best_of_all_arms(bandit):
    assert expected_best(bandit) == pytest.approx(highest_of(distributions_of_rewards(bandit)), rel=1e-8)
    never, after_many = expected_highest(bandit, np.zeros(3, int)), expected_highest(bandit, np.full(3, 10**5))
    assert never == pytest.approx(float(prior_means(bandit).max()), rel=1e-12)
    assert never < after_many < expected_best(bandit) < after_many * 1.0001


def test_the_highest_of_sums_of_poisson_rewards():
    """Over all pairs of sums."""
    two, pulls = br.PoissonBandit([2.0, 0.6], [1.0, 0.5]), (3, 2)
    sums = np.arange(400)
    probabilities, means = [], []
    for a, r, k in zip(two.shape, two.rate, pulls, strict=True):
        probabilities.append(stats.nbinom.pmf(sums, a, r / (r + k)))
        means.append((a + sums) / (r + k))
    expected = np.sum(np.outer(*probabilities) * np.maximum.outer(*means))
    assert expected_highest(two, np.array(pulls)) == pytest.approx(expected, rel=1e-12)


def test_large_sums_of_poisson_rewards(monkeypatch):
    """As if they were continuous: the longer the steps are, the larger is the error."""
    for shape, rate, close in ((30.0, 0.01, 1e-8), (2.0, 0.1, 1e-4)):
        bandit = br.PoissonBandit([shape, shape, 1.1 * shape], [rate, rate, rate])
        monkeypatch.setattr(exploration_conjugate, "MOST_SUMS", 2_000_000)
        exact = expected_highest(bandit, np.array([4, 4, 3]))
        monkeypatch.setattr(exploration_conjugate, "MOST_SUMS", 0)
        assert expected_highest(bandit, np.array([4, 4, 3])) == pytest.approx(exact, rel=close)
        assert expected_highest(bandit, np.array([4, 4, 3])) != pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("bandit", CONJUGATE, ids=lambda bandit: bandit.kind)
def test_an_arm_that_is_not_pulled_is_a_number(bandit):
    """A first pull of the other arms has positive value, but less than a first pull of all arms."""
    highest = [expected_highest(bandit, np.array(pulls)) for pulls in ((0, 0, 0), (0, 1, 1), (1, 1, 1))]
    assert highest == sorted(highest)
    assert highest[0] < highest[1] < highest[2]


def test_one_arm():
    for bandit in (br.PoissonBandit([2], [3]), br.ExponentialBandit([2], [3]), br.NormalGammaBandit([4], 1, 0.6, 2)):
        assert bandit.best_exploration(100) == 0
        assert br.explore_commit_regret(bandit, horizon=100, explore=10) == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize(
    ("bandit", "explore"),
    [(HALVES, 20), (GAUSSIAN, 10), *((bandit, 9) for bandit in CONJUGATE if JIT_IS_OFF)],  # kernels take longer
    ids=lambda value: getattr(value, "kind", value),
)
def test_simulation_agrees(bandit, explore):
    horizon = 60
    ran = br.simulate(bandit, br.ExploreCommit(explore), horizon=horizon, runs=1500, seed=5)["explore-commit"]
    exact = br.explore_commit_regret(bandit, horizon=horizon, explore=explore)
    assert abs(ran.mean - exact) < 4.0 * ran.stderr
    other = br.explore_commit_regret(bandit, horizon=horizon, explore=5 * explore)  # the control
    assert abs(ran.mean - other) > 4.0 * ran.stderr


@pytest.mark.parametrize(
    "bandit",
    [
        HALVES,
        GAUSSIAN,
        br.BernoulliBandit([30, 3], [30, 5]),
        br.BernoulliBandit([0.4, 1.5], [0.7, 1.0]),
        *CONJUGATE,
    ],
)
@pytest.mark.parametrize("horizon", [1, 7, 60, 250])
def test_the_best_exploration_is_the_best_of_all(bandit, horizon):
    found = bandit.best_exploration(horizon)
    assert found % bandit.arms == 0
    assert found <= horizon
    regrets = [br.explore_commit_regret(bandit, horizon=horizon, explore=k) for k in range(0, horizon + 1, bandit.arms)]
    assert br.explore_commit_regret(bandit, horizon=horizon, explore=found) == pytest.approx(min(regrets), rel=1e-9)
    assert br.explore_commit_regret(bandit, horizon=horizon) == br.explore_commit_regret(
        bandit, horizon=horizon, explore=found
    )


@pytest.mark.parametrize("bandit", [HALVES, GAUSSIAN])
def test_long_horizons(bandit):
    """The best exploration grows like the root of the horizon, and so does the regret."""
    explore = [bandit.best_exploration(horizon) for horizon in (10**5, 10**7)]
    assert explore[1] / explore[0] == pytest.approx(10.0, rel=0.05)
    found = br.explore_commit_regret(bandit, horizon=10**7, explore=explore[1])
    assert all(
        found < br.explore_commit_regret(bandit, horizon=10**7, explore=round(explore[1] * by)) for by in (0.9, 1.1)
    )


def test_arms_that_need_no_exploration():
    assert br.GaussianBandit([0.0], 1.0, 1.0).best_exploration(100) == 0
    arm_stats = br.BernoulliBandit([5000, 1], [1, 5000])
    assert arm_stats.best_exploration(1000) == 0
    assert br.explore_commit_regret(arm_stats, horizon=1000, explore=0) == pytest.approx(0.0, abs=1e-9)


def test_what_it_refuses():
    for bandit, described in [
        (BANDITS["linear"], "linear bandit"),
        (BANDITS["rademacher"], "gaussian bandit with rademacher"),
    ]:
        with pytest.raises(ValueError, match=rf"^explore must be given, a whole number of rounds, on a {described}"):
            bandit.best_exploration(10)
        with pytest.raises(ValueError, match=r"^bandit must have independent arms, and no rademacher noise, .* got "):
            br.explore_commit_regret(bandit, horizon=10, explore=2)
    with pytest.raises(ValueError, match=r"^bandit must be a bandit such as GaussianBandit, got 3$"):
        br.explore_commit_regret(3, horizon=10, explore=2)
    with pytest.raises(ValueError, match=r"^horizon must be a whole number, at least 1, got 0$"):
        GAUSSIAN.best_exploration(0)
    with pytest.raises(ValueError, match=r"^horizon must be a whole number, at least 1, got 0$"):
        br.explore_commit_regret(GAUSSIAN, horizon=0, explore=2)
    with pytest.raises(ValueError, match=r"^explore must be a whole number, at least 0, got -1$"):
        br.explore_commit_regret(GAUSSIAN, horizon=10, explore=-1)
