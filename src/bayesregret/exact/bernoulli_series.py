"""Series of all kinds of Bernoulli arms while the level falls: what every move adds to regret and pulls.

Complex numbers are kept as real and imaginary parts, in the short loops of point_loops.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.exact.point_loops import (
    Complex,
    add,
    add_half,
    add_scaled,
    add_to,
    complex_zeros,
    copy,
    fill_one,
    multiply,
    scale,
    split,
    square,
    square_half,
    subtract_product,
)

# Arms that tie share pulls unevenly. If an arm is at a level with a chance below this, three of them are there too
# rarely to matter, and the shares change evenly from arm to arm.
RARELY = 1e-3
BLOCK = 128
# Up to so many arms of a kind, their sum is cheapest by its terms.
FEW = 9


class Book(NamedTuple):
    """What is kept while moves are made; a first axis is for blocks of points, which fit into the nearest cache."""

    old: Complex  # (kinds, points): laws before a group's moves
    new: Complex  # and after
    regret: Complex  # (points,)
    rounds: Complex
    shared: Complex  # (kinds, points): pulls of all arms of a kind
    first: Complex  # (kinds, points): pulls of its first arm
    weights: Complex  # whose product with a series is the sum until the horizon
    law: Complex  # (points,) scratch: a move's changes
    loss: Complex
    others: Complex  # scratch: the laws of all other arms
    a: Complex  # scratch
    b: Complex
    c: Complex
    h: Complex
    sums: Complex
    arm_kind: NDArray[np.int64]  # (arms,)
    copies: NDArray[np.int64]  # (kinds,)
    single: Array  # (arms,): pulls that are not in `shared`


def make_book(points: int, arm_kind: NDArray[np.int64], weights: NDArray[np.complex128]) -> Book:
    kinds, blocks = int(arm_kind.max()) + 1, -(-points // BLOCK)
    by_kind, by_point = (blocks, kinds, BLOCK), (blocks, BLOCK)
    kept = complex_zeros(*by_point)
    kept.re.ravel()[:points], kept.im.ravel()[:points] = weights.real, weights.imag
    return Book(
        old=complex_zeros(*by_kind),
        new=complex_zeros(*by_kind),
        regret=complex_zeros(*by_point),
        rounds=complex_zeros(*by_point),
        shared=complex_zeros(*by_kind),
        first=complex_zeros(*by_kind),
        weights=kept,
        law=complex_zeros(*by_point),
        loss=complex_zeros(*by_point),
        others=complex_zeros(*by_point),
        a=complex_zeros(*by_point),
        b=complex_zeros(*by_point),
        c=complex_zeros(*by_point),
        h=complex_zeros(*by_point),
        sums=complex_zeros(*by_point),
        arm_kind=arm_kind,
        copies=np.bincount(arm_kind),
        single=np.zeros(len(arm_kind)),
    )


def start_batch(book: Book, laws: NDArray[np.complex128]) -> None:
    """Take the laws as they are now, free of rounding on the way."""
    for kind, law in enumerate(laws):
        padded = np.zeros(book.old.re.shape[0] * BLOCK, np.complex128)
        padded[: len(law)] = law
        book.old.re[:, kind], book.old.im[:, kind] = padded.real.reshape(-1, BLOCK), padded.imag.reshape(-1, BLOCK)


def whole_series(part: Complex, points: int) -> NDArray[np.complex128]:
    """A series out of its blocks."""
    return np.asarray((part.re + 1j * part.im).ravel()[:points])


def pulls_of_arms(book: Book) -> Array:
    """Pulls until the horizon: within a kind they change evenly from the first arm, its ties' first, to the last."""
    pulls = book.single.copy()
    for kind, copies in enumerate(book.copies.tolist()):
        each = _until_horizon(book, book.shared, kind) / copies
        ahead = _until_horizon(book, book.first, kind) - each
        pulls[book.arm_kind == kind] += each + ahead * np.linspace(1.0, -1.0, copies) * (copies > 1)
    return pulls


