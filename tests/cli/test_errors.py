"""Bad input: exit status 2 and one line on standard error, never a traceback."""

import pathlib
import re

import pytest

from bayesregret import BernoulliBandit, Policy
from bayesregret.problem import COMMON_PROBLEMS, save_problem

WORDS = ", ".join(COMMON_PROBLEMS)


def complaint(outcome, status: int = 2) -> str:
    assert outcome.status == status
    assert outcome.out == ""
    assert outcome.err.endswith("\n")
    line = outcome.err.removesuffix("\n")
    assert line.isprintable(), "one line"
    assert line.startswith("bayesregret: ")
    return line.removeprefix("bayesregret: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("gaussian --horizon 0", "--horizon must be a whole number, at least 1 and at most 1000000000000, got 0"),
        ("gaussian --horizon abc", "--horizon must be a whole number, at least 1 and at most 1000000000000, got 'abc'"),
        ("gaussian --horizon 1.5", "--horizon must be a whole number"),
        ("gaussian --runs -3", "--runs must be a whole number, at least 1"),
        ("gaussian --seed -1", "--seed must be a whole number, at least 0, got -1"),
        ("gaussian --seed 1e999", "--seed must be a whole number, at least 0, got inf"),
        ("gaussian --delta 2", "--delta must be a number strictly between 0 and 1, got 2"),
        ("gaussian --delta nan", "--delta must be a number strictly between 0 and 1, got nan"),
        ("gaussian --threads 0", "--threads must be a whole number, at least 1"),
        ("gaussian --engine cpu", '--engine must be "threads" or "gpu", got \'cpu\''),
        ("gaussian --cluster here", "--cluster must be an address such as tcp://host:8786, or local:4, got 'here'"),
        ("gaussian --cluster local:2 --threads 2", "--threads does not go with --cluster, whose workers do the work"),
        ("gaussian --cluster local:2 --engine cpu", '--engine must be "threads" or "gpu", got \'cpu\''),
        ("gaussian --precision 0", "--precision must be a number strictly between 0 and 1, got 0"),
        ("gaussian --max-runs 100", "--max-runs requires --precision"),
        ("gaussian --precision 0.1 --max-runs 5", "--max-runs must be a whole number, at least 20"),
        ("gaussian --policy foo", "--policy must be one of bayes-optimal, bayes-ucb, "),
        (
            "gaussian --seed 5,001",
            "--seed must be a whole number, at least 0, got '5,001'; write 5001, without commas",
        ),
        ("gaussian --arms 1 --delta 1,5", "--delta must be a number strictly between 0 and 1, got '1,5'"),
        ("gaussian --policy ucb1 --policy ucb1", "--policy must be given once each, got ucb1 2 times"),
        (
            "bernoulli --arms 1 --optimal",
            "the ratio to optimal regret is undefined: this bandit's optimal regret is 0",
        ),
        (
            "gaussian --checkpoints 5,x",
            "--checkpoints must be whole numbers between 1 and the horizon, 50, got [5, 'x']",
        ),
        ("gaussian --checkpoints 51", "--checkpoints must be whole numbers between 1 and the horizon, 50, got [51]"),
        ("gaussian --checkpoints ,", "--checkpoints must be whole numbers"),
        (
            "gaussian --runs 1e10 --horizon 1e6",
            "--runs must be at most 9007199254 with --horizon 1000000, because a simulation has at most 2**53 rounds, ",
        ),
        ("gaussian --keep all", '--keep must be "runs" or "summary", got \'all\''),
        ("gaussian --arms 0", "--arms must be a whole number, at least 1"),
        ("gaussian --arms 1e12", "--arms must be a whole number, at least 1 and at most 10000000"),
        ("gaussian --prior-width -1", "--prior-width must be a positive number, got -1"),
        ("gaussian --reward-noise inf", "--reward-noise must be a positive number, got inf"),
        ("gaussian --noise-kind foo", '--noise-kind must be "gaussian" or "rademacher", got \'foo\''),
        ("gaussian --alpha 1", "--alpha does not go with gaussian, which takes --arms, --prior-gap, --prior-width, "),
        (
            "bernoulli --noise-kind gaussian",
            "--noise-kind does not go with bernoulli, which takes --arms, --alpha, --beta",
        ),
        ("bernoulli --alpha 0", "--alpha must be a positive number, got 0"),
        ("linear --arms 5", "--arms must be at least the dimension, 10, got 5"),
        ("good.toml --arms 3", "--arms does not go with a problem file, only with one of " + WORDS),
        ("bad.toml", "bad.toml: alpha is missing; a bernoulli problem must have alpha and beta"),
        ("folder", "folder: cannot be read: Is a directory"),
        (
            "gausian",
            "PROBLEM must be a TOML or JSON file or one of "
            + WORDS
            + ", got 'gausian', which is not a file; did you mean gaussian?",
        ),
        ("", "Missing argument 'PROBLEM' (see bayesregret simulate --help)"),
        ("gaussian more", "Got unexpected extra argument"),
        ("gaussian --foo", "No such option: --foo"),
        ("gaussian --horizn 3", "No such option: --horizn"),
        ("gaussian --horizon", "Option '--horizon' requires an argument"),
        ("gaussian --json=3", "Option '--json' does not take a value"),
    ],
)
def test_simulate(simulate, arguments, said):
    save_problem(BernoulliBandit([1], [1]), "good.toml")
    pathlib.Path("bad.toml").write_text('model = "bernoulli"\n')
    pathlib.Path("folder").mkdir()
    for output in ([], ["--json"]):
        assert complaint(simulate(*output, *arguments.split())).startswith(said)


