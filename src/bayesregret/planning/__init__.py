"""Planning: what a prior means for an experiment that is still to be run."""

from bayesregret.planning.planner import plan
from bayesregret.planning.result import Plan
from bayesregret.planning.targets import Inversion, arms_for, horizon_for, width_for

__all__ = ["Inversion", "Plan", "arms_for", "horizon_for", "plan", "width_for"]
