"""The best there is: dynamic programmes over posteriors and Gittins indices. docs/theory/optimal.md says why."""

from bayesregret.optimal.bayes_optimal import OptimalRegret, bayes_optimal_regret
from bayesregret.optimal.gittins import gittins_index

__all__ = ["OptimalRegret", "bayes_optimal_regret", "gittins_index"]
