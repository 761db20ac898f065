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


def mapped(change: Callable[[Any], Any], nested: Any, made: dict[int, Any] | None = None) -> Any:
    """Change every array of a nested NamedTuple, once: what are two names of one array stays one."""
    made = {} if made is None else made
    if isinstance(nested, tuple):
        parts = [mapped(change, part, made) for part in nested]
        return type(nested)(*parts) if hasattr(nested, "_fields") else tuple(parts)
    if not isinstance(nested, np.ndarray):
        return nested
    if id(nested) not in made:
        made[id(nested)] = change(nested)
    return made[id(nested)]


def arrays_of(nested: Any) -> list[Any]:
    """All arrays of a nested NamedTuple, by each of their names."""
    if isinstance(nested, tuple):
        return [array for part in nested for array in arrays_of(part)]
    return [nested] if isinstance(nested, np.ndarray) else []


def has_aliases(nested: Any) -> bool:
    """Whether an array has two names."""
    arrays = arrays_of(nested)
    return len(set(map(id, arrays))) < len(arrays)


def bytes_of(nested: Any) -> int:
    """Bytes of all arrays of a nested NamedTuple."""
    return sum(array.nbytes for array in arrays_of(nested))
