"""`bayesregret explore`: what it serves, and bad input in one line."""

import pytest

from bayesregret import GaussianBandit
from bayesregret.exploring.settings import PageState
from bayesregret.problem import save_problem


@pytest.fixture
def served(monkeypatch):
    """What the server was asked for."""
    calls = []
    monkeypatch.setattr(
        "bayesregret.exploring.server.serve", lambda first, given, **settings: calls.append((first, given, settings))
    )
    return calls


def test_it_listens_on_this_machine_and_opens_the_browser(bayesregret, served):
    assert bayesregret("explore").status == 0
    settings = {"address": "127.0.0.1", "port": 0, "origins": (), "browser": True}
    assert served == [(PageState(), {}, settings)]


def test_problems_come_from_files_and_by_name(bayesregret, served, tmp_path):
    bandit = GaussianBandit([1, 0, 0], 1, 2)
    save_problem(bandit, tmp_path / "own.toml")
    words = ("--port", "5006", "--no-browser", "--allow-origin", "a.org:80")
    assert bayesregret("explore", "own.toml", "bernoulli", *words).status == 0
    assert bayesregret("explore", "bernoulli", "own.toml", *words).status == 0
    (first, given, settings), (other, _, _) = served
    assert first.bandit(given) == bandit
    assert given == {"own.toml": bandit}
    assert settings == {"address": "127.0.0.1", "port": 5006, "origins": ("a.org:80",), "browser": False}
    assert other.problem == "bernoulli"


BAD = {
    "missing.toml": "PROBLEM must be a TOML or JSON file or one of gaussian",
    "--port 99999": "port must be a whole number, at least 0 and at most 65535, got 99999",
    "--port x": "port must be a whole number",
    "large.json": "arms must be at most 10,000 on the page, got 10,001",
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_one_line(bayesregret, served, tmp_path, words):
    save_problem(GaussianBandit([0.0] * 10_001, 1, 1), tmp_path / "large.json")
    outcome = bayesregret("explore", *words.split())
    assert (outcome.status, outcome.out, served) == (2, "", [])
    assert outcome.err.startswith("bayesregret: ")
    assert BAD[words] in outcome.err
    assert outcome.err.count("\n") == 1
