"""Exact regret of Gaussian bandits: first exits of a Gaussian Markov chain, integrated over thresholds."""
