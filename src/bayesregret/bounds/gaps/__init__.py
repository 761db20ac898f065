"""Expectations over the gaps of random instances."""