def _until_horizon(book: Book, series: Complex, kind: int) -> float:
    return float(np.sum(book.weights.re * series.re[:, kind] - book.weights.im * series.im[:, kind]))


def make_moves(
    book: Any,
    law: NDArray[np.complex128],
    loss: NDArray[np.complex128],
    kind: Any,
    group: Any,
    ordered: Any,
    freed: Any,
) -> None:
    """Make the moves whose changes of law and loss are the rows; whole groups only."""
    for number in range(book.weights.re.shape[0]):
        start = number * BLOCK
        move_block(block_of(book, number), law, loss, start, kind, group, ordered, freed)


@jitable
def block_of(book, i):
    return Book(
        Complex(book.old.re[i], book.old.im[i]),
        Complex(book.new.re[i], book.new.im[i]),
        Complex(book.regret.re[i], book.regret.im[i]),
        Complex(book.rounds.re[i], book.rounds.im[i]),
        Complex(book.shared.re[i], book.shared.im[i]),
        Complex(book.first.re[i], book.first.im[i]),
        Complex(book.weights.re[i], book.weights.im[i]),
        Complex(book.law.re[i], book.law.im[i]),
        Complex(book.loss.re[i], book.loss.im[i]),
        Complex(book.others.re[i], book.others.im[i]),
        Complex(book.a.re[i], book.a.im[i]),
        Complex(book.b.re[i], book.b.im[i]),
        Complex(book.c.re[i], book.c.im[i]),
        Complex(book.h.re[i], book.h.im[i]),
        Complex(book.sums.re[i], book.sums.im[i]),
        book.arm_kind,
        book.copies,
        book.single,
    )


@jitable
def move_block(book, law, loss, start, kind, group, ordered, freed):
    row = 0
    while row < kind.shape[0]:
        end = row + 1
        while end < kind.shape[0] and group[end] == group[row]:
            end += 1
        for each in range(row, end):
            split(law[each], start, book.law)
            add(book.old.re[kind[each]], book.law.re, book.new.re[kind[each]])
            add(book.old.im[kind[each]], book.law.im, book.new.im[kind[each]])
        if ordered[row] and end > row + 1:
            move_arm_by_arm(book, law, loss, start, kind, row, end)
        else:
            for each in range(row, end):
                if end > row + 1:
                    split(law[each], start, book.law)
                split(loss[each], start, book.loss)
                move_kind(book, kind[each], ordered[row], freed[each])
        for each in range(row, end):
            copy(row_of(book.new, kind[each]), row_of(book.old, kind[each]))
        row = end


@rarely_called
def move_kind(book, kind, ordered, freed):
    """All arms of one kind move: one after the other where order matters."""
    copies = book.copies[kind]
    fill_one(book.others)
    for other in range(book.copies.shape[0]):
        if other != kind:
            multiply_power(book, book.old, other, book.copies[other])
    if ordered and copies > 1:
        if freed > RARELY:
            share_pulls(book, kind)
        else:
            copy(book.others, book.sums)
            multiply_power(book, book.old, kind, copies - 1)
            subtract_product(row_of(book.first, kind), book.others, book.law)
            copy(book.sums, book.others)
        if copies <= FEW:
            few_terms(book, kind, copies)
        else:
            geometric_sum(book, kind, copies)
        multiply(book.others, book.sums)
        if freed <= RARELY:
            subtract_product(row_of(book.shared, kind), book.others, book.law)
    else:
        multiply_power(book, book.old, kind, copies - 1)
        subtract_product(row_of(book.first, kind), book.others, book.law)
        scale(book.others, float(copies))
        subtract_product(row_of(book.shared, kind), book.others, book.law)
    subtract_product(book.rounds, book.others, book.law)
    subtract_product(book.regret, book.others, book.loss)


@jitable
def row_of(values, kind):
    return Complex(values.re[kind], values.im[kind])


