"""river: its BayesUCB, which knows Beta posteriors only, one decision at a time."""

from online import ARMS, Problem, ns_per_decision, report, rounds_asked_for
from river import bandit

policy = bandit.BayesUCB(seed=7)
arms = list(range(ARMS))
cost = ns_per_decision(lambda: policy.pull(arms), policy.update, Problem(rounds_asked_for(), binary=True))
report("river", "no simulator: pull and update of BayesUCB, Beta posterior", cost)
