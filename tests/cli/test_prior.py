"""Output of `bayesregret prior fit`."""

import json
import pathlib
import re
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
    go_on = "to go on: add --arms 2 --output problem.toml, then bayesregret plan problem.toml"
    assert lines[7:] == [*fitted.summary().splitlines(), go_on]
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
    assert outcome.out.splitlines()[-1] == "problem.toml written: 2 arms"


def test_the_picture(fit):
    outcome = fit("--model", "bernoulli", "--figure", "fit.png")
    assert outcome.out.splitlines()[-2] == "fit.png written"
    assert pathlib.Path("fit.png").read_bytes().startswith(b"\x89PNG")


def test_infinities_are_strict_json(fit):
    pathlib.Path("history.csv").write_text("experiment,arm,pulls,successes\n1,a,500,20\n1,b,500,21\n1,c,500,22\n")
    data = fit("--model", "bernoulli", "--json").data
    assert data["parameters"]["alpha"] == "inf"
    assert data["comparison"] is None
    assert json.loads(json.dumps(data["upper_limits"]))["width"] > 0.0
    assert complaint(fit("--model", "bernoulli", "--output", "p.toml")).startswith("--width must be given: ")
    assert fit("--model", "bernoulli", "--output", "p.toml", "--width", "0.01").status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "Missing option '--model': bernoulli, gaussian or poisson (see bayesregret prior fit --help)"),
        ("--model cauchy", '--model must be "bernoulli" or "gaussian" or "poisson", got \'cauchy\''),
        (
            "--model poisson",
            "history.csv: column total is missing; found: experiment, arm, pulls, successes; a poisson history has exp",
        ),
        ("--model bernoulli --reward-noise 1", "--reward-noise goes with gaussian only, not with bernoulli"),
        ("--model bernoulli --arms 3", "--arms requires --output"),
        ("--model bernoulli --level 0.1", "--level requires --output"),
        ("--model bernoulli --output p.txt", "--output must be the name of a .toml or a .json file, got 'p.txt'"),
        ("--model bernoulli --output p.toml --arms 0", "--arms must be a whole number, at least 1"),
        ("--model bernoulli --output p.toml --arms x", "--arms must be a whole number, at least 1"),
        ("--model bernoulli --output p.toml --level 2", "--level must be a number strictly between 0 and 1, got 2"),
        (
            "--model bernoulli --figure fit.gif",
            "--figure must be the name of a .png, a .pdf or a .svg file, got 'fit.gif'",
        ),
    ],
)
def test_bad_input(fit, arguments, said):
    assert complaint(fit(*shlex.split(arguments))).startswith(said)


SHOP = HISTORY.replace("experiment,arm,pulls,successes", 'Test,Variant,"Visitors, all",conversions')
COLUMNS = 'experiment=test,arm=VARIANT,"pulls= visitors, all",successes=conversions'


def test_columns_have_names_of_their_own(fit):
    expected = fit("--model", "bernoulli").out
    pathlib.Path("history.csv").write_text(SHOP)
    assert fit("--model", "bernoulli", "--columns", COLUMNS).out == expected
    said = complaint(fit("--model", "bernoulli"))
    assert said.startswith(
        "history.csv: columns experiment, arm, pulls, successes are missing; found: Test, Variant, Visitors, all, "
    )
    assert said.endswith("--columns experiment=YOURS,arm=YOURS,pulls=YOURS,successes=YOURS (columns= in Python)")
    pathlib.Path("history.csv").write_text(SHOP.replace("Variant", "a = b"))
    assert fit("--model", "bernoulli", "--columns", COLUMNS.replace("VARIANT", "A = B")).out == expected


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            "",
            "--columns must be NAME=COLUMN pairs with commas between them, such as arm=Variant,pulls=visitors, got ''",
        ),
        (
            "arm",
            "--columns must be NAME=COLUMN pairs with commas between them, such as arm=Variant,pulls=visitors, got",
        ),
        ("arm=arm,", "--columns must be NAME=COLUMN pairs"),
        (
            "pulls=a, b",
            "--columns must be NAME=COLUMN pairs with commas between them, such as arm=Variant,pulls=visitor",
        ),
        ('"arm=arm', "--columns must be NAME=COLUMN pairs"),
        ("arm=a\nb", "--columns must be NAME=COLUMN pairs"),
        ("arm=arm,arm=pulls", "--columns: arm is given twice"),
        ("arm=arm,Arm =pulls", "--columns: arm is given twice"),
        ("arm=", "--columns: arm must be the name of your column, got nothing"),
        (
            "=arm",
            "--columns: '' is not a column of a bernoulli history, which may have experiment, arm, pulls, successes, ",
        ),
        (
            "variant=kind",
            "--columns: 'variant' is not a column of a bernoulli history, which may have experiment, arm, ",
        ),
        ("Visitors=pulls", "--columns: our name comes first; did you mean pulls=Visitors?"),
        ("arm=Variant", "history.csv: columns: there is no column 'Variant' for arm; found: experiment, arm, pulls, "),
    ],
)
def test_bad_columns(fit, columns, said):
    assert complaint(fit("--model", "bernoulli", "--columns", columns)).startswith(said)


