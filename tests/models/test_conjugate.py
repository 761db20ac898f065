"""What the Poisson, exponential and normal-gamma models have in common: posteriors, files, and what they refuse."""

import json
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesregret as br
from bayesregret.contracts import (
    add_reward,
    current_mean,
    divergence_limit,
    empty_stats,
    posterior_draw,
    posterior_quantile,
)
from bayesregret.models.exponential import low_gamma_quantile
from bayesregret.problem import load_problem, save_problem
from draws import stream_of
from models.conjugate import CONJUGATE, World, in_plain_python
from problems import decimals
from reference.conjugate import divergence, farthest, posterior

kinds = pytest.mark.parametrize("kind", CONJUGATE)
one_parameter = pytest.mark.parametrize("kind", ["poisson", "exponential"])
SHAPE_RATE = {"poisson": br.PoissonBandit, "exponential": br.ExponentialBandit}
TAILS = [0.5, 0.3, 1e-2, 1e-6, 1e-12]


def learned(bandit, pulls, seed=1):
    """Statistics after `pulls` rewards of each arm, and the rewards."""
    world, stats = World(bandit, seed), empty_stats(bandit.arms)
    rewards = [[world.pull(arm) for _ in range(pulls)] for arm in range(bandit.arms)]
    for arm, seen in enumerate(rewards):
        for reward in seen:
            add_reward(stats, arm, reward)
    return stats, rewards


@kinds
@pytest.mark.parametrize("pulls", [0, 1, 7, 60])
def test_posterior_is_the_textbooks(kind, pulls):
    bandit = CONJUGATE[kind]
    stats, rewards = learned(bandit, pulls)
    for arm in range(bandit.arms):
        distribution = posterior(bandit, arm, rewards[arm])
        assert current_mean(bandit.model, stats, arm) == pytest.approx(distribution.mean(), rel=1e-12)
        for tail in TAILS:
            quantile = posterior_quantile(bandit.model, stats, arm, tail)
            assert quantile == pytest.approx(distribution.isf(tail), rel=1e-10)
            assert quantile != pytest.approx(distribution.isf(1.001 * tail), rel=1e-10)


@settings(max_examples=40)
@given(decimals(1.001, 30), decimals(0.01, 30), decimals(-5, 5), st.lists(st.integers(0, 40), max_size=12))
def test_posterior_is_the_textbooks_for_any_prior(shape, rate, centre, rewards):
    bandits = [
        br.PoissonBandit([shape], [rate]),
        br.ExponentialBandit([shape], [rate]),
        br.NormalGammaBandit([centre], rate, shape, rate),
    ]
    stats = empty_stats(1)
    for reward in rewards:
        add_reward(stats, 0, float(reward))
    for bandit in bandits:
        distribution = posterior(bandit, 0, rewards)
        assert current_mean(bandit.model, stats, 0) == pytest.approx(distribution.mean(), rel=1e-11, abs=1e-12)
        assert posterior_quantile(bandit.model, stats, 0, 1e-3) == pytest.approx(
            distribution.isf(1e-3), rel=1e-10, abs=1e-12
        )


SMALL_AND_LARGE = [1e-50, 1.0, 1e50]
JUST_ENOUGH = {"exponential": math.nextafter(1.0, 2.0), "normal-gamma": math.nextafter(0.5, 1.0)}


def extreme_bandits(kind):
    shapes = [JUST_ENOUGH.get(kind, 1e-50), 2.0, 1e50]
    pairs = [(shape, rate) for shape in shapes for rate in SMALL_AND_LARGE]
    shape, rate = map(list, zip(*pairs, strict=True))
    if kind in SHAPE_RATE:
        return [SHAPE_RATE[kind](shape, rate)]
    return [br.NormalGammaBandit([m] * 9, kappa, shape, rate) for m in (-1e50, 0.0) for kappa in SMALL_AND_LARGE]


@kinds
def test_extreme_priors_give_finite_numbers(kind):
    for bandit in extreme_bandits(kind):
        stats, rewards = learned(bandit, 2)
        assert np.isfinite(rewards).all()
        with np.errstate(all="ignore"):
            for seen in (stats, empty_stats(bandit.arms)):
                for arm in range(bandit.arms):
                    drawn, _ = posterior_draw(bandit.model, seen, arm, stream_of(arm))
                    quantiles = [posterior_quantile(bandit.model, seen, arm, tail) for tail in TAILS]
                    assert np.isfinite([drawn, *quantiles]).all()
                    assert quantiles == sorted(quantiles)


