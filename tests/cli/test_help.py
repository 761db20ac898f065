"""Help, its examples, the version and completion."""

import inspect
import pathlib
import re
import shlex
import shutil
import tomllib

import pytest

from bayesregret import BernoulliBandit, GaussianBandit, Policy, __version__, experiments, service
from bayesregret.cli import reproduce, run
from bayesregret.cli.options import PROBLEM_OPTIONS
from bayesregret.cli.simulate import simulate as simulate_command
from bayesregret.models.gaussian import NOISE_KINDS
from bayesregret.problem import COMMON_PROBLEMS, load_problem, save_problem
from bayesregret.reproduction.runner import run_experiments
from bayesregret.reproduction.sweep import load_sweep, sweep_experiments
from bayesregret.service import Tokens
from bayesregret.study import Study

DATA = pathlib.Path(__file__).parents[2] / "docs" / "data"
COMMANDS = [
    "prior",
    "plan",
    "experiment",
    "serve",
    "token",
    "simulate",
    "exact",
    "optimal",
    "bounds",
    "audit",
    "explore",
    "reproduce",
    "sweep",
    "study",
]
WITH_PROBLEM = ["plan", "simulate", "exact", "optimal", "bounds", "audit"]
EXPERIMENT = ["start", "decide", "reward", "status", "list", "pause", "resume", "add", "stop", "export", "replay"]
PAGES = [
    *([name] for name in ("", *COMMANDS)),
    ["prior", "fit"],
    *(["experiment", name] for name in EXPERIMENT),
    *(["token", name] for name in ("add", "list", "remove")),
    *(["study", name] for name in ("list", "show", "export", "merge")),
    *([name, "bernoulli"] for name in WITH_PROBLEM),
]
HISTORY = """experiment,arm,pulls,successes
a,x,90,9
a,y,80,20
b,x,90,5
b,y,70,3
"""
WIDTHS = """
policies = ["bayes-ucb", "ucb1"]
bounds = ["certified"]
horizon = 20
runs = 10
[problem]
common = "gaussian"
arms = 3
[vary]
prior_width = [0.1, 1]
"""


def examples(text: str) -> list[str]:
    joined = text.replace("\\\n", " ")
    return re.findall(r"^ {4}bayesregret (.*)$", joined, re.MULTILINE)


def page(bayesregret, *words: str) -> str:
    outcome = bayesregret(*filter(None, words), "--help")
    assert (outcome.status, outcome.err) == (0, "")
    return outcome.out


def test_help_is_plain_and_whole(bayesregret):
    for arguments in (["--help"], ["-h"], []):
        outcome = bayesregret(*arguments)
        assert outcome.status == 0
        assert outcome.err == ""
        assert len(examples(outcome.out)) >= 3
        assert re.search(r"simulate +Bayes regret of policies on a problem, by simulation\.", outcome.out)


