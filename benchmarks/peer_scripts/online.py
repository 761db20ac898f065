"""What the peers' scripts share: the problem, a loop of decisions, and the one line that they print."""

from __future__ import annotations

import importlib.metadata
import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

ARMS = 10
HORIZON = 1_000


class Problem:
    """An instance with standard normal means, or uniform success probabilities, and noise drawn beforehand."""

    def __init__(self, rounds: int, binary: bool = False) -> None:
        rng = random.Random(7)
        self.binary = binary
        self.means = [rng.random() if binary else rng.gauss(0.0, 1.0) for _ in range(ARMS)]
        self.noise = [rng.random() if binary else rng.gauss(0.0, 1.0) for _ in range(rounds)]

    def reward(self, arm: int, round_: int) -> float:
        if self.binary:
            return 1.0 if self.noise[round_] < self.means[arm] else 0.0
        return self.means[arm] + self.noise[round_]


def ns_per_decision(select: Callable[[], int], update: Callable[[int, float], Any], problem: Problem) -> float:
    """The cost of one decision and of learning from its reward."""
    start = time.perf_counter_ns()
    for round_ in range(len(problem.noise)):
        arm = select()
        update(arm, problem.reward(arm, round_))
    return (time.perf_counter_ns() - start) / len(problem.noise)


def rounds_asked_for() -> int:
    return int(sys.argv[1])


def report(package: str, did: str, ns_per_round: float) -> None:
    version = importlib.metadata.version(package)
    print(json.dumps({"package": f"{package} {version}", "did": did, "ns_per_round": ns_per_round}))
