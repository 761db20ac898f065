"""Acceleration of Thompson sampling on Beta posteriors: the same distribution of arms, with few draws."""
