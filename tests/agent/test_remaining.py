"""What is left of an agent's work: a new agent on the posterior decides as the old one does."""

import math
import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from scipy import special

import bayesregret as br
from bayesregret.agent import Remaining
from bayesregret.contracts import confidence_width
from models.test_mixture import MIXTURES

FEATURES = [[1, 0], [0.6, 0.8], [0, 1], [-0.4, 0.7]]
BANDITS = {
    "gaussian": br.GaussianBandit([0.513, 0.0, 0.127], 1.0, 1.3),
    "heteroscedastic": br.GaussianBandit([0.513, 0.0, 0.127], [0.5, 1.0, 2.0], [1.5, 0.7, 1.0]),
    "bernoulli": br.BernoulliBandit([1.137, 0.413, 3.071], [1.071, 0.717, 2.019]),
    "poisson": br.PoissonBandit([1.53, 2.07, 3.11], [1.0, 1.2, 2.1]),
    "exponential": br.ExponentialBandit([3.1, 3.3, 4.7], [2.3, 3.1, 4.9]),
    "normal-gamma": br.NormalGammaBandit([0.513, 0.0, 0.127], [1.0, 1.1, 2.0], [3.0, 3.1, 2.0], [2.0, 3.0, 2.0]),
    "linear": br.LinearBandit(FEATURES, [0.31, -0.12], prior_cov=[[1.0, 0.4], [0.4, 0.8]], reward_noise=1.2),
    "mixture of gaussian": br.MixtureBandit(*MIXTURES["gaussian of different noises"]),
    "mixture of one noise": br.MixtureBandit(*MIXTURES["gaussian"]),
    "mixture of bernoulli": br.MixtureBandit(*MIXTURES["bernoulli"]),
    "mixture of poisson": br.MixtureBandit(*MIXTURES["poisson"]),
    "mixture of normal-gamma": br.MixtureBandit(*MIXTURES["normal-gamma"]),
}
HORIZON, BEFORE, AFTER = 1000, 60, 200


def reward(bandit, arm, rng):
    kind = bandit.representative.kind
    if kind == "bernoulli":
        return float(rng.random() < (0.4, 0.45, 0.5)[arm])
    if kind == "poisson":
        return float(rng.poisson((1.5, 1.7, 1.6)[arm]))
    if kind == "exponential":
        return float(rng.exponential((1.0, 1.2, 1.1)[arm]))
    return float(rng.normal((0.4, 0.45, 0.5, 0.3)[arm], 1.0))


def played(policy, bandit, rounds=BEFORE, horizon=HORIZON, seed=5):
    """An agent after some rounds, with the random numbers of the rewards to come."""
    agent, rng = policy.start(bandit, horizon=horizon, seed=seed), np.random.default_rng(1)
    for _ in range(rounds):
        arm = agent.select()
        agent.update(arm, reward(bandit, arm, rng))
    return agent, rng


def next_decisions(agent, rounds=AFTER):
    """Decisions with rewards that depend on the arm and on its number of pulls alone."""
    rngs, taken = [np.random.default_rng([9, arm]) for arm in range(agent.problem.arms)], []
    for _ in range(rounds):
        arm = agent.select()
        agent.update(arm, reward(agent.problem, arm, rngs[arm]))
        taken.append(arm)
    return taken


def started(remaining, seed=0):
    return remaining.policy.start(remaining.bandit, horizon=remaining.horizon, seed=seed)


# A greedy agent keeps no squared deviations, on which a normal-gamma posterior depends.
SAME = [(name, policy) for name in BANDITS for policy in (br.BayesUCB(), br.Greedy())]
SAME.remove(("normal-gamma", br.Greedy()))
OWN_PRIORS = [
    ("gaussian", br.BayesUCB(delta=0.05, prior=br.GaussianBandit([0.1, 0.2, 0.35], 0.4, 1.1))),
    ("gaussian", br.Greedy(prior=br.LinearBandit(np.eye(3), [0.1, 0.2, 0.35], np.eye(3) + 0.5, reward_noise=1.0))),
    (
        "bernoulli",
        br.BayesUCB(
            prior=br.MixtureBandit([0.4, 0.6], [BANDITS["bernoulli"], br.BernoulliBandit([2.1] * 3, [2.3] * 3)])
        ),
    ),
    (
        "bernoulli",
        br.BayesUCB(prior=br.LinearBandit(np.eye(3), [0.4, 0.5, 0.45], 0.1 * np.eye(3) + 0.05, reward_noise=0.5)),
    ),
    ("poisson", br.BayesUCB(prior=br.GaussianBandit([1.5, 1.6, 1.7], 0.7, 1.2))),
    ("mixture of one noise", br.BayesUCB(prior=BANDITS["mixture of one noise"].conjugate())),
    ("mixture of bernoulli", br.BayesUCB(prior=BANDITS["mixture of bernoulli"].conjugate())),
]


