"""What commands print fits the terminal: COLUMNS says how wide it is."""

import pathlib
import re

import pytest

from bayesregret import planning
from bayesregret.cli import show

SMOKING = pathlib.Path(__file__).parents[2] / "docs" / "data" / "smoking.csv"
WIDTHS = (80, 120)
COMMANDS = [
    "simulate bernoulli --arms 3 --horizon 20 --runs 10 --policy thompson --policy ucb1:delta=0.1 --checkpoints 5,10",
    "simulate bernoulli --arms 2 --horizon 10 --runs 10 --optimal --policy gittins --policy ucb1",
    "exact bernoulli --arms 2 --horizon 6",
    "bounds bernoulli --arms 2 --horizon 20",
    "audit bernoulli --arms 2 --horizon 20 --runs 5",
    f"prior fit {SMOKING} --model bernoulli",
    "plan bernoulli --arms 2 --horizon 10 --runs 8 --policy ucb1 --policy greedy",
    "sweep widths.toml",
    "study list sweep/study.sqlite",
    "study show sweep/study.sqlite KEY",
    "study export sweep/study.sqlite points.csv",
    "study merge another-study-with-a-long-name-because-people-have-long-names.sqlite sweep/study.sqlite",
    "reproduce figure-6b --runs 20",
    "optimal bernoulli --arms 2 --horizon 6",
]
SWEEP = """
title = "Widths"
policies = ["bayes-ucb", "ucb1"]
bounds = ["certified"]
exact = true
horizon = 5
runs = 4
[problem]
common = "gaussian"
arms = 3
[vary]
prior_width = [0.1, 1]
"""


@pytest.fixture
def width_of(bayesregret, monkeypatch):
    """Run a command, after the sweep whose study some of them read, at a width. Figures are not drawn."""
    monkeypatch.setattr("bayesregret.cli.reproduce._paper_bounds", list)
    monkeypatch.setattr("bayesregret.reproduction.figures.figure_6.SHIFTS", (0.0, 1.0))
    report = pathlib.Path("a-folder-with-a-name-that-is-not-short", "report.html")
    monkeypatch.setattr("bayesregret.report.publication.publish", lambda *finished, **settings: (report, True))

    def run(command, width):
        monkeypatch.setenv("COLUMNS", str(width))
        if "sweep" in command:
            pathlib.Path("widths.toml").write_text(SWEEP)
        if command.startswith("study"):
            bayesregret("sweep", "widths.toml")
        if "KEY" in command:
            listed = bayesregret("study", "list", "sweep/study.sqlite", "--json").data
            command = command.replace("KEY", listed["points"][0]["key"])
        return bayesregret(*command.split())

    return run


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command.split()[:2]))
def test_no_line_is_wider_than_the_terminal(width_of, command, width):
    done = width_of(command, width)
    assert (done.status, done.err) == (0, "")
    assert [line for line in done.out.splitlines() if len(line) > width or line != line.rstrip()] == []
    left_out = re.findall(r"left out: (.*); --wide", " ".join(done.out.split()))
    assert width < max(WIDTHS) or left_out in ([], ["note"] if command.startswith("audit") else [])


def test_headings_and_text_may_become_narrower():
    rows = [["policy", "best arm at the end", "source"], ["ucb1", "62.0 ± 6.9%", "Corollary 2 and Theorem 11"]]
    narrow = [["policy", "best arm at\nthe end", "source"], ["ucb1", "62.0 ± 6.9%", "Corollary 2\nand Theorem\n11"]]
    assert show._wrapped_cells(rows, ["source"]) == narrow


def test_what_is_left_out_is_named_and_shown_on_request(bayesregret, monkeypatch):
    whole = bayesregret(*COMMANDS[3].split()).out
    monkeypatch.setenv("COLUMNS", "80")
    narrow, wide = bayesregret(*COMMANDS[3].split()).out, bayesregret(*COMMANDS[3].split(), "--wide").out
    assert wide == whole
    left_out = "left out: remainder, leading, error, form, source; --wide shows all"
    assert narrow.splitlines()[-1] == left_out
    assert {"remainder", "source"} <= set(whole.split())
    assert "remainder" not in narrow.removesuffix(f"{left_out}\n").splitlines()[0]


def test_sentences_break_between_words(bayesregret, monkeypatch):
    whole = bayesregret(*COMMANDS[5].split()).out
    monkeypatch.setenv("COLUMNS", "60")
    narrow = bayesregret(*COMMANDS[5].split()).out
    assert narrow != whole
    assert narrow.split() == whole.split()


def test_a_number_and_its_error_stay_together(monkeypatch):
    for width in range(20, 60):
        lines = show._wrapped("its expected regret over 500 rounds is 3.95 ± 0.38, and p = 0.25.", width)
        assert max(map(len, lines)) <= width
        assert [line for line in lines if line.endswith(("±", "="))] == []
        assert sum("3.95 ± 0.38" in line for line in lines) == 1


def test_tables_in_a_terminal_have_no_margins(bayesregret, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    lines = bayesregret(*COMMANDS[0].split()).out.splitlines()
    assert [line for line in lines if line.startswith(" ")] == []
    assert "" not in (lines[0], lines[-1])
    assert [i for i in range(1, len(lines)) if lines[i - 1] == lines[i] == ""] == []


def test_a_file_has_everything(bayesregret, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert max(map(len, bayesregret(*COMMANDS[3].split()).out.splitlines())) > 100
    monkeypatch.setenv("COLUMNS", "nonsense")
    assert show.output_width() is None


def test_code_breaks_where_python_allows_it():
    line = f"bandit = br.BernoulliBandit(alpha=[{', '.join(['1.94'] * 8)}], beta=[{', '.join(['11.9'] * 8)}])"
    broken = planning.running._broken(line)
    assert max(map(len, broken.splitlines())) <= 79
    compile(broken, "code", "exec")
    assert broken.split() == line.split()
    assert planning.running._broken(f'bandit = br.load_problem("{"a, " * 30}")').count("\n") == 0
