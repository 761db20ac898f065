"""Bandit policies: data plus one formula, one file per policy."""

from bayesregret.policies.base import BelievingPolicy, Policy, PosteriorPolicy
from bayesregret.policies.bayes_optimal import BayesOptimal
from bayesregret.policies.bayes_ucb import BayesUCB
from bayesregret.policies.explore_commit import ExploreCommit
from bayesregret.policies.gittins import Gittins
from bayesregret.policies.greedy import EpsilonGreedy, Greedy
from bayesregret.policies.information_directed import InformationDirected
from bayesregret.policies.kl_ucb import KLUCB
from bayesregret.policies.lin_ucb import LinUCB
from bayesregret.policies.moss import MOSS
from bayesregret.policies.quantile_ucb import QuantileUCB
from bayesregret.policies.thompson import Thompson
from bayesregret.policies.ucb1 import UCB1

__all__ = [
    "KLUCB",
    "MOSS",
    "UCB1",
    "BayesOptimal",
    "BayesUCB",
    "BelievingPolicy",
    "EpsilonGreedy",
    "ExploreCommit",
    "Gittins",
    "Greedy",
    "InformationDirected",
    "LinUCB",
    "Policy",
    "PosteriorPolicy",
    "QuantileUCB",
    "Thompson",
]
