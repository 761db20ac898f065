"""Every model with every policy: what the contracts promise, and a player that knows nothing but the contracts."""

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from bayesregret import UCB1, BayesUCB, GaussianBandit, LinearBandit, Policy, simulate
from bayesregret.contracts import (
    arm_index,
    confidence_width,
    draw_means,
    draw_reward,
    inverse_pulls,
    posterior_mean,
    prior_pulls,
    prior_total,
    variance_proxy,
)
from bayesregret.contracts.fast import mean_plus_width
from bayesregret.rng import INSTANCE, REWARD, U, open_stream, run_word, seed_key
from problems import BANDITS

INDEPENDENT = [name for name, bandit in BANDITS.items() if not isinstance(bandit, LinearBandit)]
POLICIES = {"bayes-ucb": BayesUCB(delta=0.05), "ucb1": UCB1(delta=0.05)}
HORIZON, SEED, RUNS = 60, 17, 8


class OwnIndex(NamedTuple):
    """BayesUCB's settings for a policy that gives its index as a whole."""

    log_inverse_delta: float


@arm_index.implement(OwnIndex)
def own_index(policy, model, arm, count, total):
    spread = math.sqrt(2.0 * variance_proxy(model, arm, count) * policy.log_inverse_delta)
    return posterior_mean(model, arm, count, total) + spread


@dataclass(frozen=True)
class Whole(Policy):
    """BayesUCB by `arm_index` instead of `confidence_width`."""

    name: ClassVar[str] = "whole-index"

    def settings(self, bandit, horizon):
        return OwnIndex(-math.log(0.05))


del Policy.classes["whole-index"]  # not one of the package's


def play(bandit, policy, run):
    """Pulls of each arm and the regret, by the contracts alone, looking at all arms in every round."""
    settings, belief, world = policy.settings(bandit, HORIZON), policy.belief(bandit), bandit.model
    arms = range(bandit.arms)
    key = seed_key(SEED)
    count, total = [0] * bandit.arms, [0.0] * bandit.arms
    means = np.empty(bandit.arms)
    with np.errstate(over="ignore"):
        start = run_word(key, run)
        draw_means(world, means, open_stream(key, start, INSTANCE))
        streams = [open_stream(key, start, REWARD + U(arm)) for arm in arms]
        for _ in range(HORIZON):
            index = [mean_plus_width(settings, belief, arm, count[arm], total[arm]) for arm in arms]
            leader = index.index(max(index))
            reward, streams[leader] = draw_reward(world, leader, means[leader], streams[leader])
            count[leader] += 1
            total[leader] += reward
    return count, float(np.dot(count, means.max() - means))


# A linear belief is not one number per arm: reference/ has its twin.
PAIRS = [(world, name) for world in BANDITS for name in POLICIES if world in INDEPENDENT or name == "ucb1"]


@pytest.mark.both
@pytest.mark.parametrize(("world", "name"), PAIRS)
def test_the_engine_is_this_player(world, name):
    """To the last bit of every index: there is no tolerance for ties here."""
    bandit, policy = BANDITS[world], POLICIES[name]
    result = simulate(bandit, policy, horizon=HORIZON, runs=RUNS, seed=SEED)[name]
    played = [play(bandit, policy, run) for run in range(RUNS)]
    assert (result.mean_pulls * RUNS).tolist() == np.sum([count for count, _ in played], axis=0).tolist()
    assert np.allclose(result.final_regret, [regret for _, regret in played], rtol=1e-12, atol=1e-13)


@pytest.mark.both
@pytest.mark.parametrize("world", INDEPENDENT)
def test_an_index_of_ones_own(world):
    """A policy that gives its whole index runs without tables, to the same decisions."""
    result = simulate(BANDITS[world], [POLICIES["bayes-ucb"], Whole()], horizon=HORIZON, runs=64, seed=SEED)
    assert np.array_equal(result["whole-index"].final_regret, result["bayes-ucb"].final_regret)


def test_an_index_of_ones_own_does_not_fit_a_linear_bandit():
    with pytest.raises(ValueError, match=r"^policy must be one that runs on a linear bandit, got whole-index, which "):
        simulate(BANDITS["linear"], Whole(), horizon=5, runs=1, seed=0)


def test_settings_without_a_formula():
    class Nothing(NamedTuple):
        pass

    @dataclass(frozen=True)
    class Idle(Policy):
        name = "idle"

        def settings(self, bandit, horizon):
            return Nothing()

    del Policy.classes["idle"]
    with pytest.raises(
        TypeError, match=r"^Nothing must implement confidence_width, arm_index, rising_index or choose_arm"
    ):
        simulate(BANDITS["gaussian"], Idle(), horizon=5, runs=1, seed=0)


@pytest.mark.parametrize("world", INDEPENDENT)
def test_what_a_belief_promises(world):
    bandit = BANDITS[world]
    for belief in (bandit.model, bandit.no_prior_model()):
        for arm in range(bandit.arms):
            variances = [variance_proxy(belief, arm, count) for count in range(20)]
            assert all(later < earlier for earlier, later in itertools.pairwise(variances))
            for count, total in [(0, 0.0), (3, 2.0), (40, 11.0)]:
                pulls = prior_pulls(belief, arm) + count
                assert inverse_pulls(belief, arm, count) == (1.0 / pulls if pulls else 0.0)
                expected = (prior_total(belief, arm) + total) / pulls if pulls else 0.0
                assert posterior_mean(belief, arm, count, total) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("world", INDEPENDENT)
@pytest.mark.parametrize("name", POLICIES)
def test_what_a_width_promises(world, name):
    """It grows with the variance, and shrinks as an arm is pulled."""
    bandit, policy = BANDITS[world], POLICIES[name]
    settings, belief = policy.settings(bandit, HORIZON), policy.belief(bandit)
    widths = [confidence_width(settings, variance_proxy(belief, 0, count)) for count in range(20)]
    assert all(later < earlier for earlier, later in itertools.pairwise(widths))
    assert widths[-1] > 0.0


@pytest.mark.both
@pytest.mark.parametrize("world", BANDITS)
def test_a_gaussian_belief_learns_from_any_rewards(world):
    bandit = BANDITS[world]
    belief = GaussianBandit([0.4] * bandit.arms, 0.6, 0.9)
    policy = BayesUCB(delta=0.05, prior=belief)
    result = simulate(bandit, policy, horizon=HORIZON, runs=RUNS, seed=SEED)["bayes-ucb"]
    played = [play(bandit, policy, run) for run in range(RUNS)]
    assert (result.mean_pulls * RUNS).tolist() == np.sum([count for count, _ in played], axis=0).tolist()
