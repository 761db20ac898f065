"""Bayes regret computed exactly, with no simulation: docs/theory/exact.md has the theorem and its proof."""

from bayesregret.exact.regret import exact_regret
from bayesregret.exact.result import ExactRegret

__all__ = ["ExactRegret", "exact_regret"]
