"""Limits of axes and labels of ticks."""

import math

import pytest

from bayesregret.plotting import draw
from bayesregret.plotting.scales import axis_limits, plain
from plotting.samples import one_trend


def test_a_linear_axis_of_regret_starts_at_zero():
    low, high = axis_limits((5.0, 10.0), "linear", zero=True)
    assert low == 0.0
    assert high > 10.0


def test_a_log_axis_leaves_room_on_both_sides():
    low, high = axis_limits((-5.0, 1.0, 100.0, math.inf, math.nan), "log")
    assert 0.5 < low < 1.0
    assert 100.0 < high < 200.0


@pytest.mark.parametrize("values", [(), (math.nan,), (math.inf, -math.inf)])
@pytest.mark.parametrize("scale", ["log", "linear"])
def test_an_axis_without_values_is_still_an_axis(values, scale):
    low, high = axis_limits(values, scale)
    assert 0.0 <= low < high


@pytest.mark.parametrize("value", [0.0, -3.0, 7.0])
def test_one_value_has_room(value):
    low, high = axis_limits((value, value), "linear")
    assert low < value < high


def ticks(figure):
    figure.draw_without_rendering()
    low, high = figure.axes[0].get_ylim()
    pairs = zip(figure.axes[0].get_yticks(), figure.axes[0].get_yticklabels(), strict=True)
    return [label.get_text() for at, label in pairs if low <= at <= high]


def test_ticks_of_few_decades_are_written_out():
    assert ticks(draw(one_trend((0.1, 4.0)))) == ["0.1", "0.2", "0.5", "1", "2"]
    assert ticks(draw(one_trend((10.0, 1000.0)))) == ["10", "20", "50", "100", "200", "500", "1,000"]


def test_ticks_of_many_decades_are_powers():
    assert ticks(draw(one_trend((1.0, 1e6))))[:2] == ["$10^{0}$", "$10^{1}$"]
    assert r"$2\times10^{5}$" in ticks(draw(one_trend((1e5, 1e6))))


def test_plain_numbers():
    assert [plain(x) for x in (-2.0, 0.5, 1000.0, 25_000.0)] == ["−2", "0.5", "1,000", "25,000"]