@kinds
def test_draws_are_around_the_posterior_mean(kind):
    """By less than four standard errors; around the prior mean they are not."""
    bandit = CONJUGATE[kind]
    stats, rewards = learned(bandit, 20)
    distribution, prior, stream, drawn = posterior(bandit, 0, rewards[0]), posterior(bandit, 0, []), stream_of(3), []
    with np.errstate(over="ignore"):
        for _ in range(400):
            value, stream = posterior_draw(bandit.model, stats, 0, stream)
            drawn.append(value)
    stderr = distribution.std() / math.sqrt(len(drawn))
    assert abs(np.mean(drawn) - distribution.mean()) < 4 * stderr
    assert abs(np.mean(drawn) - prior.mean()) > 10 * stderr


def upper_gamma(shape, x):
    return mpmath.gammainc(shape, x, mpmath.inf, regularized=True)


def lower_gamma(shape, x):
    return mpmath.gammainc(shape, 0, x, regularized=True)


def upper_student(freedom, x):
    return mpmath.betainc(freedom / 2, 0.5, 0, freedom / (freedom + x * x), regularized=True) / 2


def off(probability, density, tail):
    """Distance, to first order, from the quantile to the value that is exceeded with this probability."""
    return abs(float((probability - mpmath.mpf(tail)) / density))


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("shape", [0.6, 1.3, 2.0, 37.5, 2000.25])
def test_quantiles_to_ten_digits(shape, tail):
    """By mpmath, from the shape alone: all other numbers are factors."""
    nothing = empty_stats(1)
    with mpmath.workdps(40):
        s, t = mpmath.mpf(shape), mpmath.mpf(tail)
        x = mpmath.mpf(posterior_quantile(br.PoissonBandit([shape], [1.0]).model, nothing, 0, tail))
        density = mpmath.exp((s - 1) * mpmath.log(x) - x - mpmath.loggamma(s))
        assert off(upper_gamma(s, x), density, t) < 1e-10 * x
        if shape > 1.0:
            y = 1 / mpmath.mpf(posterior_quantile(br.ExponentialBandit([shape], [1.0]).model, nothing, 0, tail))
            density = mpmath.exp((s - 1) * mpmath.log(y) - y - mpmath.loggamma(s))
            assert off(lower_gamma(s, y), density, t) < 1e-10 * y
            assert off(lower_gamma(s, y * (1 + 1e-9)), density, t) > 1e-10 * y
        student = br.NormalGammaBandit([0.0], 1.0, shape, shape)
        x = mpmath.mpf(posterior_quantile(student.model, nothing, 0, tail))
        n = 2 * s
        density = mpmath.gamma(s + 0.5) / mpmath.gamma(s) / mpmath.sqrt(n * mpmath.pi) * (1 + x * x / n) ** (-s - 0.5)
        assert off(upper_student(n, x), density, t) <= 1e-10 * x


@pytest.mark.parametrize("tail", [*TAILS, 1e-20])
@pytest.mark.parametrize("shape", [99_999.0, 100_000.0, 1e6, 1e9])
def test_rates_of_long_runs_have_low_quantiles_too(shape, tail):
    """To twelve digits, the density being integrated; SciPy 1.17 has six at the last shape."""
    x = low_gamma_quantile(shape, tail)
    with mpmath.workdps(30):
        s, y = mpmath.mpf(shape), mpmath.mpf(x)
        factor = -mpmath.loggamma(s)

        def density(z):
            return mpmath.exp((s - 1) * mpmath.log(z) - z + factor)

        panels = [y - step * mpmath.sqrt(s) for step in (20, 12, 7, 4, 2, 1, 0)]
        probability = mpmath.quad(density, panels)
        assert off(probability, density(y), tail) < 1e-12 * x
        assert off(probability, density(y), 1.001 * tail) > 1e-12 * x


@one_parameter
@pytest.mark.parametrize("mean", [1e-8, 0.02, 1.0, 7.5, 1e6])
@pytest.mark.parametrize("limit", [1e-12, 1e-4, 0.3, 2.0, 30.0])
def test_divergence_limit(kind, mean, limit):
    bandit = CONJUGATE[kind]
    found = divergence_limit(bandit.model, 0, mean, limit)
    assert found > mean
    with mpmath.workdps(40):  # the twin's formulas, with more digits
        p, q = mpmath.mpf(mean), mpmath.mpf(found)
        if kind == "poisson":
            there, slope = q - p - p * mpmath.log(q / p), 1 - p / q
        else:
            there, slope = mpmath.log(q / p) + p / q - 1, (1 - p / q) / q
        assert abs(there - limit) < 1e-13 * q * slope + 1e-14 * limit
    assert found == pytest.approx(farthest(bandit, mean, limit), rel=1e-6)
    assert divergence(bandit, mean, 1.1 * found) > limit


