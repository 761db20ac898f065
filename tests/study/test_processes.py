"""Killed processes lose nothing, and several at once do not disturb one another."""

import json
import pathlib
import runpy
import shutil
import sqlite3
import subprocess
import sys

import pytest

from bayesregret.study import Study, StudyError, files

pytestmark = pytest.mark.compiled  # nothing here is needed for coverage, which makes it slow

SCRIPT = str(pathlib.Path(__file__).with_name("workers.py"))
WORKERS = runpy.run_path(SCRIPT)
POINTS = WORKERS["POINTS"]
PAGE = 4096  # bytes


def start(*arguments) -> subprocess.Popen:
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen) -> str:
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    return out


def test_killed_at_random_moments_it_ends_with_the_same_bits(tmp_path):
    WORKERS["work"](str(tmp_path / "calm.sqlite"), list(range(POINTS)))
    calm = WORKERS["content"](str(tmp_path / "calm.sqlite"))
    assert len(calm) == POINTS
    left_to_do = []
    for seed in range(3):
        path = tmp_path / f"killed-{seed}.sqlite"
        happened = json.loads(finish(start("killed", path, seed)))
        assert happened["kills"] >= 20
        assert happened["lost"] == 0, "what save() had returned from"
        assert WORKERS["content"](str(path)) == calm
        assert not [found for found in tmp_path.iterdir() if found.suffix != ".sqlite"], "no log is left"
        left_to_do.append(happened["left_to_do"])
    assert min(left_to_do) > 0, "the control: they were killed at work, and the last one had to go on"


def test_what_was_killed_can_be_read_and_copied(tmp_path):
    """As a killed process leaves it: points in the log, and not in the file."""
    with Study.open(tmp_path / "alive.sqlite") as study:
        study.save({"seed": 7}, {"regret": 1.5}, seconds=0.0)
        for end in ("", "-wal"):
            shutil.copy(tmp_path / f"alive.sqlite{end}", tmp_path / f"dead.sqlite{end}")
    before = {end: (tmp_path / f"dead.sqlite{end}").read_bytes() for end in ("", "-wal")}
    with Study.open(tmp_path / "dead.sqlite", write=False) as dead, Study.open(tmp_path / "new.sqlite") as new:
        assert dead.result({"seed": 7}) == {"regret": 1.5}
        assert new.merge(tmp_path / "dead.sqlite") == 1
    assert {end: (tmp_path / f"dead.sqlite{end}").read_bytes() for end in ("", "-wal")} == before, "only read"
    (tmp_path / "dead.sqlite-wal").unlink()
    with Study.open(tmp_path / "dead.sqlite") as dead:
        assert len(dead) == 0, "the control: it was in the log"


def test_killed_while_the_log_is_moved_into_the_file(tmp_path):
    """After any number of pages."""
    alive, dead = tmp_path / "alive.sqlite", tmp_path / "dead.sqlite"
    Study.open(alive).close()
    old = alive.read_bytes()
    with Study.open(alive) as study:
        for seed in range(20):
            study.save({"seed": seed}, {"curve": [seed / 7] * 100}, seconds=0.0)
        shutil.copy(f"{alive}-wal", tmp_path / "log")
        points = list(study.entries())
    new = alive.read_bytes()
    assert len(new) >= 10 * PAGE > len(old)
    for moved in range(0, len(new) + 1, PAGE):
        for write in (False, True):
            dead.write_bytes(new[:moved] + old[moved:])
            shutil.copy(tmp_path / "log", f"{dead}-wal")
            with Study.open(dead, write=write) as study:
                assert list(study.entries()) == points
    (tmp_path / "dead.sqlite-wal").unlink(missing_ok=True)
    dead.write_bytes(new[:PAGE] + old[PAGE:])
    with pytest.raises(StudyError, match="is damaged"):
        Study.open(dead)


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / "shared.sqlite"
    writers = [start("write", path, first, step) for first, step in ((0, 1), (0, 1), (200, 7), (399, 399))]
    for writer in writers:
        finish(writer)
    WORKERS["work"](str(tmp_path / "calm.sqlite"), list(range(POINTS)))
    assert WORKERS["content"](str(path)) == WORKERS["content"](str(tmp_path / "calm.sqlite"))
    assert sorted(found.name for found in tmp_path.iterdir()) == ["calm.sqlite", "shared.sqlite"]


def test_two_studies_on_one_file_see_each_other(tmp_path):
    path = tmp_path / "study.sqlite"
    with Study.open(path) as one, Study.open(path) as two:
        one.save({"seed": 1}, {"regret": 1.0}, seconds=0.0)
        two.save({"seed": 2}, {"regret": 2.0}, seconds=0.0)
        assert two.result({"seed": 1}) == {"regret": 1.0}
        assert one.result({"seed": 2}) == {"regret": 2.0}
        assert one.merge(path) == 0
    with Study.open(path) as study:
        assert len(study) == 2


def test_opening_one_again_does_not_cost_the_locks_of_another(tmp_path):
    """A process that opens and closes a file by itself gives up all its locks on it; others may then remove the log."""
    path = tmp_path / "study.sqlite"
    with Study.open(path) as study:
        study.save({"seed": 1}, {"regret": 1.0}, seconds=0.0)
        Study.open(path, write=False).close()
        with pytest.raises(StudyError):
            Study.open(path / "nothing")
        look = "import sys; from bayesregret.study import Study; Study.open(sys.argv[1]).close()"
        subprocess.run([sys.executable, "-c", look, str(path)], check=True)
        assert (tmp_path / "study.sqlite-wal").exists(), "the last to close removes it, and that was another process"
        study.save({"seed": 2}, {"regret": 2.0}, seconds=0.0)
    with Study.open(path) as study:
        assert len(study) == 2


def test_a_busy_file_is_waited_for_and_then_reported(tmp_path, monkeypatch):
    path = tmp_path / "study.sqlite"
    Study.open(path).close()
    monkeypatch.setattr("bayesregret.study.files.PATIENCE", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    with Study.open(path) as study:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StudyError, match=r"study\.sqlite: another process has kept it busy for 0\.05 s$"):
            study.save({"seed": 1}, {"regret": 1.0}, seconds=0.0)
        other.execute("COMMIT")
        study.save({"seed": 1}, {"regret": 1.0}, seconds=0.0)
        assert len(study) == 1
    other.close()


def test_another_process_was_faster_to_make_it(tmp_path, monkeypatch):
    path = tmp_path / "study.sqlite"
    make = files._create

    def make_second(database):
        monkeypatch.undo()
        with Study.open(path) as first:
            first.save({"seed": 1}, {"regret": 1.0}, seconds=0.0)
        make(database)

    monkeypatch.setattr(files, "_create", make_second)
    with Study.open(path) as study:
        assert study.result({"seed": 1}) == {"regret": 1.0}


def test_a_reader_in_the_way_of_the_log(tmp_path, monkeypatch):
    """SQLite does not wait by itself when it turns to a log."""
    path = tmp_path / "study.sqlite"
    Study.open(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN")
    other.execute("SELECT * FROM points").fetchall()
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    with pytest.raises(StudyError, match="another process has kept it busy"):
        Study.open(path)
    other.close()
    with Study.open(path) as study:
        assert study._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
