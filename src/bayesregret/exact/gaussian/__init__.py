"""Exact regret of Gaussian bandits: chains of index values, integrated over thresholds."""
