"""What a reader takes home computes what the page shows."""

import base64
import csv
import functools
import io
import shlex

import pytest

import bayesregret as br
from bayesregret.cli import run
from bayesregret.exploring.regret_view import regret_steps
from bayesregret.exploring.run_frames import run_steps
from bayesregret.exploring.settings import PageState
from bayesregret.exploring.take_away import command, panel, python, saved
from bayesregret.problem import load_problem

pytestmark = pytest.mark.compiled
STATES = {
    "usual": PageState(values=(("arms", 3), ("prior_gap", 0.5)), horizon=20, runs=50, seed=2),
    "with delta": PageState(
        values=(("arms", 3),), horizon=20, runs=50, delta=0.25, policies=("bayes-ucb", "thompson", "moss")
    ),
    "of each arm": PageState(
        problem="bernoulli", values=(("alpha", (1.0, 2.0)), ("beta", (3.0, 1.0))), horizon=20, runs=50
    ),
    "one run": PageState(values=(("arms", 3),), horizon=20, view="run", instance=3, policies=("ucb1",)),
}


def content(form, state):
    bandit = state.bandit({})
    view = run_steps if state.view == "run" else regret_steps
    last = list(view(state, bandit))[-1]
    file = saved(form, last if state.view != "run" else last.snapshot(), state, bandit)
    return file["name"], base64.b64decode(file["content"])


@pytest.mark.parametrize("name", STATES)
def test_python_and_the_command_line_give_the_same_numbers(name, tmp_path, monkeypatch, capsys):
    state = STATES[name]
    monkeypatch.chdir(tmp_path)
    file, text = content("toml", state)
    (tmp_path / file).write_bytes(text)
    assert load_problem(file) == state.bandit({})
    made = {}
    exec(python(state, state.bandit({})), made)
    seed = state.seed + (state.instance if state.view == "run" else 0)
    runs = 1 if state.view == "run" else state.runs
    expected = br.simulate(state.bandit({}), state.play(), horizon=20, runs=runs, seed=seed, progress=False)
    assert [result.mean for result in made["result"].policies.values()] == [
        result.mean for result in expected.policies.values()
    ]
    printed = capsys.readouterr().out
    assert run([*shlex.split(command(state))[1:], "--no-progress"]) == 0
    assert printed.splitlines()[-1] == capsys.readouterr().out.splitlines()[-1]


def test_bounds_have_their_own_command(capsys):
    state = PageState(view="bounds", values=(("arms", 3),), horizon=20, delta=0.5)
    assert command(state) == "bayesregret bounds gaussian --arms 3 --horizon 20 --delta 0.5"
    assert python(state, state.bandit({})).endswith("print(br.bounds.table(bandit, horizon=20, delta=0.5))")


def test_numbers_and_figures_are_those_of_the_picture():
    state = STATES["usual"]
    name, text = content("csv", state)
    rows = list(csv.reader(io.StringIO(text.decode())))
    found = br.simulate(state.bandit({}), "bayes-ucb", horizon=20, runs=50, seed=2, progress=False)["bayes-ucb"]
    assert name == "regret.csv"
    assert [float(row[1]) for row in rows[1:]] == found.curve.mean.tolist()
    assert content("png", state)[1].startswith(b"\x89PNG")
    every, fewer = (content("svg", state.changed(hidden=hidden))[1] for hidden in ((), ("ucb1",)))
    assert every.count(b"trend-2") > fewer.count(b"trend-2") == 0


def test_a_single_run_is_saved_round_by_round():
    name, text = content("csv", STATES["one run"])
    rows = list(csv.reader(io.StringIO(text.decode())))
    assert (name, rows[0]) == ("one-run.csv", ["round", "arm", "reward", "regret so far"])
    assert len(rows) == 21


def test_the_plan_is_a_page(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.plan", functools.partial(br.plan, runs=2))
    state = STATES["usual"].changed(horizon=10, policies=("greedy",))
    name, text = content("html", state)
    assert name == "plan.html"
    assert text.lower().startswith(b"<!doctype html>")


def test_a_notebook_has_no_link():
    state = STATES["usual"]
    texts = [panel(state, state.bandit({}), has_address=has_address) for has_address in (True, False)]
    assert ["Copy the link" in text for text in texts] == [True, False]
