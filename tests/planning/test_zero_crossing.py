"""Where a function known with errors crosses zero."""

import math

import numpy as np
import pytest

from bayesregret.planning.zero_crossing import Crossing, SampledFunction, search
from bayesregret.simulation.estimates import Estimate


def sweep(*means, stderr=0.5):
    return SampledFunction(tuple(map(float, range(len(means)))), tuple(Estimate(mean, stderr) for mean in means))


def test_it_is_linear_between_points():
    found = sweep(-2.0, -1.0, 1.0, 2.0).crossing()
    assert found.at == 1.5
    assert found.low < found.at < found.high == pytest.approx(1.99)


def test_it_is_the_last_rise():
    assert sweep(-1.0, 1.0, -1.0, 1.0, stderr=0.0).crossing() == Crossing(2.5, 2.5, 2.5)


@pytest.mark.parametrize("means", [(1.0, 2.0), (-1.0, -2.0), (-1.0, 1.0, -1.0)])
def test_there_may_be_none(means):
    assert sweep(*means).crossing() is None


def test_an_end_that_is_not_found_is_that_of_the_range():
    assert sweep(-0.1, 0.1).crossing() == Crossing(0.5, 0.0, 1.0)


@pytest.mark.parametrize(
    ("means", "at"), [((-2.0, -1.0), 1.0), ((-2.0, -0.02), 0.5), ((-0.1, -0.1), 0.0), ((-2.0, 0.0), 0.5)]
)
def test_where_it_may_rise_already(means, at):
    stderr = 1.0 / 1.96 if means[1] > -0.5 else 0.1
    assert sweep(*means, stderr=stderr).earliest() == pytest.approx(at, abs=0.02)


def test_another_rule_says_when_to_stop():
    found = search(lambda x: Estimate(x, 0.1), [1.0, 2.0, 3.0, 4.0], 3, is_enough=lambda sweep: len(sweep.points) == 3)
    assert found.points == (1.0, 2.0, 3.0)


def test_the_search_comes_close_and_does_not_go_on_beyond():
    looked_at = []

    def function(x):
        looked_at.append(x)
        return Estimate(x * x - 2.0, 1e-6)

    found = search(function, [0.0, 1.0, 2.0, 3.0, 4.0], 20).crossing()
    assert found.at == pytest.approx(math.sqrt(2), abs=1e-4)
    assert found.low < math.sqrt(2) < found.high
    assert max(looked_at) == 2.0


def test_whole_numbers_are_looked_at_once():
    looked_at = []

    def function(x):
        looked_at.append(x)
        return Estimate(x - 9.5, 1e-6)

    found = search(function, [1, 2, 4, 8, 16], 20, round)
    assert 9.0 <= found.crossing().at <= 10.0
    assert len(looked_at) == len(set(looked_at))
    assert all(x == int(x) for x in looked_at)


def test_without_a_crossing_there_is_nothing_to_come_closer_to():
    assert search(lambda x: Estimate(-1.0, 0.1), [0.0, 1.0], 5).points == (0.0, 1.0)


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    """A line through 2 with one error for the whole of it, as common random numbers give; the control is 2.5."""
    rng = np.random.default_rng(3)
    covered, control = 0, 0
    for off in rng.normal(0.0, 0.2, size=400):
        found = SampledFunction(
            (0.0, 1.0, 3.0, 4.0), tuple(Estimate(x - 2.0 + off, 0.2) for x in (0.0, 1.0, 3.0, 4.0))
        ).crossing()
        covered += found.low <= 2.0 <= found.high
        control += found.low <= 2.6 <= found.high
    assert 0.95 - 4 * 0.011 < covered / 400 < 0.95 + 4 * 0.011
    assert control / 400 < 0.5
