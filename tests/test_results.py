"""Every result: a table in a terminal and in a notebook, a data frame, a picture, and plain data."""

import html
import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayesregret as br
from bayesregret.results import Result
from bayesregret.status import experiment_status
from bayesregret.status.progress import Progress

BANDIT = br.BernoulliBandit([1, 1], [1, 1])
PAST = {
    "experiment": [1, 1, 2, 2, 3, 3],
    "arm": list("ababab"),
    "pulls": [500] * 6,
    "successes": [10, 22, 31, 52, 15, 9],
}
SIMULATION = br.simulate(BANDIT, ["bayes-ucb", "ucb1"], horizon=20, runs=64)
RESULTS = {
    "simulation": SIMULATION,
    "summary": br.simulate(BANDIT, "ucb1", horizon=20, runs=64, keep="summary"),
    "exact": br.exact_regret(BANDIT, "bayes-ucb", horizon=20),
    "optimal": br.bayes_optimal_regret(BANDIT, horizon=20),
    "enclosure": br.optimal_regret(BANDIT, horizon=20),
    "identity": br.thompson_identity(BANDIT, horizon=4, runs=8),
    "posterior": br.Thompson().start(BANDIT).posterior(),
    "status": experiment_status(
        Progress(BANDIT, br.Thompson().start(BANDIT, horizon=20), 20, np.zeros(2, int), np.zeros(0, int), np.zeros(0)),
        exact=False,
    ),
    "bound": br.bounds.gap_dependent(br.GaussianBandit([1, 0], 1, 1), horizon=20),
    "bounds": br.bounds.table(BANDIT, horizon=20),
    "bounds against": br.bounds.table(BANDIT, horizon=20, against=SIMULATION),
    "audit": br.bounds.audit(BANDIT, horizon=8, runs=8),
    "plan": br.plan(BANDIT, ["bayes-ucb", "ucb1"], horizon=6, runs=8),
    "prior": br.fit_prior(PAST, model="bernoulli"),
}
RECORDS = {
    "simulation": 2 * len(SIMULATION.rounds),
    "summary": len(SIMULATION.rounds),
    "exact": 20,
    "optimal": 1,
    "bound": 1,
    "plan": 4,
    "prior": 5,
}


def test_every_kind_of_result_is_here():
    made = {kind for kind in Result.__subclasses__() if kind.__module__.startswith("bayesregret.")}
    assert {type(result) for result in RESULTS.values()} == made


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def cells(text):
    return [html.unescape(cell) for cell in re.findall(r"<t[hd] [^>]*>(.*?)</t[hd]>", text)]


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_what_print_shows(name):
    result = RESULTS[name]
    text = result._repr_html_()
    tables = [result.table(), *([result.facts()] if name == "status" else [])]
    assert cells(text) == [cell for table in tables for row in table for cell in row]
    assert text.count("<tr>") == text.count("</tr>") == sum(map(len, tables))
    if name != "status":  # whose sentences are paragraphs of their own
        assert all(html.escape(line) in text for line in result.summary().splitlines())


@pytest.mark.parametrize("name", RESULTS)
def test_a_data_frame_has_the_numbers(name):
    result = RESULTS[name]
    frame = result.to_frame()
    assert len(frame) == len(result.records()) == RECORDS.get(name, len(frame)) > 0
    assert list(frame.columns) == list(result.records()[0])


@pytest.mark.parametrize("name", RESULTS)
def test_plots_draw_into_given_axes_and_return_them(name):
    _, given = plt.subplots()
    assert RESULTS[name].plot(given) is given
    assert given.has_data()
    assert "interval" in given.get_xlabel() or given.get_legend().get_texts()
    own = RESULTS[name].plot()
    assert own is not given
    own.figure.draw_without_rendering()


@pytest.mark.parametrize("name", RESULTS)
def test_plain_data_is_json(name):
    data = RESULTS[name].to_dict()
    assert json.loads(json.dumps(data)) == json.loads(json.dumps(data))


def test_one_picture_holds_several_results():
    axes = SIMULATION.plot()
    RESULTS["exact"].plot(axes)
    RESULTS["optimal"].plot(axes)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["bayes-ucb", "ucb1", "bayes-ucb, exact", "no policy has less"]


def test_bands_are_those_of_the_table():
    """One standard error, as in `summary`, and the legend says so."""
    axes = SIMULATION.plot()
    assert "± one standard error" in SIMULATION.summary()
    assert axes.get_legend().get_title().get_text() == "± standard error"
    curve = SIMULATION["bayes-ucb"].curve
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx((curve.mean + curve.stderr).max())
    assert heights.max() != pytest.approx((curve.mean + 2.0 * curve.stderr).max())  # the control


def test_cells_cannot_hold_html():
    result = br.simulate(BANDIT, {"<b>bold</b>": br.UCB1()}, horizon=2, runs=2)
    assert "<b>" not in result._repr_html_()
    assert "<b>bold</b>" in cells(result._repr_html_())


def test_plot_takes_no_file():
    result = br.simulate(br.BernoulliBandit([1, 1], [1, 1]), "ucb1", horizon=3, runs=2)
    with pytest.raises(
        TypeError, match=r"^plot draws in axes; write \.plot\(\)\.figure\.savefig\('x\.png'\) for a file$"
    ):
        result.plot("x.png")
