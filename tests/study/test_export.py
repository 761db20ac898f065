"""Exported tables read back equal, and a target is whole or as it was."""

import csv
import errno
import json
import math
import os
import re
import sys

import hypothesis.strategies as st
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings

from bayesregret.extras import MissingExtraError
from bayesregret.study import Study, StudyError, StudyWriteError, export
from bayesregret.writing import FORMULA_STARTS

POINTS = [
    (
        {"problem": {"model": "gaussian", "prior_mean": [1.0, 0.1]}, "seed": 7, "note": 'a "b",\nc é'},
        {"ucb1": {"regret": 0.1 + 0.2, "stderr": "inf"}, "ok": True, "curve": [1, 0.3, "-inf"], "mixed": 1},
    ),
    (
        {"problem": {"model": "linear"}, "seed": 2**62 + 1, "delta": None},
        {"ucb1": {"regret": 5e-324, "stderr": 1}, "ok": False, "curve": [], "mixed": "one", "big": 2**70, "none": {}},
    ),
]
COLUMNS = [
    "key", "version", "seconds", "finished",
    "settings.problem.model", "settings.problem.prior_mean", "settings.seed", "settings.note", "settings.delta",
    "result.ucb1.regret", "result.ucb1.stderr", "result.ok", "result.curve", "result.mixed", "result.big",
    "result.none",
]  # fmt: skip


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.sqlite"
    with Study.open(path) as opened:
        for chosen, result in POINTS:
            opened.save(chosen, result, seconds=0.1)
    return path


def entries(path):
    with Study.open(path, write=False) as opened:
        return list(opened.entries())


def test_csv(study, tmp_path):
    assert export(study, tmp_path / "points.csv") == 2
    with open(tmp_path / "points.csv", encoding="utf-8", newline="") as file:
        one, two = csv.DictReader(file)
    assert list(one) == COLUMNS
    for row, entry in zip((one, two), entries(study), strict=True):
        assert row["key"] == entry.key
        assert row["finished"] == entry.finished
        assert float(row["seconds"]) == 0.1
        assert float(row["result.ucb1.regret"]) == entry.result["ucb1"]["regret"]
        assert int(row["settings.seed"]) == entry.settings["seed"]
        assert json.loads(row["result.curve"]) == entry.result["curve"]
        assert float(row["result.ucb1.stderr"]) == float(entry.result["ucb1"]["stderr"])
    assert one["settings.note"] == POINTS[0][0]["note"]
    assert (one["result.ok"], two["result.ok"]) == ("true", "false")
    assert two["settings.note"] == two["settings.delta"] == one["result.none"] == ""
    assert two["result.none"] == "{}"


def test_json(study, tmp_path):
    export(study, tmp_path / "points.json")
    one, two = json.loads((tmp_path / "points.json").read_text(), parse_constant=pytest.fail)
    assert {**one, **two}.keys() == set(COLUMNS)
    assert one["result.ucb1.regret"] == 0.1 + 0.2
    assert one["result.ucb1.stderr"] == "inf"
    assert one["settings.note"] == POINTS[0][0]["note"]
    assert two["result.big"] == 2**70
    assert two["settings.delta"] is None
    assert "settings.note" not in two


def test_parquet(study, tmp_path):
    export(study, tmp_path / "points.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "points.parquet")
    assert table.column_names == COLUMNS
    types = {name: str(table.schema.field(name).type) for name in COLUMNS}
    assert types["result.ucb1.regret"] == types["result.ucb1.stderr"] == types["seconds"] == "double"
    assert types["settings.seed"] == "int64"
    assert types["result.ok"] == "bool"
    assert types["result.curve"].startswith("list<") and "double" in types["result.curve"]  # noqa: PT018
    assert types["result.mixed"] == types["result.big"] == types["settings.note"] == "string"
    data = table.to_pydict()
    assert data["key"] == [entry.key for entry in entries(study)]
    assert data["result.ucb1.regret"] == [0.1 + 0.2, 5e-324]
    assert data["result.ucb1.stderr"] == [math.inf, 1.0]
    assert data["settings.seed"] == [7, 2**62 + 1]
    assert data["result.curve"] == [[1.0, 0.3, -math.inf], []]
    assert data["result.mixed"] == ["1", '"one"']
    assert data["result.big"] == [None, str(2**70)]
    assert data["settings.note"] == [POINTS[0][0]["note"], None]


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.tuples(finite, finite, st.text(st.characters(exclude_categories=["Cs"]))), min_size=1, max_size=5))
def test_floats_and_text_survive_in_every_format(tmp_path, rows):
    path = tmp_path / "study.sqlite"
    path.unlink(missing_ok=True)
    with Study.open(path) as opened:
        for i, (mean, stderr, text) in enumerate(rows):
            opened.save({"i": i}, {"mean": mean, "curve": [stderr], "text": text + "."}, seconds=0.0)
    for name in ("csv", "json", "parquet"):
        export(path, tmp_path / "target", name)
        assert [repr(row) for row in read(tmp_path / "target", name)] == [repr((m, s, t + ".")) for m, s, t in rows]


