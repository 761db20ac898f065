"""Errors of a store of experiments, each with one line for the user."""

from __future__ import annotations


class StoreError(ValueError):
    """The database cannot be used as a store of experiments, or is damaged."""


class StoreWriteError(OSError):
    """The database failed. What was acknowledged before is safe; asking again with the same key or id is, too."""


class ConflictError(ValueError):
    """The log already says something else: another reward of the same decision, or another arm of the same name."""


class ClosedError(ValueError):
    """The experiment makes no more decisions: it was stopped, or its rounds are over."""


class UnknownError(ValueError):
    """There is no experiment of this name, or no decision of this id."""
