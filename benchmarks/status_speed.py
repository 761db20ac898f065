"""Time of a status of ten arms after 100,000 rewards, without and with its exact numbers.

python benchmarks/status_speed.py

The targets are 100 ms without and 3 s with them, warm: the best of three calls in a process that has made one before,
each with its own `Progress`, so that nothing is kept. Beside the wall time stands the processor time of all threads,
which the neighbours on a shared machine change less.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import bayesregret as br
from bayesregret.digits import text_table
from bayesregret.status import Progress, experiment_status

ARMS, REWARDS, LEFT = 10, 100_000, 100_000
QUICK, EXACT = 0.1, 3.0  # seconds
FEATURES = np.random.default_rng(0).normal(size=(ARMS, 4))
BERNOULLI = br.BernoulliBandit([2] * ARMS, [38] * ARMS)
GAUSSIAN = br.GaussianBandit([0] * ARMS, 1, 1)
CASES = (
    (BERNOULLI, br.BayesUCB()),
    (BERNOULLI, br.Thompson()),
    (BERNOULLI, br.UCB1()),
    (GAUSSIAN, br.BayesUCB()),
    (GAUSSIAN, br.Thompson()),
    (br.PoissonBandit([4] * ARMS, [2] * ARMS), br.Thompson()),
    (br.NormalGammaBandit([0] * ARMS, 1, 3, 2), br.Thompson()),
    (br.LinearBandit(FEATURES, [0] * 4, prior_width=1, reward_noise=1), br.BayesUCB()),
)


def log_of(bandit: br.Bandit) -> tuple[np.ndarray, np.ndarray]:
    """Arms and rewards: most of the best arm, and of the others as many as a policy may have tried."""
    rng = np.random.default_rng(1)
    means = bandit.draw_means(1, seed=3)[0]
    arms = np.where(rng.random(REWARDS) < 0.1, rng.integers(0, ARMS, REWARDS), int(np.argmax(means)))
    if bandit.kind == "bernoulli":
        return arms, (rng.random(REWARDS) < means[arms]).astype(float)
    if bandit.kind == "poisson":
        return arms, rng.poisson(means[arms]).astype(float)
    return arms, means[arms] + rng.standard_normal(REWARDS)


def best_of_three(bandit: br.Bandit, agent: br.Agent, log: tuple[np.ndarray, np.ndarray], exact: bool) -> list[float]:
    """Least wall time and least processor time, after one call that does not count."""
    found, decisions = [], np.bincount(log[0], minlength=ARMS)
    for _ in range(4):
        progress = Progress(bandit, agent, REWARDS + LEFT, decisions, *log, pending=np.zeros(ARMS, int))
        begin = time.perf_counter(), time.process_time()
        experiment_status(progress, exact=exact)
        found.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
    return np.min(found[1:], axis=0).tolist()


def main() -> int:
    rows, reached = [["bandit", "policy", "quick", "processor", "exact", "processor"]], True
    for bandit, policy in CASES:
        arms, rewards = log_of(bandit)
        agent = policy.start(bandit, horizon=REWARDS + LEFT)
        for _ in range(REWARDS):
            agent.forget(agent.select())
        agent.update_many(arms.tolist(), rewards.tolist())
        quick, exact = (best_of_three(bandit, agent, (arms, rewards), exact) for exact in (False, True))
        times = [f"{1e3 * quick[0]:.0f} ms", f"{1e3 * quick[1]:.0f} ms", f"{exact[0]:.2f} s", f"{exact[1]:.2f} s"]
        rows.append([bandit.kind, policy.name, *times])
        reached &= quick[0] <= QUICK and exact[0] <= EXACT
    print(text_table(rows, ("policy",)))
    print(f"targets: {1e3 * QUICK:.0f} ms and {EXACT:.0f} s, {'reached' if reached else 'MISSED'}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
