"""Status of a running experiment: what it has learned, what it has cost, and what it may still cost."""

from bayesregret.status.misfit import Misfit
from bayesregret.status.progress import Progress
from bayesregret.status.status import Status, experiment_status

__all__ = ["Misfit", "Progress", "Status", "experiment_status"]
