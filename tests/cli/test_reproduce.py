"""`bayesregret reproduce` and `bayesregret sweep`."""

import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from bayesregret.cli.reproduce import _panels
from bayesregret.study import Study

QUICK = ["--runs", "20", "--no-progress"]
SWEEP = """
title = "Widths"
policies = ["bayes-ucb", "ucb1"]
bounds = ["certified"]
horizon = 20
runs = 10
[problem]
common = "gaussian"
arms = 3
[vary]
prior_width = [0.1, 1, 10]
reward_noise = [0.5, 1]
"""


@pytest.mark.compiled
def test_a_figure_with_its_claims(bayesregret, monkeypatch):
    monkeypatch.setattr("bayesregret.reproduction.paper_settings.GAPS", (0.0, 1.0, 4.0))
    arguments = ["reproduce", "figure-1b", "--runs", "200", "--no-progress"]
    outcome = bayesregret(*arguments)
    assert (outcome.status, outcome.err) == (0, "")
    assert "The square-root bound does not move with the gap." in outcome.out
    assert re.search(
        r"holds +bayesregret +The simulated regrets agree with the exact ones\. +9 comparisons", outcome.out
    )
    assert "3 points, 3 run now; reproduction/report.html written" in outcome.out
    names = {path.name for path in pathlib.Path("reproduction/figures").iterdir()}
    assert names == {f"figure-1b.{suffix}" for suffix in ("pdf", "png", "csv", "tex")}
    again = bayesregret(*arguments)
    assert "3 points, 0 run now; reproduction/report.html up to date" in again.out


@pytest.mark.compiled
def test_failed_claims_are_shown_with_their_exceptions(bayesregret, monkeypatch):
    monkeypatch.setattr("bayesregret.reproduction.paper_settings.WIDTHS", (0.1, 1.0))
    outcome = bayesregret("reproduce", "figure-1a", *QUICK)
    assert "fails" in outcome.out
    assert "figure-1a: Theorem 1, with its remainder, is above the regret. Not so at width 0.1: -343.6" in outcome.out


@pytest.mark.compiled
def test_json(bayesregret):
    data = bayesregret("reproduce", "figure-6a", *QUICK, "--json", "--output", "out").data
    assert data["report"] == os.path.join("out", "report.html")
    assert [figure["figure"] for figure in data["figures"]] == ["figure-6a"]
    assert len(data["figures"][0]["points"]) == 9
    assert {claim["verdict"] for claim in data["claims"]} <= {"holds", "fails"}


@pytest.mark.compiled
def test_a_figure_without_its_letter_is_all_its_panels(bayesregret):
    data = bayesregret("reproduce", "figure-6", "figure-6a", *QUICK, "--json").data
    assert [figure["figure"] for figure in data["figures"]] == ["figure-6a", "figure-6b"]


def test_a_figure_of_one_panel_has_no_letter():
    assert _panels("figure-7") == ["figure-7"]
    assert _panels("figure-3") == ["figure-3a", "figure-3b"]
    assert _panels("figure-1") == ["figure-1a", "figure-1b"]
    assert _panels("figure-10") == ["figure-10a", "figure-10b"]
    assert _panels("figure-11") == ["figure-11"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure-99"], "FIGURE must be"),
        (["figure-1a", "--runs", "1"], "--runs must be a whole number, at least 2"),
        (["figure-1a", "--seed", "-1"], "--seed must be"),
        (["figure-1a", "--threads", "0"], "--threads must be"),
    ],
)
def test_bad_input(bayesregret, arguments, message):
    outcome = bayesregret("reproduce", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_file_that_is_no_study_is_left_alone(bayesregret):
    pathlib.Path("notes.txt").write_text("mine")
    outcome = bayesregret("reproduce", "figure-1b", *QUICK, "--study", "notes.txt")
    assert outcome.status in (1, 2)
    assert "notes.txt" in outcome.err
    assert outcome.err.count("\n") == 1
    assert pathlib.Path("notes.txt").read_text() == "mine"


def test_libraries_that_are_missing_are_named_before_anything_is_run(bayesregret, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    outcome = bayesregret("reproduce", "figure-1b", *QUICK)
    assert outcome.status == 2
    assert outcome.err == 'bayesregret: a report needs jinja2: pip install "bayesregret[report]"\n'
    assert not pathlib.Path("reproduction").exists()


@pytest.mark.compiled
def test_sweep(bayesregret):
    pathlib.Path("widths.toml").write_text(SWEEP)
    outcome = bayesregret("sweep", "widths.toml", "--no-progress")
    assert (outcome.status, outcome.err) == (0, "")
    assert "6 points, 6 run now; sweep/report.html written" in outcome.out
    assert "Every certified bound is above the simulated regret." in outcome.out
    pathlib.Path("exact.toml").write_text(SWEEP.replace("horizon = 20", "horizon = 5\nexact = true"))
    exact = bayesregret("sweep", "exact.toml", "--no-progress", "--json").data
    assert all(trend["exact"] for figure in exact["figures"] for trend in figure["trends"][:2])
    missing = bayesregret("sweep", "none.toml")
    assert (missing.status, missing.err.count("\n")) == (2, 1)


@pytest.mark.compiled
def test_in_a_terminal_a_bar_shows_figure_point_and_time_remaining(tmp_path):
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "bayesregret", "reproduce", "figure-6a", "--runs", "300", "--output", tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # the other side of the terminal is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    assert re.search(rb"figure-6a +width [\d.]+ times.*?/9.*?\d:\d\d", shown, re.DOTALL)


def contents(path):
    with Study.open(path) as study:
        return sorted((entry.key, repr(entry.settings), repr(entry.result)) for entry in study.entries())


@pytest.mark.compiled
def test_killed_runs_end_with_the_same_bits(tmp_path):
    """Kill the process at random times; the study of the final complete run equals that of an undisturbed run."""
    command = [sys.executable, "-m", "bayesregret", "reproduce", "figure-3b", "figure-6a", *QUICK, "--output"]
    subprocess.run([*command, tmp_path / "whole"], check=True, capture_output=True)
    moments = random.Random(7)
    for _ in range(4):
        process = subprocess.Popen([*command, tmp_path / "parts"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.6, 2.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([*command, tmp_path / "parts"], check=True, capture_output=True)
    assert contents(tmp_path / "parts" / "study.sqlite") == contents(tmp_path / "whole" / "study.sqlite")
    reports = [(tmp_path / folder / "figures" / "figure-6a.csv").read_bytes() for folder in ("whole", "parts")]
    assert reports[0] == reports[1]
