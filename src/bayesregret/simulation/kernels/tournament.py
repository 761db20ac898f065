"""Tournament tree over all arms but the leader: finds the next leader in O(log K).

Node 1 is the winner, node i holds the winner of nodes 2i and 2i + 1, and each arm has a leaf. The leader is not in the
tree, so the root is the runner-up; when the leader falls behind, the two swap places and one path is replayed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.dispatch import jitable

U = np.uint64
ONE = U(1)


class Tournament(NamedTuple):
    indices: NDArray[np.float64]  # (2 * leaves,): the index of each node's winner
    arms: NDArray[np.uint64]  # (2 * leaves,): its arm
    leaves: NDArray[np.uint64]  # (arms,): the leaf of each arm; it changes as arms swap places


def make_tournament(arms: int) -> Tournament:
    leaves = 1 << max(arms - 1, 0).bit_length()
    return Tournament(np.empty(2 * leaves), np.empty(2 * leaves, np.uint64), np.empty(arms, np.uint64))


@jitable
def seat(tree, arm, index):
    """Put an arm at its first leaf."""
    leaf = tree.indices.shape[0] // 2 + arm
    tree.leaves[arm] = leaf
    tree.indices[leaf] = index
    tree.arms[leaf] = arm


@jitable
def play_all(tree):
    """Play every match once all arms are seated; remove the leader from the tree and return it."""
    arms = tree.leaves.shape[0]
    leaves = tree.indices.shape[0] // 2
    for empty in range(leaves + arms, 2 * leaves):
        tree.indices[empty] = -np.inf
        tree.arms[empty] = arms
    for node in range(leaves - 1, 0, -1):
        winner = 2 * node
        if tree.indices[winner + 1] > tree.indices[winner]:  # leaves are in the order of arms: ties go left
            winner += 1
        tree.indices[node] = tree.indices[winner]
        tree.arms[node] = tree.arms[winner]
    leader = tree.arms[1]
    play_path(tree, tree.leaves[leader], U(arms), -np.inf)
    return leader


@jitable
def swap_leader(tree, leader, index):
    """Let the runner-up take over from a leader whose index has fallen to `index`; return the new leader."""
    taking_over = tree.arms[1]
    leaf = tree.leaves[taking_over]
    tree.leaves[leader] = leaf
    play_path(tree, leaf, leader, index)
    return taking_over


@jitable
def play_path(tree, node, arm, index):
    """Put (arm, index) at a node and play its matches up to the root; the lower arm number wins ties."""
    tree.indices[node] = index
    tree.arms[node] = arm
    while node > ONE:
        other = node ^ ONE
        other_arm = tree.arms[other]
        other_index = tree.indices[other]
        # Without branches: the winner is unpredictable, and a mispredicted branch costs more than the match.
        loses = U(other_index > index) | (U(other_index == index) & U(other_arm < arm))
        arm = arm ^ ((arm ^ other_arm) * loses)
        index = max(index, other_index)
        node >>= ONE
        tree.indices[node] = index
        tree.arms[node] = arm
