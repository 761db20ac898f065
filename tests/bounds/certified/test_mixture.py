"""Bounds for mixtures: those that hold whatever a policy believes, weighted."""

import numpy as np
import pytest

from bayesregret import (
    UCB1,
    BayesUCB,
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    LinearBandit,
    MixtureBandit,
    NormalGammaBandit,
    PoissonBandit,
    bounds,
    simulate,
)
from bayesregret.planning.experiment import best_bound

pytestmark = pytest.mark.compiled  # certified lower bounds take minutes without compilation

WEIGHTS = [0.3, 0.7]
MIXED = {
    "gaussian": [GaussianBandit([0, 0.5], 1.0, 1.0), GaussianBandit([1, 0], 0.5, 1.0)],
    "gaussian arms": [GaussianBandit([0, 0.5], 1.0, [1.0, 2.0]), GaussianBandit([1, 0], 0.5, [1.0, 2.0])],
    "bernoulli": [BernoulliBandit([2, 1], [8, 3]), BernoulliBandit([10, 2], [3, 1])],
    "poisson": [PoissonBandit([2, 1], [1, 1]), PoissonBandit([3, 3], [4, 2])],
    "exponential": [ExponentialBandit([3, 3], [1, 2]), ExponentialBandit([5, 5], [4, 1])],
    "normal-gamma": [NormalGammaBandit([0, 1], 1, 2, 1), NormalGammaBandit([1, 1], 2, 2, 3)],
    "linear": [
        LinearBandit([[1, 0], [0, 1], [0.6, 0.8]], [0, 1], prior_width=1.0, reward_noise=1.0),
        LinearBandit([[1, 0], [0, 1], [0.6, 0.8]], [1, 1], prior_width=0.5, reward_noise=2.0),
    ],
}
OF_UCB1 = ("certified_ucb1", "ucb1_gap_dependent", "ucb1_prior_dependent")


@pytest.mark.parametrize("kind", MIXED)
def test_the_trivial_bound_is_the_weighted_mean_and_holds_for_every_policy(kind):
    mixture = MixtureBandit(WEIGHTS, MIXED[kind])
    found = bounds.certified_trivial(mixture, horizon=20)
    parts = [bounds.certified_trivial(bandit, horizon=20) for bandit in mixture.bandits]
    assert found.value == pytest.approx(np.dot(WEIGHTS, [part.value for part in parts]), rel=1e-12)
    assert found.error <= np.dot(WEIGHTS, [part.error for part in parts]) + 1e-12 * found.value
    assert found.policy == "any"
    assert found.applies
    means = mixture.draw_means(2_000, seed=1)
    gaps = np.ptp(means, axis=1)
    assert abs(gaps.mean() - found.value / 20) < 5 * gaps.std() / np.sqrt(len(gaps))
    assert bounds.certified(mixture, horizon=20).value == found.value


@pytest.mark.parametrize("name", OF_UCB1)
def test_bounds_for_ucb1_are_weighted_where_all_components_have_one_noise(name):
    mixture = MixtureBandit(WEIGHTS, MIXED["gaussian"])
    found = bounds.Formula.every[name](mixture, horizon=100)
    parts = [bounds.Formula.every[name](bandit, horizon=100) for bandit in mixture.bandits]
    assert found.value == pytest.approx(np.dot(WEIGHTS, [part.value for part in parts]), rel=1e-12)
    assert found.applies == parts[0].applies
    assert found.policy == "ucb1"


def test_the_bound_for_ucb1_is_above_its_regret():
    mixture = MixtureBandit(WEIGHTS, MIXED["gaussian"])
    result = simulate(mixture, UCB1(), horizon=30, runs=200, seed=1, progress=False)["ucb1"]
    assert result.mean + 4 * result.stderr < bounds.certified_ucb1(mixture, horizon=30).value


def test_ucb1_has_no_bound_where_noises_differ():
    """UCB1 then allows for the largest noise: the bound of a component is for other widths."""
    mixture = MixtureBandit(WEIGHTS, [GaussianBandit([0, 0], 1.0, 1.0), GaussianBandit([0, 0], 1.0, 2.0)])
    with pytest.raises(bounds.DoesNotHold, match="largest reward noise of all components, and here they differ"):
        bounds.certified_ucb1(mixture, horizon=10)
    assert not bounds.ucb1_prior_dependent(mixture, horizon=10).applies
    assert best_bound(mixture, UCB1(), 10) is None


@pytest.mark.parametrize("kind", MIXED)
def test_the_table_shows_what_holds_and_nothing_else(kind):
    table = bounds.table(MixtureBandit(WEIGHTS, MIXED[kind]), horizon=20)
    shown = {bound.name for bound in table}
    assert shown <= {"certified_lower", "certified_trivial", *OF_UCB1}
    assert ("ucb1_gap_dependent" in shown) == kind.startswith("gaussian")
    assert table.best.name == "certified_trivial"
    row = next(row for row in table.table() if row[0] == "certified_trivial")
    assert row[3] == "any"
    assert "best certified" in row[-1]


def test_a_bound_for_every_policy_is_compared_with_the_largest_regret():
    mixture = MixtureBandit(WEIGHTS, MIXED["bernoulli"])
    result = simulate(mixture, [BayesUCB(), UCB1()], horizon=10, runs=20, seed=1, progress=False)
    table = bounds.table(mixture, horizon=10, against=result)
    largest = max(found.mean for found in result.policies.values())
    assert table.ratio(table["certified_trivial"]) == table["certified_trivial"].value / largest


def test_bayes_ucb_has_no_bound_of_its_own():
    mixture = MixtureBandit(WEIGHTS, MIXED["gaussian"])
    assert best_bound(mixture, BayesUCB(), 10) is None
    assert best_bound(mixture, BayesUCB(prior=mixture.bandits[0]), 10) is None
    assert best_bound(mixture, UCB1(), 10).name == "certified_ucb1"
    with pytest.raises(
        ValueError, match=r"certified_floor is stated for .*, got a mixture of gaussian bandits"
    ) as caught:
        bounds.certified_floor(mixture, horizon=10)
    assert "\n" not in str(caught.value)


def test_audits_refuse_mixtures_in_one_line():
    with pytest.raises(
        ValueError, match="bandit must be a Gaussian, Bernoulli or linear bandit, got Mixture"
    ) as caught:
        bounds.audit(MixtureBandit(WEIGHTS, MIXED["gaussian"]), horizon=10)
    assert "\n" not in str(caught.value)
