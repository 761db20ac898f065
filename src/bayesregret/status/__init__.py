"""Status of a running experiment: what it has learned, what it has cost, and what it may still cost."""

from bayesregret.status.progress import Progress

__all__ = ["Progress"]
