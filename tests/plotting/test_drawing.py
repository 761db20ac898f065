"""What is in a figure: lines, bands, scales, labels, and what happens to values that an axis cannot show."""

import math
import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

from bayesregret.plotting import COLUMN, PAGE, draw
from bayesregret.plotting.drawing import edge_marks
from bayesregret.plotting.saving import rendered
from bayesregret.reproduction.table import Axis, Exact, Trend
from plotting.samples import (
    HARD_VALUES,
    difference_table,
    exact_difference_table,
    exact_table,
    one_trend,
    ranked_table,
    width_table,
)


def artists(figure, gid):
    found = figure.axes[0].findobj(lambda artist: artist.get_gid() == gid)
    return found[0] if found else None


def legend_of(figure):
    return figure.legends[0]


def test_every_trend_is_a_line_through_its_values():
    table = width_table()
    figure = draw(table)
    for i, trend in enumerate(table.trends):
        line = artists(figure, f"trend-{i}-line")
        assert line.get_xdata() == pytest.approx(table.points)
        shown = np.array(trend.values) > 0.0
        assert np.array(line.get_ydata())[shown] == pytest.approx(np.array(trend.values)[shown])


def test_bands_are_one_standard_error():
    figure = draw(width_table())
    corners = artists(figure, "trend-1-band").get_paths()[0].vertices
    at_one = sorted({y for x, y in corners if x == 1.0})
    assert at_one == pytest.approx([88.1 - 0.8, 88.1 + 0.8])
    assert artists(figure, "trend-2-band") is None  # a bound has no error


def test_regret_has_markers_and_bounds_have_dashes():
    figure = draw(width_table())
    styles = [artists(figure, f"trend-{i}-line") for i in range(4)]
    assert [line.get_linestyle() for line in styles] == ["-", "-", "--", "--"]
    assert [line.get_marker() for line in styles] == ["o", "s", "None", "None"]


def bars_and_marks():
    return width_table(
        y=Axis("regret / bound", "log", mark=1.0, mark_label="bound"),
        trends=(
            Trend("certified", "certified", "certified", (2.0, math.inf, 3.0, 4.0), form="bars"),
            Trend("bayes-ucb", "BayesUCB", "regret", (1.5, 1.6, 2.0, 3.0), (0.1,) * 4, form="marks"),
        ),
    )


def test_bars_begin_at_the_mark_and_end_at_the_values():
    figure = draw(bars_and_marks())
    segments = artists(figure, "trend-0-bars").get_segments()
    assert [(*map(tuple, segment),) for segment in segments] == [
        ((x, 1.0), (x, y)) for x, y in ((0.1, 2.0), (1.0, 3.0), (3.0, 4.0))
    ]
    assert artists(figure, "trend-0-line") is None


def test_marks_have_errors_and_no_line():
    figure = draw(bars_and_marks())
    marks = artists(figure, "trend-1-marks")
    assert marks.get_ydata() == pytest.approx([1.5, 1.6, 2.0, 3.0])
    assert marks.get_linestyle() == "None"
    assert artists(figure, "trend-1-marks-errors") is not None
    bar, mark = legend_of(figure).get_lines()[:2]
    assert (bar.get_linestyle(), mark.get_linewidth()) == ("-", 0.0)
    assert bar.get_alpha() < 1.0


def test_scales_and_labels():
    axes = draw(width_table()).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == (r"prior width $\sigma_0$", "Bayes regret")
    linear = draw(width_table(x=Axis("gap"), y=Axis("regret"))).axes[0]
    assert (linear.get_xscale(), linear.get_yscale()) == ("linear", "linear")


def test_the_legend_is_below_the_axes_and_inside_the_figure():
    for size in (COLUMN, PAGE):
        figure = draw(width_table(), size)
        legend = legend_of(figure).get_window_extent()
        assert legend.y1 <= figure.axes[0].get_tightbbox().y0
        assert figure.bbox.x0 <= legend.x0
        assert legend.x1 <= figure.bbox.x1
        assert figure.get_size_inches()[0] == size.width


def test_long_labels_are_broken_in_the_legend():
    trends = tuple(
        Trend(
            f"bound-{i}",
            f"a bound number {i} whose name is longer than any name of a bound should ever be",
            "printed",
            (1.0,) * 4,
        )
        for i in range(3)
    )
    figure = draw(width_table(trends=trends))
    assert legend_of(figure).get_window_extent().width <= figure.bbox.width
    assert "\n" in legend_of(figure).get_texts()[0].get_text()


