"""Checks of what contract bodies return, for a trial of a user's own policy or model in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bayesregret import checks
from bayesregret.contracts.policy import rising_index
from bayesregret.dispatch import Contract, all_contracts
from bayesregret.sources import is_outside_file

# An index that should rise is compared with itself this many times the round later, up to a rounding error.
LATER, ROUNDING = (2, 4), 1e-9


@contextmanager
def checked_results() -> Iterator[None]:
    """Check what every contract's body from outside the package returns, while plain Python runs.

    End early, without an error, where plain Python refuses to compute what is inf or nan in compiled code.
    """
    kept = {id(each): dict(each.bodies) for each in all_contracts()}
    try:
        for each in all_contracts():
            for subject, body in kept[id(each)].items():
                if is_outside_file(body.__code__.co_filename):
                    each.bodies[subject] = _checked(each, body)
        yield
    except ArithmeticError:
        pass
    except ValueError as error:
        if str(error) != "math domain error":
            raise
    finally:
        for each in all_contracts():
            each.bodies.update(kept[id(each)])


def _checked(made: Contract, body: Callable[..., Any]) -> Callable[..., Any]:
    names = [name.strip() for name in made.returns.split(",") if name.strip()]

    def call(*args: Any) -> Any:
        found = body(*args)
        _check_result(made, body.__name__, names, found)
        if names[:1] == ["arm"]:
            _check_arm(body.__name__, found[0], args[2].counts.shape[0])
        if made is rising_index:
            _check_rise(body, found, *args)
        return found

    return call


def _check_result(contract: Contract, body: str, names: list[str], found: Any) -> None:
    if len(names) > 1:
        parts = found if isinstance(found, tuple) and len(found) == len(names) else (None,) * len(names)
    else:
        parts = (found,) * len(names)
    if len(names) == 1 and isinstance(found, float) and math.isnan(found):
        raise not_a_number(contract, body, found)
    if not all(_is_kind(name, part) for name, part in zip(names, parts, strict=True)):
        raise TypeError(_must_return(contract, body, names, found))


def _is_kind(name: str, part: Any) -> bool:
    if name == "stream":
        return isinstance(part, tuple) and len(part) == 4
    if name in ("lease", "policy"):
        return isinstance(part, tuple)
    return isinstance(part, int | float | np.number | np.bool_)


def _check_arm(body: str, arm: Any, arms: int) -> None:
    if not isinstance(arm, int | np.integer) or not 0 <= arm < arms:
        raise not_an_arm(body, arm, arms)


def _check_rise(body: Callable[..., Any], found: float, *args: Any) -> None:
    *same, now = args
    for later in (times * now for times in LATER):
        index = body(*same, later)
        if index < found - ROUNDING * abs(found):
            raise ValueError(
                f"{body.__name__} must never fall from one round to a later one with the same data, got "
                f"{checks.shown(float(found))} in round {now} and {checks.shown(float(index))} in round {later}: an "
                "index that falls needs choose_arm"
            )


def not_an_arm(body: str, arm: Any, arms: int) -> ValueError:
    """The error for a choice that is no arm."""
    return ValueError(f"{body} must choose an arm between 0 and {arms - 1}, got {checks.shown(arm)}")


def not_a_number(contract: Contract, body: str, found: Any) -> ValueError:
    """The error for a result that is nan."""
    return ValueError(_must_return(contract, body, [contract.returns], found))


def _must_return(contract: Contract, body: str, names: list[str], found: Any) -> str:
    wanted = f"({', '.join(names)})" if len(names) > 1 else f"a number, the {names[0]}"
    if names == ["stream"]:
        wanted = "the next stream"
    return f"{body} must return {wanted}, as {contract.__name__} does, got {checks.shown(found)}"
