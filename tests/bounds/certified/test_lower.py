"""The lower bound for every policy: values, against dynamic programmes and known policies, parts, edge cases."""

import functools
import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.bounds.bound import Setting
from bayesregret.bounds.certified.lower import ChargePanels, StoppingCurve, lower_bound
from reference.discounted import least_discounted_regret

LANDMARK = br.GaussianBandit([1.0] + [0.0] * 9, 1.0, 1.0)
UNIFORM = br.BernoulliBandit([1, 1], [1, 1])


def lower(bandit, horizon):
    return br.bounds.certified_lower(bandit, horizon=horizon)


def discounted_regret(first, second, discount, rounds):
    """Least discounted regret of two Bernoulli arms by dynamic programming over both, greedy after `rounds`."""

    @functools.cache
    def value(s1, f1, s2, f2):
        a1, b1, a2, b2 = first[0] + s1, first[1] + f1, second[0] + s2, second[1] + f2
        p1, p2 = a1 / (a1 + b1), a2 / (a2 + b2)
        if s1 + f1 + s2 + f2 == rounds:
            return max(p1, p2) / (1.0 - discount)
        one = p1 + discount * (p1 * value(s1 + 1, f1, s2, f2) + (1 - p1) * value(s1, f1 + 1, s2, f2))
        two = p2 + discount * (p2 * value(s1, f1, s2 + 1, f2) + (1 - p2) * value(s1, f1, s2, f2 + 1))
        return max(one, two)

    best = br.BernoulliBandit([first[0], second[0]], [first[1], second[1]])
    from bayesregret.numerics.expected_maximum import beta_best

    return beta_best(best.alpha, best.beta) / (1.0 - discount) - value(0, 0, 0, 0)


@pytest.mark.parametrize("horizon", [1, 2, 3])
@pytest.mark.parametrize(("first", "second"), [((1, 1), (1, 1)), ((2, 1), (1, 3)), ((0.5, 0.5), (3.0, 2.5))])
def test_discounted_part_is_the_least_discounted_regret(first, second, horizon):
    """Against a dynamic programme over the posteriors of both arms at once, cut after 28 rounds."""
    discount = 1.0 - 1.0 / horizon
    found = lower(br.BernoulliBandit([first[0], second[0]], [first[1], second[1]]), horizon)
    rounds = 28 if horizon > 1 else 1
    expected = discounted_regret(first, second, discount, rounds)
    assert found.leading == pytest.approx(expected, rel=2e-5)
    assert found.leading <= expected * (1 + 1e-9) + discount**rounds


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("arms", "horizon", "expected"),
    [(2, 10, 0.570255), (2, 100, 1.570367), (2, 300, 2.348435), (3, 50, 2.026488)],
)
def test_uniform_bernoulli_arms(arms, horizon, expected):
    """Values from an independent derivation, as lower sums with few panels."""
    found = lower(br.BernoulliBandit([1] * arms, [1] * arms), horizon)
    assert found.leading == pytest.approx(expected, rel=2e-6)
    assert found.error < 2e-6 * found.value


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("arms", "horizon"), [([(1.0, 1.0)] * 2, 10), ([(0.5, 0.5), (3.0, 1.0), (1.0, 2.0)], 8), ([(2.0, 5.0)] * 4, 12)]
)
def test_an_enclosure_by_plain_recursions(arms, horizon):
    """Against W and D by another program, which enclose the least discounted regret; another discount is outside."""
    low, high = least_discounted_regret(arms, horizon)
    assert high - low < 2e-5 * low
    bandit = br.BernoulliBandit(*np.transpose(arms))
    found = lower(bandit, horizon)
    assert low - found.error < found.leading < high + found.error
    assert found.leading - found.error <= high
    assert not low < lower(bandit, horizon + 1).leading < high


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("bandit", "expected"),
    [
        (br.ExponentialBandit([3, 3], [2, 2]), 1.4542503),
        (br.NormalGammaBandit([0, 0], [1, 1], [2, 2], [1, 1]), 1.538450),
    ],
    ids=["exponential", "normal-gamma"],
)
def test_location_scale_families(bandit, expected):
    """Values of a recursion that overestimates surpluses, with straight lines and masses at points, extrapolated."""
    found = lower(bandit, 10)
    assert found.leading == pytest.approx(expected, rel=1e-6)
    assert found.error < 1e-6 * found.value


