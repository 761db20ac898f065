"""What all kernels share: means and squares over a block, checkpoints inside a streak, the best arm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesregret.simulation.kernels.run import BLOCK, RunPlan, best_arm, make_record, mark_checkpoints, reduce_rows
from bayesregret.simulation.tally import Tally

pytestmark = pytest.mark.both


@given(st.integers(1, 64), st.integers(1, 5), st.sampled_from([0.0, 1.0, 1e8]))
def test_reduce_rows(size, columns, shift):
    rows = np.random.default_rng(size).standard_normal((64, columns)) + shift
    mean, squares = np.full(columns, np.nan), np.full(columns, np.nan)
    reduce_rows(rows, size, mean, squares)
    assert np.allclose(mean, rows[:size].mean(axis=0), rtol=1e-14, atol=1e-15)
    assert np.allclose(squares, rows[:size].var(axis=0) * size, rtol=1e-6 if shift > 1.0 else 1e-12, atol=1e-20)


def test_best_arm_is_the_first_of_the_best():
    assert best_arm(np.array([1.0, 3.0, 2.0, 3.0])) == 1
    assert best_arm(np.array([-1.0])) == 0


def test_checkpoints_inside_a_streak():
    plan = RunPlan(100, np.array([3, 10, 11, 20, 100]), np.zeros(1, np.uint8), np.zeros(1, np.int64), delay=0, batch=1)
    curve = np.full(5, np.nan)
    assert mark_checkpoints(plan, curve, 0, 0, 2, 0.0, 0.5) == 0
    assert mark_checkpoints(plan, curve, 0, 2, 9, 1.0, 2.0) == 3  # rounds 3 to 11
    assert curve[:3].tolist() == [3.0, 17.0, 19.0]
    assert np.isnan(curve[3:]).all()
    assert mark_checkpoints(plan, curve, 3, 11, 89, 19.0, 0.0) == 5
    assert curve[3:].tolist() == [19.0, 19.0]
    assert mark_checkpoints(plan, curve, 5, 100, 1, 19.0, 1.0) == 5


@pytest.mark.parametrize("sizes", [[1], [64], [65], [64, 64, 3], [200, 10]])
def test_tally_is_the_mean_and_squares_of_all_runs(sizes):
    rng = np.random.default_rng(1)
    tally, everything = Tally(2, 3), []
    for size in sizes:
        rows = 1e6 + rng.standard_normal((size, 3))
        record = make_record(size, 2, 3)
        record.final_regret[:] = rows[:, 2]
        record.best_pulls[:] = 1
        record.pulls[:] = [size, 2 * size]
        for block in range(len(record.block_mean)):
            part = rows[block * BLOCK : (block + 1) * BLOCK]
            reduce_rows(part, len(part), record.block_mean[block], record.block_squares[block])
        tally.add(record)
        everything.append(rows)
    rows = np.concatenate(everything)
    assert tally.runs == len(rows)
    assert tally.pulls.tolist() == [len(rows), 2 * len(rows)]
    assert np.array_equal(tally.kept().final_regret, rows[:, 2])
    assert np.allclose(tally.curve_mean, rows.mean(axis=0), rtol=1e-15)
    assert np.allclose(tally.curve_squares, rows.var(axis=0) * len(rows), rtol=1e-8, atol=1e-8)