@pytest.mark.parametrize(("name", "policy"), [*SAME, *OWN_PRIORS], ids=lambda part: getattr(part, "name", part))
def test_a_new_agent_makes_the_next_200_decisions_of_the_old_one(name, policy):
    agent, _ = played(policy, BANDITS[name])
    remaining = agent.remaining()
    assert isinstance(remaining, Remaining)
    assert remaining.horizon == HORIZON - BEFORE
    new = started(remaining)
    assert next_decisions(new) == next_decisions(agent)


@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "poisson", "linear", "mixture of poisson"])
def test_the_test_of_decisions_can_fail(name):
    """A control: the prior in place of the posterior, or delta from the rounds left, decides otherwise."""
    agent, _ = played(br.BayesUCB(), BANDITS[name])
    forgetful = br.BayesUCB().start(BANDITS[name], horizon=HORIZON - BEFORE)
    other = br.BayesUCB(delta=0.3).start(agent.bandit())
    expected = next_decisions(agent)
    assert next_decisions(forgetful) != expected
    assert next_decisions(other) != expected


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "horizon"), [("gaussian", 60), ("heteroscedastic", 60), ("bernoulli", 60)])
def test_gittins_goes_on_with_the_rounds_left(name, horizon):
    agent, _ = played(br.Gittins(), BANDITS[name], rounds=15, horizon=horizon)
    new = started(agent.remaining())
    assert new.horizon == 45
    assert next_decisions(new, 45) == next_decisions(agent, 45)


@pytest.mark.compiled
def test_the_optimal_policy_goes_on_with_the_rounds_left():
    bandit = br.BernoulliBandit([1.137, 0.413], [1.071, 0.717])
    agent, _ = played(br.BayesOptimal(), bandit, rounds=12, horizon=40)
    new = started(agent.remaining())
    assert new.horizon == 28
    assert next_decisions(new, 28) == next_decisions(agent, 28)


RANDOM = [
    *((name, br.EpsilonGreedy(epsilon=0.3)) for name in BANDITS),
    *((name, br.Thompson()) for name in BANDITS if name not in ("gaussian", "heteroscedastic", "bernoulli", "linear")),
    *((name, br.InformationDirected()) for name in ("gaussian", "heteroscedastic", "bernoulli")),
    ("gaussian", br.InformationDirected(gain="variance", prior=br.GaussianBandit([0.1, 0.2, 0.35], 0.4, 1.1))),
]


@pytest.mark.parametrize(("name", "policy"), RANDOM, ids=lambda part: getattr(part, "name", part))
def test_with_the_same_random_bits_a_new_agent_decides_the_same(name, policy):
    rounds = 8 if isinstance(policy, br.InformationDirected) else AFTER
    agent, _ = played(policy, BANDITS[name], rounds=min(BEFORE, 3 * rounds))
    new = started(agent.remaining())
    new._stream[:] = agent._stream
    assert next_decisions(new, rounds) == next_decisions(agent, rounds)


FAST = ["gaussian", "heteroscedastic", "bernoulli", "linear"]
DRAWS = 4000


def frequencies(agent, draws=DRAWS):
    """How often each arm is the next one; nothing is learned in between."""
    return np.bincount([agent.select() for _ in range(draws)], minlength=agent.problem.arms) / draws


def distance(one, other, draws=DRAWS):
    """Largest difference of frequencies, in standard errors."""
    each = (one + other) / 2.0
    return np.abs((one - other) / np.sqrt(2.0 * np.maximum(each * (1.0 - each), 1.0 / draws) / draws)).max()


@pytest.mark.parametrize(
    ("name", "policy", "draws"),
    [*((name, br.Thompson(), DRAWS) for name in FAST), ("linear", br.InformationDirected(draws=20), 800)],
    ids=lambda part: getattr(part, "name", part),
)
def test_the_next_decision_has_the_same_probabilities(name, policy, draws):
    agent, _ = played(policy, BANDITS[name], rounds=30)
    found, expected = frequencies(started(agent.remaining(), seed=8), draws), frequencies(agent, draws)
    assert expected.max() < 0.98
    assert distance(found, expected, draws) < 4.0
    forgetful = policy.start(BANDITS[name], horizon=HORIZON, seed=8)  # the control
    assert distance(frequencies(forgetful, draws), expected, draws) > 4.0


