"""Planning: the consequences of a prior for an experiment that has not been run yet."""

from bayesregret.planning.planner import plan
from bayesregret.planning.result import Plan
from bayesregret.planning.targets import Inversion, arms_for, horizon_for, width_for

__all__ = ["Inversion", "Plan", "arms_for", "horizon_for", "plan", "width_for"]
