"""Series of all kinds of Bernoulli arms while the level falls: what every move adds to regret and pulls.

Complex numbers are kept in blocks, for the short loops of point_loops.py.
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
    copy,
    fill,
    from_blocks,
    middle,
    multiply,
    next_term,
    real_dot,
    scaled,
    share_products,
    split,
    square,
    squares,
    to_blocks,
    zero_blocks,
)
from bayesregret.exact.power_series import Series

# Arms that tie share pulls unevenly. If an arm is at a level with a chance below this, three of them are there too
# rarely to matter, and the shares change evenly from arm to arm.
RARELY = 1e-3
# Up to so many arms of a kind, their sum is cheapest by its terms.
FEW = 9


class Book(NamedTuple):
    """What is kept while moves are made, in blocks of points; regret and pulls with their sign turned.

    Pulls are in `shared` and `first`, by kinds, or, where arms of a level share them unevenly, in `apart` and `single`.
    """

    old: Array  # (blocks, kinds, block): laws before a group's moves
    new: Array  # and after
    regret: Array  # (blocks, block)
    shared: Array  # (blocks, kinds, block): pulls of all arms of a kind
    first: Array  # (blocks, kinds, block): pulls of its first arm
    apart: Array  # (blocks, block)
    single: Array  # (arms,): their sums until the horizon
    weights: Array  # (blocks, block): the real part of their product with a series is the sum until the horizon
    arm_kind: NDArray[np.int64]  # (arms,)
    copies: NDArray[np.int64]  # (kinds,)
    scratch: Array  # (several, block), the last of them as many as there are arms


# Rows of scratch.
LAW, LOSS, OTHERS, POWER, SUMS, A, B, C, LADDER = range(9)


def make_book(points: int, arm_kind: NDArray[np.int64], weights: Series) -> Book:
    kinds, blocks = int(arm_kind.max()) + 1, -(-points // BLOCK)
    return Book(
        old=zero_blocks(blocks, kinds),
        new=zero_blocks(blocks, kinds),
        regret=zero_blocks(blocks),
        shared=zero_blocks(blocks, kinds),
        first=zero_blocks(blocks, kinds),
        apart=zero_blocks(blocks),
        single=np.zeros(len(arm_kind)),
        weights=to_blocks(weights),
        arm_kind=arm_kind,
        copies=np.bincount(arm_kind),
        scratch=zero_blocks(LADDER + len(arm_kind)),
    )


def start_batch(book: Book, laws: Series) -> None:
    """Take the laws as they are now, free of rounding on the way."""
    for kind, law in enumerate(laws):
        book.old[:, kind] = to_blocks(law)


def regret_of(book: Book, points: int) -> Series:
    return -from_blocks(book.regret, points)


def rounds_of(book: Book, points: int) -> Series:
    return -from_blocks(book.apart + book.shared.sum(axis=1), points)


def pulls_of_arms(book: Book) -> Array:
    """Pulls until the horizon: within a kind they change evenly from the first arm, its ties' first, to the last."""
    pulls = -book.single
    for kind, copies in enumerate(book.copies.tolist()):
        each = _until_horizon(book, book.shared, kind) / copies
        ahead = _until_horizon(book, book.first, kind) - each
        pulls[book.arm_kind == kind] += each + ahead * np.linspace(1.0, -1.0, copies) * (copies > 1)
    return pulls


def _until_horizon(book: Book, series: Array, kind: int) -> float:
    return -float(sum(real_dot(*blocks) for blocks in zip(book.weights, series[:, kind], strict=True)))


def make_moves(book: Any, law: Series, loss: Series, kind: Any, group: Any, ordered: Any, freed: Any) -> None:
    """Make the moves whose changes of law and loss are the rows; whole groups only."""
    for number in range(book.weights.shape[0]):
        for row in (LAW, LOSS):
            fill(book.scratch[row], 0.0)
        move_block(block_of(book, number), law, loss, number * BLOCK, kind, group, ordered, freed)


@jitable
def block_of(book, i):
    return Book(
        book.old[i],
        book.new[i],
        book.regret[i],
        book.shared[i],
        book.first[i],
        book.apart[i],
        book.single,
        book.weights[i],
        book.arm_kind,
        book.copies,
        book.scratch,
    )


@jitable
def move_block(book, law, loss, start, kind, group, ordered, freed):
    row = 0
    while row < kind.shape[0]:
        end = row + 1
        while end < kind.shape[0] and group[end] == group[row]:
            end += 1
        for each in range(row, end):
            split(law[each], start, book.scratch[LAW])
            add(book.old[kind[each]], book.scratch[LAW], book.new[kind[each]])
        if ordered[row] and end > row + 1:
            move_arm_by_arm(book, law, loss, start, kind, row, end)
        else:
            for each in range(row, end):
                if end > row + 1:
                    split(law[each], start, book.scratch[LAW])
                split(loss[each], start, book.scratch[LOSS])
                move_kind(book, kind[each], ordered[row], freed[each])
        for each in range(row, end):
            copy(book.new[kind[each]], book.old[kind[each]])
        row = end


