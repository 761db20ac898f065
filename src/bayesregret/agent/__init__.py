"""Policies in service: one decision at a time, by the formulas of the simulation, with a state that can be saved."""

from bayesregret.agent.agent import Agent
from bayesregret.agent.posterior import Posterior
from bayesregret.agent.remaining import Remaining

__all__ = ["Agent", "Posterior", "Remaining"]
