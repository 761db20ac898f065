"""On the conjugate models every policy takes the arms that its slow twin takes, in the simulation and as an agent."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.policies.explore_commit import ExploreCommit
from models.conjugate import CONJUGATE, World, in_plain_python
from reference import conjugate as twins

HORIZON, SEEDS = 30, range(2)
INDICES = {
    "greedy": br.Greedy(),
    "bayes-ucb": br.BayesUCB(),
    "bayes-ucb at a level": br.BayesUCB(delta=0.2),
    "quantile-ucb": br.QuantileUCB(c=1.0),
    "kl-ucb": br.KLUCB(c=3.0),
}
PAIRS = [(kind, name) for kind in CONJUGATE for name in INDICES if (kind, name) != ("normal-gamma", "kl-ucb")]
CHANCES = {
    "thompson": br.Thompson(),
    "epsilon-greedy": br.EpsilonGreedy(epsilon=0.3),
    "explore-commit": ExploreCommit(explore=14),
}


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    in_plain_python(monkeypatch)


def replay(bandit, policy, seed, shift=0):
    """The arms taken, round by round; whether two indices came too close to tell which is higher."""
    world, rewards = World(bandit, seed), [[] for _ in range(bandit.arms)]
    taken, is_close = [], False
    for round_ in range(1, HORIZON + 1):
        index = [twins.index(policy, bandit, arm, seen[shift:], round_, HORIZON) for arm, seen in enumerate(rewards)]
        arm = int(np.argmax(index))
        others = [other for number, other in enumerate(index) if number != arm and np.isfinite(other)]
        is_close = is_close or (np.isfinite(index[arm]) and any(index[arm] - other < 1e-9 for other in others))
        rewards[arm].append(world.pull(arm))
        taken.append(arm)
    return taken, is_close


def simulated(bandit, policy, seed):
    """Whether the simulation's curve is that of these arms."""
    rounds = {"horizon": HORIZON, "checkpoints": range(1, HORIZON + 1)}
    result = br.simulate(bandit, policy, runs=1, seed=seed, threads=1, **rounds)[policy.name]
    means = World(bandit, seed).means

    def agrees(taken):
        regret = np.cumsum((means.max() - means)[taken])
        pulls = np.bincount(taken, minlength=bandit.arms)
        return pulls.tolist() == result.mean_pulls.tolist() and np.allclose(result.curve.mean, regret, rtol=1e-12)

    return agrees


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_the_engine_is_its_twin(kind, name):
    bandit, policy = CONJUGATE[kind], INDICES[name]
    sure = 0
    for seed in SEEDS:
        taken, is_close = replay(bandit, policy, seed)
        if not is_close:
            sure += 1
            assert simulated(bandit, policy, seed)(taken)
    assert sure > 0


@pytest.mark.parametrize("kind", CONJUGATE)
def test_a_wrong_twin_is_noticed(kind):
    """The control: without each arm's first reward the decisions are other ones."""
    bandit, policy = CONJUGATE[kind], INDICES["bayes-ucb"]
    assert not all(simulated(bandit, policy, seed)(replay(bandit, policy, seed, shift=1)[0]) for seed in SEEDS)