def test_commands_and_examples_are_in_the_order_of_the_workflow(bayesregret):
    text = page(bayesregret)
    assert re.findall(r"^  (\w+)  +[A-Z]", text, re.MULTILINE) == COMMANDS
    titles = ["From past experiments to a decision", "Run an experiment", "Simulate, compute, bound"]
    titles.append("Reproduce the paper and your own experiments")
    places = [text.index(f"\n{title}:\n") for title in titles]
    assert places == sorted(places)
    first_words = [example.split()[0] for example in examples(text)]
    assert list(dict.fromkeys(first_words)) == COMMANDS


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
@pytest.mark.parametrize("width", [80, 100])
def test_no_line_is_wider_than_the_terminal(bayesregret, monkeypatch, words, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = page(bayesregret, *words).splitlines()
    assert [line for line in lines if len(line) > width or line != line.rstrip()] == []
    assert not re.search(r"[a-z]-$", "\n".join(lines), re.MULTILINE), "a word is broken"


def test_every_option_is_explained_with_its_default(bayesregret):
    text = " ".join(page(bayesregret, "simulate").split())
    for name in inspect.signature(simulate_command).parameters:
        assert name == "problem" or f"--{name.replace('_', '-')} " in text
    for model, make in COMMON_PROBLEMS.items():
        own = " ".join(page(bayesregret, "simulate", model).split())
        for name, parameter in inspect.signature(make).parameters.items():
            default = parameter.default if isinstance(parameter.default, str) else f"{parameter.default:g}"
            for shown in (text, own):
                told = re.search(rf"--{name.replace('_', '-')} [A-Z]+ .*?\[default: (.*?)\]", shown)
                assert default in told[1]
            assert told[1] == default
    assert "Usage: bayesregret simulate PROBLEM [OPTIONS]" in text


# --- the model asked for -------------------------------------------------------------------------------------------


def problem_options(text: str) -> set[str]:
    typed = {f"--{name.replace('_', '-')}": name for name in PROBLEM_OPTIONS}
    return {typed[found] for found in re.findall(r"^  (--[a-z-]+) ", text, re.MULTILINE) if found in typed}


@pytest.mark.parametrize("command", WITH_PROBLEM)
@pytest.mark.parametrize("model", COMMON_PROBLEMS)
def test_help_for_a_model_has_the_options_of_this_model_only(bayesregret, command, model):
    for words in ([command, model], [command, "--seed", "1", model, "--arms", "3"]):
        if command == "exact":
            words = [word for word in words if word not in ("--seed", "1")]
        text = page(bayesregret, *words)
        assert problem_options(text) == set(inspect.signature(COMMON_PROBLEMS[model]).parameters)
        assert f"\nOptions of {model} problems:\n" in text
        assert "Options of common problems" not in text


@pytest.mark.parametrize("command", WITH_PROBLEM)
def test_help_for_a_file_has_none_and_help_for_no_problem_has_all(bayesregret, command):
    for_file, overview = page(bayesregret, command, "p.toml"), page(bayesregret, command)
    assert problem_options(for_file) == set()
    assert "Options of" not in for_file
    assert problem_options(overview) == set(PROBLEM_OPTIONS)
    assert "\nOptions of common problems:\n" in overview
    assert "--arms N " in overview


def test_a_model_as_the_value_of_an_option_is_not_the_problem(bayesregret):
    text = page(bayesregret, "plan", "--noise-kind", "gaussian", "bernoulli")
    assert "Options of bernoulli problems" in text


# --- columns -------------------------------------------------------------------------------------------------------

# One command for each help, with options that give all columns; each prints to a width that leaves none out.
SMALL = "--horizon 6 --runs 8"
ALL_COLUMNS = {
    "simulate": [
        f"simulate bernoulli --arms 2 {SMALL} --policy bayes-ucb --policy ucb1 --optimal --exact-check --checkpoints 5",
        "simulate gaussian --arms 2 --horizon 4 --runs 8 --policy ucb1 --optimal",
    ],
    "exact": ["exact bernoulli --arms 2 --horizon 4 --best-arm --checkpoints 2"],
    "optimal": ["optimal gaussian --arms 2 --horizon 4"],
    "bounds": ["bounds bernoulli --arms 2 --horizon 20 --against --runs 20"],
    "audit": ["audit bernoulli --arms 2 --horizon 20 --runs 5"],
    "plan": [f"plan bernoulli --arms 2 {SMALL} --policy bayes-ucb --policy ucb1"],
    "prior fit": ["prior fit history.csv --model bernoulli"],
    "sweep": ["sweep widths.toml"],
    "experiment decide": ["experiment decide checkout"],
    "experiment status": ["experiment status checkout --no-exact"],
    "experiment list": ["experiment list"],
    "token list": ["token list"],
    "study list": ["study list study.sqlite"],
    "study show": ["study show study.sqlite KEY"],
}
POLICIES = ("bayes-ucb", "ucb1")


def written(text: str) -> dict[str, str]:
    """The columns that a help defines, with their definitions."""
    section = re.search(r"^Columns:\n((?:  .*\n)+)", text, re.MULTILINE)
    return dict(re.split(r" {2,}", line.strip(), maxsplit=1) for line in section[1].splitlines())


def as_in_help(heading: str) -> str:
    """Replace what differs from run to run as the help does."""
    heading = re.sub(rf"^minus ({'|'.join(POLICIES)})$", "minus NAME", heading)
    heading = re.sub(r"^within [\d.]+ from round$", "within N from round", heading)
    return "NAME" if heading in POLICIES else heading


def copy_files(study: pathlib.Path) -> None:
    """Files of the names in the examples."""
    pathlib.Path("sweep").mkdir()
    for name in ("study", "here", "there", "all", "sweep/study"):
        shutil.copy(study, f"{name}.sqlite")
    shutil.copy(DATA / "conversions.csv", "shop.csv")
    pathlib.Path("history.csv").write_text(HISTORY)
    pathlib.Path("widths.toml").write_text(WIDTHS)
    save_problem(GaussianBandit([1, 0, 0], 1, 1), "problem.toml")


def fill_stores(commands: list[str]) -> str:
    """Make stores with the names in the examples, unless these start the experiments; return the id of a decision."""
    arms, decision = ["blue", "green", "red"], ""
    for store, name in (("shop", "spare"), ("banner", "banner"), ("experiments", "checkout")):
        with experiments(f"sqlite:///{store}.db") as opened:
            if not any("token add" in command for command in commands):
                for token in ("shop", "board"):
                    Tokens(opened.database).add(token, "read")
            if not any(f"start {name} " in command for command in commands):
                made = opened.start(name, BernoulliBandit([1] * 3, [1] * 3), "bayes-ucb", horizon=99, arms=arms)
                decision = made.decide("user-1").id
    return decision


def prints_of(monkeypatch, bayesregret, command: str) -> set[str]:
    """All headings that a command prints."""
    printed: list[str] = []

    def note(tables, *arguments, **options):
        printed.extend(heading for rows in tables for heading in rows[0])

    for module in [
        "exact",
        "optimal",
        "bounds",
        "audit",
        "plan",
        "prior",
        "reproduce",
        "study",
        "show",
        "experiment",
        "token",
    ]:
        monkeypatch.setattr(f"bayesregret.cli.{module}.show_tables", note)
    for line in ALL_COLUMNS[command]:
        words = line.replace("KEY", first_key(bayesregret) if "KEY" in line else "").split()
        assert bayesregret(*words).status == 0
    return {as_in_help(heading) for heading in printed}


def first_key(bayesregret) -> str:
    return bayesregret("study", "list", "study.sqlite", "--json").data["points"][0]["key"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study with the points of a small sweep."""
    path = tmp_path_factory.mktemp("study") / "study.sqlite"
    with Study.open(path) as opened:
        run_experiments(sweep_experiments(tomllib.loads(WIDTHS)), opened)
    return path


@pytest.mark.parametrize("command", ALL_COLUMNS)
def test_every_column_is_defined_in_one_line(bayesregret, monkeypatch, study, command):
    monkeypatch.setenv("COLUMNS", "80")
    copy_files(study)
    fill_stores([])
    defined = written(page(bayesregret, *command.split()))
    assert set(defined) == prints_of(monkeypatch, bayesregret, command)
    assert all(meaning.endswith(".") for meaning in defined.values()), "in one line"


def test_reproduce_prints_the_columns_of_sweep(bayesregret):
    assert written(page(bayesregret, "reproduce")) == written(page(bayesregret, "sweep")) == reproduce.COLUMNS


# --- examples ------------------------------------------------------------------------------------------------------


def reduced(words: list[str]) -> list[str]:
    """The same command with fewer runs: what examples do with their options is the same, in less time."""
    fewer = {
        "plan": ["--runs", "20"],
        "optimal": ["--runs", "100"],
        "simulate": ["--runs", "200"],
        "audit": ["--runs", "20"],
    }
    against = ["--runs", "200"] if "--against" in words else []
    here = {"tcp://host:8786": "local:2", "gpu": "threads"}  # a cluster of this machine, which may have no GPU
    near = [here.get(word, word) for word in words]
    return [*near, *fewer.get(words[0], against)]


@pytest.mark.compiled
@pytest.mark.parametrize("words", PAGES[: -len(WITH_PROBLEM)], ids=" ".join)
def test_examples_run_as_they_stand(bayesregret, monkeypatch, study, words):
    """With small files of the names in the examples, and fewer runs. `reproduce` takes too long: its options are
    parsed, its experiments are made, and none is run."""
    figures, served = [], []
    ran = reproduce._run
    monkeypatch.setattr(
        reproduce,
        "_run",
        lambda made, title, *rest, **options: (
            figures.append(made) if title == reproduce.TITLE else ran(made, title, *rest, **options)
        ),
    )
    monkeypatch.setattr(service, "serve", lambda *_, **options: served.append(options))
    monkeypatch.setattr("bayesregret.exploring.server.serve", lambda *state, **settings: print("served"))
    copy_files(study)
    commands = examples(page(bayesregret, *words))
    decision = fill_stores(commands)
    assert commands
    for command in commands:
        if "points.parquet" in command:
            pytest.importorskip("pyarrow")
        command = command.replace("1-5f0c9f3e", decision)
        line = command.replace("3f2a", first_key(bayesregret)[:6]) if "3f2a" in command else command
        outcome = bayesregret(*reduced(shlex.split(line)))
        assert (outcome.status, outcome.err) == (0, ""), command
        is_stubbed = command.split()[0] in ("reproduce", "serve")
        assert is_stubbed or outcome.out.startswith("{") == ("--json" in command), command
        for file in re.findall(r"--(?:output|agent|figure) (\S+\.\w+)", command):
            assert pathlib.Path(file).stat().st_size > 0
    assert bool(figures) == any(command.startswith("reproduce") for command in commands)
    assert len(served) == sum(command.startswith("serve") for command in commands)


def test_the_problem_file_in_the_help_loads(bayesregret, tmp_path):
    lines = re.findall(r"^    (\w+ = .*)$", page(bayesregret, "simulate"), re.MULTILINE)
    (tmp_path / "p.toml").write_text("\n".join(lines))
    assert load_problem(tmp_path / "p.toml") == GaussianBandit([1, 0, 0], 1.0, 1.0)


def test_the_sweep_in_the_help_loads(bayesregret, tmp_path):
    text = page(bayesregret, "sweep")
    (tmp_path / "s.toml").write_text(re.search(r"FILE is TOML:\n\n(.*?)\n\n", text, re.DOTALL)[1])
    assert len(load_sweep(tmp_path / "s.toml")) == 2


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
    assert complete("bayesregret ") == COMMANDS
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
