"""What must not change a bound, and what must scale it.

Scaling rewards by c means prior_mean, prior_width, reward_noise and epsilon times c. A bound on regret must scale, too.
Those with the window from 1/n to 1/sqrt(log n) in them do not, nor does the 1 that they charge for gaps below 1/n:
Corollary 2, its repaired form, Theorem 4 and the complexity are stated in units of reward. Lai's printed expression is
a density and falls by c; its form in mean parameters is a regret and scales.
"""

import pytest

from bayesregret import BernoulliBandit, GaussianBandit, bounds
from bayesregret.bounds.bound import Formula

SETTING = {"horizon": 120, "delta": 0.02, "epsilon": 0.05}
GAUSSIAN = GaussianBandit([0.4, 0.0, -0.3, -0.3], prior_width=0.8, reward_noise=1.3)
BERNOULLI = BernoulliBandit([1.0, 2.0, 0.7], [1.0, 1.5, 3.0])
SCALING = {
    "gap_dependent": 1,
    "ucb1_gap_dependent": 1,
    "sqrt": 1,
    "failure_regret": 1,
    "failure_probability": 0,
    "lai_lower": -1,
    "complexity_bound": -1,
    "certified_floor": 1,
    "certified_epsilon": 1,
    "certified_index": 1,
    "certified_lower": 1,
    "certified_first_passage": 1,
    "certified_gap_free": 1,
    "certified_small_width": 1,
    "certified_trivial": 1,
    "certified_ucb1": 1,
    "certified_thompson": 1,
    "certified_thompson_lower": 1,
}
IN_UNITS_OF_REWARD = ["complexity", "prior_dependent", "ucb1_prior_dependent", "certified_prior_dependent"]
GAUSSIAN_NAMES = [*SCALING, *IN_UNITS_OF_REWARD]
BERNOULLI_NAMES = sorted(
    name for name, formula in Formula.every.items() if formula.covers(BERNOULLI) and formula.listed
)


def ask(name, bandit, **changed):
    return getattr(bounds, name)(bandit, **{**SETTING, **changed})


def scaled(c):
    return GaussianBandit(c * GAUSSIAN.prior_mean, c * GAUSSIAN.prior_width, c * GAUSSIAN.reward_noise)


def test_every_listed_bound_is_looked_at():
    listed = {name for name, formula in Formula.every.items() if formula.covers(GAUSSIAN) and formula.listed}
    assert listed == set(GAUSSIAN_NAMES)


@pytest.mark.parametrize("name", GAUSSIAN_NAMES)
def test_shifting_all_means_changes_nothing(name):
    there = GaussianBandit(GAUSSIAN.prior_mean + 64.0, GAUSSIAN.prior_width, GAUSSIAN.reward_noise)
    digits = 1e-9 if name == "certified_lower" else 1e-12  # its panels are not quite the same
    assert ask(name, there).value == pytest.approx(ask(name, GAUSSIAN).value, rel=digits)
    moved = GaussianBandit([0.5, 0.0, -0.3, -0.3], GAUSSIAN.prior_width, GAUSSIAN.reward_noise)
    if name not in ("sqrt", "failure_regret", "failure_probability", "certified_gap_free"):
        assert ask(name, moved).value != pytest.approx(ask(name, GAUSSIAN).value, rel=1e-6), "one mean changes it"


@pytest.mark.parametrize("name", GAUSSIAN_NAMES)
def test_order_of_gaussian_arms(name):
    turned = GaussianBandit(GAUSSIAN.prior_mean[[2, 0, 3, 1]], GAUSSIAN.prior_width, GAUSSIAN.reward_noise)
    assert ask(name, turned).value == ask(name, GAUSSIAN).value


@pytest.mark.compiled
@pytest.mark.parametrize("name", BERNOULLI_NAMES)
def test_order_of_bernoulli_arms(name):
    turned = BernoulliBandit(BERNOULLI.alpha[[2, 0, 1]], BERNOULLI.beta[[2, 0, 1]])
    assert ask(name, turned).value == ask(name, BERNOULLI).value


@pytest.mark.parametrize("c", [1e-20, 0.25, 3.0, 1e20])
@pytest.mark.parametrize("name", SCALING)
def test_scaling_rewards_scales_bounds(name, c):
    there = ask(name, scaled(c), epsilon=c * SETTING["epsilon"])
    assert there.value == pytest.approx(c ** SCALING[name] * ask(name, GAUSSIAN).value, rel=1e-9, abs=0.0)


def test_scaling_with_the_best_epsilon():
    best, there = (bounds.certified_epsilon(bandit, horizon=120) for bandit in (GAUSSIAN, scaled(7.0)))
    assert there.value == pytest.approx(7.0 * best.value, rel=1e-9)
    assert there.details["epsilon"] == pytest.approx(7.0 * best.details["epsilon"], rel=1e-4)


def test_lais_form_in_mean_parameters_scales_like_regret():
    here, there = (ask("lai_lower", bandit).details["mean_parameter_form"] for bandit in (GAUSSIAN, scaled(3.0)))
    assert there == pytest.approx(3.0 * here, rel=1e-12)


@pytest.mark.parametrize("name", IN_UNITS_OF_REWARD)
def test_those_in_units_of_reward_do_not_scale(name):
    there = ask(name, scaled(3.0), epsilon=3.0 * SETTING["epsilon"])
    power = -1 if name == "complexity" else 1
    assert abs(there.value / (3.0**power * ask(name, GAUSSIAN).value) - 1.0) > 1e-3


@pytest.mark.parametrize("c", [0.25, 3.0])
def test_pulls_of_a_gap_do_not_scale(c):
    here, there = (
        bounds.action_bound(GAUSSIAN, horizon=9, gap=0.4),
        bounds.action_bound(scaled(c), horizon=9, gap=0.4 * c),
    )
    assert there.value == pytest.approx(here.value, rel=1e-12)


@pytest.mark.parametrize(
    "name", ["complexity", "lai_lower", "certified_trivial", "certified_floor", "certified_epsilon"]
)
def test_ones_and_zeros_change_places(name):
    """1 - theta turns best into worst: for two arms of equal counts all that is about gaps alone stays."""
    here = BernoulliBandit([1.0, 2.5], [4.0, 2.5])
    there = BernoulliBandit(here.beta, here.alpha)
    part = (lambda bound: bound.details["at_zero"]) if name == "complexity" else (lambda bound: bound.value)
    assert part(ask(name, here)) == pytest.approx(part(ask(name, there)), rel=1e-10)
