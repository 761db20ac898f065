"""Thompson sampling on a linear belief: most draws need not be made.

Let l be the arm with the highest mean. In a draw of the parameter, arm a is a rival if its mean reward is above l's,
that is, if a standard normal variable is above lead_a, l's lead over a in deviations. Let level_a be at most lead_a,
and q_a the chance of such a variable above it. If the q_a sum up to less than 1, one coin takes l with the chance that
they leave, or calls an arm, a with chance q_a. The parameter is then drawn given that a's variable is above level_a.
If a is a rival in this draw, and a second coin with chance 1 / (number of rivals) agrees, the best arm of the draw is
taken, and otherwise l. So a draw with rivals is made once for each of them and agreed to in one case of as many (Karp
and Luby 1983): it has the chance that it should have, and l the chance that there are no rivals.

While l is repeated, variances of leads only fall, so levels hold until its mean has moved by more than they allow for.
"""

from __future__ import annotations

import math

import numpy as np

from bayesregret.contracts import lead_root, least_leads, mean_now, means_at, repeat, repeated
from bayesregret.dispatch import jitable
from bayesregret.policies.linear_selection import draw_normals, first_highest, highest_mean
from bayesregret.rng import uniform

# What `memory` holds: the arm l, when its rewards in a row began, what must be left of its variance and between what
# its move must be for the levels to hold, the chance that an arm is called, and the rewards in all before which no new
# levels are tried. After that each arm's place in TAILS.
LEADER, BEGAN, DOUBT, LOW, HIGH, CALLED, AGAIN, HEAD = range(8)
# Levels allow for moves by this share of a deviation, and are set anew when this share of the variance is left.
MOVES, STALE = 0.5, 0.4
# Where arms would be called more often, it is cheaper to make all draws, until there are so many times as many rewards.
MOST_CALLED, PATIENCE = 0.5, 1.25
# Squares of levels are multiples of 1 / STEPS.
STEPS, HIGHEST_SQUARE = 8, 64


def _tails() -> np.ndarray:
    """Chances above the levels, after that of an arm without one. They are rounded as coins are: their sums are exact,
    and the draws given a level are none the wiser."""
    levels = [math.sqrt(step / STEPS) for step in range(STEPS * HIGHEST_SQUARE + 1)]
    return np.array([1.0] + [round(0.5 * math.erfc(level / math.sqrt(2.0)) * 2.0**53) * 2.0**-53 for level in levels])


TAILS = _tails()


def scratch_for_rivals(rank: int, columns: int) -> int:
    return columns + 2 * rank


@jitable
def choose_likely_leader(policy, posterior, stats, round_, stream):
    arm, pulls, move, doubt = repeated(posterior)
    memory = stats.memory
    is_same_row = memory[LEADER] == arm and memory[BEGAN] == beginning(stats, pulls)
    is_near = doubt > memory[DOUBT] and memory[LOW] <= move <= memory[HIGH]
    if not (is_same_row and is_near) and stats.received[0] >= memory[AGAIN]:
        set_levels(posterior, stats)
    coin, stream = uniform(stream)
    if coin >= memory[CALLED]:
        return int(memory[LEADER]), stream
    if memory[CALLED] >= 1.0:
        return choose_highest_draw(posterior, stats, stream)
    return choose_among_rivals(posterior, stats, coin, stream)


@jitable
def beginning(stats, pulls):
    """Tells a row of rewards from others of the same arm; never 0."""
    return stats.received[0] - pulls + 1


@jitable
def set_levels(posterior, stats):
    leader, arms, memory = highest_mean(posterior, stats), stats.counts.shape[0], stats.memory
    if leader != repeated(posterior)[0]:
        repeat(posterior, leader)
    _, pulls, _, doubt = repeated(posterior)
    places = memory[HEAD : HEAD + arms]
    memory[LOW], memory[HIGH] = least_leads(posterior, MOVES, places)
    places[leader] = HIGHEST_SQUARE  # no rival of its own
    called = 0.0
    for arm in range(arms):
        square = min(places[arm], HIGHEST_SQUARE)
        place = 1 + int(STEPS * square) if square > 0.0 else 0
        places[arm] = place
        called += TAILS[place]
    memory[LEADER], memory[BEGAN], memory[DOUBT] = leader, beginning(stats, pulls), STALE * doubt
    if called < MOST_CALLED:
        memory[CALLED], memory[AGAIN] = called, 0.0
    else:
        memory[CALLED], memory[AGAIN] = 1.0, PATIENCE * stats.received[0]


@jitable
def choose_highest_draw(posterior, stats, stream):
    """One draw of the parameter is a draw of all arms."""
    xi, means, _ = lay_out(posterior, stats)
    stream = draw_normals(xi, stream)
    means_at(posterior, xi, means)
    return first_highest(means), stream


@jitable
def choose_among_rivals(posterior, stats, coin, stream):
    """What is done when the coin calls an arm."""
    leader, rival = int(stats.memory[LEADER]), called_by(coin, stats)
    xi, means, root = lay_out(posterior, stats)
    lead_root(posterior, rival, root)
    deviation = length(root)
    z, stream = normal_above(math.sqrt((stats.memory[HEAD + rival] - 1.0) / STEPS), stream)
    if z * deviation <= mean_now(posterior, leader) - mean_now(posterior, rival):
        return leader, stream
    stream = draw_normals(xi, stream)
    put_along(xi, root, deviation, z)
    means_at(posterior, xi, means)
    rivals = 0
    for arm in range(stats.counts.shape[0]):
        rivals += means[arm] > means[leader]
    coin, stream = uniform(stream)
    return (first_highest(means) if coin * rivals < 1.0 else leader), stream


@jitable
def lay_out(posterior, stats):
    """Room for standard coordinates, for the means of all columns, and for a direction."""
    rank, columns = posterior.roots.shape
    means, rest = stats.scratch[:columns], stats.scratch[columns:]
    return rest[:rank], means, rest[rank : 2 * rank]


@jitable
def called_by(coin, stats):
    """The arm in whose part of [0, CALLED) the coin lies."""
    arm = 0
    while coin >= TAILS[int(stats.memory[HEAD + arm])]:
        coin -= TAILS[int(stats.memory[HEAD + arm])]
        arm += 1
    return arm


@jitable
def normal_above(level, stream):
    """A standard normal draw given that it is above a level of at least 0: exponential draws, some of which are kept
    (Robert 1995)."""
    rate = 0.5 * (level + math.sqrt(level * level + 4.0))
    while True:
        u, stream = uniform(stream)
        kept, stream = uniform(stream)
        z = level - math.log1p(-u) / rate
        if kept < math.exp(-0.5 * (z - rate) * (z - rate)):
            return z, stream


@jitable
def length(root):
    square = 0.0
    for i in range(root.shape[0]):
        square += root[i] * root[i]
    return math.sqrt(square)


@jitable
def put_along(xi, root, size, z):
    """Let the coordinate of xi along `root`, which has this length, be z."""
    along = 0.0
    for i in range(xi.shape[0]):
        along += xi[i] * root[i]
    by = (z - along / size) / size
    for i in range(xi.shape[0]):
        xi[i] += by * root[i]