def test_one_trend_needs_no_legend():
    assert draw(difference_table()).legends == []
    assert draw(width_table(), legend=False).legends == []


def test_values_below_a_log_axis_are_a_break_with_a_mark():
    table = width_table()
    figure = draw(table)
    assert np.isnan(artists(figure, "trend-2-line").get_ydata()[0])
    mark = artists(figure, "trend-2-edge")
    assert list(mark.get_xdata()) == [0.1]
    assert mark.get_marker() == "v"
    assert "below the axis" in [text.get_text() for text in legend_of(figure).get_texts()]


def test_marks_at_the_edge_do_not_hide_each_other():
    bounds = tuple(Trend(f"b{i}", f"b{i}", "printed", (-1.0, 1.0, 2.0, np.inf)) for i in range(3))
    marks = edge_marks(width_table(trends=bounds))
    places = [(mark.marker, mark.height) for mark in marks]
    assert len(set(places)) == len(places) == 6


def test_negative_values_are_drawn_on_a_linear_axis():
    figure = draw(one_trend((-5.0, 1.0, 2.0, 3.0), scale="linear"))
    assert figure.axes[0].get_ylim()[0] < -5.0
    assert edge_marks(one_trend((-5.0, 1.0, 2.0, 3.0), scale="linear")) == []


def test_a_point_between_breaks_is_still_seen():
    figure = draw(one_trend((-1.0, 5.0, -1.0, 7.0, 8.0)))
    assert list(artists(figure, "trend-0-alone").get_xdata()) == [2.0]


def test_a_tiny_value_does_not_squeeze_the_others():
    low, high = draw(one_trend((1e-300, 1.0, 50.0, 100.0))).axes[0].get_ylim()
    assert low > 1e-10
    assert high < 1000.0


@pytest.mark.parametrize("values", HARD_VALUES)
@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("kind", ["regret", "difference", "certified"])
def test_no_values_are_too_hard(values, scale, kind):
    errors = None if kind == "certified" else (0.1, 0.0, np.nan, 1.0)
    if scale == "linear" and 1e300 in values:
        values = (1e-300, 1.0, 1e30, np.inf)
    draw(one_trend(values, errors=errors, scale=scale, kind=kind))


@pytest.mark.parametrize(
    "points", [(0.0, 1.0, 2.0, 3.0), (-1.0, np.nan, np.inf, 2.0), (0.0, 0.0, 0.0, 0.0), (5.0,) * 4]
)
def test_points_that_the_axis_cannot_show_are_left_out(points):
    rendered(draw(width_table(points=points)), "svg")


def test_no_points_at_all():
    rendered(draw(one_trend(())), "png")


def test_differences_have_error_bars_and_a_zero_line():
    figure = draw(difference_table())
    assert artists(figure, "across").get_ydata() == [0.0, 0.0]
    (first, *_) = artists(figure, "trend-0-up-errors").get_segments()
    assert first[:, 1] == pytest.approx([0.1, 0.9])
    assert list(artists(figure, "trend-0-up").get_ydata()) == [0.5, 12.0, 407.0]
    below = artists(figure, "trend-0-down")
    assert list(below.get_ydata()) == [-3.25]
    assert below.get_color() != artists(figure, "trend-0-up").get_color()


def test_differences_need_no_errors():
    table = difference_table(trends=(Trend("d", "no_errors", "difference", (1.0, 2.0, 3.0, 4.0)),))
    assert artists(draw(table), "trend-0-up-errors") is None


def test_differences_on_a_log_axis_have_no_zero_line():
    figure = draw(difference_table(y=Axis("difference", "log")))
    assert artists(figure, "across") is None
    assert artists(figure, "trend-0-edge") is not None


def texts(figure):
    return [text.get_text() for text in legend_of(figure).get_texts()]


def test_exact_values_are_the_line_and_simulated_ones_marks_with_error_bars():
    table = exact_table()
    figure = draw(table)
    line, marks = artists(figure, "trend-1-exact"), artists(figure, "trend-1-marks")
    assert tuple(line.get_ydata()) == table.trends[1].exact.values
    assert (line.get_linestyle(), line.get_marker()) == ("-", "None")
    assert tuple(marks.get_ydata()) == table.trends[1].values
    assert (marks.get_linestyle(), marks.get_marker()) == ("None", "s")
    assert marks.get_markerfacecolor() == "none"  # the line shows through
    assert line.get_color() == marks.get_color() == marks.get_markeredgecolor()
    bars = artists(figure, "trend-1-marks-errors").get_segments()
    assert bars[2][:, 1] == pytest.approx([88.1 - 0.8, 88.1 + 0.8])
    assert artists(figure, "trend-1-line") is artists(figure, "trend-1-band") is None
    assert artists(figure, "trend-2-line") is not None