def read(path, name):
    """(mean, stderr, text) of every row."""
    if name == "csv":
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                # Text that might be a formula has an apostrophe in front.
                text = re.sub(f"^'(?=[{re.escape(''.join(FORMULA_STARTS))}])", "", row["result.text"])
                yield float(row["result.mean"]), json.loads(row["result.curve"])[0], text
    else:
        rows = json.loads(path.read_bytes()) if name == "json" else pyarrow.parquet.read_table(path).to_pylist()
        for row in rows:
            yield row["result.mean"], row["result.curve"][0], row["result.text"]


@pytest.mark.parametrize("name", ["csv", "json", "parquet"])
def test_nothing_and_odd_letters(tmp_path, name):
    path = tmp_path / "study.sqlite"
    with Study.open(path) as opened:
        assert export(path, tmp_path / "target", name) == 0
        opened.save({"\ud800": "\ud800"}, {}, seconds=0.0)
    assert export(path, tmp_path / "target", name) == 1
    text = (tmp_path / "target").read_bytes()
    assert b"settings.\\ud800" in text
    assert b"\xed" not in text.replace(b"PAR1", b"") or name == "parquet"


def test_what_cannot_be_written_leaves_the_target_as_it_was(study, tmp_path, monkeypatch):
    target = tmp_path / "points.csv"
    target.write_text("before")
    study_before = study.read_bytes()
    for wrong, format, said in (
        (tmp_path / "points.txt", None, "points.txt: the suffix must be one of .csv, .parquet, .json, or the format"),
        (target, "xml", 'format must be "csv" or "parquet" or "json", got \'xml\''),
        (tmp_path, "csv", f"{tmp_path}: cannot be written: it is a folder"),
        (tmp_path / "no" / "x.csv", None, "x.csv: cannot be written: its folder does not exist"),
        (study, "csv", "study.sqlite: is the study itself and cannot be the target"),
    ):
        with pytest.raises(ValueError, match=r"format|written|itself") as caught:
            export(study, wrong, format)
        assert said in str(caught.value)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r'^Parquet needs pyarrow: pip install "bayesregret\[parquet\]"$'):
        export(study, target, "parquet")
    assert target.read_text() == "before"
    assert study.read_bytes() == study_before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["points.csv", "study.sqlite"]


def test_a_full_disk_leaves_the_target_as_it_was(study, tmp_path, monkeypatch):
    def fall(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    target = tmp_path / "points.csv"
    target.write_text("before")
    monkeypatch.setattr(os, "fsync", fall)
    with pytest.raises(StudyWriteError, match=r"points\.csv: cannot be written: No space left on device$"):
        export(study, target)
    assert target.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["points.csv", "study.sqlite"]


def test_a_link_is_not_followed(study, tmp_path):
    (tmp_path / "real.csv").write_text("mine")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    with pytest.raises(StudyError, match=r"link\.csv: cannot be written: it is a symbolic link$"):
        export(study, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "mine"


def test_csv_has_no_formulas(tmp_path):
    path = tmp_path / "study.sqlite"
    with Study.open(path) as opened:
        opened.save({"note": "=1+1", "odd": "a\r=1+1"}, {"regret": -1.5, "least": "-inf", "flag": False}, seconds=0.0)
    export(path, tmp_path / "points.csv")
    with open(tmp_path / "points.csv", encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert list(row.values())[4:] == ["'=1+1", "a\r=1+1", "-1.5", "-inf", "false"]


def test_two_fields_for_one_column(tmp_path):
    with Study.open(tmp_path / "study.sqlite") as opened:
        opened.save({"a.b": 1, "a": {"b": 2}}, {}, seconds=0.0)
    with pytest.raises(StudyError, match=r"the point \w{10} has two fields for the column 'settings\.a\.b'$"):
        export(tmp_path / "study.sqlite", tmp_path / "points.csv")
