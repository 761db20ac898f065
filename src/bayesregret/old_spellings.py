"""Spellings of earlier versions, which still work for one version, with a warning."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def horizon_by_name(function: Function) -> Function:
    """Accept the horizon as a number after the bandit, as up to version 0.1."""

    @functools.wraps(function)
    def call(bandit: Any, *others: Any, **named: Any) -> Any:
        if others and "horizon" not in named and not isinstance(others[0], str) and hasattr(others[0], "__index__"):
            name = function.__name__
            message = f"{name} takes the horizon by name: {name}(bandit, horizon={others[0]})"
            warnings.warn(message, FutureWarning, stacklevel=2)
            named["horizon"], others = others[0], others[1:]
        return function(bandit, *others, **named)

    return call  # type: ignore[return-value]
