"""Stores of experiments: a durable log of decisions and rewards, for many threads and processes."""

from bayesregret.store.decision import Decision
from bayesregret.store.errors import ClosedError, ConflictError, StoreError, StoreWriteError, UnknownError
from bayesregret.store.events import Event
from bayesregret.store.experiment import Experiment
from bayesregret.store.store import ExperimentStore, experiments

__all__ = [
    "ClosedError",
    "ConflictError",
    "Decision",
    "Event",
    "Experiment",
    "ExperimentStore",
    "StoreError",
    "StoreWriteError",
    "UnknownError",
    "experiments",
]
