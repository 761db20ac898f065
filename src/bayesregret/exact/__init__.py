"""Exact Bayes regret, without simulation: docs/theory/exact.md has the theorem and its proof."""

from bayesregret.exact.explore_commit.regret import explore_commit_regret
from bayesregret.exact.optimal_delta import BestDelta, best_delta
from bayesregret.exact.regret import exact_regret
from bayesregret.exact.result import ExactRegret

__all__ = ["BestDelta", "ExactRegret", "best_delta", "exact_regret", "explore_commit_regret"]
