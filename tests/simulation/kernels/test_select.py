"""One choice of kernels, for simulations and agents alike."""

import pytest

import bayesregret as br
from bayesregret.agent.arms import EveryRoundAgent, IndexAgent
from bayesregret.agent.linear import LinearEveryRoundAgent, LinearIndexAgent
from bayesregret.simulation.kernels.select import Kernel, select
from bayesregret.simulation.kernels.setup import STATES

GAUSSIAN = br.GaussianBandit([0.5, 0.0], 1.0, 1.0)
BERNOULLI = br.BernoulliBandit([1, 1], [1, 1])
POISSON = br.PoissonBandit([1, 2], [1, 1])
LINEAR = br.LinearBandit([[1, 0], [0, 1]], [0, 0], prior_width=1, reward_noise=1)

CHOICES = [
    (GAUSSIAN, br.BayesUCB(), Kernel.INDEX_LEADER, IndexAgent),
    (BERNOULLI, br.MOSS(), Kernel.INDEX_LEADER, IndexAgent),
    (GAUSSIAN, br.QuantileUCB(), Kernel.GUARANTEED_LEADER, EveryRoundAgent),
    (BERNOULLI, br.KLUCB(), Kernel.GUARANTEED_LEADER, EveryRoundAgent),
    (BERNOULLI, br.Thompson(), Kernel.GUARANTEED_LEADER, EveryRoundAgent),
    (GAUSSIAN, br.Thompson(), Kernel.EVERY_ROUND, EveryRoundAgent),
    (POISSON, br.QuantileUCB(), Kernel.EVERY_ROUND, EveryRoundAgent),
    (LINEAR, br.BayesUCB(), Kernel.LINEAR_INDEX, LinearIndexAgent),
    (LINEAR, br.Thompson(), Kernel.LINEAR_EVERY_ROUND, LinearEveryRoundAgent),
]


@pytest.mark.parametrize(("bandit", "policy", "kernel", "agent"), CHOICES)
def test_the_kernel_and_the_agent(bandit, policy, kernel, agent):
    assert select(policy, bandit, 50).kernel is kernel
    assert type(policy.start(bandit, horizon=50)) is agent
    late = Kernel.LINEAR_EVERY_ROUND if bandit is LINEAR else Kernel.DELAYED
    assert select(policy, bandit, 50, late=True).kernel is late


def test_every_kernel_has_a_state():
    assert STATES.keys() == set(Kernel)
    chosen = {kernel for *_, kernel, _ in CHOICES} | {Kernel.DELAYED}
    assert chosen == set(Kernel)
