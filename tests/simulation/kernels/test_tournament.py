"""The tournament tree against a plain argmax."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesregret.simulation.kernels.tournament import make_tournament, play_all, seat, swap_leader

pytestmark = pytest.mark.both

few_values = st.sampled_from([0.0, 1.0, 2.0, -np.inf, np.inf])  # so that ties are common


@given(st.lists(few_values, min_size=1, max_size=17), st.lists(few_values, max_size=40))
def test_leader_and_runner_up_are_the_first_two(values, falls):
    values = np.array(values)
    tree = make_tournament(len(values))
    for arm, value in enumerate(values):
        seat(tree, arm, value)
    leader = int(play_all(tree))
    assert leader == np.argmax(values)
    for fall in falls:
        others = np.delete(values, leader)
        if len(others) == 0:
            break
        first = int(np.argmax(others))
        runner_up = first + (first >= leader)
        if others[first] > -np.inf:  # else the runner-up is an empty seat, which never takes over
            assert int(tree.arms[1]) == runner_up
            assert tree.indices[1] == others[first]
        values[leader] = min(fall, others[first])  # the leader falls level or behind, and the runner-up takes over
        if others[first] == -np.inf:
            break
        leader = int(swap_leader(tree, leader, values[leader]))
        assert leader == runner_up


def test_one_arm_leads_against_nobody():
    tree = make_tournament(1)
    seat(tree, 0, 3.0)
    assert play_all(tree) == 0
    assert tree.indices[1] == -np.inf


@given(st.permutations(range(9)))
def test_equal_arms_stand_in_order(order):
    """Of arms that all fall to the same index, in whatever order, the lowest-numbered is next."""
    tree = make_tournament(9)
    for arm in range(9):
        seat(tree, arm, float(order[arm]))
    leader = int(play_all(tree))
    for _ in range(8):
        leader = int(swap_leader(tree, leader, -1.0))
    assert order[leader] == 0
    assert int(tree.arms[1]) == (0 if leader != 0 else 1)
