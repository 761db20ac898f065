"""The engine takes the same decisions as its slow twins, round by round, on the same noise."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bayesregret import UCB1, BayesUCB, GaussianBandit, LinearBandit, simulate
from problems import (
    BANDITS,
    bernoulli_bandits,
    decimals,
    deltas,
    gaussian_arms_bandits,
    gaussian_bandits,
    horizons,
    linear_bandits,
    policies,
    seeds,
)
from reference import replay as twins
from reference.replay import replay

RUNS = 2


def twin(bandit, policy, horizon, seed):
    return [replay(bandit, policy, horizon=horizon, seed=seed, run=run) for run in range(RUNS)]


def same_decisions(slow, bandit, policy, horizon, seed):
    """Whether the engine takes the arms that the twin took."""
    settings = {"horizon": horizon, "seed": seed, "checkpoints": range(1, horizon + 1), "threads": 1}
    first = simulate(bandit, policy, runs=1, **settings)[policy.name]
    ran = simulate(bandit, policy, runs=RUNS, **settings)[policy.name]
    size = max(np.abs(bandit.draw_means(RUNS, seed=seed)).max(), 1e-300)
    return (
        first.mean_pulls.tolist() == slow[0].pulls
        and np.allclose(first.curve.mean, slow[0].regret, rtol=1e-10, atol=1e-10 * size)
        and (ran.mean_pulls * RUNS).tolist() == np.sum([run.pulls for run in slow], axis=0).tolist()
        and ran.best_pulls.tolist() == [run.best_pulls for run in slow]
        and np.allclose(ran.final_regret, [run.regret[-1] for run in slow], rtol=1e-10, atol=1e-10 * size)
    )


def assert_agree(bandit, policy, horizon, seed):
    slow = twin(bandit, policy, horizon, seed)
    assume(not any(run.is_close for run in slow))
    assert same_decisions(slow, bandit, policy, horizon, seed)


@given(gaussian_bandits(), policies, horizons, seeds)
@example(GaussianBandit([0.0] * 5, 1.0, 1.0), BayesUCB(), 50, 1)  # ties between arms never taken
@example(GaussianBandit([0.0] * 5, 1.0, 1.0), UCB1(), 3, 1)  # ends before every arm was taken
def test_gaussian(bandit, policy, horizon, seed):
    assert_agree(bandit, policy, horizon, seed)


@given(gaussian_arms_bandits(), policies, horizons, seeds)
@example(GaussianBandit([0.0] * 3, [1.0, 1.0, 2.0], [2.0, 1.0, 4.0]), BayesUCB(), 60, 1)  # two priors worth the same
@example(GaussianBandit([0.0] * 3, 1.0, [2.0, 1.0, 2.0]), UCB1(), 60, 1)
def test_gaussian_arms(bandit, policy, horizon, seed):
    assert_agree(bandit, policy, horizon, seed)


@given(bernoulli_bandits(), policies, horizons, seeds)
def test_bernoulli(bandit, policy, horizon, seed):
    assert_agree(bandit, policy, horizon, seed)


@given(linear_bandits(), policies, horizons, seeds)
def test_linear(bandit, policy, horizon, seed):
    assert_agree(bandit, policy, horizon, seed)


@given(linear_bandits(arms=st.integers(2, 4), dimensions=st.integers(1, 2)), deltas, seeds)
def test_linear_with_few_arms(bandit, delta, seed):
    """Long streaks on an arm whose own covariance is the largest."""
    assert_agree(bandit, BayesUCB(delta=delta), 60, seed)


@given(st.integers(2, 6), decimals(0.05, 20), decimals(0.05, 5), deltas, seeds)
def test_linear_bandit_of_unit_vectors(arms, width, noise, delta, seed):
    """It is a Gaussian bandit: the same instances, the same noise, so the same decisions, ties included."""
    gaussian = GaussianBandit(np.zeros(arms), width, noise)
    linear = LinearBandit(np.eye(arms), np.zeros(arms), prior_width=width, reward_noise=noise)
    settings = {"horizon": 300, "runs": 4, "seed": seed, "threads": 1}
    ours = simulate(linear, BayesUCB(delta=delta), **settings)["bayes-ucb"]
    theirs = simulate(gaussian, BayesUCB(delta=delta), **settings)["bayes-ucb"]
    assert ours.mean_pulls.tolist() == theirs.mean_pulls.tolist()
    assert np.allclose(ours.final_regret, theirs.final_regret, rtol=1e-12, atol=1e-12 * width)


@given(linear_bandits(arms=st.integers(2, 6)), seeds)
def test_equal_arms_at_every_horizon(bandit, seed):
    """Equal arms have equal gaps, so the curve cannot tell them apart; the pulls after each round can."""
    policy, horizon = BayesUCB(delta=0.05), 12
    slow = replay(bandit, policy, horizon=horizon, seed=seed)
    assume(not slow.is_close)
    for rounds in range(1, horizon + 1):
        pulls = simulate(bandit, policy, horizon=rounds, runs=1, seed=seed, threads=1)["bayes-ucb"].mean_pulls
        assert pulls.tolist() == np.bincount(slow.arms[:rounds], minlength=bandit.arms).tolist()


@given(
    st.integers(1, 4).flatmap(lambda k: st.tuples(gaussian_bandits(st.just(k)), gaussian_bandits(st.just(k)))), seeds
)
def test_misspecified_prior(pair, seed):
    world, belief = pair
    assert_agree(world, BayesUCB(prior=belief), 40, seed)


@given(
    st.integers(1, 4).flatmap(lambda k: st.tuples(bernoulli_bandits(st.just(k)), bernoulli_bandits(st.just(k)))), seeds
)
def test_misspecified_pseudo_counts(pair, seed):
    world, belief = pair
    assert_agree(world, BayesUCB(prior=belief), 40, seed)


@given(st.integers(1, 4).flatmap(lambda k: st.tuples(linear_bandits(st.just(k)), linear_bandits(st.just(k)))), seeds)
def test_misspecified_features_and_covariance(pair, seed):
    world, belief = pair
    assert_agree(world, BayesUCB(prior=belief), 40, seed)


@pytest.mark.parametrize("world", ["gaussian", "bernoulli", "linear"])
def test_beliefs_of_another_kind(world):
    """Gaussian beliefs about any rewards, and linear ones too."""
    bandit = BANDITS[world]
    k = bandit.arms
    features = np.random.default_rng(3).standard_normal((k, 3))
    linear = LinearBandit(features, [0.1, 0.2, 0.3], prior_width=1.0, reward_noise=1.0)
    for belief in (GaussianBandit([0.5] * k, 0.5, 0.5), linear):
        policy = BayesUCB(prior=belief)
        sure = 0
        for seed in range(8):
            slow = twin(bandit, policy, 50, seed)
            if not any(run.is_close for run in slow):
                sure += 1
                assert same_decisions(slow, bandit, policy, 50, seed)
        assert sure > 2


@pytest.mark.parametrize("width", [1e-8, 1e-3, 1e3, 1e8])
def test_linear_beliefs_of_any_width(width):
    """On unit vectors a linear belief is a Gaussian one, however wide; no digits may be lost on the way."""
    world = GaussianBandit([0.0] * 4, 0.3, 1.0)
    gaussian = GaussianBandit([0.0] * 4, width, 1.0)
    linear = LinearBandit(np.eye(4), [0.0] * 4, prior_width=width, reward_noise=1.0)
    policies = [BayesUCB(prior=gaussian), BayesUCB(prior=linear)]
    result = simulate(world, policies, horizon=300, runs=16, seed=3)
    assert np.array_equal(
        result["bayes-ucb(prior=gaussian)"].final_regret, result["bayes-ucb(prior=linear)"].final_regret
    )


@pytest.mark.parametrize("width", [1e3, 1e8])
def test_a_wide_linear_belief_is_ucb1(width):
    """With no more arms than dimensions, a wide prior leaves sample means and their widths: UCB1 but for the order of
    the first pulls, which the regret does not see."""
    features = np.random.default_rng(1).standard_normal((3, 4))
    world = LinearBandit(features, np.zeros(4), prior_width=0.1, reward_noise=1.0)
    wide = LinearBandit(features, np.zeros(4), prior_width=width, reward_noise=1.0)
    result = simulate(world, [BayesUCB(prior=wide), UCB1()], horizon=400, runs=16, seed=4)
    assert np.allclose(result["bayes-ucb"].final_regret, result["ucb1"].final_regret, rtol=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize(("noise", "changes"), [(0.5, 64), (2.0, 512)])
def test_many_arms_for_long(noise, changes):
    """Thirty arms in ten dimensions; the leader changes so often that the posterior is computed afresh on the way."""
    rng = np.random.default_rng(1)
    features = rng.standard_normal((30, 10))
    features *= rng.uniform(0.95, 1.05, (30, 1)) / np.linalg.norm(features, axis=1, keepdims=True)
    bandit = LinearBandit(features, np.zeros(10), prior_width=0.3, reward_noise=noise)
    policy, horizon = BayesUCB(delta=1e-10), 3000
    slow = replay(bandit, policy, horizon=horizon, seed=2)
    fast = simulate(bandit, policy, horizon=horizon, runs=1, seed=2, checkpoints=range(1, horizon + 1))["bayes-ucb"]
    assert not slow.is_close
    assert np.count_nonzero(np.diff(slow.arms)) > changes
    assert fast.mean_pulls.tolist() == slow.pulls
    assert np.allclose(fast.curve.mean, slow.regret, rtol=1e-10)


def wrong_width(policy, bandit, history, delta):
    """Without the 2 under the root."""
    return twins.bayes_ucb(policy, bandit, history, delta**0.5)


def wrong_tie(policy, bandit, history, delta):
    """Ties to another arm than the lowest."""
    index = twins.bayes_ucb(policy, bandit, history, delta)
    index[np.argmax(index == index.max())] -= 1e-6
    return index


def one_round_late(policy, bandit, history, delta):
    """Without the last reward."""
    return twins.bayes_ucb(
        policy, bandit, history._replace(arms=history.arms[:-1], rewards=history.rewards[:-1]), delta
    )


@pytest.mark.compiled
@pytest.mark.parametrize("wrong", [wrong_width, wrong_tie, one_round_late])
@pytest.mark.parametrize("world", BANDITS)
def test_a_wrong_twin_is_noticed(world, wrong, monkeypatch):
    """The control: these comparisons fail when the two differ by a detail."""
    bandit = BANDITS[world]
    if wrong is wrong_tie:
        bandit = GaussianBandit([0.0] * 4, 1.0, 1.0)
    policy = BayesUCB(delta=0.05)
    seeds = [seed for seed in range(20) if not any(run.is_close for run in twin(bandit, policy, 60, seed))]
    assert len(seeds) > 5
    assert all(same_decisions(twin(bandit, policy, 60, seed), bandit, policy, 60, seed) for seed in seeds)
    monkeypatch.setattr(twins, "indices", wrong)
    assert not all(same_decisions(twin(bandit, policy, 60, seed), bandit, policy, 60, seed) for seed in seeds)
