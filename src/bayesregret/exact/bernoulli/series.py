"""Series of all kinds of Bernoulli arms at the current threshold, and what every move adds to regret and pulls.

Complex numbers are stored in blocks, for the short loops of exact/complex_blocks.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.exact.complex_blocks import (
    BLOCK,
    add,
    add_product,
    add_scaled,
    add_to,
    add_two_products,
    copy,
    fill,
    from_blocks,
    middle,
    multiply,
    next_term,
    real_dot,
    scaled,
    split,
    square,
    squares,
    to_blocks,
    zero_blocks,
)
from bayesregret.exact.power_series import Series

# Arms that tie divide pulls unevenly. If the probability that an arm is at a threshold is below this, three arms are
# there too rarely to matter, and the pulls change linearly from arm to arm.
RARELY = 1e-3
# Up to this many arms of a kind, their sum is cheapest term by term.
FEW = 9


class SweepState(NamedTuple):
    """Series and sums of a sweep, in blocks of points; regret and pulls have the opposite sign.

    Pulls are in `kind_pulls` and `first_arm_pulls`, by kinds, or, where tied arms divide them unevenly, in
    `uneven_pulls` and `arm_pulls`.
    """

    old: Array  # (blocks, kinds, block): distributions before a group's moves
    new: Array  # and after
    regret: Array  # (blocks, block)
    kind_pulls: Array  # (blocks, kinds, block): pulls of all arms of a kind
    first_arm_pulls: Array  # (blocks, kinds, block): pulls of the first arm of a kind
    uneven_pulls: Array  # (blocks, block)
    arm_pulls: Array  # (arms,): uneven pulls of each arm until the horizon
    weights: Array  # (blocks, block): Re(weights @ series) is the sum of its running sums until the horizon
    arm_kind: NDArray[np.int64]  # (arms,)
    copies: NDArray[np.int64]  # (kinds,)
    scratch: Array  # (rows, block): see the constants below; the last rows are one per arm


# Rows of scratch.
DISTRIBUTION, LOSS, OTHERS, POWER, SUMS, A, B, C, LADDER = range(9)


def make_sweep_state(points: int, arm_kind: NDArray[np.int64], weights: Series) -> SweepState:
    kinds, blocks = int(arm_kind.max()) + 1, -(-points // BLOCK)
    return SweepState(
        old=zero_blocks(blocks, kinds),
        new=zero_blocks(blocks, kinds),
        regret=zero_blocks(blocks),
        kind_pulls=zero_blocks(blocks, kinds),
        first_arm_pulls=zero_blocks(blocks, kinds),
        uneven_pulls=zero_blocks(blocks),
        arm_pulls=np.zeros(len(arm_kind)),
        weights=to_blocks(weights),
        arm_kind=arm_kind,
        copies=np.bincount(arm_kind),
        scratch=zero_blocks(LADDER + len(arm_kind)),
    )


def set_distributions(state: SweepState, distributions: Series) -> None:
    """Set the current distributions to exact values, without accumulated rounding."""
    for kind, distribution in enumerate(distributions):
        state.old[:, kind] = to_blocks(distribution)


def regret_of(state: SweepState, points: int) -> Series:
    return -from_blocks(state.regret, points)


def rounds_of(state: SweepState, points: int) -> Series:
    return -from_blocks(state.uneven_pulls + state.kind_pulls.sum(axis=1), points)


def pulls_of_arms(state: SweepState) -> Array:
    """Pulls of each arm until the horizon; within a kind they change linearly from the first arm, which wins ties."""
    pulls = -state.arm_pulls
    for kind, copies in enumerate(state.copies.tolist()):
        each = _until_horizon(state, state.kind_pulls, kind) / copies
        ahead = _until_horizon(state, state.first_arm_pulls, kind) - each
        pulls[state.arm_kind == kind] += each + ahead * np.linspace(1.0, -1.0, copies) * (copies > 1)
    return pulls


def _until_horizon(state: SweepState, series: Array, kind: int) -> float:
    return -float(sum(real_dot(*blocks) for blocks in zip(state.weights, series[:, kind], strict=True)))


def apply_moves(
    state: Any, distribution: Series, loss: Series, kind: Any, group: Any, ordered: Any, freed: Any
) -> None:
    """Apply the moves whose changes of distribution and loss are the rows; whole groups only."""
    for number in range(state.weights.shape[0]):
        for row in (DISTRIBUTION, LOSS):
            fill(state.scratch[row], 0.0)
        move_block(block_of(state, number), distribution, loss, number * BLOCK, kind, group, ordered, freed)


@jitable
def block_of(state, i):
    return SweepState(
        state.old[i],
        state.new[i],
        state.regret[i],
        state.kind_pulls[i],
        state.first_arm_pulls[i],
        state.uneven_pulls[i],
        state.arm_pulls,
        state.weights[i],
        state.arm_kind,
        state.copies,
        state.scratch,
    )


@jitable
def move_block(state, distribution, loss, start, kind, group, ordered, freed):
    row = 0
    while row < kind.shape[0]:
        end = row + 1
        while end < kind.shape[0] and group[end] == group[row]:
            end += 1
        for each in range(row, end):
            split(distribution[each], start, state.scratch[DISTRIBUTION])
            add(state.old[kind[each]], state.scratch[DISTRIBUTION], state.new[kind[each]])
        if ordered[row] and end > row + 1:
            move_arm_by_arm(state, distribution, loss, start, kind, row, end)
        else:
            for each in range(row, end):
                if end > row + 1:
                    split(distribution[each], start, state.scratch[DISTRIBUTION])
                split(loss[each], start, state.scratch[LOSS])
                move_kind(state, kind[each], ordered[row], freed[each])
        for each in range(row, end):
            copy(state.new[kind[each]], state.old[kind[each]])
        row = end


@rarely_called
def move_kind(state, kind, ordered, freed):
    """Move all arms of one kind, one after the other where order matters."""
    copies = state.copies[kind]
    distribution, power, sums = state.scratch[DISTRIBUTION], state.scratch[POWER], state.scratch[SUMS]
    in_turn = ordered and copies > 1
    if in_turn and copies <= FEW:
        few_terms(state, kind, copies)
    elif in_turn:
        geometric_sum(state, kind, copies)
    if in_turn and freed > RARELY:
        multiply_others(state, kind, sums)
        add_pulls_of_each_arm(state, kind)
        add_product(state.uneven_pulls, sums, distribution)
    else:
        if copies > 1:
            copy(state.old[kind], power)
            raise_to(power, copies - 1, state.scratch[A])
        else:
            fill(power, 1.0)
        multiply_others(state, kind, power)
        if in_turn:
            multiply_others(state, kind, sums)
        else:
            scaled(power, float(copies), sums)
        add_two_products(power, state.first_arm_pulls[kind], state.kind_pulls[kind], distribution, sums)
    add_product(state.regret, sums, state.scratch[LOSS])


@jitable
def multiply_others(state, kind, x):
    """Multiply x by the distributions of all arms of other kinds."""
    for other in range(state.copies.shape[0]):
        if other != kind:
            multiply_power(state, state.old[other], state.copies[other], x)


@rarely_called
def add_pulls_of_each_arm(state, kind):
    """Add each arm's pulls, after `done` arms of the kind: change * others * old^(copies - 1 - done) * new^done."""
    copies, power = state.copies[kind], state.scratch[POWER]
    copy(state.weights, state.scratch[LADDER])
    multiply(state.scratch[LADDER], state.scratch[DISTRIBUTION])
    multiply_others(state, kind, state.scratch[LADDER])
    for step in range(LADDER + 1, LADDER + copies):
        copy(state.scratch[step - 1], state.scratch[step])
        multiply(state.scratch[step], state.old[kind])
    fill(power, 1.0)
    step = LADDER + copies
    for arm in range(state.arm_kind.shape[0]):
        if state.arm_kind[arm] == kind:
            step -= 1
            state.arm_pulls[arm] += real_dot(state.scratch[step], power)
            multiply(power, state.new[kind])


