"""What every bandit has in common: equality by value, hash, print, plain data, and instances."""

import numpy as np
import pytest
from hypothesis import given

import bayesregret as br
from problems import BANDITS, any_bandits, seeds

SAME = [
    (br.GaussianBandit([1, 0], 1, 2), br.GaussianBandit(np.array([1.0, 0.0]), 1.0, 2.0, noise_kind="gaussian")),
    (br.BernoulliBandit([1, 2], [3, 4]), br.BernoulliBandit(alpha=(1.0, 2.0), beta=(3.0, 4.0))),
    (
        br.LinearBandit([[1, 0], [0, 1]], [0, 0], prior_width=1, reward_noise=1),
        br.LinearBandit(np.eye(2, dtype=int), np.zeros(2), prior_width=1.0, reward_noise=1.0),
    ),
    (
        br.LinearBandit(np.eye(2), [0, 0], prior_cov=[[1, 0], [0, 2]], reward_noise=1),
        br.LinearBandit(np.asfortranarray(np.eye(2)), [0, 0], np.diag([1.0, 2.0]), reward_noise=1),
    ),
    (br.GaussianBandit([0.0], 1, 1), br.GaussianBandit([-0.0], 1, 1)),
]
DIFFERENT = [
    br.GaussianBandit([1, 0], 1, 2),
    br.GaussianBandit([0, 1], 1, 2),
    br.GaussianBandit([1, 0, 0], 1, 2),
    br.GaussianBandit([1, 0], 1.5, 2),
    br.GaussianBandit([1, 0], 1, 2.5),
    br.GaussianBandit([1, 0], 1, 2, noise_kind="rademacher"),
    br.BernoulliBandit([1, 2], [3, 4]),
    br.BernoulliBandit([3, 4], [1, 2]),
    br.LinearBandit(np.eye(2), [0, 0], prior_width=1, reward_noise=1),
    br.LinearBandit(2 * np.eye(2), [0, 0], prior_width=1, reward_noise=1),
    br.LinearBandit(np.eye(2), [0, 1], prior_width=1, reward_noise=1),
    br.LinearBandit(np.eye(2), [0, 0], prior_width=2, reward_noise=1),
    br.LinearBandit(np.eye(2), [0, 0], prior_width=1, reward_noise=2),
    br.LinearBandit(np.eye(2), [0, 0], prior_cov=np.eye(2), reward_noise=1),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_equal_by_value(first, second):
    assert first == second
    assert hash(first) == hash(second)
    assert len({first, second}) == 1


def test_any_difference_makes_them_unequal():
    assert len(set(DIFFERENT)) == len(DIFFERENT)
    assert all((a == b) == (a is b) for a in DIFFERENT for b in DIFFERENT)
    assert DIFFERENT[0] != "a bandit"


@pytest.mark.parametrize("name", BANDITS)
def test_prints_itself_as_the_call_that_makes_it(name):
    bandit = BANDITS[name]
    made = eval(repr(bandit), vars(br))
    assert made == bandit


def test_long_settings_are_printed_by_their_ends():
    text = repr(br.GaussianBandit(np.arange(1000.0), 1, 1))
    assert "1., ..., 998., 999.] (1000), prior_width=1.0" in text
    assert "\n" not in repr(br.LinearBandit(np.ones((100, 7)), np.zeros(7), prior_width=1, reward_noise=1))
    assert "(100 x 7)" in repr(br.LinearBandit(np.ones((100, 7)), np.zeros(7), prior_width=1, reward_noise=1))


@given(any_bandits)
def test_plain_data_and_back(bandit):
    data = bandit.to_dict()
    classes = {"gaussian": br.GaussianBandit, "bernoulli": br.BernoulliBandit, "linear": br.LinearBandit}
    made = classes[data.pop("model")](**data)
    assert made == bandit
    assert hash(made) == hash(bandit)
    assert all(isinstance(value, list | float | str) for value in data.values())


@pytest.mark.parametrize("name", BANDITS)
def test_settings_cannot_be_changed_behind_its_back(name):
    for value in BANDITS[name].settings().values():
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0.0


def test_a_bandit_keeps_its_own_copy():
    mine = np.array([1.0, 0.0])
    bandit = br.GaussianBandit(mine, 1, 1)
    mine[0] = 7.0
    assert bandit.prior_mean.tolist() == [1.0, 0.0]


@given(any_bandits, seeds)
def test_instances(bandit, seed):
    instance = bandit.draw_instance(seed=seed, run=3)
    means = instance.mean_rewards
    assert means.shape == (bandit.arms,)
    assert np.isfinite(means).all()
    assert means[instance.best_arm] == means.max()
    assert instance.best_arm == min(arm for arm in range(bandit.arms) if means[arm] == means.max())
    assert np.array_equal(instance.gaps, means.max() - means)
    others = [gap for arm, gap in enumerate(instance.gaps) if arm != instance.best_arm]
    assert instance.min_gap == min(others, default=np.inf)


@given(any_bandits, seeds)
def test_draws_are_addressed_by_run(bandit, seed):
    """However many are drawn at once, the instance of a run is the same."""
    table = bandit.draw_means(6, seed=seed)
    assert table.shape == (6, bandit.arms)
    assert np.array_equal(bandit.draw_means(2, seed=seed, first_run=4), table[4:])
    assert np.array_equal(bandit.draw_instance(seed=seed, run=5).mean_rewards, table[5])
    assert bandit.draw_means(0, seed=seed).shape == (0, bandit.arms)


@pytest.mark.parametrize("name", BANDITS)
def test_simulate_meets_these_instances(name):
    """After one round the regret is the gap of the arm taken."""
    bandit = BANDITS[name]
    result = br.simulate(bandit, br.UCB1(), horizon=1, runs=20, seed=9)["ucb1"]  # takes arm 0
    gaps = [bandit.draw_instance(seed=9, run=run).gaps[0] for run in range(20)]
    assert result.final_regret.tolist() == gaps
    assert br.simulate(bandit, br.UCB1(), horizon=1, runs=20, seed=10)["ucb1"].final_regret.tolist() != gaps


@pytest.mark.parametrize("name", BANDITS)
def test_parameter_of_an_instance(name):
    bandit = BANDITS[name]
    instance = bandit.draw_instance(seed=2, run=1)
    if isinstance(bandit, br.LinearBandit):
        assert instance.parameter.shape == (2,)
        assert np.allclose(bandit.features @ instance.parameter, instance.mean_rewards, rtol=1e-12, atol=1e-14)
    else:
        assert np.array_equal(instance.parameter, instance.mean_rewards)


def test_the_only_arm_has_no_gap():
    instance = br.GaussianBandit([0.0], 1, 1).draw_instance(seed=0)
    assert instance.best_arm == 0
    assert instance.gaps.tolist() == [0.0]
    assert instance.min_gap == np.inf


def test_the_best_of_equal_arms_is_the_lowest():
    instance = br.Instance(np.array([0.0, 2.0, 2.0, 1.0]), np.zeros(4))
    assert instance.best_arm == 1
    assert instance.min_gap == 0.0


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"runs": -1, "seed": 0}, "runs"),
        ({"runs": 1.5, "seed": 0}, "runs"),
        ({"runs": 1, "seed": -1}, "seed"),
        ({"runs": 1, "seed": True}, "seed"),
        ({"runs": 1, "seed": 0, "first_run": -2}, "first_run"),
    ],
)
def test_bad_draws(arguments, field):
    with pytest.raises(ValueError, match=f"^{field} must be a whole number, at least 0, got"):
        BANDITS["gaussian"].draw_means(**arguments)
