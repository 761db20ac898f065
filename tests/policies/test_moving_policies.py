"""Policies that change with time or at random: bad input, extreme problems, and quantiles to all digits."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.special import betaincc, betainccinv, rel_entr
from scipy.stats import norm

import bayesregret as br
from bayesregret.contracts import empty_stats, posterior_quantile, rising_index
from bayesregret.contracts.fast import (
    divergence,
    index_multiplier,
    index_rise,
    index_tangent,
    index_time,
    limit_rise,
    never_lowers,
    quantile_rise,
)
from bayesregret.simulation import simulation as runs_of

GAUSSIAN = br.GaussianBandit([0.5, 0.0, 0.0], 1.0, 1.5)
BERNOULLI = br.BernoulliBandit([1.0, 0.4, 3.0], [1.0, 0.7, 2.0])
LINEAR = br.LinearBandit(np.eye(3), [0.0] * 3, prior_width=1.0, reward_noise=1.0)
MOVING = [br.Thompson(), br.QuantileUCB(), br.KLUCB(), br.EpsilonGreedy()]
NAN, INF = math.nan, math.inf


@pytest.fixture
def plain_python(monkeypatch):
    monkeypatch.setattr(runs_of, "compile_kernel", lambda body, *classes: body)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: br.QuantileUCB(c=-1), "c must be a number, at least 0, got -1"),
        (lambda: br.QuantileUCB(c=NAN), "c must be a number, at least 0, got nan"),
        (lambda: br.QuantileUCB(c="0"), "c must be a number, at least 0, got '0'"),
        (lambda: br.QuantileUCB(c=1e9), "c must be at most 100, got 1000000000.0"),
        (lambda: br.KLUCB(c=101), "c must be at most 100, got 101"),
        (lambda: br.KLUCB(c=INF), "c must be a number, at least 0, got inf"),
        (lambda: br.KLUCB(c=True), "c must be a number, at least 0, got True"),
        (lambda: br.EpsilonGreedy(1.5), "epsilon must be a number between 0 and 1, got 1.5"),
        (lambda: br.EpsilonGreedy(None), "epsilon must be a number between 0 and 1, got None"),
        (lambda: br.Thompson(prior=3), "prior must be a bandit, got 3"),
        (lambda: br.QuantileUCB(prior="x"), "prior must be a bandit, got 'x'"),
        (lambda: br.QuantileUCB(c=1.0).start(GAUSSIAN), "horizon must be given for quantile-ucb when c is not 0"),
        (lambda: br.MOSS().start(GAUSSIAN), "horizon must be given for moss"),
        (lambda: br.Thompson().start(GAUSSIAN, seed=-1), "seed must be a whole number, at least 0, got -1"),
    ],
)
def test_one_line_that_names_the_field(make, line):
    with pytest.raises(ValueError, match="^" + line.replace("(", r"\(") + "$"):
        make()


LARGEST = "and at most 1000000000000, got"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"delay": -1}, f"delay must be a whole number, at least 0 {LARGEST} -1"),
        ({"delay": 1.0}, f"delay must be a whole number, at least 0 {LARGEST} 1.0"),
        ({"delay": None}, f"delay must be a whole number, at least 0 {LARGEST} None"),
        ({"delay": 10**13}, f"delay must be a whole number, at least 0 {LARGEST} 10000000000000"),
        ({"batch": 0}, f"batch must be a whole number, at least 1 {LARGEST} 0"),
        ({"batch": True}, f"batch must be a whole number, at least 1 {LARGEST} True"),
        ({"batch": "2"}, f"batch must be a whole number, at least 1 {LARGEST} '2'"),
        (
            {"horizon": 10**9, "delay": 10**8, "batch": 5},
            "delay and batch must be at most 100000000 rounds together, got 100000000 and 5",
        ),
    ],
)
def test_one_line_about_late_rewards(arguments, line):
    with pytest.raises(ValueError, match=f"^{line}$"):
        br.simulate(GAUSSIAN, br.Thompson(), **{"horizon": 5, "runs": 1, "seed": 0} | arguments)


@pytest.mark.parametrize("policy", [br.QuantileUCB(), br.KLUCB(), br.MOSS()], ids=repr)
def test_what_does_not_run_on_linear_beliefs(policy):
    belief = policy.belief(LINEAR)
    if belief is LINEAR.model:
        with pytest.raises(ValueError, match=r"^policy must .* linear bandit, got [^\n]+$"):
            br.simulate(LINEAR, policy, horizon=5, runs=1, seed=0)


EXTREME = [
    br.GaussianBandit([0.0], 1.0, 1.0),
    br.GaussianBandit([0.0, 0.0], 1e-20, 1e20),
    br.GaussianBandit([1e40, -1e40], 1e20, 1e-20),
    br.BernoulliBandit([1.0], [1.0]),
    br.BernoulliBandit([1e-3, 1e-3], [1e-3, 1e-3]),
    br.BernoulliBandit([1e8, 1e8, 1.0], [1e8, 1e-3, 1e8]),
    br.BernoulliBandit([1e-50, 1e50], [1e-50, 1e-50]),
]


@pytest.mark.parametrize("policy", [*MOVING, br.KLUCB(c=100.0), br.QuantileUCB(c=100.0)], ids=repr)
@pytest.mark.parametrize("bandit", EXTREME, ids=repr)
def test_extreme_problems(policy, bandit, plain_python):
    """They end, and with numbers."""
    result = br.simulate(bandit, policy, horizon=30, runs=3, seed=1, threads=1)[policy.name]
    assert np.isfinite(result.final_regret).all()
    assert result.mean_pulls.sum() == pytest.approx(30.0)
    if bandit.arms == 1:
        assert result.mean == 0.0


def quantile(bandit, tail, count=0, total=0.0):
    stats = empty_stats(bandit.arms)
    stats.counts[0], stats.totals[0] = count, total
    return posterior_quantile(bandit.model, stats, 0, tail)


PSEUDO_COUNTS = [1e-3, 0.03, 1.0, 7.5, 300.0]
TAILS = [0.5, 0.01, 1e-6, 1e-12]


def is_quantile(a, b, q, tail, upper):
    """Whether q has this tail, up to a relative error of 1e-10."""
    with mpmath.workdps(30):
        above = mpmath.mpf(q) * (1 - mpmath.mpf("1e-10"))
        below = min(mpmath.mpf(1), mpmath.mpf(q) * (1 + mpmath.mpf("1e-10")))
        return upper(a, b, above) >= tail >= upper(a, b, below)


def exact_upper(a, b, x):
    return mpmath.betainc(a, b, x, 1, regularized=True)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(PSEUDO_COUNTS, PSEUDO_COUNTS)))
def test_beta_quantiles(a, b):
    for tail in TAILS:
        q = quantile(br.BernoulliBandit([a], [b]), tail)
        assert is_quantile(a, b, q, tail, exact_upper)
        assert not is_quantile(a, b, 0.999 * q, tail, exact_upper)  # the control


@pytest.mark.parametrize(("a", "b"), [(1e5, 1e5), (1e8, 1e8), (1e8, 3.0), (0.5, 1e8), (1e5, 1e8)])
def test_beta_quantiles_of_many_pulls(a, b):
    """More than mpmath can do; the distribution function by SciPy is another algorithm than its inverse."""
    for tail in TAILS:
        q = quantile(br.BernoulliBandit([a], [b]), tail)
        assert is_quantile(a, b, q, tail, lambda a, b, x: betaincc(a, b, float(x)))


@pytest.mark.parametrize("tail", [*TAILS, 1e-100, 1e-300])
def test_normal_quantiles(tail):
    bandit = br.GaussianBandit([2.0], 3.0, 1.5)
    mean, deviation = (2.0 / 9.0 + 7.0 / 2.25) / (1.0 / 9.0 + 4.0 / 2.25), (1.0 / 9.0 + 4.0 / 2.25) ** -0.5
    assert quantile(bandit, tail, 4, 7.0) == pytest.approx(mean + deviation * norm.isf(tail), rel=1e-13, abs=0)


def test_a_quantile_of_high_order_is_not_the_median():
    """1 - 1e-12 has lost digits that its tail has; that is why tails are passed."""
    assert quantile(br.GaussianBandit([0.0], 1.0, 1.0), 1e-18) > 8.7
    assert norm.ppf(1.0 - 1e-18) == INF


@pytest.mark.parametrize("policy", [br.QuantileUCB(), br.QuantileUCB(c=1.0), br.KLUCB(), br.KLUCB(c=3.0)], ids=repr)
@pytest.mark.parametrize("bandit", [GAUSSIAN, BERNOULLI], ids=lambda bandit: bandit.kind)
def test_an_index_never_falls_with_time_nor_a_success(policy, bandit):
    settings = policy.settings(bandit, 1000)
    stats = empty_stats(3)
    for wins, losses in itertools.product(range(4), range(4)):
        stats.counts[0], stats.totals[0] = wins + losses, wins
        rising = [
            rising_index(settings, bandit.model, stats, 0, round_) for round_ in (1, 2, 3, 10, 999, 10**6, 10**12)
        ]
        assert all(later >= earlier for earlier, later in itertools.pairwise(rising))
        if bandit is BERNOULLI and wins + losses > 0:
            stats.counts[0], stats.totals[0] = wins + losses + 1, wins + 1
            assert never_lowers(bandit.model, 1, 1.0)
            assert rising_index(settings, bandit.model, stats, 0, 10) >= rising[3]


BETAS = [(0.3, 2.0), (1.0, 0.4), (1.0, 1.0), (2.5, 0.7), (3.0, 40.0), (300.0, 90.0), (1e5, 3e5)]


@pytest.mark.parametrize(("a", "b"), BETAS)
@pytest.mark.parametrize("policy", [br.QuantileUCB(), br.QuantileUCB(c=2.0), br.KLUCB(), br.KLUCB(c=3.0)], ids=repr)
def test_a_tangent_is_an_upper_bound(policy, a, b):
    """At every later round; with nine tenths of its slope it is not one at the next."""
    bandit = br.BernoulliBandit([a], [b])
    settings, stats = policy.settings(bandit, 1000), empty_stats(1)
    if isinstance(policy, br.KLUCB):
        stats.counts[0], stats.totals[0] = int(a + b) + 1, min(int(a), int(a + b))

    def index(round_):
        return rising_index(settings, bandit.model, stats, 0, round_)

    for round_ in (3, 10, 1000, 10**6):
        rise = index_rise(settings, bandit.model, stats, 0, round_, index(round_))
        for later in (round_ + 1, 2 * round_, 10 * round_, 10**9):
            passed = index_time(settings, later) - index_time(settings, round_)
            assert index(later) <= index(round_) + rise * (1.0 + 1e-8) * passed + 1e-12
        if a >= 1.0 and policy.c == 0.0 and round_ > 100 and rise > 1e-6:
            assert index(round_ + 1) > index(round_) + 0.9 * rise * math.log1p(1.0 / round_)


def test_slopes_at_the_ends():
    stats = empty_stats(3)
    assert quantile_rise(BERNOULLI.model, stats, 0, 0.01, 1.0) == 0.0
    assert limit_rise(BERNOULLI.model, 0, 1.0, 1.0) == 0.0
    assert limit_rise(BERNOULLI.model, 0, 0.5, 0.5) == INF
    assert index_rise(br.KLUCB().settings(BERNOULLI, None), BERNOULLI.model, stats, 0, 5, INF) == 0.0


TRIED = pytest.mark.parametrize(("count", "wins"), [(1, 0), (1, 1), (7, 3), (40, 39), (10**5, 3 * 10**4)])


@TRIED
@pytest.mark.parametrize("policy", [br.KLUCB(), br.KLUCB(c=3.0), br.QuantileUCB()], ids=repr)
def test_values_that_an_index_surely_reaches(policy, count, wins):
    """KL-UCB decides by the divergence, not by its inverse, and leaves values open that are too close to the index."""
    settings, stats = policy.settings(BERNOULLI, None), empty_stats(3)
    stats.counts[0], stats.totals[0] = count, wins
    for round_ in (2, 100, 10**7):
        index = rising_index(settings, BERNOULLI.model, stats, 0, round_)
        below = index - 1e-6 * (1.0 - index) - 1e-7
        assert index_tangent(settings, BERNOULLI.model, stats, 0, round_, below)[3]
        for value in (index * (1.0 + 1e-12), index + 1e-6 * (1.0 - index), 1.0, INF):
            assert index >= value or not index_tangent(settings, BERNOULLI.model, stats, 0, round_, value)[3]


@TRIED
@pytest.mark.parametrize("policy", [br.KLUCB(), br.KLUCB(c=3.0)], ids=repr)
def test_a_tangent_wherever_it_touches_is_an_upper_bound(policy, count, wins):
    """Before and after; flatter it is not one soon after, steeper not soon before."""
    settings, stats = policy.settings(BERNOULLI, None), empty_stats(3)
    stats.counts[0], stats.totals[0] = count, wins

    def over(round_, height, slope, time):
        """By how much a line is above the index."""
        line = height + slope * (index_time(settings, round_) - time)
        return line - rising_index(settings, BERNOULLI.model, stats, 0, round_)

    for touched in (3, 50, 10**4, 10**9):
        value = rising_index(settings, BERNOULLI.model, stats, 0, touched)
        height, slope, time, _ = index_tangent(settings, BERNOULLI.model, stats, 0, 50, value)
        rounds = (2, 3, 10, 50, 10**3, 10**4, 10**7, 10**12)
        assert min(over(round_, height, slope, time) for round_ in rounds) >= 0.0
        assert over(touched, height, slope, time) < 1e-7
        if wins < count and slope > 1e-6:
            assert over(touched + max(1, touched // 4), height, 0.5 * slope, time) < 0.0
            assert over(3 * touched // 4, height, 2.0 * slope, time) < 0.0


def test_a_tangent_of_an_unpulled_arm():
    stats = empty_stats(3)
    assert index_tangent(br.KLUCB().settings(BERNOULLI, None), BERNOULLI.model, stats, 0, 5, 0.5) == (
        INF,
        0.0,
        math.log(5),
        True,
    )


@pytest.mark.parametrize("mean", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("other", [1e-9, 0.2, 0.7])
def test_divergence(mean, other):
    expected = rel_entr(mean, other) + rel_entr(1.0 - mean, 1.0 - other)
    assert divergence(BERNOULLI.model, 0, mean, other) == pytest.approx(expected, rel=1e-13, abs=1e-16)


@pytest.mark.parametrize("policy", [br.QuantileUCB(), br.QuantileUCB(c=1.0), br.KLUCB(), br.KLUCB(c=3.0)], ids=repr)
def test_multipliers_kept_are_the_formula(policy):
    """To the last bit, and they rise."""
    kept = policy.settings(GAUSSIAN, 1000)
    formula = kept._replace(multipliers=np.empty(0))
    multipliers = [index_multiplier(kept, round_) for round_ in range(1, 1000)]
    assert multipliers == [index_multiplier(formula, round_) for round_ in range(1, 1000)]
    assert all(later >= earlier for earlier, later in itertools.pairwise(multipliers))
    assert multipliers[0] >= 0.0


def test_what_may_lower():
    assert not never_lowers(BERNOULLI.model, 2, 1.0)
    assert not never_lowers(GAUSSIAN.model, 1, 100.0)


@pytest.mark.parametrize(
    ("a", "b", "tail"),
    [
        (1e-3, 1.001, 1e-20),
        (0.5186157532991633, 1.047963099543934, 1.5054629571089088e-17),
        (2.1084884333906775e-06, 1.0044389257164004, 2.847402068152207e-19),
        (40.0, 3.0, 1e-250),
    ],
)
def test_beta_quantiles_where_scipy_gives_no_number(a, b, tail):
    """The tail is between those at the next floats but one on either side."""
    assert not betainccinv(a, b, tail) >= 0.0
    q = quantile(br.BernoulliBandit([a], [b]), tail)
    step = 2.0**-52

    def is_between(low, high):
        return exact_upper(a, b, mpmath.mpf(low)) >= tail >= exact_upper(a, b, mpmath.mpf(min(high, 1.0)))

    with mpmath.workdps(50):
        assert is_between(q - step, q + step)
        assert not is_between(q - 5.0 * step - 1e-12, q - 4.0 * step - 1e-12)  # the control


def test_pseudo_counts_that_are_rounded_to_0():
    bandit = br.BernoulliBandit([1e-50], [1e-50])
    assert quantile(bandit, 1e-3, 5, 5.0) == 1.0
    assert quantile(bandit, 1e-3, 5, 0.0) < 1e-300
