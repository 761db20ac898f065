"""Help, its examples, the version and completion."""

import inspect
import re
import shlex

import pytest

from bayesregret import GaussianBandit, Policy, __version__
from bayesregret.cli import run
from bayesregret.cli.simulate import simulate as simulate_command
from bayesregret.models.gaussian import NOISE_KINDS
from bayesregret.problem import COMMON_PROBLEMS, load_problem, save_problem


def examples(text: str) -> list[str]:
    return re.findall(r"^ +bayesregret (simulate .*)$", text, re.MULTILINE)


def test_help_is_plain_and_whole(bayesregret):
    for arguments in (["--help"], ["-h"], []):
        outcome = bayesregret(*arguments)
        assert outcome.status == 0
        assert outcome.err == ""
        assert len(examples(outcome.out)) >= 3
        assert re.search(r"simulate +Bayes regret of policies on a problem, by simulation\.", outcome.out)
        assert "..." not in outcome.out.split("Commands:")[1]


def test_every_option_is_explained_with_its_default(bayesregret):
    text = " ".join(bayesregret("simulate", "--help").out.split())
    for name in inspect.signature(simulate_command).parameters:
        assert name == "problem" or f"--{name.replace('_', '-')} " in text
    for make in COMMON_PROBLEMS.values():
        for name, parameter in inspect.signature(make).parameters.items():
            default = parameter.default if isinstance(parameter.default, str) else f"{parameter.default:g}"
            told = re.search(rf"--{name.replace('_', '-')} [A-Z]+ .*?\[default: (.*?)\]", text)
            assert default in told[1]
    assert "Usage: bayesregret simulate PROBLEM [OPTIONS]" in text


@pytest.mark.compiled
def test_examples_run_as_they_stand(bayesregret):
    commands = examples(bayesregret("--help").out) + examples(bayesregret("simulate", "--help").out)
    assert len(commands) >= 7
    save_problem(GaussianBandit([1, 0, 0], 1, 1), "problem.toml")
    for command in commands:
        outcome = bayesregret(*shlex.split(command))
        assert outcome.status == 0, command
        assert outcome.err == ""
        assert outcome.out.startswith("{" if "--json" in command else "policy ")


def test_the_problem_file_in_the_help_loads(bayesregret, tmp_path):
    lines = re.findall(r"^    (\w+ = .*)$", bayesregret("simulate", "--help").out, re.MULTILINE)
    (tmp_path / "p.toml").write_text("\n".join(lines))
    assert load_problem(tmp_path / "p.toml") == GaussianBandit([1, 0, 0], 1.0, 1.0)


def test_version(bayesregret):
    assert bayesregret("--version") == (0, f"bayesregret {__version__}\n", "")


@pytest.fixture
def complete(capsys, tmp_path, monkeypatch):
    """What the shell is offered for the last, unfinished word."""
    monkeypatch.chdir(tmp_path)
    for name in ("gamma.toml", "other.json", "notes.txt"):
        (tmp_path / name).touch()

    def offered(line: str) -> list[str]:
        monkeypatch.setenv("_BAYESREGRET_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        with pytest.raises(SystemExit) as stopped:
            run([])
        assert stopped.value.code == 0
        return capsys.readouterr().out.split()

    return offered


def test_completion(complete):
    commands = ["simulate", "exact", "bounds", "audit", "plan", "reproduce", "sweep", "prior", "study"]
    assert complete("bayesregret ") == commands
    assert complete("bayesregret simulate gaussian --policy ") == list(Policy.classes)
    assert complete("bayesregret simulate gaussian --policy b") == ["bayes-optimal", "bayes-ucb"]
    assert complete("bayesregret simulate gaussian --noise-kind ") == list(NOISE_KINDS)
    assert complete("bayesregret simulate ") == [*COMMON_PROBLEMS, "gamma.toml", "other.json"]
    assert complete("bayesregret simulate ga") == ["gaussian", "gamma.toml"]
    assert complete("bayesregret simulate gaussian --check") == ["--checkpoints"]


def test_completion_can_be_installed(bayesregret):
    text = bayesregret("--help").out
    assert "--install-completion" in text
    assert "--show-completion" in text
