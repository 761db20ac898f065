"""Files are written whole or not at all, and only where a regular file is or may be."""

import csv
import errno
import io
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

import pytest

from bayesregret.writing import WriteError, csv_text, obstacle, write_atomically
from killed_writers import kill_elsewhere


def test_a_file_is_replaced_by_text_or_bytes(tmp_path):
    path = tmp_path / "report.html"
    assert write_atomically(path, "täxt") == path
    assert path.read_text(encoding="utf-8") == "täxt"
    write_atomically(str(path), b"bytes")
    assert path.read_bytes() == b"bytes"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_as_long_as_names_may_be(tmp_path):
    assert write_atomically(tmp_path / ("n" * 255), "text").read_text() == "text"


@pytest.mark.parametrize("content", [3, "\ud800"])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, content):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises((TypeError, UnicodeEncodeError)):
        write_atomically(path, content)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_it(tmp_path):
    path = write_atomically(tmp_path / "open.txt", "for all")
    (tmp_path / "usual.txt").write_text("for all")
    assert os.stat(path).st_mode == os.stat(tmp_path / "usual.txt").st_mode


def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "state.json"
    path.write_text("old")
    path.chmod(0o600)
    write_atomically(path, "new")
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_file_is_on_disk_before_its_name_and_then_the_folder(tmp_path, monkeypatch):
    path, steps = tmp_path / "report.html", []
    replace, flush = os.replace, os.fsync

    def seen_flush(descriptor):
        steps.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", seen_flush)
    monkeypatch.setattr(os, "replace", lambda old, new: (steps.append("rename"), replace(old, new)))
    write_atomically(path, "text")
    file, *others = steps
    assert file.startswith(f"{tmp_path}/.bayesregret-")
    assert others == ["rename", str(tmp_path)]


# --- in the way ----------------------------------------------------------------------------------------------------


def link(path):
    (path.parent / "elsewhere").write_text("mine")
    path.symlink_to("elsewhere")


def listen(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(path))


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (link, "it is a symbolic link"),
        (lambda path: path.symlink_to("nowhere"), "it is a symbolic link"),
        (os.mkfifo, "it is a FIFO"),
        (pathlib.Path.mkdir, "it is a folder"),
        (listen, "it is a socket"),
        (lambda path: path.parent.rmdir(), "its folder does not exist"),
    ],
)
def test_what_is_in_the_way_stays(make, found):
    with tempfile.TemporaryDirectory() as outside:  # names of sockets are short
        path = pathlib.Path(outside, "in", "target")
        path.parent.mkdir()
        make(path)
        before = {other: other.lstat() for other in path.parent.glob("*")}
        with pytest.raises(WriteError) as caught:
            write_atomically(path, "new")
        assert str(caught.value) == f"{path}: cannot be written: {found}"
        assert {other: other.lstat() for other in path.parent.glob("*")} == before
        assert all(other.read_text() == "mine" for other in before if other.is_file())


def test_devices_are_in_the_way():
    """Only asked about: a writer with a fault would replace the device of the whole machine."""
    assert obstacle(os.devnull) == "it is a device"


@pytest.mark.parametrize("name", ["n" * 256, "file/target"])
def test_names_that_cannot_be(tmp_path, name):
    (tmp_path / "file").write_text("a file")
    with pytest.raises(WriteError, match=r": cannot be written: (File name too long|Not a directory)$"):
        write_atomically(tmp_path / name, "new")


def test_a_name_of_two_lines_is_quoted_in_one(tmp_path):
    with pytest.raises(WriteError, match=r"a\\nb/c': cannot be written: its folder does not exist$"):
        write_atomically(tmp_path / "a\nb" / "c", "new")


# The superuser may write to read-only files: the child is nobody.
TRY = """
import os, sys
from bayesregret.writing import write_atomically
if os.getuid() == 0:
    os.setuid(65534)
try:
    write_atomically(sys.argv[1], "new")
except OSError as error:
    print(error)
"""


def written_by_another(path):
    done = subprocess.run([sys.executable, "-c", TRY, path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_read_only_files_and_folders_stay():
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        path = folder / "target"
        path.write_text("old")
        path.chmod(0o444)
        folder.chmod(0o777)
        assert written_by_another(path) == f"{path}: cannot be written: the file is read-only"
        path.chmod(0o666)
        folder.chmod(0o555)
        assert written_by_another(path) == f"{path}: cannot be written: its folder is read-only"
        assert (path.read_text(), list(folder.iterdir())) == ("old", [path])
        folder.chmod(0o777)
        assert written_by_another(path) == "", "the control"
        assert path.read_text() == "new"


# --- on the way ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("raised", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt()])
def test_a_fault_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step, raised):
    def fall(*arguments):
        raise raised

    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr(os, step, fall)
    with pytest.raises((WriteError, KeyboardInterrupt), match=r"html: cannot be written: No space left on device$|^$"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


FILL = """
import os, sys
from pathlib import Path
from bayesregret.writing import write_atomically
target = Path(sys.argv[1], "target")
write_atomically(target, "old")
try:
    write_atomically(target, b"new" * 100_000)
except OSError as error:
    print(error)
print(target.read_text(), os.listdir(target.parent))
"""


def test_a_full_file_system(tmp_path):
    """A real one, of 100 kB, that only the child sees."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("no mounts of one's own here")
    script = 'mount -t tmpfs -o size=100k tmpfs "$1" && "$2" -c "$3" "$1"'
    command = ["unshare", "-rm", "sh", "-c", script, "sh", tmp_path, sys.executable, FILL]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        f"{tmp_path}/target: cannot be written: No space left on device",
        "old ['target']",
    ], done.stderr


def test_killed_writers_leave_the_old_file_or_the_new_one(tmp_path):
    versions = b"old" * 100_000, b"new" * 150_000
    assert kill_elsewhere(tmp_path, versions, kills=20).half == 0


def test_killed_plain_writers_leave_halves(tmp_path):
    """The control: these kills do hit the moment of writing."""
    versions = b"old" * 1_000_000, b"new" * 1_500_000
    assert kill_elsewhere(tmp_path, versions, kills=20, writer="plain").half > 0


# --- CSV -----------------------------------------------------------------------------------------------------------

RUN = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", '=HYPERLINK("x","y")', "-inf"]


def test_text_that_a_spreadsheet_would_run_has_an_apostrophe():
    (row,) = csv.reader(io.StringIO(csv_text([RUN]), newline=""))
    assert row == [f"'{text}" for text in RUN]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_line_end_in_a_cell_begins_no_row(end):
    rows = [["a", f"b{end}=1+1"], ["c", "d"]]
    assert list(csv.reader(io.StringIO(csv_text(rows), newline=""))) == rows


def test_numbers_and_other_text_stay():
    cells = [-1.5, float("-inf"), -3, 0.1 + 0.2, "K=5", "a-b", " =1", "", "'", None]
    assert csv_text([cells]) == "-1.5,-inf,-3,0.30000000000000004,K=5,a-b, =1,,',\n"
