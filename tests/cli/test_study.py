"""`bayesregret study`: list, show, export, merge."""

import json
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

import bayesregret as br
from bayesregret.study import Study, StudyWriteError, point_key

SETTINGS = {"figure": "figure-1a", "prior": {"width": 0.1, "mean": [1.0, 0.0, 0.0, 0.0, 0.0]}, "seed": 7}
RESULT = {"regret": 0.1 + 0.2, "stderr": "inf", "curve": [0.5] * 10}


@pytest.fixture
def study(bayesregret):
    """`bayesregret study` in a folder with one.sqlite and two.sqlite."""
    with Study.open("one.sqlite") as one:
        one.save(SETTINGS, RESULT, seconds=1.25)
    with Study.open("two.sqlite") as two:
        two.save(SETTINGS, RESULT, seconds=1.0)
        two.save({**SETTINGS, "seed": 8, "note": "two\nlines é"}, {}, seconds=0.0)
    return lambda *arguments: bayesregret("study", *arguments)


def complaint(outcome, status: int = 2) -> str:
    assert (outcome.status, outcome.out) == (status, "")
    line = outcome.err.removesuffix("\n")
    assert line.isprintable(), "one line"
    return line.removeprefix("bayesregret: ")


def test_list(study):
    outcome = study("list", "one.sqlite")
    assert (outcome.status, outcome.err) == (0, "")
    heading, row, _, summary = outcome.out.splitlines()
    assert heading.split() == ["key", "what", "version", "seconds", "finished"]
    what = "figure=figure-1a prior.width=0.1 prior.mean=[5 values] seed=7"
    beginning = f"{point_key(SETTINGS)[:10]} {what} {br.__version__} 1.250 "
    assert " ".join(row.split()).startswith(beginning)
    assert re.search(r" \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC *$", row)
    assert summary == "1 point in one.sqlite, 1.250 s of computing"


def test_list_keeps_to_its_lines(study):
    rows = study("list", "two.sqlite").out.splitlines()
    assert len(rows) == 5
    assert r" seed=8 note=two\nlines \xe9 figure=figure-1a prior.width=0.1 " in rows[2]
    with Study.open("empty.sqlite"):
        pass
    assert study("list", "empty.sqlite").out.splitlines()[-1] == "0 points in empty.sqlite, 0 s of computing"


def test_list_begins_with_what_tells_points_apart(study):
    covariance = [[0.5, 0.25, 0.0], [0.25, 1.0, 0.0], [0.0, 0.0, 1.0]]
    with Study.open("many.sqlite") as many:
        for width in (1.0, 2.0):
            problem = {"model": "gaussian", "prior_mean": [width, 0.0, 0.0], "prior_covariance": covariance}
            many.save({"figure": "a", "problem": problem, "policies": [{"name": "ucb1"}]}, {}, seconds=0.0)
        linear = {"model": "linear", "features": covariance, "note": "long " * 30}
        many.save({"figure": "a", "problem": linear, "policies": []}, {}, seconds=0.0)
    first, second, third = study("list", "many.sqlite").out.splitlines()[1:4]
    matrix = "[[0.5, 0.25, ...], ...]"
    assert f" model=gaussian prior_mean=[1, 0, ...] prior_covariance={matrix} policies=[ucb1] ... " in first
    assert "model=gaussian prior_mean=[2, 0, ...]" in second
    assert f" model=linear features={matrix} ... " in third  # no field is cut


def test_list_json(study):
    data = study("list", "two.sqlite", "--json").data
    assert data["study"] == "two.sqlite"
    assert [point["settings"]["seed"] for point in data["points"]] == [7, 8]
    assert list(data["points"][0]) == ["key", "settings", "version", "seconds", "finished"]


def test_show(study):
    key = point_key(SETTINGS)
    lines = [" ".join(line.split()) for line in study("show", "one.sqlite", key[:6]).out.splitlines()]
    assert lines[:5] == [
        "setting value",
        "figure figure-1a",
        "prior.width 0.1",
        "prior.mean [1.0, 0.0, 0.0, 0.0, ...] (5 values)",
        "seed 7",
    ]
    assert lines[6:9] == ["result value", "regret 0.30000000000000004", "stderr inf"]
    assert lines[-1].startswith(f"{key}, computed by bayesregret {br.__version__} in 1.250 s, finished ")


def test_show_what_cannot_be_printed(study):
    key = point_key({**SETTINGS, "seed": 8, "note": "two\nlines é"})
    shown = study("show", "two.sqlite", key).out
    assert r"two\nlines \xe9" in shown
    command = [sys.executable, "-m", "bayesregret", "study", "show", "two.sqlite", key]
    done = subprocess.run(command, capture_output=True, env={"PYTHONIOENCODING": "ascii"}, check=True)
    assert done.stderr == b""


