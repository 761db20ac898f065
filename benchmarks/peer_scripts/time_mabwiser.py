"""mabwiser: UCB1, the nearest it has to BayesUCB without contexts, one decision at a time."""

from mabwiser.mab import MAB, LearningPolicy
from online import ARMS, Problem, ns_per_decision, report, rounds_asked_for

arms = list(range(ARMS))
problem = Problem(rounds_asked_for())
bandit = MAB(arms, LearningPolicy.UCB1(alpha=1.0), seed=7)
bandit.fit(arms, problem.means)  # it must have seen something before it predicts
cost = ns_per_decision(bandit.predict, lambda arm, reward: bandit.partial_fit([arm], [reward]), problem)
report("mabwiser", "no simulator of its own rewards: predict and partial_fit of UCB1", cost)