def test_thompson_sampling_takes_arms_with_the_probability_that_they_are_best():
    agent, _ = played(br.Thompson(), br.BernoulliBandit([1.137, 0.413], [1.071, 0.717]), rounds=20)
    bandit = agent.bandit()
    x, weights = np.polynomial.legendre.leggauss(400)
    x, weights = 0.5 * (1 + x), 0.5 * weights
    log_density = special.xlogy(bandit.alpha[0] - 1, x) + special.xlog1py(bandit.beta[0] - 1, -x)
    density = np.exp(log_density - special.betaln(bandit.alpha[0], bandit.beta[0]))
    first = float(np.sum(weights * density * special.betainc(bandit.alpha[1], bandit.beta[1], x)))
    error = np.sqrt(first * (1 - first) / DRAWS)
    assert abs(frequencies(started(agent.remaining(), seed=3))[0] - first) < 4 * error
    prior = br.Thompson().start(agent.problem, seed=3)
    assert abs(frequencies(prior)[0] - first) > 4 * error


def test_delta_stays_one_over_the_whole_horizon():
    agent, _ = played(br.BayesUCB(), BANDITS["gaussian"])
    assert agent.remaining().policy == br.BayesUCB(delta=1 / HORIZON)
    agent, _ = played(br.BayesUCB(delta=0.2, count_pending=False), BANDITS["gaussian"])
    assert agent.remaining().policy == br.BayesUCB(delta=0.2, count_pending=False)
    assert br.BayesUCB().start(BANDITS["gaussian"], horizon=1).remaining().policy == br.BayesUCB()


def test_rounds_that_are_left():
    bandit = BANDITS["bernoulli"]
    assert br.Thompson().start(bandit).remaining().horizon is None
    for policy in (br.Thompson(), br.BayesUCB()):
        agent = policy.start(bandit, horizon=5)
        assert agent.remaining() == (bandit, policy if policy == br.Thompson() else br.BayesUCB(delta=0.2), 5)
        arms = [agent.select() for _ in range(3)]
        assert agent.remaining().horizon == 2
        agent.update(arms[0], 1)
        assert agent.remaining().horizon == 2
        for _ in range(4):
            agent.select()
        assert agent.remaining().horizon == 0


def test_pending_pulls_are_not_part_of_the_posterior():
    agent = br.BayesUCB().start(BANDITS["bernoulli"], horizon=50)
    agent.update(1, 1)
    before = agent.bandit()
    arms = [agent.select() for _ in range(3)]
    bandit, policy, horizon = agent.remaining()
    assert agent.bandit() == bandit == before == BANDITS["bernoulli"].after([0, 1, 0], [0, 1, 0])
    assert horizon == 46
    new = policy.start(bandit, horizon=horizon)
    for arm in arms:  # their rewards may come to either
        new.update(arm, 1)
        agent.update(arm, 1)
    assert new.bandit().alpha == pytest.approx(agent.bandit().alpha, rel=1e-14)
    assert next_decisions(new, 40) == next_decisions(agent, 40)


OTHERS = [
    (br.UCB1(), "gaussian", "it has no prior, so its indices need the counts and sums of all rewards"),
    (br.MOSS(), "gaussian", "it has no prior, so its indices need the counts and sums of all rewards"),
    (br.KLUCB(), "bernoulli", "it has no prior, so its indices need the counts and sums of all rewards, and"),
    (br.LinUCB(), "linear", "it has no prior, so its ellipsoid needs the counts and sums of all rewards"),
    (br.QuantileUCB(), "gaussian", "its quantile depends on the number of the round"),
    (br.ExploreCommit(9), "gaussian", "it explores until a certain round, and then keeps its winner"),
]


@pytest.mark.parametrize(("policy", "name", "why"), OTHERS, ids=lambda part: getattr(part, "name", part))
def test_policies_that_need_more_than_the_posterior_say_why(policy, name, why):
    agent, _ = played(policy, BANDITS[name], rounds=5)
    start = "policy must be one whose decisions depend on the posterior alone to start anew, got"
    with pytest.raises(ValueError, match=f"^{start} {policy.name}: {re.escape(why)}[^\n]*$"):
        agent.remaining()
    assert agent.bandit() != agent.problem  # but the posterior is known


def test_a_policy_of_a_user_goes_on_if_it_says_so():
    class Deviations(NamedTuple):
        multiplier: float

    @confidence_width.implement(Deviations)
    def width(policy, variance):
        return policy.multiplier * math.sqrt(variance)

    @dataclass(frozen=True)
    class Unsure(br.Policy):
        name = "unsure"

        def settings(self, bandit, horizon):
            return Deviations(2.0)

    @dataclass(frozen=True)
    class Sure(Unsure):
        name = "sure"

        def continued(self, posterior, horizon):
            return self

    try:
        agent, _ = played(Unsure(), BANDITS["gaussian"])
        with pytest.raises(ValueError, match="got unsure: it may need the counts of pulls or of rounds;"):
            agent.remaining()
        agent, _ = played(Sure(), BANDITS["gaussian"])
        assert next_decisions(started(agent.remaining())) == next_decisions(agent)
    finally:
        del br.Policy.classes["unsure"], br.Policy.classes["sure"]