def test_an_empty_and_a_two_line_problem(simulate):
    assert complaint(simulate("")).startswith("PROBLEM must be a TOML or JSON file or one of")
    assert "'a\\nb'" in complaint(simulate("a\nb"))


@pytest.mark.parametrize("arguments", ["foo", "--foo", "simulat"])
def test_there_is_no_such_command(bayesregret, arguments):
    assert complaint(bayesregret(arguments)).startswith("No such ")


def test_a_policy_that_was_misspelt(simulate):
    said = complaint(simulate("gaussian", "--policy", "Tompson"))
    assert re.fullmatch(r"--policy must be one of \d+ names, got 'Tompson'; did you mean thompson\?", said)


def test_a_policy_without_delta(simulate, monkeypatch):
    class Plain(Policy):
        name = "test-plain"

        def settings(self, bandit, horizon):
            raise NotImplementedError

    monkeypatch.delitem(Policy.classes, "test-plain")
    monkeypatch.setitem(Policy.classes, "plain", Plain)
    said = complaint(simulate("gaussian", "--policy", "plain", "--delta", "0.1"))
    assert said == "--delta does not go with test-plain, which has no delta"


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError("Unable to allocate 8 TiB"), 1, "Unable to allocate 8 TiB"),
        (MemoryError(), 1, "not enough memory"),
        (OSError(28, "No space left on device"), 1, "[Errno 28] No space left on device"),
        (TypeError("two\nlines"), 2, "two lines"),
    ],
)
def test_what_may_happen_on_the_way(simulate, monkeypatch, raised, status, said):
    def fall(*arguments, **options):
        raise raised

    monkeypatch.setattr("bayesregret.cli.simulate.run_simulation", fall)
    assert complaint(simulate("gaussian"), status) == said


def test_what_nobody_expects_is_not_hidden(simulate, monkeypatch):
    def fall(*arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr("bayesregret.cli.simulate.run_simulation", fall)
    with pytest.raises(ZeroDivisionError):
        simulate("gaussian")


def test_a_fault_in_printing_is_not_the_users(simulate, monkeypatch):
    def fall(*arguments, **options):
        raise ValueError("Out of range float values are not JSON compliant")

    monkeypatch.setattr("bayesregret.cli.simulate.show_json", fall)
    with pytest.raises(ValueError, match="Out of range"):
        simulate("gaussian", "--json")
