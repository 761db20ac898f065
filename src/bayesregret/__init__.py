"""Bayes regret of bandit policies: simulate it, bound it, compute it."""
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit, Instance, LinearBandit
from bayesregret.policies import UCB1, BayesUCB, Policy
from bayesregret.simulation.simulate import simulate
