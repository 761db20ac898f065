"""Acceleration of Thompson sampling on Beta and normal posteriors: the same distribution of arms, with few draws."""