def test_bad_rows_have_a_line_each(fit):
    rows = HISTORY.splitlines()
    rows[2], rows[5] = "1,b,200", "3,a,-1,4"
    pathlib.Path("history.csv").write_text("\n".join(rows))
    for output in ([], ["--json"]):
        outcome = fit("--model", "bernoulli", *output)
        assert (outcome.status, outcome.out) == (2, "")
        assert outcome.err.splitlines() == [
            "bayesregret: history.csv: 2 bad rows",
            "  line 3: must have 4 cells, one for each column, got 3",
            "  line 6: pulls must be a whole number, at least 0 and at most 1e+15, got -1",
        ]
    pathlib.Path("history.csv").write_text("\n".join(rows[:3]))
    assert (
        complaint(fit("--model", "bernoulli")) == "history.csv: line 3: must have 4 cells, one for each column, got 3"
    )
    pathlib.Path("history.csv").write_text(HISTORY.replace("200", "x"))
    assert fit("--model", "bernoulli").err.splitlines()[-1] == "  and 2 more"


def test_rows_with_missing_cells_are_skipped(fit):
    expected = fit("--model", "bernoulli").out.splitlines()
    pathlib.Path("history.csv").write_text(HISTORY + "\n7,a,,3\n7,b,200,NA\n,b,200,4\n")
    assert len(fit("--model", "bernoulli").err.splitlines()) == 5
    found = fit("--model", "bernoulli", "--skip-missing").out.splitlines()
    assert [line for line in found if line not in expected] == ["warning: 3 rows with missing cells skipped"]
    data = fit("--model", "bernoulli", "--skip-missing", "--json").data
    assert data["warnings"][0] == "3 rows with missing cells skipped"


def test_known_noise_needs_no_variance(fit):
    text = "experiment,arm,pulls,mean\n1,a,20,0.5\n1,b,30,2.5\n2,a,20,1.5\n2,b,20,2.0\n"
    pathlib.Path("history.csv").write_text(text)
    assert fit("--model", "gaussian", "--reward-noise", "1", "--json").data["parameters"]["reward_noise"] == 1.0
    said = complaint(fit("--model", "gaussian"))
    assert said.startswith("history.csv: column variance is missing; found: experiment, arm, pulls, mean; a gaussian ")
    assert "pulls, mean, variance (or standard_deviation, standard_error); or experiment, arm, reward" in said


@pytest.mark.parametrize("name", ["history.csv", "history.tsv", "history", "history.toml"])
@pytest.mark.parametrize("command", ["plan", "simulate"])
def test_a_history_is_no_problem(bayesregret, command, name):
    pathlib.Path(name).write_text("\n" + HISTORY.replace(",", "\t" if name.endswith("tsv") else ","))
    said = "is CSV, not a problem file; run `bayesregret prior fit` first, which writes a problem file with --output"
    assert complaint(bayesregret(command, name)) == f"{name}: {said}"


@pytest.mark.parametrize("text", ["a = 1, 2, 3", "[a, b, c", "# a, b, c\nx", "just a line, of text"])
def test_other_files_are_bad_problem_files(bayesregret, text):
    pathlib.Path("problem.toml").write_text(text)
    assert complaint(bayesregret("plan", "problem.toml")).startswith("problem.toml: is not TOML: ")


