"""bayesianbandits: upper confidence bounds from its 1,000 posterior draws, one decision at a time."""

import numpy as np
from bayesianbandits import Agent, Arm, NormalRegressor, UpperConfidenceBound
from online import ARMS, Problem, ns_per_decision, report, rounds_asked_for

arms = [Arm(arm, learner=NormalRegressor(alpha=1.0, beta=1.0)) for arm in range(ARMS)]
agent = Agent(arms, UpperConfidenceBound(alpha=0.999), random_seed=7)
cost = ns_per_decision(
    lambda: agent.pull()[0],
    lambda arm, reward: agent.select_for_update(arm).update(np.array([reward])),
    Problem(rounds_asked_for()),
)
report("bayesianbandits", "no simulator: pull and update of UpperConfidenceBound, 1,000 posterior draws", cost)