@rarely_called
def move_kind(book, kind, ordered, freed):
    """All arms of one kind move: one after the other where order matters."""
    copies = book.copies[kind]
    law, power, sums = book.scratch[LAW], book.scratch[POWER], book.scratch[SUMS]
    in_turn = ordered and copies > 1
    if in_turn and copies <= FEW:
        few_terms(book, kind, copies)
    elif in_turn:
        geometric_sum(book, kind, copies)
    if in_turn and freed > RARELY:
        multiply_others(book, kind, sums)
        share_pulls(book, kind)
        add_product(book.apart, sums, law)
    else:
        if copies > 1:
            copy(book.old[kind], power)
            raise_to(power, copies - 1, book.scratch[A])
        else:
            fill(power, 1.0)
        multiply_others(book, kind, power)
        if in_turn:
            multiply_others(book, kind, sums)
        else:
            scaled(power, float(copies), sums)
        share_products(power, book.first[kind], book.shared[kind], law, sums)
    add_product(book.regret, sums, book.scratch[LOSS])


@jitable
def multiply_others(book, kind, x):
    """Multiply by the laws of all arms of other kinds."""
    for other in range(book.copies.shape[0]):
        if other != kind:
            multiply_power(book, book.old[other], book.copies[other], x)


@rarely_called
def share_pulls(book, kind):
    """Pulls of each arm of the kind: with `done` arms before it, law others old^(copies - 1 - done) new^done."""
    copies, power = book.copies[kind], book.scratch[POWER]
    copy(book.weights, book.scratch[LADDER])
    multiply(book.scratch[LADDER], book.scratch[LAW])
    multiply_others(book, kind, book.scratch[LADDER])
    for step in range(LADDER + 1, LADDER + copies):
        copy(book.scratch[step - 1], book.scratch[step])
        multiply(book.scratch[step], book.old[kind])
    fill(power, 1.0)
    step = LADDER + copies
    for arm in range(book.arm_kind.shape[0]):
        if book.arm_kind[arm] == kind:
            step -= 1
            book.single[arm] += real_dot(book.scratch[step], power)
            multiply(power, book.new[kind])


@rarely_called
def move_arm_by_arm(book, law, loss, start, kind, row, end):
    """Several kinds meet a level: their arms move one after the other, by number."""
    others = book.scratch[OTHERS]
    for arm in range(book.arm_kind.shape[0]):
        for each in range(row, end):
            if kind[each] == book.arm_kind[arm]:
                split(law[each], start, book.scratch[LAW])
                split(loss[each], start, book.scratch[LOSS])
                fill(others, 1.0)
                for other in range(book.copies.shape[0]):
                    gone = arms_gone(book, other, arm, kind, row, end)
                    left = book.copies[other] - gone - (1 if other == kind[each] else 0)
                    multiply_power(book, book.old[other], left, others)
                    multiply_power(book, book.new[other], gone, others)
                add_product(book.regret, others, book.scratch[LOSS])
                multiply(others, book.scratch[LAW])
                add_to(book.apart, others)
                book.single[arm] += real_dot(book.weights, others)


@jitable
def arms_gone(book, other, arm, kind, row, end):
    """How many arms of a kind have moved before this arm."""
    moves = False
    for each in range(row, end):
        moves = moves or kind[each] == other
    gone = 0
    for before in range(arm):
        if moves and book.arm_kind[before] == other:
            gone += 1
    return gone


@rarely_called
def few_terms(book, kind, terms):
    """In SUMS the sum of new^q old^(terms - 1 - q) over q < terms, in powers of the middle m and the half change h:

    ((m + h)^terms - (m - h)^terms) / (2 h) = sum over odd j of binomial(terms, j) m^(terms - j) h^(j - 1).
    """
    law, sums = book.scratch[LAW], book.scratch[SUMS]
    middle_squared, half_squared, power = book.scratch[A], book.scratch[B], book.scratch[C]
    squares(book.old[kind], law, middle_squared, half_squared)
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
        middle(book.old[kind], law, power)
        multiply(sums, power)


@rarely_called
def geometric_sum(book, kind, terms):
    """The same for many terms, by doubling."""
    old, new, both, sums = book.scratch[A], book.scratch[B], book.scratch[C], book.scratch[SUMS]
    copy(book.old[kind], old)
    copy(book.new[kind], new)
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
            multiply(sums, book.old[kind])
            add_to(sums, new)
            multiply(old, book.old[kind])
            multiply(new, book.new[kind])


@rarely_called
def multiply_power(book, law, power, x):
    """Multiply by a power of a law, by repeated squaring."""
    squared = book.scratch[A]
    copy(law, squared)
    while power > 0:
        if power % 2 == 1:
            multiply(x, squared)
        power //= 2
        if power > 0:
            square(squared)


@rarely_called
def raise_to(x, power, squared):
    """x to a power of at least 1, in place."""
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
