"""Tables of widths, computed once for each number of pulls and not once for each round.

An index that is a mean plus a width needs a division and a square root that depend on the number of pulls alone.

Arms share a row of the table if their priors have the same pseudo-count and one pull reduces their variance alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.contracts import arm_index, inverse_pulls, prior_pulls, prior_total, variance_proxy
from bayesregret.contracts.fast import centre_and_width, for_arm, mean_plus_width, width_after
from bayesregret.dispatch import compile_kernel, jitable

U = np.uint64
ONE = U(1)
TABLE_ENTRIES = 1 << 20  # of all rows together


class Tabulated(NamedTuple):
    """A policy with a `confidence_width` or a `width_after`, as a table of 1 / pulls and of the width."""

    start: NDArray[np.float64]  # (arms,): prior totals
    row: NDArray[np.uint64]  # (arms,): start of the arm's row in the table
    table: NDArray[np.float64]  # 1 / pulls and the width, count after count, row after row


class TabulatedAtFirst(NamedTuple):
    """A table for the first counts; beyond it the formula itself is used."""

    first: Tabulated
    depth: Any  # counts in each row
    policy: Any


class TabulatedArm(NamedTuple):
    """The table of one arm."""

    start: Any
    row: Any
    table: NDArray[np.float64]


def tabulate(policy: Any, belief: Any, arms: int, horizon: int) -> Tabulated | TabulatedAtFirst:
    """Tables as deep as the horizon, or as TABLE_ENTRIES allows."""
    alike, start = np.empty((arms, 2)), np.empty(arms)
    for arm in range(arms):
        alike[arm] = prior_pulls(belief, arm), variance_proxy(belief, arm, 1)
        start[arm] = prior_total(belief, arm)
    _, first, row = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    depth = min(horizon + 2, TABLE_ENTRIES // len(first))
    table = np.empty((len(first), depth, 2))
    compile_kernel(_fill_table, type(policy), type(belief))(policy, belief, first, table)
    made = Tabulated(start, (2 * depth * row.ravel()).astype(np.uint64), table.ravel())
    return made if depth == horizon + 2 else TabulatedAtFirst(made, U(depth), policy)


def _fill_table(policy: Any, belief: Any, arms: NDArray[np.int64], table: NDArray[np.float64]) -> None:
    for row in range(table.shape[0]):
        for count in range(table.shape[1]):
            table[row, count, 0] = inverse_pulls(belief, arms[row], count)
            table[row, count, 1] = width_after(policy, belief, arms[row], count)


@for_arm.implement(Tabulated)
@jitable
def tabulated_arm(policy, arm):
    return TabulatedArm(policy.start[arm], policy.row[arm], policy.table)


@centre_and_width.implement(TabulatedArm)
@jitable
def tabulated_parts_of_arm(policy, model, arm, count, total):
    """The same bits as the policy's own formula."""
    entry = policy.row + (U(count) << ONE)
    return (policy.start + total) * policy.table[entry], policy.table[entry + ONE]


@centre_and_width.implement(Tabulated)
def tabulated_parts(policy, model, arm, count, total):
    return tabulated_parts_of_arm(tabulated_arm(policy, arm), model, arm, count, total)


@centre_and_width.implement(TabulatedAtFirst)
def tabulated_parts_at_first(policy, model, arm, count, total):
    if U(count) < policy.depth:
        return centre_and_width(policy.first, model, arm, count, total)
    return centre_and_width(policy.policy, model, arm, count, total)


arm_index.implement(Tabulated)(mean_plus_width)
arm_index.implement(TabulatedArm)(mean_plus_width)
arm_index.implement(TabulatedAtFirst)(mean_plus_width)
