"""Policies: data plus one formula, one file each."""

from bayesregret.policies.bayes_ucb import BayesUCB
from bayesregret.policies.policy import Policy
from bayesregret.policies.ucb1 import UCB1

__all__ = ["UCB1", "BayesUCB", "Policy"]
