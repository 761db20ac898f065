"""Messages name options as the user types them."""

import pathlib
import types

import pytest

from bayesregret import BernoulliBandit
from bayesregret.cli import complaints
from bayesregret.cli.spelling import as_typed, spellings_of
from bayesregret.problem import save_problem


def parameter(name, *opts, kind="option", metavar="N", opposite=()):
    return types.SimpleNamespace(
        name=name, opts=opts, secondary_opts=list(opposite), param_type_name=kind, metavar=metavar
    )


PARAMETERS = [
    parameter("problem", kind="argument", metavar="PROBLEM"),
    parameter("horizon", "--horizon"),
    parameter("keep", "--keep"),
    parameter("max_runs", "--max-runs"),
    parameter("delay", "--delay"),
    parameter("batch", "--batch"),
    parameter("delta", "-d", "--delta"),
    parameter("exact", "--exact", opposite=["--no-exact"]),
]


@pytest.mark.parametrize(
    ("message", "typed"),
    [
        ("horizon must be a whole number, got 0", "--horizon must be a whole number, got 0"),
        ("max_runs must be at least 20", "--max-runs must be at least 20"),
        ("delta does not go with greedy", "--delta does not go with greedy"),
        ("delay and batch must be 0", "--delay and --batch must be 0"),
        ("bandit must be gaussian", "PROBLEM must be gaussian"),
        ('no memory; keep="summary" needs none', "no memory; --keep summary needs none"),
        ("slow (exact=True computes it)", "slow (--exact computes it)"),
        ("exact=False simulates", "--no-exact simulates"),
        ("too many with horizon 100, got 7", "too many with --horizon 100, got 7"),
        # What stays: words, settings within a policy's name, fields of files, other names.
        ("the horizon must be longer", "the horizon must be longer"),
        ("run bayes-ucb(delta=0.1) or bayes-ucb:delta=0.1", "run bayes-ucb(delta=0.1) or bayes-ucb:delta=0.1"),
        ("p.toml: horizon must be a number", "p.toml: horizon must be a number"),
        ("horizons must be sorted", "horizons must be sorted"),
        ("alpha must be a number", "alpha must be a number"),
    ],
)
def test_names_as_they_are_typed(message, typed):
    assert as_typed(message) == message
    with spellings_of(PARAMETERS):
        assert as_typed(message) == typed
    assert as_typed(message) == message


def test_a_field_of_a_problem_file_is_no_option(bayesregret):
    save_problem(BernoulliBandit([1e-3, 1.0], [1.0, 1.0]), "flat.toml")
    assert bayesregret("bounds", "flat.toml").err.startswith("bayesregret: alpha must be between")
    assert bayesregret("bounds", "bernoulli", "--alpha", "1e-3").err.startswith("bayesregret: --alpha must be between")
    assert bayesregret("bounds", "flat.toml", "--delta", "2").err.startswith("bayesregret: --delta must be")
    assert pathlib.Path("flat.toml").exists()


def test_no_output_names_an_argument_of_a_python_function(bayesregret):
    told = bayesregret("audit", "bernoulli", "--arms", "2", "--horizon", "2001", "--runs", "5").out
    assert "(--exact computes it)" in told
    assert "exact=True" not in told


def test_errors_fit_a_terminal_and_are_one_line_elsewhere(capsys, monkeypatch):
    names = "--policy must be one of bayes-optimal, bayes-ucb, explore-commit, gittins, greedy, epsilon-greedy, moss"
    assert complaints.complain(names, 2) == 2
    assert capsys.readouterr().err == f"bayesregret: {names}\n"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    complaints.complain(names, 2)
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(lines) == f"bayesregret: {names}"
