"""Gittins indices of heteroscedastic Gaussian arms."""

import numpy as np
import pytest
from scipy.stats import norm

import bayesregret as br
from bayesregret.contracts import empty_stats
from bayesregret.optimal.gittins import gaussian_tables, longest_horizon
from bayesregret.policies.gittins import GaussianIndices, gittins_now
from optimal.test_bayes_optimal import make_stats

# The last two arms have the same prior pseudo-count, 4, and different noises.
HETEROSCEDASTIC = br.GaussianBandit(
    [0.3, 0.0, -0.2, 1.0], prior_width=[0.5, 2.0, 1.0, 3.0], reward_noise=[1.5, 0.7, 2.0, 6.0]
)
HORIZON = 5


def alone(arm):
    """A bandit with this arm only."""
    return br.GaussianBandit(
        [HETEROSCEDASTIC.prior_mean[arm]], HETEROSCEDASTIC.prior_widths[arm], HETEROSCEDASTIC.reward_noises[arm]
    )


def plain_width(width, noise, rounds):
    """From the definition, in the arm's own units: margins of all means above the charge on a grid, sums for integrals.
    The index is the mean plus this, since the mean and the charge shift together."""
    x = np.linspace(-7.0 * width, 7.0 * width, 1_201)
    margins = np.zeros_like(x)
    for pulls in range(rounds - 1, -1, -1):
        variance = 1.0 / (width**-2 + pulls * noise**-2)
        step = np.sqrt(variance - 1.0 / (1.0 / variance + noise**-2))
        probabilities = norm.pdf((x - x[:, None]) / step)
        margins = x + (probabilities / probabilities.sum(axis=1, keepdims=True)) @ np.maximum(margins, 0.0)
    return -np.interp(0.0, margins, x)


@pytest.mark.parametrize("arm", range(HETEROSCEDASTIC.arms))
def test_an_index_does_not_depend_on_the_other_arms(arm):
    data = {"pulls": 2, "total": 1.0, "rounds": 3}
    assert br.gittins_index(HETEROSCEDASTIC, arm, **data) == br.gittins_index(alone(arm), **data)
    settings, its_own = (br.Gittins().settings(bandit, HORIZON) for bandit in (HETEROSCEDASTIC, alone(arm)))
    for pulls, total in ((0, 0.0), (2, 1.0), (4, -3.0)):
        stats, one = make_stats([pulls] * 4, [total] * 4), make_stats([pulls], [total])
        index = gittins_now(settings, HETEROSCEDASTIC.model, stats, arm, pulls + 1)
        assert index == gittins_now(its_own, alone(arm).model, one, 0, pulls + 1)
        expected = br.gittins_index(HETEROSCEDASTIC, arm, pulls=pulls, total=total, rounds=HORIZON - pulls)
        assert index == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("arm", "rounds"), [(0, 4), (1, 2), (3, 3)])
def test_a_plain_recursion(arm, rounds):
    """Another arm's noise is noticed: the control."""
    width, noise = HETEROSCEDASTIC.prior_width[arm], HETEROSCEDASTIC.reward_noise[arm]
    found = br.gittins_index(HETEROSCEDASTIC, arm, rounds=rounds) - HETEROSCEDASTIC.prior_mean[arm]
    assert found == pytest.approx(plain_width(width, noise, rounds), rel=3e-4)
    assert found != pytest.approx(plain_width(width, HETEROSCEDASTIC.reward_noise[2], rounds), rel=1e-2)


def test_scale_and_shift_of_one_arm():
    """Its mean by 2 and its width and noise by 3; the other stays what it is."""
    plain = br.GaussianBandit([0.5, 1.0], prior_width=[1.0, 0.2], reward_noise=[2.0, 5.0])
    moved = br.GaussianBandit([2.0 + 3 * 0.5, 1.0], prior_width=[3.0, 0.2], reward_noise=[6.0, 5.0])
    index = br.gittins_index(plain, 0, pulls=2, total=1.0, rounds=3)
    assert br.gittins_index(moved, 0, pulls=2, total=2 * 2.0 + 3.0, rounds=3) == pytest.approx(2 + 3 * index, rel=1e-12)
    same = {"pulls": 1, "total": 0.3, "rounds": 3}
    assert br.gittins_index(moved, 1, **same) == br.gittins_index(plain, 1, **same)


def test_a_table_for_each_pseudo_count():
    tables, kind = gaussian_tables(HETEROSCEDASTIC, 3)
    assert tables.shape == (3, 3, 3)
    assert kind[2] == kind[3]
    listed = br.GaussianBandit([0, 1], [2, 2], [3, 3])
    tables, kind = gaussian_tables(listed, 3)
    assert kind.tolist() == [0, 0]
    assert np.array_equal(tables, gaussian_tables(br.GaussianBandit([0, 1], 2, 3), 3)[0])


def test_tables_have_a_limit(monkeypatch):
    empty = (np.empty((1, 1, 1)), np.zeros(64, np.int64))  # the tables themselves would take minutes
    monkeypatch.setattr("bayesregret.optimal.gittins.gaussian_tables", lambda *_: empty)
    monkeypatch.setattr("bayesregret.optimal.discounted_tables.gaussian_tables", lambda *_: empty)
    some, many = (br.GaussianBandit([0] * arms, np.arange(1, arms + 1), 1) for arms in (16, 64))
    assert longest_horizon(some) == 2_000
    assert longest_horizon(many) == 1_000
    assert isinstance(br.Gittins().settings(many, 1_000), GaussianIndices)
    assert not isinstance(br.Gittins().settings(many, 1_001), GaussianIndices), "beyond it: an index with a discount"


def test_rewards_of_the_other_kind():
    """Indices are of what is believed: Gaussian arms, of rewards that are a step off their mean, or 0 and 1."""
    steps = br.GaussianBandit(
        HETEROSCEDASTIC.prior_mean, HETEROSCEDASTIC.prior_width, HETEROSCEDASTIC.reward_noise, noise_kind="rademacher"
    )
    settings = br.Gittins().settings(steps, 3)
    index = gittins_now(settings, steps.model, empty_stats(4), 1, 1)
    assert index == gittins_now(settings, HETEROSCEDASTIC.model, empty_stats(4), 1, 1)
    belief = br.GaussianBandit([0.5, 0.5], [0.1, 0.3], 0.5)
    agent = br.Gittins(prior=belief).start(br.BernoulliBandit([1, 1], [1, 1]), horizon=4)
    assert agent.select() == 1  # there is more to learn of it


@pytest.mark.compiled
def test_to_know_the_noises_is_worth_something():
    """On the same rewards a belief in swapped noises loses; the true belief, given explicitly, does not (control)."""
    noises = np.repeat([0.3, 6.0], 3)
    bandit, mistaken = (br.GaussianBandit([0.0] * 6, 1.0, believed) for believed in (noises, noises[::-1]))
    policies = {"right": br.Gittins(), "wrong": br.Gittins(mistaken), "again": br.Gittins(bandit)}
    ran = br.simulate(bandit, policies, horizon=20, runs=2_000, seed=3)
    saved, control = ran.paired("wrong", "right"), ran.paired("again", "right")
    assert saved.mean > 4.0 * saved.stderr
    assert control.mean == 0.0
