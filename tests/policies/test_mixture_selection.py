"""Policies that believe in a mixture: their decisions, their agents and the policies that cannot."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from bayesregret import (
    Agent,
    BayesUCB,
    BernoulliBandit,
    EpsilonGreedy,
    ExploreCommit,
    ExponentialBandit,
    GaussianBandit,
    Gittins,
    Greedy,
    InformationDirected,
    LinearBandit,
    MixtureBandit,
    NormalGammaBandit,
    PoissonBandit,
    QuantileUCB,
    Thompson,
    simulate,
)
from bayesregret.contracts import choose_arm, empty_stats
from bayesregret.contracts.statistics import learn
from bayesregret.models.mixture import mixture_memory
from bayesregret.policies.mixture_selection import HighestDrawInMixture
from bayesregret.policies.thompson import HighestDraw
from bayesregret.rng import POLICY, open_stream, run_word, seed_key
from models.test_mixture import shared_level

BANDITS = {
    "gaussian": GaussianBandit([0.5, 0.0, 0.1], 1.0, 1.5),
    "gaussian arms": GaussianBandit([0.5, 0.0, 0.1], [1.0, 0.5, 2.0], [1.5, 1.0, 0.7]),
    "bernoulli": BernoulliBandit([1, 2, 3], [2, 3, 5]),
    "poisson": PoissonBandit([1, 2, 3], [2, 3, 5]),
    "exponential": ExponentialBandit([3, 4, 5], [2, 3, 5]),
    "normal-gamma": NormalGammaBandit([0.5, 0.0, 0.1], 1, 2, 1),
}
LEVELS = MixtureBandit(
    [0.5, 0.5], [BernoulliBandit([2, 2, 3], [38, 38, 37]), BernoulliBandit([10, 11, 9], [30, 29, 31])]
)
NOISES = MixtureBandit(
    [0.4, 0.6], [GaussianBandit([0, 0.2], 1.0, 0.5), GaussianBandit([1, 0.7], [0.3, 1.0], [2.0, 1.0])]
)


def regrets(world, policy, **settings):
    """(runs,): regret of each run; the same decisions give the same numbers."""
    return simulate(world, policy, progress=False, **settings)[policy.name].final_regret


# --- decisions -------------------------------------------------------------------------------------------------------


# BayesUCB has the width of the posterior variance on Gaussian arms alone; on others a proxy's, or a quantile.
ALIKE = [
    *((name, policy) for name in BANDITS for policy in (Greedy(), ExploreCommit(12), EpsilonGreedy(0.3))),
    ("gaussian", BayesUCB()),
    ("gaussian arms", BayesUCB()),
]


@pytest.mark.parametrize(("name", "policy"), ALIKE, ids=lambda value: getattr(value, "name", value))
def test_a_mixture_of_one_decides_like_its_component(name, policy):
    world = BANDITS[name]
    alone, mixed = (
        regrets(world, dataclasses.replace(policy, prior=prior), horizon=40, runs=5, seed=1)
        for prior in (world, MixtureBandit([1.0], [world]))
    )
    assert mixed.tolist() == alone.tolist()


@pytest.mark.parametrize("policy", [BayesUCB(), Greedy()], ids=lambda p: p.name)
def test_a_shared_level_is_learned_as_in_the_linear_form(policy):
    """The mixture's indices are the linear form's to nine digits, so decisions differ only at ties.

    There are none: arms have different prior means and rewards are continuous.
    """
    mixture, linear = shared_level([0.2, 0.0, -0.1], 0.8, 0.6, 1.5, nodes=24)
    settings = {"horizon": 50, "runs": 5, "seed": 2}
    by_mixture = regrets(linear, dataclasses.replace(policy, prior=mixture), **settings)
    by_linear = regrets(linear, policy, **settings)
    assert by_mixture == pytest.approx(by_linear, rel=1e-12)
    independent = GaussianBandit(linear.prior_mean, 1.0, 1.5)  # the same prior without covariances: the control
    assert regrets(linear, dataclasses.replace(policy, prior=independent), **settings) != pytest.approx(by_linear)


def choices(settings, mixture, rewards, count):
    stats_ = empty_stats(mixture.arms, mixture_memory(mixture.model))
    for arm, reward in rewards:
        learn(mixture.model, stats_, arm, reward)
    key, made = seed_key(3), []
    with np.errstate(over="ignore"):
        stream = open_stream(key, run_word(key, 0), POLICY)
        for round_ in range(count):
            arm, stream = choose_arm(settings, mixture.model, stats_, round_ + 1, stream)
            made.append(arm)
    return np.bincount(made, minlength=mixture.arms)


def test_thompson_sampling_chooses_arms_with_the_probability_of_being_best():
    """Two arms whose order depends on the component; the control draws a component for each arm."""
    weights, bandits = [0.7, 0.3], [GaussianBandit([0.0, 0.3], 0.5, 2.0), GaussianBandit([2.0, 2.5], 0.4, 2.0)]
    rewards = [(0, 1.0), (1, 0.5), (0, 0.7)]
    posteriors = []
    for weight, bandit in zip(weights, bandits, strict=True):
        covariance, evidence = bandit.prior_width**2 * np.eye(2), weight
        mean = bandit.prior_mean.copy()
        for arm, reward in rewards:
            spread = covariance[arm, arm] + bandit.reward_noise**2
            evidence *= stats.norm.pdf(reward, mean[arm], np.sqrt(spread))
            gain = covariance[:, arm] / spread
            mean = mean + gain * (reward - mean[arm])
            covariance = covariance - np.outer(gain, covariance[arm])
        first_best = stats.norm.sf(0, mean[0] - mean[1], np.sqrt(np.trace(covariance)))
        posteriors.append((evidence, first_best))
    evidence, first_best = np.array(posteriors).T
    probability = np.dot(evidence, first_best) / evidence.sum()
    count = 4_000
    expected = count * np.array([probability, 1.0 - probability])
    mixture = MixtureBandit(weights, bandits)
    assert stats.chisquare(choices(HighestDrawInMixture(), mixture, rewards, count), expected).pvalue > 1e-3
    assert stats.chisquare(choices(HighestDraw(), mixture, rewards, count), expected).pvalue < 1e-6


@pytest.mark.parametrize(("reward", "best"), [(0.0, 1), (1.0, 0)])
def test_rewards_of_one_arm_teach_about_the_others(reward, best):
    """Successes of the third arm are frequent in the second component alone, where the first arm is the best."""
    first, second = BernoulliBandit([30, 60, 10], [70, 40, 90]), BernoulliBandit([60, 30, 50], [40, 70, 50])
    agent = Greedy().start(MixtureBandit([0.5, 0.5], [first, second]))
    agent.update_many([2] * 6, [reward, 0.0] * 3)
    assert agent.select() == best


# --- late rewards and agents -----------------------------------------------------------------------------------------

BELIEVERS = [Thompson(), BayesUCB(), Greedy(), EpsilonGreedy(0.2), ExploreCommit(20)]


@pytest.mark.parametrize("policy", BELIEVERS, ids=lambda p: p.name)
@pytest.mark.parametrize("world", [LEVELS, NOISES], ids=["levels", "noises"])
def test_late_rewards(world, policy):
    late = regrets(world, policy, horizon=40, runs=3, seed=4, delay=3, batch=5)
    assert np.isfinite(late).all()
    assert (late >= 0.0).all()
    assert regrets(world, policy, horizon=40, runs=3, seed=4, delay=0, batch=1) == pytest.approx(
        regrets(world, policy, horizon=40, runs=3, seed=4)
    )


@pytest.mark.parametrize("policy", BELIEVERS, ids=lambda p: p.name)
@pytest.mark.parametrize("world", [LEVELS, NOISES], ids=["levels", "noises"])
def test_a_saved_agent_goes_on_with_the_same_decisions(world, policy):
    agent = policy.start(world, horizon=100, seed=5)
    rewards = np.random.default_rng(5).integers(0, 2, 60).astype(float)
    for reward in rewards[:30]:
        agent.update(agent.select(), reward)
    copy = Agent.from_json(agent.to_json())
    for reward in rewards[30:]:
        arm, other = agent.select(), copy.select()
        assert arm == other
        agent.update(arm, reward)
        copy.update(other, reward)
    assert agent.to_json() == copy.to_json()


@pytest.mark.parametrize("policy", [Thompson(), BayesUCB()], ids=lambda p: p.name)
@pytest.mark.parametrize("world", [LEVELS, NOISES], ids=["levels", "noises"])
def test_an_agent_decides_as_the_simulation_does(world, policy):
    """Regret of one run of the simulation, replayed reward by reward."""
    from bayesregret.contracts import draw_means, draw_reward
    from bayesregret.rng import INSTANCE, REWARD

    horizon, seed = 30, 6
    expected = regrets(world, policy, horizon=horizon, runs=1, seed=seed)[0]
    key, model, means = seed_key(seed), world.world(), np.empty(world.arms)
    with np.errstate(over="ignore"):
        start = run_word(key, 0)
        draw_means(model, means, open_stream(key, start, INSTANCE))
        streams = [open_stream(key, start, REWARD + np.uint64(arm)) for arm in range(world.arms)]
        agent, regret = policy.start(world, horizon=horizon, seed=seed), 0.0
        for _ in range(horizon):
            arm = agent.select()
            reward, streams[arm] = draw_reward(model, arm, means[arm], streams[arm])
            agent.update(arm, float(reward))
            regret += means.max() - means[arm]
    assert regret == pytest.approx(expected, rel=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("policy", [Thompson(), BayesUCB()], ids=lambda p: p.name)
def test_compiled_decisions_have_the_bits_of_plain_python(policy):
    """An agent learns in plain Python and the simulation in compiled code."""
    test_an_agent_decides_as_the_simulation_does(NOISES, policy)


# --- policies that cannot believe in a mixture ------------------------------------------------------------------------

FLAT = LinearBandit(np.eye(2), [0, 0], prior_width=1.0, reward_noise=1.0)
TILTED = LinearBandit(np.eye(2), [1, 0], prior_width=1.0, reward_noise=1.0)


@pytest.mark.parametrize("policy", [Gittins(), QuantileUCB(), InformationDirected()], ids=lambda p: p.name)
def test_policies_that_cannot_believe_in_a_mixture_say_so(policy):
    with pytest.raises(ValueError, match=r"must be .* got") as caught:
        regrets(LEVELS, policy, horizon=5, runs=1, seed=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("policy", [Thompson(), BayesUCB(), Greedy(), ExploreCommit(2)], ids=lambda p: p.name)
def test_no_policy_believes_in_a_mixture_of_linear_bandits(policy):
    mixture = MixtureBandit([0.5, 0.5], [FLAT, TILTED])
    with pytest.raises(ValueError, match="policy must be one") as caught:
        regrets(mixture, policy, horizon=5, runs=1, seed=1)
    assert "\n" not in str(caught.value)
    believing = dataclasses.replace(policy, prior=mixture.conjugate())
    assert np.isfinite(regrets(mixture, believing, horizon=5, runs=2, seed=1)).all()


def test_a_prior_that_cannot_learn_from_the_components_rewards():
    with pytest.raises(ValueError, match="prior must be one that can learn from"):
        regrets(NOISES, BayesUCB(prior=BernoulliBandit([1, 1], [1, 1])), horizon=5, runs=1, seed=1)
    with pytest.raises(ValueError, match="prior must have the bandit's 2 arms, got 3"):
        regrets(NOISES, BayesUCB(prior=LEVELS), horizon=5, runs=1, seed=1)
