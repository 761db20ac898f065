"""Exported logs have every event, and come back equal."""

import csv
import datetime
import json
import re

import pytest

import bayesregret as br
from bayesregret.store.events import decision_id


@pytest.fixture
def experiment(sqlite, two_arms, clock):
    experiment = sqlite.start("x", two_arms, "thompson", horizon=50, arms=["=blue", "green, dark"], reward_after=60)
    for number in range(6):
        clock.now += 0.1
        decision = experiment.decide(f"user {number}")
        if number % 2:
            experiment.reward(decision.id, 1.0)
    clock.now += 60
    experiment.add_arm("red", {"alpha": 1, "beta": 2})
    experiment.stop()
    return experiment


def expected(experiment):
    """The rows, made from the log by hand."""
    rows = []
    for event in experiment.log():
        decided = event.number if event.kind == "decide" else event.decision
        rows.append(
            {
                "number": event.number,
                "time": datetime.datetime.fromtimestamp(event.time, datetime.UTC),
                "event": event.kind,
                "decision": None if decided is None else decision_id(experiment._uuid, decided),
                "key": event.key,
                "arm": event.arm,
                "name": None if event.arm is None else experiment.arms[event.arm],
                "reward": event.reward,
                "data": event.data,
            }
        )
    assert {row["event"] for row in rows} == {"decide", "reward", "expire", "add", "stop"}
    return rows


def test_json_lines(experiment, tmp_path):
    path = tmp_path / "log.jsonl"
    rows = expected(experiment)
    assert experiment.export(path) == len(rows)
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for row in found:
        row["time"] = datetime.datetime.fromisoformat(row["time"])
    assert found == rows
    assert experiment.exported("jsonl") == path.read_bytes()


def test_parquet(experiment, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "log.parquet"
    experiment.export(str(path))
    assert parquet.read_table(path).to_pylist() == expected(experiment)


def test_csv_which_no_spreadsheet_runs(experiment, tmp_path):
    path = tmp_path / "log.csv"
    experiment.export(path)
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    for row, wanted in zip(found, expected(experiment), strict=True):
        name = wanted["name"]
        wanted["name"] = f"'{name}" if name == "=blue" else name
        wanted["time"] = wanted["time"].isoformat(timespec="microseconds")
        assert row == {field: "" if value is None else str(value) for field, value in wanted.items()}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_log_without_events(sqlite, two_arms, tmp_path, ending):
    empty = sqlite.start("empty", two_arms, "thompson", horizon=50)
    path = tmp_path / f"log.{ending}"
    assert empty.export(path) == 0
    assert path.exists()


@pytest.mark.parametrize("path", ["log.txt", "log", 7])
def test_another_ending_is_refused(experiment, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=re.escape("path must be the name of a .csv, .jsonl or .parquet file, got")):
        experiment.export(path)
    with pytest.raises(ValueError, match='format must be "csv" or "jsonl" or "parquet", got'):
        experiment.exported(path)
    assert list(tmp_path.glob("log*")) == []


def test_a_file_that_cannot_be_written_is_one_line(experiment, tmp_path):
    with pytest.raises(OSError, match="cannot be written: its folder does not exist"):
        experiment.export(tmp_path / "none" / "log.csv")
    assert isinstance(experiment, br.Experiment)