@pytest.mark.parametrize("kind", CONJUGATE)
@pytest.mark.parametrize("policy", [*INDICES.values(), *CHANCES.values()], ids=[*INDICES, *CHANCES])
def test_an_agent_decides_as_the_simulation_does(kind, policy):
    """With a stop and a start in between."""
    bandit = CONJUGATE[kind]
    if kind == "normal-gamma" and policy.name == "kl-ucb":
        with pytest.raises(ValueError, match=r"^policy must be one that runs on .*, got kl-ucb, which needs"):
            policy.start(bandit)
        return
    br.Policy.classes.setdefault(policy.name, type(policy))
    agent, world, taken = policy.start(bandit, horizon=HORIZON, seed=5), World(bandit, 5), []
    for _ in range(2):
        for _ in range(HORIZON // 2):
            taken.append(agent.select())
            agent.update(taken[-1], world.pull(taken[-1]))
        agent = br.Agent.from_json(agent.to_json())
    assert simulated(bandit, policy, 5)(taken)
    if policy.name == "thompson":  # the control: chance decides, so with another seed it decides otherwise
        assert not simulated(bandit, policy, 6)(taken)


@pytest.mark.parametrize("kind", CONJUGATE)
@pytest.mark.parametrize("policy", [br.Greedy(), br.BayesUCB()], ids=["greedy", "bayes-ucb"])
def test_late_rewards(kind, policy):
    """An agent that hears of rewards as late as the simulation does takes the same arms."""
    bandit, delay, batch = CONJUGATE[kind], 3, 4
    agent, world, waiting, taken = policy.start(bandit, horizon=HORIZON), World(bandit, 9), [], []
    for rounds in range(HORIZON):
        stats = max(0, rounds - rounds % batch - delay)
        while len(taken) - len(waiting) < stats:
            agent.update(*waiting.pop(0))
        taken.append(agent.select())
        waiting.append((taken[-1], world.pull(taken[-1])))
    late = br.simulate(bandit, policy, horizon=HORIZON, runs=1, seed=9, threads=1, delay=delay, batch=batch)
    assert late[policy.name].mean_pulls.tolist() == np.bincount(taken, minlength=bandit.arms).tolist()


@pytest.mark.parametrize("kind", CONJUGATE)
@pytest.mark.parametrize("policy", [br.UCB1(), br.MOSS()], ids=["ucb1", "moss"])
def test_what_needs_sub_gaussian_rewards_is_refused(kind, policy):
    message = f"^policy must not need sub-Gaussian rewards: those of {kind} bandits are not$"
    with pytest.raises(ValueError, match=message):
        br.simulate(CONJUGATE[kind], policy, horizon=5, runs=1, seed=0)
    with pytest.raises(ValueError, match=message):
        policy.start(CONJUGATE[kind], horizon=5)


@pytest.mark.parametrize("kind", CONJUGATE)
def test_at_horizon_one_the_index_is_the_median(kind):
    assert br.BayesUCB().settings(CONJUGATE[kind], 1).tail == 0.5
    assert br.simulate(CONJUGATE[kind], br.BayesUCB(), horizon=1, runs=2, seed=1)["bayes-ucb"].mean >= 0.0
    with pytest.raises(ValueError, match=r"^delta must be given"):
        br.BayesUCB().start(CONJUGATE[kind])


def test_a_width_where_there_is_one():
    """Beliefs decide, not bandits: a Gaussian one about counts has its width."""
    counts = CONJUGATE["poisson"]
    believed = br.BayesUCB(delta=0.1, prior=br.GaussianBandit([1.0] * 3, 1.0, 1.0))
    assert believed.settings(counts, 9) == br.BayesUCB(delta=0.1).settings(br.GaussianBandit([0.0], 1, 1), 9)
    doubtful = br.BayesUCB(delta=0.1, prior=CONJUGATE["normal-gamma"])
    assert doubtful.settings(br.GaussianBandit([0.0] * 3, 1, 1), 9).tail == pytest.approx(0.1)


@pytest.mark.compiled
def test_compiled_and_plain_are_the_same_bits(monkeypatch):
    """With a world of its own for each thread, whose variances no other may change."""
    bandit, policy, settings = CONJUGATE["normal-gamma"], br.BayesUCB(), {"horizon": HORIZON, "seed": 8}
    plain = br.simulate(bandit, policy, runs=5, threads=1, **settings)["bayes-ucb"]
    monkeypatch.undo()
    compiled = br.simulate(bandit, policy, runs=640, threads=4, **settings)["bayes-ucb"]
    assert plain.final_regret.tobytes() == compiled.final_regret[:5].tobytes()
    alone = br.simulate(bandit, policy, runs=640, threads=1, **settings)["bayes-ucb"]
    assert alone.final_regret.tobytes() == compiled.final_regret.tobytes()