def test_show_json_is_exact(study):
    data = study("show", "one.sqlite", point_key(SETTINGS).upper()[:12], "--json").data
    assert data["settings"] == SETTINGS
    assert data["result"] == RESULT
    assert (data["key"], data["version"], data["seconds"]) == (point_key(SETTINGS), br.__version__, 1.25)


def test_export(study):
    assert study("export", "two.sqlite", "points.json") == (0, "2 points written to points.json\n", "")
    assert [row["settings.seed"] for row in json.loads(pathlib.Path("points.json").read_text())] == [7, 8]
    assert study("export", "two.sqlite", "points.parquet").status == 0
    assert pathlib.Path("points.parquet").read_bytes().startswith(b"PAR1")
    outcome = study("export", "one.sqlite", "points.txt", "--format", "csv", "--json")
    assert outcome.data == {"study": "one.sqlite", "target": "points.txt", "points": 1}
    assert pathlib.Path("points.txt").read_text().startswith("key,version,seconds,finished,settings.figure,")


def test_merge(study):
    assert study("merge", "one.sqlite", "two.sqlite") == (0, "1 point copied; one.sqlite has 2 points now\n", "")
    outcome = study("merge", "new.sqlite", "one.sqlite", "two.sqlite", "--json")
    assert outcome.data == {"study": "new.sqlite", "copied": 2, "points": 2}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("list", "Missing argument 'FILE' (see bayesregret study list --help)"),
        ("list no.sqlite", "no.sqlite: there is no such file"),
        ("list text.txt", "text.txt: is not a study: it is not an SQLite database"),
        ("list .", ".: is not a study but a folder"),
        (
            "show one.sqlite zz",
            "one.sqlite: key must be the first characters of one point's key, got 'zz', which",
        ),
        (
            "export one.sqlite points.xls",
            "points.xls: the suffix must be one of .csv, .parquet, .json, or the format",
        ),
        ("export one.sqlite p.csv --format xls", '--format must be "csv" or "parquet" or "json", got \'xls\''),
        ("export one.sqlite no/p.csv", "no/p.csv: cannot be written: its folder does not exist"),
        ("merge one.sqlite", "Missing argument 'OTHER...' (see bayesregret study merge --help)"),
        ("merge new.sqlite one.sqlite text.txt", "text.txt: is not a study"),
        ("merge new.sqlite new.sqlite", "new.sqlite: there is no such file"),
        ("merge one.sqlite other.sqlite", "one.sqlite and other.sqlite: the point "),
        ("lst", "No such command 'lst'"),
    ],
)
def test_bad_input(study, arguments, said):
    pathlib.Path("text.txt").write_text("text" * 1000)
    with Study.open("other.sqlite") as other:
        other.save(SETTINGS, {"regret": 0.5}, seconds=1.0)
    before = {path.name: path.read_bytes() for path in pathlib.Path().iterdir()}
    assert complaint(study(*arguments.split())).startswith(said)
    assert {path.name: path.read_bytes() for path in pathlib.Path().iterdir()} == before


def test_a_full_disk_is_not_the_users_fault(study, monkeypatch):
    def fall(*arguments):
        raise StudyWriteError("one.sqlite: cannot be written: the disk is full")

    monkeypatch.setattr(Study, "merge", fall)
    assert complaint(study("merge", "one.sqlite", "two.sqlite"), 1) == "one.sqlite: cannot be written: the disk is full"


def test_help_and_its_examples(study):
    overview = study()
    assert overview == study("--help")
    assert overview.status == 0
    pages = [overview.out, *(study(name, "--help").out for name in ("list", "show", "export", "merge"))]
    examples = [line for page in pages for line in re.findall(r"^ +bayesregret study (.* \S+)$", page, re.MULTILINE)]
    examples = [line for line in examples if "--help" not in line]
    assert len(examples) >= 12
    for new, old in (("study", "one"), ("here", "one"), ("there", "two")):
        pathlib.Path(f"{new}.sqlite").write_bytes(pathlib.Path(f"{old}.sqlite").read_bytes())
    for example in examples:
        command = shlex.split(example.replace("3f2a", point_key(SETTINGS)[:4]))
        outcome = study(*command)
        assert (outcome.status, outcome.err) == (0, ""), example


def test_help_loads_no_database():
    code = (
        "import sys; from bayesregret.cli import run; run(['study', 'list', '--help']); "
        "sys.exit(bool({'sqlite3', 'pyarrow', 'pandas'} & sys.modules.keys()))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    control = code.replace("'--help'", "'no.sqlite'")
    assert subprocess.run([sys.executable, "-c", control], capture_output=True).returncode == 1
