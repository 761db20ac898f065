"""Simulation of Bayes regret: kernels, the threads that run them, the front door and its results."""
