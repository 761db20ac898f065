"""What the README shows is what comes out."""

import os
import pathlib
import re
import subprocess
import sys

import matplotlib
import pytest

from shown import console_examples, is_shown

README = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
DOCS = pathlib.Path(__file__).parents[1] / "docs"
TOUR = (DOCS / "tutorials" / "tour.md").read_text()
COLUMNS = 96  # of code on a page on the web that cuts nothing off
PYTHON = "\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("arguments", "shown"),
    console_examples(README),
    ids=["prior", "plan", "experiment", "simulate", "exact", "optimal", "bounds"],
)
def test_what_is_shown_is_printed(arguments, shown, tmp_path):
    command = [sys.executable, "-m", "bayesregret", *arguments]
    terminal = os.environ | {"COLUMNS": str(COLUMNS)}
    (tmp_path / "docs").symlink_to(DOCS)
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=True, env=terminal, cwd=tmp_path
    )
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    if "..." not in shown:
        assert printed == shown
    assert all(is_shown(line, printed) for line in shown if line != "...")


def test_it_is_one_screen_and_nothing_is_cut_off():
    assert len(README.splitlines()) <= 150
    blocks = re.findall(r"^```\w*\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert [line for text in blocks for line in text.splitlines() if len(line) > COLUMNS] == []


@pytest.mark.compiled
def test_the_python_runs():
    matplotlib.use("Agg")
    names = {"reward": 1}
    exec(PYTHON, names)
    assert names["result"]["bayes-ucb"].mean == pytest.approx(75.74, abs=0.005)
    assert names["agent"].pulls.sum() == 1
    assert names["result"]["bayes-ucb"].stderr < names["result"]["bayes-ucb"].quantile(0.95)
    bandit, policy, horizon = names["agent"].remaining()
    assert names["br"].simulate(bandit, policy, horizon=horizon, runs=2)[policy.name].mean > 0


@pytest.mark.compiled
def test_the_costs_of_a_wrong_prior_are_those_told():
    import bayesregret as br

    bandit = br.GaussianBandit(prior_mean=[1.0] + [0.0] * 9, prior_width=1.0, reward_noise=1.0)
    sure = br.GaussianBandit(prior_mean=[0.0] * 10, prior_width=0.25, reward_noise=1.0)
    policies = [br.BayesUCB(), br.BayesUCB(prior=sure)]
    result = br.simulate(bandit, policies, horizon=1_000, runs=10_000, seed=7)
    assert f"costs {result.paired('bayes-ucb(prior=gaussian)', 'bayes-ucb')} more" in " ".join(TOUR.split())
