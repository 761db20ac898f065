"""Output of `bayesregret prior fit`."""

import json
import pathlib
import shlex

import pytest

import bayesregret as br
from bayesregret.cli.prior import MODELS, complete_model
from cli.test_errors import complaint

HISTORY = "experiment,arm,pulls,successes\n" + "\n".join(
    f"{experiment},{arm},200,{wins}"
    for experiment, both in enumerate([(20, 31), (61, 50), (35, 22), (40, 55), (12, 19), (90, 71)])
    for arm, wins in zip("ab", both, strict=True)
)


@pytest.fixture
def fit(bayesregret):
    pathlib.Path("history.csv").write_text(HISTORY)
    return lambda *arguments: bayesregret("prior", "fit", "history.csv", *arguments)


def test_json_is_what_python_gives(fit):
    outcome = fit("--model", "bernoulli", "--json")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.data == br.fit_prior("history.csv", model="bernoulli").to_dict()
    ungrouped = fit("--model", "bernoulli", "--no-grouped", "--json").data
    assert ungrouped == br.fit_prior("history.csv", model="bernoulli", grouped=False).to_dict()
    assert ungrouped["grouped"] is False


def test_people_get_a_table_and_the_warnings(fit):
    fitted = br.fit_prior("history.csv", model="bernoulli")
    lines = fit("--model", "bernoulli").out.splitlines()
    assert [line.split() for line in lines[1:6]] == [[row[0], *row[1].split()] for row in fitted.table()[1:]]
    assert lines[7:] == fitted.summary().splitlines()
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize("name", ["problem.toml", "problem.json"])
def test_the_problem_is_for_other_commands(fit, name):
    outcome = fit("--model", "bernoulli", "--output", name, "--arms", "3", "--level", "0.2", "--json")
    made = br.fit_prior("history.csv", model="bernoulli").bandit(3, level=0.2)
    assert br.load_problem(name) == made
    assert outcome.data["problem"] == made.to_dict()


def test_a_new_experiment_is_as_large_as_the_largest_one(fit):
    outcome = fit("--model", "bernoulli", "--output", "problem.toml")
    assert br.load_problem("problem.toml").arms == 2
    assert outcome.out.splitlines()[-1] == "written: problem.toml"


def test_the_picture(fit):
    outcome = fit("--model", "bernoulli", "--figure", "fit.png")
    assert outcome.out.splitlines()[-1] == "written: fit.png"
    assert pathlib.Path("fit.png").read_bytes().startswith(b"\x89PNG")


def test_infinities_are_strict_json(fit):
    pathlib.Path("history.csv").write_text("experiment,arm,pulls,successes\n1,a,500,20\n1,b,500,21\n1,c,500,22\n")
    data = fit("--model", "bernoulli", "--json").data
    assert data["parameters"]["alpha"] == "inf"
    assert data["comparison"] is None
    assert json.loads(json.dumps(data["upper_limits"]))["width"] > 0.0
    assert complaint(fit("--model", "bernoulli", "--output", "p.toml")).startswith("width must be given: ")
    assert fit("--model", "bernoulli", "--output", "p.toml", "--width", "0.01").status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "Missing option '--model' (see bayesregret prior fit --help)"),
        ("--model cauchy", 'model must be "bernoulli" or "gaussian" or "poisson", got \'cauchy\''),
        (
            "--model poisson",
            "history.csv: column total is missing; a poisson history has experiment, arm, pulls, total",
        ),
        ("--model bernoulli --reward-noise 1", "reward_noise goes with gaussian only, not with bernoulli"),
        ("--model bernoulli --arms 3", "--arms requires --output"),
        ("--model bernoulli --level 0.1", "--level requires --output"),
        ("--model bernoulli --output p.txt", "output must be the name of a .toml or a .json file, got 'p.txt'"),
        ("--model bernoulli --output p.toml --arms 0", "arms must be a whole number, at least 1"),
        ("--model bernoulli --output p.toml --arms x", "arms must be a whole number, at least 1"),
        ("--model bernoulli --output p.toml --level 2", "level must be a number strictly between 0 and 1, got 2"),
        (
            "--model bernoulli --figure fit.gif",
            "figure must be the name of a .png, a .pdf or a .svg file, got 'fit.gif'",
        ),
    ],
)
def test_bad_input(fit, arguments, said):
    assert complaint(fit(*shlex.split(arguments))).startswith(said)


def test_a_missing_file(bayesregret):
    outcome = bayesregret("prior", "fit", "nothing.csv", "--model", "bernoulli")
    assert complaint(outcome) == "nothing.csv: cannot be read: No such file or directory"


def test_a_missing_folder(fit):
    outcome = fit("--model", "bernoulli", "--output", "none/p.toml")
    assert complaint(outcome) == "--output must be a file in an existing folder, got none/p.toml"
    outcome = fit("--model", "bernoulli", "--output", "p.toml", "--figure", "none/fit.png")
    assert complaint(outcome) == "--figure must be a file in an existing folder, got none/fit.png"
    assert not pathlib.Path("p.toml").exists()
    pathlib.Path("folder.toml").mkdir()
    assert complaint(fit("--model", "bernoulli", "--output", "folder.toml")).startswith(
        "--output must be a file in an "
    )


def test_no_picture_without_matplotlib(fit, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    said = complaint(fit("--model", "bernoulli", "--figure", "fit.png"))
    assert said == '--figure needs matplotlib: pip install "bayesregret[plot]"'


def test_help(bayesregret):
    for arguments in (["prior"], ["prior", "--help"]):
        outcome = bayesregret(*arguments)
        assert (outcome.status, outcome.err) == (0, "")
        assert "bayesregret prior fit history.csv --model bernoulli" in outcome.out
    text = bayesregret("prior", "fit", "--help").out
    assert "Usage: bayesregret prior fit HISTORY [OPTIONS]" in text


def test_models_are_offered():
    assert complete_model("") == list(MODELS)
    assert complete_model("p") == ["poisson"]


def test_examples_run_as_they_stand(fit, bayesregret):
    lines = bayesregret("prior", "fit", "--help").out.splitlines()
    examples = [line.split()[1:] for line in lines if line.strip().startswith("bayesregret prior fit history")]
    assert len(examples) == 3
    for example in examples:
        assert bayesregret(*example).status == 0
