"""Who leads, in O(log K): a tournament tree over arms with the leader taken out.

Node 1 is the winner, nodes 2i and 2i + 1 played for node i, an arm waits at its leaf. The leader stands aside; the root
is then the runner-up, and when the leader falls behind, the two swap places and one path is played again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.dispatch import jitable

U = np.uint64
ONE = U(1)


class Tournament(NamedTuple):
    index: NDArray[np.float64]  # (2 leaves,): the index of each node's winner
    arm: NDArray[np.uint64]  # (2 leaves,): its arm
    leaf: NDArray[np.uint64]  # (arms,): where an arm waits; they move as arms swap places


def make_tournament(arms: int) -> Tournament:
    leaves = 1 << max(arms - 1, 0).bit_length()
    return Tournament(np.empty(2 * leaves), np.empty(2 * leaves, np.uint64), np.empty(arms, np.uint64))


@jitable
def seat(tree, arm, index):
    """Put an arm at its first leaf."""
    leaf = tree.index.shape[0] // 2 + arm
    tree.leaf[arm] = leaf
    tree.index[leaf] = index
    tree.arm[leaf] = arm


@jitable
def play_all(tree):
    """Play every match once all arms are seated; return the leader, who then stands aside."""
    arms = tree.leaf.shape[0]
    leaves = tree.index.shape[0] // 2
    for empty in range(leaves + arms, 2 * leaves):
        tree.index[empty] = -np.inf
        tree.arm[empty] = arms
    for node in range(leaves - 1, 0, -1):
        winner = 2 * node
        if tree.index[winner + 1] > tree.index[winner]:  # leaves are in the order of arms: ties go left
            winner += 1
        tree.index[node] = tree.index[winner]
        tree.arm[node] = tree.arm[winner]
    leader = tree.arm[1]
    play_path(tree, tree.leaf[leader], U(arms), -np.inf)
    return leader


@jitable
def swap_leader(tree, leader, index):
    """Let the runner-up take over from a leader whose index has fallen to `index`; return the new leader."""
    taking_over = tree.arm[1]
    leaf = tree.leaf[taking_over]
    tree.leaf[leader] = leaf
    play_path(tree, leaf, leader, index)
    return taking_over


@jitable
def play_path(tree, node, arm, index):
    """Put (arm, index) at a node and play its matches up to the root; the lower arm wins ties."""
    tree.index[node] = index
    tree.arm[node] = arm
    while node > ONE:
        other = node ^ ONE
        other_arm = tree.arm[other]
        other_index = tree.index[other]
        # Without branches: who wins cannot be foretold, and a wrong guess costs more than the whole match.
        loses = U(other_index > index) | (U(other_index == index) & U(other_arm < arm))
        arm = arm ^ ((arm ^ other_arm) * loses)
        index = max(index, other_index)
        node >>= ONE
        tree.index[node] = index
        tree.arm[node] = arm
