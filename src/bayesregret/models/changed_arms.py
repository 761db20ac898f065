"""Bandits of some of the arms, and of one arm more, by the arguments of the constructor that have an entry per arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesregret import checks

if TYPE_CHECKING:
    from bayesregret.models.bandit import Bandit


def subset(bandit: Bandit, arms: Sequence[int]) -> Bandit:
    """Return the bandit of these arms."""
    _check_fields(bandit)
    kept = checked_arms(bandit, arms)
    given = bandit.settings()
    fewer = {name: given[name][kept] for name in bandit.arm_fields if isinstance(given[name], np.ndarray)}
    made: Bandit = type(bandit)(**(given | fewer))
    return made


def checked_arms(bandit: Bandit, arms: Sequence[int]) -> list[int]:
    kept = [checks.whole("arms", arm, 0, bandit.arms - 1) for arm in arms]
    if not kept or len(set(kept)) < len(kept):
        raise checks.fail("arms", "a list of different numbers of arms, at least one", list(arms))
    return kept


def with_arm(bandit: Bandit, fields: dict[str, Any]) -> Bandit:
    """Return the bandit with one arm more, which has these entries."""
    _check_fields(bandit)
    for name in fields:
        if name not in bandit.arm_fields:
            has = f"the prior of an arm of {bandit.a_kind} bandit must have the fields {', '.join(bandit.arm_fields)}"
            raise ValueError(f"{has}, got {checks.shown(name)}")
    given = bandit.settings()
    longer = {name: _longer(bandit, name, given[name], fields) for name in bandit.arm_fields}
    made: Bandit = type(bandit)(**(given | longer))
    return made


def _longer(bandit: Bandit, name: str, given: Any, fields: dict[str, Any]) -> Any:
    if name not in fields:
        if isinstance(given, np.ndarray):
            raise ValueError(f"{name} must be given for an arm of {bandit.a_kind} bandit")
        return given  # one number for all arms
    if np.ndim(given) < 2:
        return np.append(np.broadcast_to(given, bandit.arms), checks.real(name, fields[name]))
    columns = given.shape[1]
    may_be = f"a list of {columns} numbers"
    row = checks.array(name, fields[name], 1, may_be)
    if len(row) != columns:
        raise ValueError(f"{name} must be {may_be}, got {len(row)}")
    return np.vstack([given, row])


def _check_fields(bandit: Bandit) -> None:
    if not bandit.arm_fields:
        raise ValueError(
            f"bandit must be of a kind whose arms can change, got {bandit.a_kind} one, which has no arm_fields"
        )
