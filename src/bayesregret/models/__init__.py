"""Bayesian bandits: a prior, a reward distribution and a closed-form posterior, one file each."""

from bayesregret.models.bandit import Bandit, Instance
from bayesregret.models.bernoulli import BernoulliBandit
from bayesregret.models.gaussian import GaussianBandit
from bayesregret.models.linear import LinearBandit

__all__ = ["Bandit", "BernoulliBandit", "GaussianBandit", "Instance", "LinearBandit"]
