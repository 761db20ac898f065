"""Gaussian bounds where a formula can be written down: two arms, the landmark, and terms that need no integral."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from bayesregret import GaussianBandit, bounds
from bayesregret.bounds.bound import make_setting
from bayesregret.bounds.certified.ucb1 import crossing_probability
from reference.slow_bounds import density

LANDMARK = GaussianBandit([1.0] + [0.0] * 9, prior_width=1.0, reward_noise=1.0)
TWO = GaussianBandit([0.7, -0.2], prior_width=0.6, reward_noise=1.4)
APART, SPREAD = 0.9, math.sqrt(2.0) * 0.6


@pytest.mark.parametrize(
    ("name", "part", "value"),
    [
        ("gap_dependent", "leading", 876.729),
        ("gap_dependent", "remainder", 475.338),
        ("ucb1_gap_dependent", "leading", 893.181),
        ("certified_floor", "value", 414.006),
        ("certified_index", "value", 124.418),
        ("certified_gap_free", "value", 691.203),
        ("sqrt", "leading", 1345.507),
        ("complexity", "value", 2.0097),
    ],
)
def test_landmarks(name, part, value):
    digits = 4 if name == "complexity" else 3
    assert round(getattr(getattr(bounds, name)(LANDMARK, horizon=1_000), part), digits) == value


def test_two_arms_apart():
    """E|N(d, 2 s0^2)|, and its density at zero."""
    t = APART / SPREAD
    gap = APART * (2.0 * ndtr(t) - 1.0) + 2.0 * SPREAD * density(t)
    assert bounds.certified_trivial(TWO, horizon=7).value == pytest.approx(7.0 * gap, rel=1e-12)
    assert bounds.ucb1_prior_dependent(TWO, horizon=7).terms["first pulls"] == pytest.approx(gap, rel=1e-12)
    meeting = math.exp(-((APART / (2.0 * 0.6)) ** 2)) / (math.sqrt(math.pi) * 0.6)
    lemma = bounds.complexity_bound(TWO, horizon=7)
    assert lemma.value == pytest.approx(meeting, rel=1e-13)
    assert lemma.details["complexity_at_zero"] == pytest.approx(meeting, rel=1e-12)
    assert "equal" in lemma.note


def test_lemma_3_is_an_upper_bound_beyond_two_arms():
    lemma = bounds.complexity_bound(LANDMARK, horizon=7)
    pairs = 2 * 9 * math.exp(-0.25) + 9 * 8
    assert lemma.value == pytest.approx(pairs / (2.0 * math.sqrt(math.pi)), rel=1e-13)
    assert lemma.value > 1.1 * lemma.details["complexity_at_zero"]
    assert lemma.note is None


def test_complexity_of_two_arms_with_its_window():
    """m less mu is normal around the other mean: the density's argument is clipped."""
    n = 50
    nearest, farthest = 1.0 / n, 1.0 / math.sqrt(math.log(n))
    total = 0.0
    steps = 200_000
    for ahead in (APART, -APART):
        for i in range(steps):
            y = -12.0 + 24.0 * (i + 0.5) / steps  # in widths, around the other arm's mean
            off = y * 0.6 - ahead
            total += density_of(off - min(max(off, nearest), farthest)) * float(density(y)) * 24.0 / steps
    assert bounds.complexity(TWO, horizon=n).value == pytest.approx(total, rel=1e-8)


def density_of(x):
    return math.exp(-0.5 * (x / 0.6) ** 2) / (math.sqrt(2.0 * math.pi) * 0.6)


