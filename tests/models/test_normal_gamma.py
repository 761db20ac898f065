"""The normal-gamma model's own: numbers for all arms, variances of each thread's world, and digits far from zero."""

from fractions import Fraction

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import add_reward, empty_stats, posterior_quantile
from bayesregret.models.normal_gamma import posterior_scale
from models.conjugate import CONJUGATE, World, in_plain_python


def test_numbers_stand_for_all_arms():
    by_numbers = br.NormalGammaBandit([1, 0], 2, 1.5, 3)
    by_lists = br.NormalGammaBandit([1, 0], [2, 2], [1.5, 1.5], np.array([3.0, 3.0]))
    assert by_numbers == by_lists
    assert hash(by_numbers) == hash(by_lists)
    assert by_numbers != br.NormalGammaBandit([1, 0], 2, 1.5, [3, 4])
    assert by_numbers.to_dict()["scale"] == [3.0, 3.0]
    with pytest.raises(ValueError, match="read-only"):
        by_numbers.shape[0] = 1.0


@pytest.mark.parametrize("field", ["prior_pulls", "shape", "scale"])
@pytest.mark.parametrize(
    "value", [0, -1.0, np.nan, np.inf, 1e60, 1e-60, True, "1", None, [1.0], [1.0] * 3, [[1.0, 1.0]], [1.0, -1.0]]
)
def test_bad_numbers(field, value):
    good = {"prior_mean": [1.0, 0.0], "prior_pulls": 1.0, "shape": 2.0, "scale": 1.0}
    with pytest.raises(ValueError, match=rf"^{field} must be a positive number, or a list [^\n]+$"):
        br.NormalGammaBandit(**(good | {field: value}))


def test_a_mean_must_have_a_mean():
    message = r"^shape must be above 0.5 for each arm, or its mean reward has no mean, got 0.5$"
    with pytest.raises(ValueError, match=message):
        br.NormalGammaBandit([0.0, 0.0], 1.0, [0.5, 2.0], 1.0)
    with pytest.raises(ValueError, match=r"^prior_mean must be a list of numbers, one for each arm"):
        br.NormalGammaBandit(0.0, 1.0, 2.0, 1.0)


def test_each_world_has_its_own_variances(monkeypatch):
    in_plain_python(monkeypatch)
    bandit = CONJUGATE["normal-gamma"]
    first, second = World(bandit, 1), World(bandit, 2)
    assert first.model.variances is not second.model.variances
    assert (first.model.variances != second.model.variances).all()
    bandit.draw_means(5, seed=3)
    assert bandit.model.variances.tolist() == [0.0, 0.0, 0.0]  # a belief stays as it was


def test_an_instance_tells_its_variances():
    bandit = CONJUGATE["normal-gamma"]
    instance, world = bandit.draw_instance(seed=4, run=1), World(bandit, 4, run=1)
    assert np.array_equal(instance.parameter, np.column_stack([world.means, world.model.variances]))
    for arguments in ({"seed": -1}, {"seed": 0, "run": -1}):
        with pytest.raises(ValueError, match=r"^(seed|run) must be a whole number, at least 0, got -1$"):
            bandit.draw_instance(**arguments)


def exact_scale(bandit, rewards):
    """The posterior scale in fractions, without any rounding."""
    rewards = [Fraction(reward) for reward in rewards]
    n, mean = len(rewards), sum(rewards) / len(rewards)
    mu, kappa, scale = (Fraction(float(x[0])) for x in (bandit.prior_mean, bandit.prior_pulls, bandit.scale))
    squares = sum((reward - mean) ** 2 for reward in rewards)
    return float(scale + squares / 2 + kappa * n * (mean - mu) ** 2 / (2 * (kappa + n)))


@pytest.mark.parametrize(("centre", "digits"), [(0.0, 1e-13), (1e3, 1e-12), (1e6, 1e-9), (1e9, 1e-6)])
def test_rewards_far_from_zero_keep_their_deviations(centre, digits):
    """Rewards of deviation 1 around a far centre. The control is the sum of squares less the square of the sum."""
    rewards = centre + np.random.default_rng(1).standard_normal(2000)
    bandit = br.NormalGammaBandit([centre], 1.0, 2.0, 1.0)
    stats = empty_stats(1)
    for reward in rewards:
        add_reward(stats, 0, reward)
    truth = exact_scale(bandit, rewards)
    assert posterior_scale(bandit.model, stats, 0) == pytest.approx(truth, rel=digits)
    if centre >= 1e6:
        squares, total = float(np.add.accumulate(rewards**2)[-1]), stats.totals[0]
        assert 1.0 + 0.5 * (squares - total**2 / 2000) != pytest.approx(truth, rel=digits)


def test_moving_everything_moves_the_quantile():
    """Rewards, prior mean and all, by a power of two so that nothing is rounded on the way."""
    rewards = np.round(np.random.default_rng(2).standard_normal(50), 3)
    found = []
    for shift in (0.0, 2.0**20):
        bandit, stats = br.NormalGammaBandit([0.5 + shift], 0.5, 1.5, 1.0), empty_stats(1)
        for reward in rewards:
            add_reward(stats, 0, reward + shift)
        found.append(posterior_quantile(bandit.model, stats, 0, 1e-6) - shift)
    assert found[1] == pytest.approx(found[0], rel=1e-8)