def test_an_exact_value_that_is_nothing_but_numerical_error_runs_off_a_log_axis():
    figure, plain = draw(exact_table()), draw(width_table())
    assert figure.axes[0].get_ylim() == plain.axes[0].get_ylim()
    first, second, *_ = artists(figure, "trend-0-exact").get_ydata()
    assert 0.0 < first < 0.01 * figure.axes[0].get_ylim()[0]
    assert second == 12.5


def test_an_exact_line_is_never_cut_off_above():
    table = width_table(trends=(replace(width_table().trends[0], exact=Exact((900.0,) * 4, (0.1,) * 4)),))
    for scale in ("log", "linear"):
        assert draw(replace(table, y=Axis("regret", scale))).axes[0].get_ylim()[1] > 900.0
    below = replace(table.trends[0], exact=Exact((-50.0,) * 4, (0.1,) * 4))
    assert draw(replace(table, y=Axis("regret"), trends=(below,))).axes[0].get_ylim()[0] < -50.0


def test_the_legend_says_once_what_is_exact_and_what_is_simulated():
    assert texts(draw(exact_table())) == [
        "BayesUCB",
        "UCB1",
        "BayesUCB bound (Theorem 1)",
        "certified (index form)",
        "exact",
        "simulated, ± standard error",
        "below the axis",
    ]
    assert texts(draw(exact_difference_table())) == ["exact", "simulated, ± standard error"]


def test_differences_have_an_exact_line_through_them():
    figure = draw(exact_difference_table())
    assert tuple(artists(figure, "trend-0-exact").get_ydata()) == (-3.0, 0.6, 11.5, 405.0)
    assert list(artists(figure, "trend-0-down").get_ydata()) == [-3.25]
    assert artists(figure, "trend-0-up").get_markerfacecolor() == "none"
    assert artists(draw(difference_table()), "trend-0-up").get_markerfacecolor() != "none"


def test_a_ranked_table_has_no_bands():
    table = ranked_table()
    simulated = replace(table, trends=tuple(replace(t, errors=(0.1,) * len(t.values)) for t in table.trends))
    assert not draw(simulated).axes[0].collections
    assert draw(replace(simulated, ranked=False)).axes[0].collections


def test_in_a_ranked_table_each_trend_rises():
    figure = draw(ranked_table())
    assert list(artists(figure, "trend-0-line").get_ydata()) == [15.0, 20.0, 25.0, 40.0]
    assert list(artists(figure, "trend-1-line").get_ydata())[:3] == [1.5, 2.0, 3.0]
    assert list(artists(figure, "trend-1-edge").get_xdata()) == [4.0]  # infinite ones are last


def test_the_mark_of_an_axis_is_a_line_that_is_in_view():
    table = ranked_table(y=Axis("ratio", "log", mark=0.2, mark_label="a fifth"))
    figure = draw(table)
    assert artists(figure, "across").get_ydata() == [0.2, 0.2]
    assert figure.axes[0].get_ylim()[0] < 0.2
    assert "a fifth" in texts(figure)
    assert artists(draw(width_table()), "across") is None


@pytest.mark.parametrize(
    "label", ["$", "costs $5 and $6", r"$\frac{$", "_hidden", "a_b^c {x} \\alpha", "", "$$", "5%\n&#"]
)
def test_any_label_can_be_drawn(label):
    trends = (Trend("a", label, "printed", (1.0,) * 4), Trend("b", label, "regret", (2.0,) * 4, (0.1,) * 4))
    figure = draw(width_table(x=Axis(label, "log"), y=Axis(label), trends=trends))
    rendered(figure, "pdf")
    assert len(legend_of(figure).get_texts()) == 2


def test_drawing_leaves_no_settings_behind():
    before = dict(mpl.rcParams)
    draw(width_table())
    assert dict(mpl.rcParams) == before


def test_the_users_settings_change_nothing():
    plain = rendered(draw(width_table()), "svg", metadata={"Date": None})
    with mpl.rc_context({"font.size": 20, "lines.linewidth": 9, "axes.grid": False}):
        assert rendered(draw(width_table()), "svg", metadata={"Date": None}) == plain


def test_matplotlib_is_not_loaded_with_the_package():
    script = "import sys, bayesregret; sys.exit('matplotlib' in sys.modules or 'jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_pyplot_is_never_loaded():
    script = "import sys, bayesregret.plotting, bayesregret.report; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