@rarely_called
def share_pulls(book, kind):
    """Pulls of each arm of the kind: with `done` arms before it, others old^(copies - 1 - done) new^done."""
    done = 0
    for arm in range(book.arm_kind.shape[0]):
        if book.arm_kind[arm] == kind:
            copy(book.others, book.sums)  # `others` is needed again
            multiply_power(book, book.old, kind, book.copies[kind] - 1 - done)
            multiply_power(book, book.new, kind, done)
            book.single[arm] += pulls_until_horizon(book)
            copy(book.sums, book.others)
            done += 1


@rarely_called
def move_arm_by_arm(book, law, loss, start, kind, row, end):
    """Several kinds meet a level: their arms move one after the other, by number."""
    for arm in range(book.arm_kind.shape[0]):
        for each in range(row, end):
            if kind[each] == book.arm_kind[arm]:
                split(law[each], start, book.law)
                split(loss[each], start, book.loss)
                fill_one(book.others)
                for other in range(book.copies.shape[0]):
                    gone = arms_gone(book, other, arm, kind, row, end)
                    left = book.copies[other] - gone - (1 if other == kind[each] else 0)
                    multiply_power(book, book.old, other, left)
                    multiply_power(book, book.new, other, gone)
                book.single[arm] += pulls_until_horizon(book)
                subtract_product(book.rounds, book.others, book.law)
                subtract_product(book.regret, book.others, book.loss)


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


@jitable
def pulls_until_horizon(book):
    """Pulls of one arm that moves by `law` while the laws of all others make up `others`."""
    total = 0.0
    for q in range(book.law.re.shape[0]):
        re = book.others.re[q] * book.law.re[q] - book.others.im[q] * book.law.im[q]
        im = book.others.re[q] * book.law.im[q] + book.others.im[q] * book.law.re[q]
        total -= book.weights.re[q] * re - book.weights.im[q] * im
    return total


@rarely_called
def few_terms(book, kind, terms):
    """In `sums` the sum of new^q old^(terms - 1 - q) over q < terms, in powers of the middle m and the half change h:

    ((m + h)^terms - (m - h)^terms) / (2 h) = sum over odd j of binomial(terms, j) m^(terms - j) h^(j - 1).
    """
    copy(row_of(book.old, kind), book.a)
    add_half(book.a, book.law)
    if terms % 2 == 0:
        copy(book.a, book.c)
    square(book.a)
    square_half(book.law, book.b)
    fill_one(book.sums)
    scale(book.sums, float(terms))
    binomial = float(terms)
    for j in range(3, terms + 1, 2):
        binomial *= float((terms - j + 2) * (terms - j + 1)) / float((j - 1) * j)
        if j > 3:
            multiply(book.h, book.b)
        else:
            copy(book.b, book.h)
        multiply(book.sums, book.a)
        add_scaled(book.sums, book.h, binomial)
    if terms % 2 == 0:
        multiply(book.sums, book.c)


@rarely_called
def geometric_sum(book, kind, terms):
    """The same for many terms, by doubling."""
    copy(row_of(book.old, kind), book.a)
    copy(row_of(book.new, kind), book.b)
    fill_one(book.sums)
    bit = 1
    while 2 * bit <= terms:
        bit *= 2
    while bit > 1:
        bit //= 2
        copy(book.a, book.c)
        add_to(book.c, book.b)
        multiply(book.sums, book.c)
        square(book.a)
        square(book.b)
        if terms & bit:
            multiply(book.sums, row_of(book.old, kind))
            add_to(book.sums, book.b)
            multiply(book.a, row_of(book.old, kind))
            multiply(book.b, row_of(book.new, kind))


@rarely_called
def multiply_power(book, laws, kind, power):
    """Multiply `others` by a power of a kind's law, by repeated squaring."""
    if power <= 0:
        return
    copy(row_of(laws, kind), book.a)
    while True:
        if power % 2 == 1:
            multiply(book.others, book.a)
        power //= 2
        if power == 0:
            return
        square(book.a)
