"""Explore, then commit: all arms in turn, then only the one that led at the commitment."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import add_reward, choose_arm, empty_stats
from bayesregret.policies.explore_commit import ExploreRounds
from problems import BANDITS

BANDIT = br.BernoulliBandit([1, 1, 1], [1, 1, 1])


def pulls_by_round(bandit, policy, horizon, **late):
    """(rounds, arms): pulls of one run after every round."""
    return np.array(
        [
            br.simulate(bandit, policy, horizon=rounds, runs=1, seed=3, **late)["explore-commit"].mean_pulls
            for rounds in range(1, horizon + 1)
        ]
    )


def test_in_turn_then_only_one():
    pulls = pulls_by_round(BANDIT, br.ExploreCommit(explore=7), 12)
    chosen = np.argmax(np.diff(pulls, axis=0, prepend=0), axis=1)
    assert chosen[:7].tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert len(set(chosen[7:])) == 1


def test_the_winner_has_the_highest_posterior_mean():
    """And it stays the winner, whatever is learnt after it was chosen; ties go to the lowest number."""
    stats, settings = empty_stats(3, memory=1), ExploreRounds(3)
    for arm, reward in [(0, 0.0), (1, 1.0), (2, 1.0)]:
        add_reward(stats, arm, reward)
    assert choose_arm(settings, BANDIT.model, stats, 3, None)[0] == 2
    assert choose_arm(settings, BANDIT.model, stats, 4, None)[0] == 1
    for _ in range(5):
        add_reward(stats, 1, 0.0)
    assert choose_arm(settings, BANDIT.model, stats, 5, None)[0] == 1


def test_it_commits_with_what_is_known_then():
    """Rewards that come late are not waited for: after 6 rounds at a delay of 4, those of the first two are known."""
    bandit = br.BernoulliBandit([1, 1, 1], [1, 1, 1])
    for seed in range(12):
        late = br.simulate(bandit, br.ExploreCommit(6), horizon=40, runs=1, seed=seed, delay=4)["explore-commit"]
        agent = br.ExploreCommit(6).start(bandit)
        stats = br.simulate(bandit, br.ExploreCommit(2), horizon=2, runs=1, seed=seed)["explore-commit"]
        assert stats.mean_pulls.tolist() == [1, 1, 0]
        for _ in range(6):
            agent.select()
        for arm, reward in zip((0, 1), first_rewards(bandit, seed), strict=True):
            agent.update(arm, reward)
        winner = agent.select()
        assert late.mean_pulls.tolist() == [2 + 34 * (arm == winner) for arm in range(3)]


def first_rewards(bandit, seed):
    """The first rewards of arms 0 and 1 in run 0: an arm that fails once is worse than one never tried."""
    from bayesregret.contracts import draw_reward
    from bayesregret.rng import REWARD, U, open_stream, run_word, seed_key

    means, key = bandit.draw_means(1, seed=seed)[0], seed_key(seed)
    with np.errstate(over="ignore"):
        starts = [open_stream(key, run_word(key, 0), REWARD + U(arm)) for arm in (0, 1)]
        return [draw_reward(bandit.model, arm, means[arm], starts[arm])[0] for arm in (0, 1)]


def test_without_exploration_it_is_the_prior_mean():
    bandit = br.GaussianBandit([0.0, 1.0], 1.0, 1.0)
    ran = br.simulate(bandit, br.ExploreCommit(explore=0), horizon=10, runs=5, seed=1)["explore-commit"]
    assert ran.mean_pulls.tolist() == [0.0, 10.0]


def test_exploration_left_to_the_prior():
    policy = br.ExploreCommit()
    assert policy.settings(BANDIT, 100) == ExploreRounds(BANDIT.best_exploration(100))
    certain = br.BernoulliBandit([100, 1, 1], [1, 100, 100])
    assert br.ExploreCommit(prior=certain).settings(BANDIT, 100) == ExploreRounds(0)
    with pytest.raises(ValueError, match=r"^explore must be given, .* when there is no horizon$"):
        policy.start(BANDIT)
    with pytest.raises(ValueError, match=r"^explore must be given, .* on a gaussian bandit with rademacher noise$"):
        br.simulate(BANDITS["rademacher"], policy, horizon=10, runs=1, seed=1)


@pytest.mark.parametrize("explore", [-1, 2.5, True, "5"])
def test_what_explore_may_be(explore):
    with pytest.raises(ValueError, match=r"^explore must be a whole number, at least 0, got "):
        br.ExploreCommit(explore=explore)
    with pytest.raises(ValueError, match=r"^prior must be a bandit, got "):
        br.ExploreCommit(explore=3, prior="none")
