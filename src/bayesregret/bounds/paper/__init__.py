"""Bounds as the paper prints them. Importing this package registers them."""

from bayesregret.bounds.paper import closed_forms, gap_dependent, linear, prior_dependent

__all__ = ["closed_forms", "gap_dependent", "linear", "prior_dependent"]
