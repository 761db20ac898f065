"""The status: its text, its data, and its picture."""

import json

import matplotlib as mpl
import numpy as np
import pytest

import bayesregret as br
from bayesregret.status import Progress, experiment_status
from bayesregret.status import to_come as rest
from status.cases import BANDITS, progress
from test_schemas import complaints

mpl.use("agg")


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(rest, "MOST_RUNS", 64)
    monkeypatch.setattr(rest, "QUICK_WORK", 0)
    monkeypatch.setattr(rest, "MOST_KINDS", 0)  # bounds other than the trivial one take long in plain Python


def small(**given):
    bandit = BANDITS["bernoulli"]
    return progress(bandit, br.Thompson(), arms=("blue", "green"), name="checkout", unit="visitor", **given)


def test_text():
    text = str(experiment_status(small(many=20, horizon=1_500)))
    assert text.startswith("checkout: thompson, 20 of 1,500 visitors\n\narm    pulls ")
    for line in (
        "reward so far",
        "regret so far",
        "gain so far",
        "regret to come",
        "certified bound",
        "loss of stopping",
    ):
        assert line in text
    assert max(map(len, text.splitlines())) <= 80
    assert repr(experiment_status(small(), exact=False)) == str(experiment_status(small(), exact=False))


@pytest.mark.parametrize("name", BANDITS)
def test_all_kinds(name):
    status = experiment_status(progress(BANDITS[name], br.Thompson()), exact=False)
    assert complaints("status", json.loads(json.dumps(status.to_dict(), allow_nan=False))) == []
    assert status.unknown == "not computed: exact=False"
    assert status.misfit is not None


def test_schema():
    printed = json.loads(json.dumps(experiment_status(small()).to_dict(), allow_nan=False))
    assert complaints("status", printed) == []
    printed["arms"][0]["surprise"] = 1
    assert complaints("status", printed)  # the control


def test_html_frame_and_picture():
    status = experiment_status(small(), exact=False)
    html = status._repr_html_()
    assert html.count("<table>") == 2
    assert "<p>checkout: thompson" in html
    frame = status.to_frame()
    assert frame["arm"].tolist() == ["blue", "green"]
    assert frame["rewards"].sum() == 30
    axes = status.plot()
    assert axes.get_title() == "checkout, after 30 visitors"
    mpl.pyplot.close(axes.figure)


def test_names_are_escaped_and_shortened():
    bandit = BANDITS["bernoulli"]
    status = experiment_status(
        progress(bandit, br.Thompson(), arms=("<b>", "a long name of an arm, " * 3)), exact=False
    )
    assert "<b>" not in status._repr_html_()
    assert max(map(len, str(status).splitlines())) <= 80


def test_an_experiment_without_rewards():
    bandit = BANDITS["bernoulli"]
    at = Progress(bandit, br.Thompson().start(bandit, horizon=9), 9, np.zeros(2, int), [], [])
    status = experiment_status(at)
    assert (status.collected, status.so_far.regret.mean, status.progress.left) == (0.0, 0.0, 9)
    assert "0 of 9 rounds" in str(status)


@pytest.mark.parametrize("given", [{"stopped": True}, {"horizon": 30}])
def test_an_experiment_that_is_over(given):
    status = experiment_status(small(**given))
    assert status.advice.action == "over"
    assert (status.to_come, status.unknown, status.stopping.loss) == (None, "the experiment is over", 0.0)
    assert "loss of stopping" not in str(status)
    assert ("stopped" in status.title()) == ("stopped" in given)
    assert complaints("status", status.to_dict()) == []


def test_pending_lost_and_paused():
    bandit = br.GaussianBandit([0, 0, 0], 1, 1)
    agent = br.Thompson().start(br.GaussianBandit([0, 0], 1, 1), horizon=30)
    at = Progress(
        bandit, agent, 30, [4, 3, 2], [0, 1, 1, 2], [0.5, 1, 2, 0], paused=[1], pending=np.array([2, 1, 0]),
        arms=("a", "b", "c"),
    )  # fmt: skip
    status = experiment_status(at, exact=False)
    assert at.lost.tolist() == [1, 0, 1]
    assert status.title() == "experiment: thompson, 9 of 30 rounds, 3 pending, 2 lost"
    assert [row[-2:] for row in status.table()] == [["pending", ""], ["2", ""], ["1", "paused"], ["0", ""]]
    assert status.leader == "a"


def test_many_arms():
    bandit = br.BernoulliBandit([1] * 30, [1] * 30)
    at = Progress(bandit, br.Thompson().start(bandit, horizon=9), 9, np.zeros(30, int), [], [])
    assert "and 10 more arms, less likely to be the best" in str(experiment_status(at, exact=False))


def test_a_prior_that_looks_wrong():
    bandit = br.GaussianBandit([0, 0], 1, 1)
    agent = br.Thompson().start(bandit, horizon=90)
    arms, rewards = [0, 1] * 10, [6.0, 5.0] * 10
    agent.update_many(arms, rewards)
    at = Progress(bandit, agent, 90, [10, 10], arms, rewards)
    status = experiment_status(at, exact=False)
    assert status.advice.action == "doubt the prior"
    assert "the prior looks wrong" in str(status)
    # Rewards that may not be tested yet are no evidence.
    assert experiment_status(Progress(bandit, agent, 90, [10, 10], arms, rewards, tested=0)).misfit.p_value == 1.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"level": 1.0}, "level must be a number strictly between 0 and 1"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(ValueError, match=message):
        experiment_status(small(), **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"horizon": 0}, "horizon must be a whole number, at least 1"),
        ({"paused": [0]}, "agent must be one of the 1 arms that are not paused, got 2"),
        ({"rewards": [1.0]}, "rewards must have one entry for each of reward_arms, got 1 for 2"),
        ({"decisions": [1, 0]}, "decisions must be at least the rewards and the pending pulls of each arm"),
    ],
)
def test_bad_progress(given, message):
    bandit = BANDITS["bernoulli"]
    fine = {"horizon": 9, "decisions": [1, 1], "reward_arms": [0, 1], "rewards": [1.0, 0.0]}
    Progress(bandit, br.Thompson().start(bandit), **fine)
    with pytest.raises(ValueError, match=message):
        Progress(bandit, br.Thompson().start(bandit), **fine | given)


def test_the_gain_over_another_split():
    at = small(equal_split=np.array([15.0, 15.0]))
    status = experiment_status(at, exact=False)
    more = at.decisions - 15.0
    assert status.so_far.gain.mean == pytest.approx(float(more @ status.posterior.mean))