@pytest.mark.compiled
def test_gaussian_arms_are_normal_gamma_arms_with_a_known_variance():
    """With a shape of 10^8 the variance of rewards is scale over shape, to four digits."""
    gaussian = br.GaussianBandit([0.0, 0.1], math.sqrt(0.5), 1.0)
    found = lower(br.NormalGammaBandit([0.0, 0.1], 2.0, 1e8, 1e8), 30)
    assert found.leading == pytest.approx(lower(gaussian, 30).leading, rel=1e-5)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "bandit",
    [
        br.GaussianBandit([0.0, 0.3], [1.0, 0.5], [1.0, 2.0]),
        br.BernoulliBandit([1, 2], [1, 3]),
        br.PoissonBandit([1, 1], [1, 1]),
        br.ExponentialBandit([3, 4], [2, 3]),
        br.NormalGammaBandit([0, 0.2], 1, 2, 1),
    ],
    ids=lambda bandit: bandit.kind,
)
def test_no_simulated_regret_is_below(bandit):
    """By more than four standard errors; the least regret with discount 1 - 1/(4n) is not a bound, and is above."""
    horizon = 12
    result = br.simulate(bandit, ["thompson", "greedy"], horizon=horizon, runs=4_000, seed=1)
    found, wrong = lower(bandit, horizon), lower(bandit, 4 * horizon)
    smallest = min(result.policies.values(), key=lambda regret: regret.mean)
    assert found.error < 1e-5 * found.value
    assert found.value <= smallest.mean + 4.0 * smallest.stderr
    assert wrong.leading - wrong.error > smallest.mean + 4.0 * smallest.stderr


@pytest.mark.compiled
def test_landmark():
    found = lower(LANDMARK, 1_000)
    assert round(found.leading, 4) == 40.0817
    assert found.value == pytest.approx(found.leading + found.terms["floors"] - found.error)
    assert found.error < 2e-6 * found.value


HARD = {
    "one narrow arm": br.GaussianBandit([-0.522, -0.919], [2.22, 0.2145], [0.346, 0.4015]),
    "six kinds": br.BernoulliBandit([1.4, 1.3, 0.9, 0.7, 1.0, 0.7], [3.4, 1.4, 3.2, 6.2, 1.0, 5.0]),
    "ten kinds": br.BernoulliBandit(np.geomspace(0.3, 4.0, 10), np.linspace(3.0, 0.5, 10)),
}


@pytest.mark.compiled
@pytest.mark.parametrize("bandit", HARD.values(), ids=HARD.keys())
def test_errors_at_a_thousand_rounds(bandit):
    """At most 1e-5 of the bound; without `PATIENCE` or shorter blocks they are larger."""
    found = lower(bandit, 1_000)
    assert found.error <= 1e-5 * found.value


@pytest.mark.compiled
def test_no_optimum_is_below():
    """On random problems of two and three arms, and a wrong discount is found out."""
    random = np.random.default_rng(7)
    ratios, wrong = [], []
    for number in range(8):
        arms = 2 + number % 2
        horizon = int(random.integers(10, 40 if arms == 2 else 20))
        bandit = br.BernoulliBandit(*np.exp(random.uniform(-1.5, 2.0, (2, arms))))
        least = br.bayes_optimal_regret(bandit, horizon=horizon).regret
        ratios.append(lower(bandit, horizon).value / least)
        wrong.append(lower(bandit, 4 * horizon).leading / least)  # discount 1 - 1/(4n)
    assert max(ratios) <= 1.0
    assert min(ratios) >= 0.85
    assert max(wrong) > 1.1


@pytest.mark.compiled
def test_no_exact_regret_is_below():
    """Exact regrets of policies on Gaussian arms of different priors, at short and long horizons."""
    bandits = [
        br.GaussianBandit([0.0, 0.3], [1.0, 0.5], [1.0, 2.0]),
        br.GaussianBandit([0.0, 0.0, 1.0], 0.3, 1.0),
        br.GaussianBandit([0.0] * 4, 5.0, 1.0),
    ]
    for bandit in bandits:
        for horizon in (1, 2, 7, 60):
            regret = br.exact_regret(bandit, "bayes-ucb:delta=0.4", horizon=horizon)
            found = lower(bandit, horizon)
            assert found.value <= regret.regret + regret.error
            assert found.value > 0.5 * regret.regret


def test_the_first_round_is_exact():
    for bandit, regret in ((UNIFORM, 1.0 / 6.0), (br.GaussianBandit([0, 0], 1, 1), 1.0 / math.sqrt(math.pi))):
        found = lower(bandit, 1)
        assert found.value == pytest.approx(regret, rel=1e-6)
        assert found.value <= regret


@pytest.mark.compiled
def test_shift_and_scale():
    bandit = br.GaussianBandit([0.2, -0.5, 0.0], [1.0, 2.0, 0.7], [1.0, 0.5, 2.0])
    other = br.GaussianBandit(10.0 + 3.0 * bandit.prior_mean, 3.0 * bandit.prior_widths, 3.0 * bandit.reward_noises)
    assert lower(other, 50).value == pytest.approx(3.0 * lower(bandit, 50).value, rel=1e-5)