def test_terms_without_integrals():
    n, delta, K, s0, s = 40, 0.02, 2, 0.6, 1.4
    setting = make_setting(n, delta)
    z, L, phi, Q = setting.z, setting.L, setting.density, setting.tail
    excess = phi - z * Q
    terms = {name: getattr(bounds, name)(TWO, horizon=n, delta=delta, epsilon=0.1).terms for name in NAMES}
    failures = 2.0 * (z + 2.0 * K) * s0 * K * n * delta
    bad_rounds = n * s0 * ((K + 1) * phi + (K - 1) * Q * excess)
    root = math.sqrt(math.log(n))
    expected = [
        ("gap_dependent", "small gaps", 0.1 * n),
        ("gap_dependent", "failures", failures),
        ("prior_dependent", "failures", failures),
        ("prior_dependent", "large gaps", 8.0 * s**2 * K * L * root),
        ("prior_dependent", "small gaps", 1.0),
        ("ucb1_prior_dependent", "failures", 2.0 * (z + 2.0 * K) * s * K * n * delta),
        ("ucb1_prior_dependent", "large gaps", 8.0 * s**2 * K * L * root),
        ("certified_floor", "bad rounds", bad_rounds),
        ("certified_epsilon", "bad rounds", bad_rounds),
        ("certified_epsilon", "small gaps", 0.1 * n),
        ("certified_prior_dependent", "bad rounds", bad_rounds),
        ("certified_small_width", "bad rounds", bad_rounds),
        ("certified_index", "bad rounds", n * s0 * (K * excess + (K - 1) * Q * (z + excess))),
        ("certified_gap_free", "bad rounds", n * K * s0 * excess),
        ("sqrt", "leading", 4.0 * math.sqrt(2.0 * s**2 * K * L) * (math.sqrt(n + CELLS) - math.sqrt(CELLS))),
        ("failure_regret", "leading", 2.0 * s0 * K * delta),
        ("failure_probability", "leading", 2.0 * K * delta),
    ]
    for name, term, value in expected:
        assert terms[name][term] == pytest.approx(value, rel=1e-12), (name, term)


CELLS = 1.4**2 * 2 / 0.6**2
NAMES = [
    "gap_dependent",
    "prior_dependent",
    "ucb1_prior_dependent",
    "certified_floor",
    "certified_epsilon",
    "certified_prior_dependent",
    "certified_small_width",
    "certified_index",
    "certified_gap_free",
    "sqrt",
    "failure_regret",
    "failure_probability",
]


def test_leading_terms_by_complexity():
    n, delta = 40, 0.02
    L, log_n = math.log(50.0), math.log(40.0)
    complexity = bounds.complexity(TWO, horizon=n).value
    corollary = bounds.prior_dependent(TWO, horizon=n, delta=delta)
    assert corollary.details["complexity"] == complexity
    assert corollary.leading == pytest.approx(
        (8.0 * 1.4**2 * L * log_n - (1.4 / 0.6) ** 2 / (2.0 * log_n)) * complexity, rel=1e-13
    )
    theorem = bounds.ucb1_prior_dependent(TWO, horizon=n, delta=delta)
    assert theorem.leading == pytest.approx(8.0 * 1.4**2 * L * log_n * complexity, rel=1e-13)
    assert not theorem.applies
    lower = bounds.lai_lower(TWO, horizon=n)
    at_zero = bounds.complexity(TWO, horizon=n).details["at_zero"]
    assert lower.value == pytest.approx(log_n**2 * at_zero, rel=1e-13)
    assert lower.details["mean_parameter_form"] == pytest.approx(0.5 * log_n**2 * 1.4**2 * at_zero, rel=1e-13)


def test_two_constants_of_corollary_2():
    n, K, s0 = 40, 2, 0.6
    z = make_setting(n).z
    main, appendix = (bounds.prior_dependent(TWO, horizon=n, constant=which) for which in ("main", "appendix"))
    assert bounds.prior_dependent(TWO, horizon=n) == main
    assert main.value - appendix.value == pytest.approx((4.0 * K - 1.0) * s0 * K, rel=1e-9)
    assert appendix.terms["failures"] == pytest.approx((2.0 * z + 1.0) * s0 * K, rel=1e-13)
    for bound in (main, appendix):
        assert bound.details["main_constant"] == pytest.approx(main.terms["failures"])
        assert bound.details["appendix_constant"] == pytest.approx(appendix.terms["failures"])
    with pytest.raises(ValueError, match='constant must be "main" or "appendix"'):
        bounds.prior_dependent(TWO, horizon=n, constant="other")