@rarely_called
def move_arm_by_arm(state, distribution, loss, start, kind, row, end):
    """Move the arms of several kinds at one threshold, one after the other in the order of their numbers."""
    others = state.scratch[OTHERS]
    for arm in range(state.arm_kind.shape[0]):
        for each in range(row, end):
            if kind[each] == state.arm_kind[arm]:
                split(distribution[each], start, state.scratch[DISTRIBUTION])
                split(loss[each], start, state.scratch[LOSS])
                fill(others, 1.0)
                for other in range(state.copies.shape[0]):
                    done = arms_done(state, other, arm, kind, row, end)
                    left = state.copies[other] - done - (1 if other == kind[each] else 0)
                    multiply_power(state, state.old[other], left, others)
                    multiply_power(state, state.new[other], done, others)
                add_product(state.regret, others, state.scratch[LOSS])
                multiply(others, state.scratch[DISTRIBUTION])
                add_to(state.uneven_pulls, others)
                state.arm_pulls[arm] += real_dot(state.weights, others)


@jitable
def arms_done(state, other, arm, kind, row, end):
    """Number of arms of a kind that have moved before this arm."""
    moves = False
    for each in range(row, end):
        moves = moves or kind[each] == other
    done = 0
    for before in range(arm):
        if moves and state.arm_kind[before] == other:
            done += 1
    return done