@pytest.mark.parametrize(
    "bandit",
    [
        br.BernoulliBandit([1], [2]),
        br.GaussianBandit([3.0], 1.0, 1.0),
        br.PoissonBandit([1], [2]),
        br.ExponentialBandit([2], [1]),
        br.NormalGammaBandit([0.0], 1, 2, 1),
    ],
    ids=lambda bandit: bandit.kind,
)
def test_one_arm_has_no_regret(bandit):
    assert lower(bandit, 4).value == 0.0


EXTREME = {
    "known means": br.GaussianBandit([0, 0], 1e-15, 1.0),
    "unknown means": br.GaussianBandit([0, 0], 1e25, 1.0),
    "known and unknown": br.GaussianBandit([0, 0], [1e-15, 1e15], 1.0),
    "one far ahead": br.GaussianBandit([0, 1e6], 1.0, 1.0),
    "bernoulli 1e-50": br.BernoulliBandit([1e-50, 1], [1e-50, 1]),
    "bernoulli 1e30": br.BernoulliBandit([1e30, 1], [1e30, 1]),
    "poisson 1e-50": br.PoissonBandit([1e-50] * 2, [1e-50] * 2),
    "poisson 1e30": br.PoissonBandit([1e30, 1], [1e30, 1]),
    "exponential 1e30": br.ExponentialBandit([1e30] * 2, [1e30] * 2),
    "hardly a mean": br.ExponentialBandit([1 + 1e-12] * 2, [1] * 2),
    "rates far apart": br.ExponentialBandit([2, 2], [1e-50, 1e30]),
    "pulls 1e-50": br.NormalGammaBandit([0, 0], 1e-50, 2, 1),
    "pulls 1e30": br.NormalGammaBandit([0, 0], 1e30, 2, 1),
    "heavy tails": br.NormalGammaBandit([0, 0], 1, 0.5 + 1e-9, 1),
}


@pytest.mark.compiled
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bandit", EXTREME.values(), ids=EXTREME.keys())
def test_extreme_priors(bandit):
    """No regret is above that of the worst arm in every round."""
    for horizon in (1, 20):
        found = lower(bandit, horizon)
        assert 0.0 <= found.value < math.inf
        assert math.isfinite(found.error)
        if bandit.kind != "bernoulli":  # their trivial bound has limits of its own
            assert found.value <= br.bounds.certified_trivial(bandit, horizon=horizon).value


@pytest.mark.compiled
def test_ten_thousand_equal_arms():
    """Each round's regret is at most that of the first, which is known; and 100 rounds try 100 arms at most."""
    arms, horizon = 10_000, 100
    found = lower(br.BernoulliBandit(np.ones(arms), np.ones(arms)), horizon)
    first = 1.0 - 1.0 / (arms + 1) - 0.5
    assert 0.2 * horizon * first < found.value < horizon * first
    assert found.error < 1e-5 * found.value


def test_a_mixture_has_the_weighted_mean():
    parts = [UNIFORM, br.BernoulliBandit([1, 3], [2, 2])]
    mixture = br.MixtureBandit([0.25, 0.75], parts)
    expected = 0.25 * lower(parts[0], 3).value + 0.75 * lower(parts[1], 3).value
    assert lower(mixture, 3).value == pytest.approx(expected, rel=1e-9)


def test_it_needs_gaussian_rewards():
    with pytest.raises(br.bounds.DoesNotHold, match="rewards must be Gaussian"):
        lower(br.GaussianBandit([0, 0], 1, 1, noise_kind="rademacher"), 10)


def normal_arm(copies=2.0, index=1.0):
    """An arm whose D is y on [0, 1]: its surplus is (1 - y)^2 / 2."""
    return StoppingCurve(copies, index, 0.0, lambda charges: 0.5 * (1.0 - charges) ** 2)


def test_panels_approach_the_integral_from_below():
    """V = 1 - (integral of y^2) = 2/3 for two such arms; panels only ever lose."""
    panels = ChargePanels([normal_arm()])
    first = panels.value
    gained = panels.refine(1.0, 1e-9, 3_000)
    assert 2.0 / 3.0 < panels.value < first
    assert panels.value - gained / 3.0 == pytest.approx(2.0 / 3.0, abs=0.1 * gained)


def test_panels_end_at_indices():
    """An arm that is given up above 1/2 has D = 1 there, and no panel may straddle the jump."""
    panels = ChargePanels([normal_arm(), normal_arm(index=0.5)])
    assert 0.5 in panels.edges


def test_neglected_value_is_taken_off():
    setting = Setting(10, 0.1, None)
    plain = lower_bound(setting, [normal_arm()], (1.0, 0.0), 1e-3, 200)
    short = StoppingCurve(2.0, 1.0, 0.0, normal_arm().surplus, neglected=1e-3)
    cut = lower_bound(setting, [short], (1.0, 0.0), 1e-3, 200)
    assert cut.error - plain.error == pytest.approx(10 * 2 * 1e-3)
