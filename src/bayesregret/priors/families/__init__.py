"""Reward models that a prior can be fitted for."""
