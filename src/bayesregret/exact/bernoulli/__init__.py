"""Exact regret of Bernoulli bandits, on the lattice of pulls and successes."""
