"""One choice of kernels, for simulations and agents alike."""

import pytest

import bayesregret as br
from bayesregret.agent.arms import EveryRoundAgent, IndexAgent, PendingIndexAgent
from bayesregret.agent.linear import LinearEveryRoundAgent, LinearIndexAgent
from bayesregret.simulation.kernels.select import Kernel, select
from bayesregret.simulation.kernels.setup import STATES

GAUSSIAN = br.GaussianBandit([0.5, 0.0], 1.0, 1.0)
BERNOULLI = br.BernoulliBandit([1, 1], [1, 1])
POISSON = br.PoissonBandit([1, 2], [1, 1])
LINEAR = br.LinearBandit([[1, 0], [0, 1]], [0, 0], prior_width=1, reward_noise=1)

CHOICES = [
    (GAUSSIAN, br.BayesUCB(count_pending=False), Kernel.INDEX_LEADER, IndexAgent),
    (BERNOULLI, br.MOSS(count_pending=False), Kernel.INDEX_LEADER, IndexAgent),
    (POISSON, br.BayesUCB(count_pending=False), Kernel.EVERY_ROUND, EveryRoundAgent),
    (GAUSSIAN, br.QuantileUCB(), Kernel.GUARANTEED_LEADER, EveryRoundAgent),
    (BERNOULLI, br.KLUCB(), Kernel.GUARANTEED_LEADER, EveryRoundAgent),
    (BERNOULLI, br.Thompson(), Kernel.GUARANTEED_LEADER, EveryRoundAgent),
    (GAUSSIAN, br.Thompson(), Kernel.GUARANTEED_LEADER, EveryRoundAgent),
    (POISSON, br.Thompson(), Kernel.EVERY_ROUND, EveryRoundAgent),
    (POISSON, br.QuantileUCB(), Kernel.EVERY_ROUND, EveryRoundAgent),
    (LINEAR, br.BayesUCB(count_pending=False), Kernel.LINEAR_INDEX, LinearIndexAgent),
    (LINEAR, br.LinUCB(count_pending=False), Kernel.LINEAR_EVERY_ROUND, LinearEveryRoundAgent),
    (LINEAR, br.Thompson(), Kernel.LINEAR_EVERY_ROUND, LinearEveryRoundAgent),
]
COUNTING = [
    (GAUSSIAN, br.BayesUCB(), Kernel.INDEX_LEADER, Kernel.PENDING, PendingIndexAgent),
    (GAUSSIAN, br.Greedy(), Kernel.INDEX_LEADER, Kernel.PENDING, PendingIndexAgent),
    (LINEAR, br.UCB1(), Kernel.INDEX_LEADER, Kernel.PENDING, PendingIndexAgent),
    (BERNOULLI, br.MOSS(), Kernel.INDEX_LEADER, Kernel.PENDING, PendingIndexAgent),
    (POISSON, br.BayesUCB(), Kernel.EVERY_ROUND, Kernel.PENDING, PendingIndexAgent),
    (LINEAR, br.BayesUCB(), Kernel.LINEAR_INDEX, Kernel.LINEAR_PENDING, LinearIndexAgent),
    (LINEAR, br.LinUCB(), Kernel.LINEAR_EVERY_ROUND, Kernel.LINEAR_PENDING, LinearEveryRoundAgent),
]


@pytest.mark.parametrize(("bandit", "policy", "kernel", "agent"), CHOICES)
def test_the_kernel_and_the_agent(bandit, policy, kernel, agent):
    assert select(policy, bandit, 50).kernel is kernel
    assert type(policy.start(bandit, horizon=50)) is agent
    late = Kernel.LINEAR_EVERY_ROUND if bandit is LINEAR else Kernel.DELAYED
    assert select(policy, bandit, 50, late=True).kernel is late


@pytest.mark.parametrize(("bandit", "policy", "kernel", "late", "agent"), COUNTING)
def test_policies_that_count_pending_pulls_have_kernels_of_their_own(bandit, policy, kernel, late, agent):
    assert select(policy, bandit, 50).kernel is kernel
    assert select(policy, bandit, 50, late=True).kernel is late
    assert type(policy.start(bandit, horizon=50)) is agent


def test_every_kernel_has_a_state():
    assert STATES.keys() == set(Kernel)
    chosen = {kernel for *_, kernel, _ in CHOICES} | {Kernel.DELAYED} | {late for *_, late, _ in COUNTING}
    assert chosen == set(Kernel)
