"""Reward models for which a prior can be fitted."""
