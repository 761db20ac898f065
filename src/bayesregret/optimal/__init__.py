"""Bayes-optimal regret by dynamic programming, and Gittins indices: see docs/theory/optimal.md."""

from bayesregret.optimal.bayes_optimal import OptimalRegret, bayes_optimal_regret
from bayesregret.optimal.gittins import gittins_index

__all__ = ["OptimalRegret", "bayes_optimal_regret", "gittins_index"]
