"""Names of arms: texts that nobody takes for a number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bayesregret import checks

LONGEST = 200  # letters
LONGEST_SHOWN = 40  # in tables and figures
MAY_BE = "a list of different texts, one for each arm"


def checked_names(arms: Any, many: int, field: str = "arms") -> tuple[str, ...]:
    """Return the names of `many` arms; messages call them `field`."""
    if isinstance(arms, str | bytes | dict | set | frozenset) or not isinstance(arms, Iterable):
        raise checks.fail(field, MAY_BE, arms)
    names = tuple(arms)
    if len(names) != many:
        raise ValueError(f"{field} must be {MAY_BE}, got {len(names)} for {many} arms")
    for name in names:
        _check_name(name, field)
    if len(set(names)) < many:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{field} must be {MAY_BE}, but {checks.shown(str(twice))} is there twice")
    return tuple(map(str, names))


def _check_name(name: Any, field: str) -> None:
    if not isinstance(name, str):
        raise checks.fail(field, MAY_BE, name)
    if not name.strip() or len(name) > LONGEST or not name.isprintable():
        raise checks.fail(field, f"printable texts of 1 to {LONGEST} letters", name)
    try:
        int(name)
    except ValueError:
        return
    raise checks.fail(field, "names that are no whole numbers, which would be taken for numbers of arms", name)


def unknown_name(given: str, names: tuple[str, ...]) -> ValueError:
    """The error for a text that is the name of no arm."""
    few = ", ".join(map(shortened, names)) if len(names) <= checks.FEW else f"{len(names)} names"
    error = checks.fail("arm", f"the number of an arm or one of {few}", given)
    return ValueError(f"{error}{checks.suggestion(given, names)}")


def pairs(arms: Iterable[Any], rewards: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Each arm with its reward, from two lists."""
    if isinstance(arms, str | bytes):
        raise checks.fail("arms", "a list, with an arm for each reward", arms)
    try:
        arms, rewards = list(arms), list(rewards)
    except TypeError:
        given = f"{checks.shown(arms)} and {checks.shown(rewards)}"
        raise ValueError(f"arms and rewards must be lists, got {given}") from None
    if len(arms) != len(rewards):
        raise ValueError(f"arms and rewards must be equally many, got {len(arms)} and {len(rewards)}")
    return list(zip(arms, rewards, strict=True))


def shortened(name: str) -> str:
    """Return a name as tables and figures show it."""
    return name if len(name) <= LONGEST_SHOWN else f"{name[: LONGEST_SHOWN - 1]}…"
