"""Bayesian bandits: prior, reward distribution and closed-form posterior, one file per model."""

from bayesregret.models.bandit import Bandit, Instance
from bayesregret.models.bernoulli import BernoulliBandit
from bayesregret.models.exponential import ExponentialBandit
from bayesregret.models.gaussian import GaussianBandit
from bayesregret.models.linear import LinearBandit
from bayesregret.models.mixture import MixtureBandit
from bayesregret.models.normal_gamma import NormalGammaBandit
from bayesregret.models.poisson import PoissonBandit

__all__ = [
    "Bandit",
    "BernoulliBandit",
    "ExponentialBandit",
    "GaussianBandit",
    "Instance",
    "LinearBandit",
    "MixtureBandit",
    "NormalGammaBandit",
    "PoissonBandit",
]
