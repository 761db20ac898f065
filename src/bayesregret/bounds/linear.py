"""All bounds for linear bandits: importing this file registers them."""

from bayesregret.bounds import linear_certified, linear_paper

__all__ = ["linear_certified", "linear_paper"]
