"""Read-only files and folders, and disks without room: one clear line, and the file stays as it was."""

import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import pytest

from bayesregret.study import Study, StudyWriteError

POINTS = 12


def make(path: pathlib.Path) -> pathlib.Path:
    with Study.open(path) as study:
        for seed in range(POINTS):
            study.save({"seed": seed}, {"regret": seed / 7}, seconds=0.5)
    return path


# --- read-only -----------------------------------------------------------------------------------------------------

# The superuser may write to read-only files: the child is nobody, once it has loaded all it needs.
TRY = """
import os, sys
import urllib.parse  # which pathlib loads late
from bayesregret.study import Study
if os.getuid() == 0:
    os.setuid(65534)
for write in (False, True):
    try:
        with Study.open(sys.argv[1], write=write) as study:
            print(len(study))
    except ValueError as error:
        print(type(error).__name__, error)
"""


@pytest.fixture
def folder():
    """One that another user may enter."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield pathlib.Path(made)
        os.chmod(made, 0o755)


def read_and_write(path: pathlib.Path) -> list[str]:
    """What comes of opening it for reading, and for writing."""
    done = subprocess.run([sys.executable, "-c", TRY, path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_read_only_file(folder):
    path = make(folder / "study.sqlite")
    path.chmod(0o444)
    folder.chmod(0o777)
    before = path.read_bytes()
    assert read_and_write(path) == ["12", f"StudyError {path}: cannot be written: the file is read-only"]
    assert path.read_bytes() == before
    assert list(folder.iterdir()) == [path]
    path.chmod(0o666)
    assert read_and_write(path) == ["12", "12"], "the control"


def test_a_read_only_folder(folder):
    path, new = make(folder / "study.sqlite"), folder / "new.sqlite"
    path.chmod(0o666)
    folder.chmod(0o555)
    before = path.read_bytes()
    assert read_and_write(path) == ["12", f"StudyError {path}: cannot be written: its folder is read-only"]
    assert read_and_write(new)[1] == f"StudyError {new}: cannot be written: its folder is read-only"
    assert path.read_bytes() == before
    assert list(folder.iterdir()) == [path]


def test_a_file_that_may_not_be_read(folder):
    path = make(folder / "study.sqlite")
    path.chmod(0)
    assert read_and_write(path) == [f"StudyError {path}: cannot be read: permission denied"] * 2


def test_a_killed_study_in_a_read_only_folder(folder):
    with Study.open(make(folder / "alive.sqlite")) as study:
        study.save({"seed": 100}, {"regret": 1.5}, seconds=0.0)
        for end in ("", "-wal"):
            shutil.copy(folder / f"alive.sqlite{end}", folder / f"dead.sqlite{end}")
            (folder / f"dead.sqlite{end}").chmod(0o666)
    folder.chmod(0o555)
    reading, writing = read_and_write(folder / "dead.sqlite")
    assert reading.startswith(f"StudyError {folder}/dead.sqlite: cannot be opened: it or its folder is read-only")
    assert writing == f"StudyError {folder}/dead.sqlite: cannot be written: its folder is read-only"


# --- a full disk ---------------------------------------------------------------------------------------------------

FILL = """
import resource, sys
from bayesregret.study import Study, StudyWriteError
path, limit = sys.argv[1], int(sys.argv[2])
with Study.open(path) as study:
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        for seed in range(1000, 1100):
            study.save({"seed": seed}, {"curve": [seed / 7] * 1000}, seconds=0.0)
    except StudyWriteError as error:
        print(error)
    print(seed - 1000, len(study))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


def check_full(path: pathlib.Path, printed: list[str]) -> None:
    """The error is one line, and every point that was saved before is there."""
    line, counts = printed
    assert line.startswith(f"{path}: ")
    assert line.endswith("points saved before are safe")
    saved, there = map(int, counts.split())
    assert 0 < saved < 100
    assert there == POINTS + saved


def test_no_room_for_more(tmp_path):
    path = make(tmp_path / "study.sqlite")
    done = subprocess.run([sys.executable, "-c", FILL, path, "200000"], capture_output=True, text=True, check=True)
    check_full(path, done.stdout.splitlines())
    with Study.open(path) as study:
        assert len(study) == int(done.stdout.split()[-1])
        study.save({"seed": 1099}, {"curve": [1.5]}, seconds=0.0)


def test_no_room_for_one_leaves_the_file_as_it_was(tmp_path):
    path = make(tmp_path / "study.sqlite")
    before = path.read_bytes()
    code = FILL.replace("[seed / 7] * 1000", "[seed / 7] * 100000")
    done = subprocess.run([sys.executable, "-c", code, path, "100000"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "0 12"
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_file_system(tmp_path):
    """A real one, of 300 kB, that only the child sees."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("no mounts of one's own here")
    source, disk = make(tmp_path / "study.sqlite"), tmp_path / "disk"
    disk.mkdir()
    script = (
        'mount -t tmpfs -o size=300k tmpfs "$1" && cp "$2" "$1/" && "$3" -c "$4" "$1/study.sqlite" 0 && '
        'cp "$1/study.sqlite" "$2" && ls "$1"'
    )
    command = ["unshare", "-rm", "sh", "-c", script, "sh", disk, source, sys.executable, FILL]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    line, counts, *left = done.stdout.splitlines()
    assert "cannot be written: the disk is full; " in line
    check_full(disk / "study.sqlite", [line, counts])
    assert "study.sqlite" in left


def test_a_full_disk_by_name(tmp_path, monkeypatch):
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL

    def fall(study, row, source):
        raise full

    with Study.open(tmp_path / "study.sqlite") as study:
        monkeypatch.setattr(Study, "_add", fall)
        with pytest.raises(StudyWriteError, match=r"study\.sqlite: cannot be written: the disk is full; "):
            study.save({}, {}, seconds=0.0)
