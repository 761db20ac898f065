"""Simulations under the CUDA simulator, which runs kernels in plain Python, one lane at a time; prints what differs."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numba.cuda.simulator.kernelapi as simulator
import numpy as np

import bayesregret as br
from bayesregret.contracts import arm_index
from bayesregret.simulation.engines.gpu import job, kernels
from bayesregret.simulation.kernels import index_leader

# A warp of one lane: the simulator's lanes cannot vote.
job.WARP = job.MOST_LANES = job.LANES_IN_GLOBAL = kernels.EVERY_LANE = 1
simulator.FakeCUDAModule.ballot_sync = lambda self, mask, vote: int(bool(vote))


class BadSettings(NamedTuple):
    pass


@arm_index.implement(BadSettings)
def bad_index(policy, model, arm, count, total):
    return math.nan if count > 6 else 1.0


@dataclass(frozen=True)
class Bad(br.Policy):
    name = "bad"

    def settings(self, bandit, horizon):
        return BadSettings()


GAUSSIAN = br.GaussianBandit([0.5, 0.0, -0.5], 1.0, 1.5)
BERNOULLI = br.BernoulliBandit([1.0, 0.4, 3.0], [1.0, 0.7, 2.0])
LINEAR = br.LinearBandit([[1, 0], [0.6, 0.8]], [0, 0], prior_width=1, reward_noise=1)
CASES = [
    (GAUSSIAN, "bayes-ucb", {}),
    (GAUSSIAN, "moss", {"runs": 3}),
    (BERNOULLI, "ucb1", {}),
    (BERNOULLI, "thompson", {"delay": 2, "batch": 3}),
    (BERNOULLI, "thompson", {"runs": 3}),
    (GAUSSIAN, "bayes-ucb", {"runs": 3, "delay": 2, "batch": 3}),
    (LINEAR, "bayes-ucb", {"runs": 3, "delay": 3}),
    (br.NormalGammaBandit([0, 1], [1, 1], [2, 2], [1, 1]), "thompson", {}),
    (LINEAR, "bayes-ucb", {}),
    (LINEAR, "lin-ucb", {}),
    (LINEAR, "thompson", {"delay": 3}),
]


def differing(bandit: br.Bandit, policy: str, options: dict[str, int], engine: object = "gpu") -> list[int]:
    asked = {"horizon": 12, "runs": 70, "seed": 3, "progress": False} | options
    here = br.simulate(bandit, policy, **asked)[policy]
    there = br.simulate(bandit, policy, engine=engine, **asked)[policy]
    pairs = zip((*here.kept, here.mean_pulls, *here.curve), (*there.kept, there.mean_pulls, *there.curve), strict=True)
    return [place for place, (one, other) in enumerate(pairs) if not np.array_equal(one, other)]


def main() -> None:
    for bandit, policy, options in CASES:
        print(policy, "on", bandit.kind, differing(bandit, policy, options))
    shared = []  # runs of each of two GPUs
    two, launch = br.GpuEngine(devices=[0, 0]), job.Job.launch
    job.Job.launch = lambda made, first, runs: shared.append(runs) or launch(made, first, runs)
    print("two GPUs", differing(GAUSSIAN, "ucb1", {"runs": 100, "horizon": 3}, engine=two))
    print("of which both play", [] if shared == [64, 36] else shared)
    job.CHUNK_ROUNDS = 64  # several chunks
    print("in chunks", differing(GAUSSIAN, "bayes-ucb", {"runs": 200, "horizon": 3}))
    plans = [br.plan(BERNOULLI, "greedy", horizon=4, runs=66, engine=engine) for engine in ("threads", "gpu")]
    print("a plan", [] if plans[0].to_dict() == plans[1].to_dict() else ["differs"])
    kernels.LONGEST = 3  # streaks are cut now and then, which the processor does at other places
    index_leader.LONGEST_STREAK = np.uint64(3)
    print("short streaks", differing(GAUSSIAN, "greedy", {}))
    try:
        br.simulate(GAUSSIAN, Bad(), horizon=12, runs=5, engine="gpu", progress=False)
    except ValueError as error:
        print(error)


if __name__ == "__main__":
    main()
