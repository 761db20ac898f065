"""The conjugate models to try things on, and a world that gives their rewards one at a time."""

from __future__ import annotations

import numpy as np

from bayesregret import ExponentialBandit, NormalGammaBandit, PoissonBandit
from bayesregret.contracts import draw_means, draw_reward
from bayesregret.rng import INSTANCE, REWARD, U, open_stream, run_word, seed_key

CONJUGATE = {
    "poisson": PoissonBandit(shape=[2.0, 0.3, 4.0], rate=[1.0, 0.5, 3.0]),
    "exponential": ExponentialBandit(shape=[3.0, 1.5, 6.0], rate=[2.0, 0.4, 5.5]),
    "normal-gamma": NormalGammaBandit(prior_mean=[0.5, 0.0, 0.0], prior_pulls=1.5, shape=[2.0, 0.8, 3.0], scale=1.0),
}


class World:
    """The instance and the noise of one run of a simulation."""

    def __init__(self, bandit, seed, run=0):
        key = seed_key(seed)
        self.model, self.means = bandit.world(), np.empty(bandit.arms)
        with np.errstate(over="ignore"):
            start = run_word(key, run)
            draw_means(self.model, self.means, open_stream(key, start, INSTANCE))
            self.streams = [open_stream(key, start, REWARD + U(arm)) for arm in range(bandit.arms)]

    def pull(self, arm):
        with np.errstate(over="ignore"):
            reward, self.streams[arm] = draw_reward(self.model, arm, self.means[arm], self.streams[arm])
        return float(reward)


def in_plain_python(monkeypatch):
    """Run kernels as they are written: for a few rounds that is faster than compiling them."""
    for module in (
        "agent.arms",
        "agent.linear",
        "models.bandit",
        "simulation.simulation",
        "simulation.kernels.width_table",
    ):
        monkeypatch.setattr(f"bayesregret.{module}.compile_kernel", lambda body, *classes: body)
