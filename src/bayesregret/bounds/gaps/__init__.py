"""Expectations over the gaps of instances drawn from the prior."""