SPREADS = "experiment,arm,n,mean,sd\n1,a,20,0.5,2\n1,b,30,2.5,2\n2,a,20,1.5,2\n2,b,20,2.0,2\n"


def test_standard_deviations_are_no_variances(fit):
    pathlib.Path("history.csv").write_text(SPREADS)
    noise = {}
    for name in ("standard_deviation", "variance", "standard_error"):
        data = fit("--model", "gaussian", "--columns", f"pulls=n,{name}=sd", "--json").data
        noise[name] = data["parameters"]["reward_noise"]
        doubt = f"the column sd is read as the {name}; if it has standard deviations, write standard_deviation=sd"
        assert (doubt in data["warnings"]) == (name != "standard_deviation")
    assert noise["standard_deviation"] == pytest.approx(2.0)
    assert noise["variance"] == pytest.approx(2.0**0.5)
    assert noise["standard_error"] > 8.0


def test_what_to_type_next(fit):
    assert "\nto go on: add --arms 2 --output problem.toml, then" in fit("--model", "bernoulli").out
    pathlib.Path("history.csv").write_text("experiment,arm,pulls,successes\n1,a,500,20\n1,b,500,21\n1,c,500,22\n")
    found = fit("--model", "bernoulli").out.splitlines()[-1]
    said = r"^to go on: add --arms 3 --width W --output problem\.toml, with W up to (0\.\d+), then bayesregret plan"
    limit = re.match(said, found)[1]
    assert fit("--model", "bernoulli", *shlex.split(f"--arms 3 --output p.toml --width {limit}")).status == 0
    pathlib.Path("history.csv").write_text("experiment,arm,pulls,successes\n1,a,500,20\n2,a,500,60\n")
    said = "to go on: add --arms N --output problem.toml, with N at least 2, then bayesregret plan problem.toml"
    assert fit("--model", "bernoulli").out.splitlines()[-1] == said


def test_what_was_written(fit):
    said = fit(*shlex.split("--model bernoulli --output p.toml --arms 4 --level 0.06")).out.splitlines()[-1]
    assert said == "p.toml written: 4 arms, level 0.06"


def test_rates_are_no_counts(fit):
    pathlib.Path("history.csv").write_text("experiment,arm,pulls,successes\n1,a,10,0.0464227198\n1,b,20,0.05\n")
    whole = "successes must be a whole number, at least 0 and at most 1e+15"
    assert fit("--model", "bernoulli").err.splitlines()[1:] == [
        f"  line 2: {whole}, got 0.04642: a rate? It must be a count",
        f"  line 3: {whole}, got 0.05: a rate? It must be a count",
    ]


def test_a_saved_agent_is_no_problem(bayesregret):
    pathlib.Path("agent.json").write_text(br.Thompson().start(br.BernoulliBandit([1, 1], [1, 1])).to_json())
    said = "agent.json: is a saved agent, not a problem; Agent.from_json reads it"
    assert complaint(bayesregret("plan", "agent.json")) == said


def test_a_history_in_place_of_a_command(bayesregret):
    said = complaint(bayesregret("prior", "shop.csv"))
    assert said.startswith("No such command 'shop.csv'; bayesregret prior fit reads histories (see bayesregret prior")


def test_a_missing_file(bayesregret):
    outcome = bayesregret("prior", "fit", "nothing.csv", "--model", "bernoulli")
    assert complaint(outcome) == "nothing.csv: cannot be read: No such file or directory"


def test_a_missing_folder(fit):
    outcome = fit("--model", "bernoulli", "--output", "none/p.toml")
    said = "must be a file that can be written, got"
    assert complaint(outcome) == f"--output {said} none/p.toml: its folder does not exist"
    outcome = fit("--model", "bernoulli", "--output", "p.toml", "--figure", "none/fit.png")
    assert complaint(outcome) == f"--figure {said} none/fit.png: its folder does not exist"
    assert not pathlib.Path("p.toml").exists()


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
    pathlib.Path("shop.csv").write_text(SHOP.replace('"Visitors, all"', "Visitors"))
    text = bayesregret("prior", "fit", "--help").out.replace("\\\n", "")
    examples = [line.split()[1:] for line in text.splitlines() if line.strip().startswith("bayesregret prior fit ")]
    assert len(examples) == 4
    for example in examples:
        assert bayesregret(*example).status == 0