def test_a_model_of_a_user_goes_on_if_it_has_a_posterior():
    class Visits(br.PoissonBandit):
        kind = "visits"

        def conjugate_posterior(self, counts, totals, squares):
            return Visits(self.shape + totals, self.rate + counts)

    agent = br.Greedy().start(Visits([2, 1], [1, 1]))
    agent.update(1, 4)
    assert agent.remaining().bandit == Visits([2, 5], [1, 2])


def test_every_policy_either_goes_on_or_says_why():
    for name, policy in br.Policy.classes.items():
        goes_on = policy.continued is not br.Policy.continued
        says_why = policy.more_than_posterior != br.Policy.more_than_posterior
        assert goes_on != says_why or policy.__module__.partition(".")[0] != "bayesregret", name


def test_a_posterior_that_the_policy_has_not_kept_is_one_line():
    agent = br.Greedy().start(BANDITS["normal-gamma"])
    agent.update(0, 1.0)
    assert agent.bandit() == BANDITS["normal-gamma"].after([1, 0, 0], [1.0, 0, 0], [0, 0, 0])
    agent.update(0, 1.5)
    line = "agent of greedy has no posterior that is a bandit: squares must be given for a normal-gamma posterior"
    for ask in (agent.bandit, agent.remaining):
        with pytest.raises(ValueError, match=f"^{line}[^\n]*$"):
            ask()


@pytest.mark.parametrize("name", BANDITS)
def test_the_posterior_is_that_of_all_rewards(name):
    """Whatever the agent keeps: sums, or a linear posterior."""
    bandit, rng = BANDITS[name], np.random.default_rng(2)
    arms = rng.integers(bandit.arms, size=40)
    rewards = np.array([reward(bandit, arm, rng) for arm in arms])
    counts, totals = np.bincount(arms, minlength=bandit.arms), np.bincount(arms, rewards, bandit.arms)
    means = totals / counts
    squares = np.bincount(arms, (rewards - means[arms]) ** 2, bandit.arms)
    expected = bandit.after(counts, totals, squares)
    policies = [br.Thompson(), br.BayesUCB(delta=0.1), br.EpsilonGreedy()]
    if "mixture" not in name:
        policies.append(
            br.BayesUCB(
                delta=0.1,
                prior=br.LinearBandit(np.eye(bandit.arms), [1e3] * bandit.arms, prior_width=1, reward_noise=1),
            )
        )
    for policy in policies:
        agent = policy.start(bandit)
        agent.update_many(arms, rewards)
        if agent._sums().squares is None and name == "normal-gamma":
            continue
        found = br.Agent.from_json(agent.to_json()).bandit()
        assert found.kind == expected.kind
        for one, other in zip(parts(found), parts(expected), strict=True):
            assert one == pytest.approx(other, rel=1e-9)


def parts(bandit):
    inner = [part for each in getattr(bandit, "bandits", ()) for part in parts(each)]
    return inner + [
        np.asarray(value, float) for name, value in bandit.settings().items() if name not in ("bandits", "noise_kind")
    ]


@pytest.mark.parametrize("policy", [br.BayesUCB(), br.BayesUCB(delta=0.2), br.Greedy()], ids=repr)
def test_exact_regret_is_that_of_the_first_round_and_of_what_remains(policy):
    """Averaged over the first reward; a policy with the wrong delta or horizon would break the equality."""
    bandit, horizon = br.BernoulliBandit([1.137, 0.413], [1.071, 0.717]), 12
    means = bandit.alpha / (bandit.alpha + bandit.beta)
    first = policy.start(bandit, horizon=horizon).select()
    at_best = br.exact_regret(bandit, br.Greedy(), horizon=1).regret + means[br.Greedy().start(bandit).select()]
    expected = at_best - means[first]
    for reward, probability in ((1, means[first]), (0, 1.0 - means[first])):
        agent = policy.start(bandit, horizon=horizon)
        agent.update(agent.select(), reward)
        rest, further, left = agent.remaining()
        expected += probability * br.exact_regret(rest, further, horizon=left).regret
    assert br.exact_regret(bandit, policy, horizon=horizon).regret == pytest.approx(expected, rel=1e-9)


def test_bounds_and_plans_take_what_remains():
    agent, _ = played(br.BayesUCB(), BANDITS["gaussian"])
    bandit, policy, horizon = agent.remaining()
    assert br.bounds.certified(bandit, horizon=horizon).value > 0.0
    ran = br.simulate(bandit, policy, horizon=30, runs=20, seed=1, threads=1, progress=False)
    assert ran["bayes-ucb"].mean >= 0.0
