"""Agents as text: careful reading of a saved state."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from bayesregret import checks
from bayesregret.checks import Array

FORMAT = "bayesregret agent"
VERSION = 1


def parsed(text: str) -> dict[str, Any]:
    """Parse the text of an agent, if this version can read it."""
    may_be = "the text that to_json wrote"
    try:
        data = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise checks.fail("agent state", may_be, text) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise checks.fail("agent state", may_be, text)
    if data.get("version") != VERSION:
        raise ValueError(f"agent state must be of format version {VERSION}, got {checks.shown(data.get('version'))}")
    return data


def numbers(state: dict[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """Read a field of an agent's state: numbers of this shape, checked for what its name implies."""
    field = f"agent state's {name}"
    if shape == (0,) and state[name] == []:
        return np.zeros(0)
    # Sums of the largest numbers that users may give are larger.
    made = checks.array(field, state[name], len(shape), "a table of numbers", most=math.inf)
    if made.shape != shape:
        raise ValueError(f"{field} must have the shape {shape}, got {made.shape}")
    if name in ("counts", "pending", "variance") and made.min() < 0.0:
        raise ValueError(f"{field} must not be negative, but has the entry {made.min():g}")
    if name in ("counts", "pending") and (made != np.floor(made)).any():
        raise ValueError(f"{field} must be whole numbers")
    return made