@one_parameter
def test_divergence_limit_at_the_ends(kind):
    model = CONJUGATE[kind].model
    assert divergence_limit(model, 0, 2.0, 0.0) == 2.0
    assert divergence_limit(model, 0, 0.0, 0.3) == (0.3 if kind == "poisson" else 0.0)


@kinds
def test_instances(kind, monkeypatch):
    in_plain_python(monkeypatch)
    bandit = CONJUGATE[kind]
    means = bandit.draw_means(4, seed=3)
    instance = bandit.draw_instance(seed=3, run=2)
    assert np.array_equal(instance.mean_rewards, means[2])
    assert np.array_equal(World(bandit, 3, run=2).means, means[2])
    if kind != "normal-gamma":
        assert np.array_equal(instance.parameter, means[2])
        assert (means > 0.0).all()


@kinds
def test_files_equality_and_printing(kind, tmp_path):
    bandit = CONJUGATE[kind]
    for name in ("problem.toml", "problem.json"):
        save_problem(bandit, tmp_path / name)
        assert load_problem(tmp_path / name) == bandit
    assert json.loads(json.dumps(bandit.to_dict()))["model"] == kind
    assert eval(repr(bandit), vars(br)) == bandit
    assert len({bandit, eval(repr(bandit), vars(br)), *CONJUGATE.values()}) == 3
    assert bandit.reward_proxy == math.inf


BAD_VECTORS = [[], [[2.0, 2.0]], [2.0, math.nan], [2.0, -1.0], [0.0, 2.0], [2.0, 1e-60], [1e60, 2.0], "22", 2.0, None]


@one_parameter
@pytest.mark.parametrize("field", ["shape", "rate"])
@pytest.mark.parametrize("value", [*BAD_VECTORS, [2.0], [2.0, 2.0, 2.0], [True, True]])
def test_bad_priors(kind, field, value):
    good = {"shape": [2.0, 3.0], "rate": [1.0, 1.0]}
    with pytest.raises(ValueError, match=rf"^(shape and rate|{field}) must [^\n]+$"):
        SHAPE_RATE[kind](**(good | {field: value}))


def test_an_exponential_mean_must_have_a_mean():
    with pytest.raises(
        ValueError, match=r"^shape must be above 1 for each arm, or its mean reward has no mean, got 1$"
    ):
        br.ExponentialBandit([2.0, 1.0], [1.0, 1.0])


GOOD_REWARDS = {"poisson": [0, 3, 2.0, np.int64(4), 1e40], "exponential": [0, 0.5, 3, np.float32(0.25)]}
BAD_REWARDS = {
    "poisson": [-1, 0.5, math.nan, math.inf, "1", None, True, 1e60],
    "exponential": [-1e-9, math.nan, math.inf, "1", None, True, 1e60],
    "normal-gamma": [math.nan, -math.inf, "1", None, 1e60],
}


@one_parameter
def test_good_rewards(kind):
    for reward in GOOD_REWARDS[kind]:
        assert CONJUGATE[kind].check_reward(reward) == float(reward)


@kinds
def test_bad_rewards(kind):
    for reward in BAD_REWARDS[kind]:
        with pytest.raises(ValueError, match=r"^reward must be [^\n]+, got [^\n]+$"):
            CONJUGATE[kind].check_reward(reward)
    may_be = {"poisson": "a whole number, at least 0", "exponential": "a number, at least 0"}
    if kind in may_be:
        with pytest.raises(ValueError, match=f"^reward must be {may_be[kind]}, got -1$"):
            CONJUGATE[kind].check_reward(-1)


def test_whose_rewards_they_can_learn_from():
    bernoulli, gaussian = br.BernoulliBandit([1], [1]), br.GaussianBandit([0], 1, 1)
    poisson, exponential, normal_gamma = CONJUGATE.values()
    for belief, worlds in [
        (poisson, [poisson, bernoulli]),
        (exponential, [exponential, poisson, bernoulli]),
        (normal_gamma, [normal_gamma, exponential, poisson, bernoulli, gaussian]),
    ]:
        for world in (poisson, exponential, normal_gamma, bernoulli, gaussian):
            assert belief.accepts_rewards_of(world) == (world in worlds)


@kinds
def test_bounds_that_rest_on_widths_are_not_stated(kind):
    with pytest.raises(ValueError, match=rf"^certified_index is stated for [^\n]+, got an? {kind} one$"):
        br.bounds.certified_index(CONJUGATE[kind], horizon=10)
    with pytest.raises(ValueError, match=rf"^bandit must be gaussian or bernoulli [^\n]+ got an? {kind} one$"):
        br.exact_regret(CONJUGATE[kind], br.BayesUCB(), horizon=10)