@rarely_called
def few_terms(state, kind, terms):
    """Write to SUMS the sum of new^q old^(terms - 1 - q) over q < terms, with the midpoint m and the half change h:

    ((m + h)^terms - (m - h)^terms) / (2 h) = sum over odd j of binomial(terms, j) m^(terms - j) h^(j - 1).
    """
    distribution, sums = state.scratch[DISTRIBUTION], state.scratch[SUMS]
    middle_squared, half_squared, power = state.scratch[A], state.scratch[B], state.scratch[C]
    squares(state.old[kind], distribution, middle_squared, half_squared)
    fill(sums, float(terms))
    binomial = float(terms)
    for j in range(3, terms + 1, 2):
        binomial *= float((terms - j + 2) * (terms - j + 1)) / float((j - 1) * j)
        if j > 3:
            next_term(sums, power, middle_squared, half_squared, binomial)
        else:
            scaled(middle_squared, float(terms), sums)
            add_scaled(sums, binomial, half_squared)
            copy(half_squared, power)
    if terms % 2 == 0:
        middle(state.old[kind], distribution, power)
        multiply(sums, power)


@rarely_called
def geometric_sum(state, kind, terms):
    """Write the sum of `few_terms` to SUMS for many terms, by doubling."""
    old, new, both, sums = state.scratch[A], state.scratch[B], state.scratch[C], state.scratch[SUMS]
    copy(state.old[kind], old)
    copy(state.new[kind], new)
    fill(sums, 1.0)
    bit = 1
    while 2 * bit <= terms:
        bit *= 2
    while bit > 1:
        bit //= 2
        add(old, new, both)
        multiply(sums, both)
        square(old)
        square(new)
        if terms & bit:
            multiply(sums, state.old[kind])
            add_to(sums, new)
            multiply(old, state.old[kind])
            multiply(new, state.new[kind])


@rarely_called
def multiply_power(state, distribution, power, x):
    """Multiply x by a power of a distribution, by repeated squaring."""
    squared = state.scratch[A]
    copy(distribution, squared)
    while power > 0:
        if power % 2 == 1:
            multiply(x, squared)
        power //= 2
        if power > 0:
            square(squared)


@rarely_called
def raise_to(x, power, squared):
    """Raise x to a power >= 1 in place."""
    copy(x, squared)
    while power % 2 == 0:
        square(squared)
        power //= 2
    copy(squared, x)
    while power > 1:
        square(squared)
        power //= 2
        if power % 2 == 1:
            multiply(x, squared)