def test_regimes_of_corollary_2():
    """Printed threshold: width^2 < 1 / (8 L n^2 log log n)."""
    n, delta = 100, 0.01
    L, log_log = math.log(100.0), math.log(math.log(100.0))
    threshold = math.sqrt(1.0 / (8.0 * L * n**2 * log_log))
    narrow = bounds.prior_dependent(GaussianBandit([0.0, 0.0], 0.99 * threshold, 1.0), horizon=n)
    z = math.sqrt(2.0 * L)
    assert narrow.value == pytest.approx(1.0 + (2.0 * z + 1.0) / math.sqrt(8.0 * L * log_log) * 2 * delta)
    assert (narrow.details["regime"], narrow.applies) == ("narrow prior", True)
    between = bounds.prior_dependent(GaussianBandit([0.0, 0.0], 1.01 * threshold, 1.0), horizon=n)
    assert (between.details["regime"], between.applies) == ("wide prior", False)
    assert "prior_width^2" in between.why_not
    enough = 1.0 / math.sqrt(8.0 * L * L)
    assert not bounds.prior_dependent(GaussianBandit([0.0, 0.0], 0.999 * enough, 1.0), horizon=n).applies
    assert bounds.prior_dependent(GaussianBandit([0.0, 0.0], 1.001 * enough, 1.0), horizon=n).applies


@pytest.mark.parametrize(
    ("horizon", "delta", "why_not"),
    [
        (1, None, "at least 2"),
        (2, None, "at least 3"),
        (3, None, None),
        (1_000, 1e-4, "delta must be at least 1/horizon"),
        (1_000, 1e-3, None),
    ],
)
def test_where_corollary_2_holds(horizon, delta, why_not):
    found = bounds.prior_dependent(LANDMARK, horizon=horizon, delta=delta)
    assert found.applies == (why_not is None)
    assert why_not is None or why_not in found.why_not


@pytest.mark.parametrize(("horizon", "applies"), [(3, False), (15, False), (16, True), (17, True)])
def test_the_narrow_regime_needs_16_rounds(horizon, applies):
    found = bounds.prior_dependent(GaussianBandit([0.0, 0.0], 1e-9, 1.0), horizon=horizon)
    assert found.details["regime"] == "narrow prior"
    assert found.applies == applies


def test_theorem_1_needs_a_small_epsilon():
    farthest = 0.6 * math.sqrt(8.0 * math.log(50.0))
    for epsilon, applies in [(0.999 * farthest, True), (1.001 * farthest, False)]:
        assert bounds.gap_dependent(TWO, horizon=50, epsilon=epsilon).applies == applies


def test_small_width_takes_the_smaller():
    for width, z_decides in [(0.01, True), (10.0, False)]:
        bandit = GaussianBandit([1.0, 0.0], width, 1.0)
        trivial = bounds.certified_trivial(bandit, horizon=50)
        widest = 50 * 2.0 * make_setting(50).z * width
        assert bounds.certified_small_width(bandit, horizon=50).leading == pytest.approx(min(trivial.value, widest))
        assert (widest < trivial.value) == z_decides


def test_the_best_epsilon_is_the_best():
    for bandit in (TWO, LANDMARK, GaussianBandit([0.0] * 3, 0.01, 1.0)):
        best = bounds.certified_epsilon(bandit, horizon=200)
        epsilon = best.details["epsilon"]
        assert best.terms["small gaps"] == pytest.approx(200 * epsilon)
        for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0):
            other = bounds.certified_epsilon(bandit, horizon=200, epsilon=factor * epsilon)
            assert other.value >= best.value * (1.0 - 1e-9)
        assert bounds.certified_epsilon(bandit, horizon=200, epsilon=epsilon).value == pytest.approx(best.value)


