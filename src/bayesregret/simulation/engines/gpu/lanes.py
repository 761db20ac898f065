"""Arrays with a place for every lane of a GPU, and one lane's view of them.

A lane is a thread of the GPU that plays one run at a time. Its state is a nested NamedTuple of arrays, as on a
processor. On the GPU each array has one more axis, the last, with a place for every lane: lanes that read the same
number of their states at the same time then read neighbouring places.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Shared(NamedTuple):
    """A model that all lanes share."""

    model: Any


class Separate(NamedTuple):
    """A model whose arrays have a place for every lane, because an instance is more than its means."""

    model: Any


def lane_of(nested: Any, lane: Any) -> Any:
    """View of one lane: arrays without their last axis. compiler.py has the same for compiled code."""
    if isinstance(nested, tuple):
        return type(nested)(*(lane_of(part, lane) for part in nested))
    return nested[..., lane] if hasattr(nested, "shape") and nested.shape else nested


def in_shared_memory(states: Any, first: Any) -> Any:
    """The same arrays in shared memory, from its word `first` on; in plain Python where they are."""
    return states


def world_of(worlds: Any, lane: Any) -> Any:
    """The model from which a lane draws. compiler.py has the same for compiled code."""
    return worlds.model if isinstance(worlds, Shared) else lane_of(worlds.model, lane)


def mapped(change: Callable[[Any], Any], nested: Any) -> Any:
    """Change every array of a nested NamedTuple."""
    if isinstance(nested, tuple):
        parts = [mapped(change, part) for part in nested]
        return type(nested)(*parts) if hasattr(nested, "_fields") else tuple(parts)
    return change(nested) if isinstance(nested, np.ndarray) else nested


def bytes_of(nested: Any) -> int:
    """Bytes of all arrays of a nested NamedTuple."""
    if isinstance(nested, tuple):
        return sum(map(bytes_of, nested))
    return nested.nbytes if isinstance(nested, np.ndarray) else 0
