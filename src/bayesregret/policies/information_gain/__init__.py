"""Integrals of information-directed sampling: which arm is best, and how much each reward reveals about it."""