def test_the_best_epsilon_of_a_very_narrow_prior_is_the_farthest_gap():
    """Where each pull before the interval holds costs dearly, no arm is let in: n times the farthest gap."""
    for width in (1e-3, 1e-6, 1e-50):
        bandit = GaussianBandit([0.0, 0.0], width, 1.0)
        farthest = width * math.sqrt(8.0 * math.log(100.0))
        best = bounds.certified_epsilon(bandit, horizon=100)
        assert best.terms["leading"] + best.terms["small gaps"] <= 100 * farthest * (1.0 + 1e-9)


def test_pulls_of_one_gap():
    L = math.log(50.0)
    for gap in (0.1, 0.5, 3.0, 9.0):
        most = 8.0 * 1.4**2 * L / gap**2 - (1.4 / 0.6) ** 2
        found = bounds.action_bound(TWO, horizon=50, gap=gap)
        assert found.value == pytest.approx(most, rel=1e-12)
        assert found.details["certified"] == min(50, max(0, math.floor(most) + 1))
    assert found.value < 0.0, "as printed it may be negative"


def test_crossing_probability_is_the_least_of_three():
    for n, delta in [(1, 0.5), (10, 0.3), (1_000, 1e-3), (10**9, 1e-12)]:
        setting = make_setting(n, delta)
        found = crossing_probability(setting)
        assert found <= min(1.0, n * setting.tail) * (1.0 + 1e-12)
        for eta in (1.01, 1.2, 2.0, 10.0):
            epochs = math.floor(math.log(n) / math.log(eta)) + 1
            assert found <= epochs * min(delta ** (1.0 / eta), 2.0 * float(ndtr(-setting.z / math.sqrt(eta)))) * 1.1
    assert crossing_probability(make_setting(10**15, 1.0 - 1e-9)) <= 1.0
    assert crossing_probability(make_setting(1_000)) == pytest.approx(0.026, abs=0.001)


def test_walks_cross_no_more_often_than_that():
    n, delta, walks = 60, 0.05, 40_000
    steps = np.random.default_rng(83).standard_normal((walks, n))
    z = make_setting(n, delta).z
    crossed = (np.cumsum(steps, axis=1) > z * np.sqrt(np.arange(1, n + 1))).any(axis=1).mean()
    stderr = math.sqrt(crossed / walks)
    assert crossed < crossing_probability(make_setting(n, delta)) + 4.0 * stderr
    assert crossed > make_setting(n, delta).tail + 10.0 * stderr, "the control: one look is not enough"


CERTIFIED = [*sorted(name for name in NAMES if name.startswith("certified")), "certified_ucb1"]


@pytest.mark.parametrize("name", CERTIFIED)
def test_no_proof_for_rademacher_noise(name):
    bandit = GaussianBandit([0.7, -0.2], 0.6, 1.4, "rademacher")
    with pytest.raises(bounds.DoesNotHold, match=f"{name} does not hold here: rewards must be Gaussian") as caught:
        getattr(bounds, name)(bandit, horizon=50)
    assert caught.value.reason == "rewards must be Gaussian, and noise_kind is rademacher"
    assert bounds.certified(bandit, horizon=50).details["name"] == "certified_trivial"


@pytest.mark.parametrize("name", ["gap_dependent", "prior_dependent", "sqrt", "failure_regret", "failure_probability"])
def test_paper_forms_say_that_rademacher_noise_is_outside(name):
    bandit = GaussianBandit([0.7, -0.2], 0.6, 1.4, "rademacher")
    found, gaussian = (getattr(bounds, name)(b, horizon=50) for b in (bandit, TWO))
    assert found.value == gaussian.value
    assert gaussian.applies == (name != "sqrt"), "eq. (3) is a leading term alone"
    assert not found.applies
    assert "rademacher" in found.why_not
