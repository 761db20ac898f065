"""A policy in service: one decision at a time, the same formulas as in the simulation, state that survives a crash."""

from bayesregret.agent.agent import Agent

__all__ = ["Agent"]
