"""Files that users name: read whole, and never waited for."""

import os
import pty
import threading

import pytest

from bayesregret import reading
from bayesregret.priors import fit_prior
from bayesregret.problem import load_problem
from bayesregret.reading import naming, read_text
from bayesregret.reproduction.sweep import load_sweep

READERS = {
    "problem": load_problem,
    "sweep": load_sweep,
    "history": lambda path: fit_prior(path, model="bernoulli"),
}


@pytest.fixture(params=READERS.values(), ids=READERS)
def complaint(request, monkeypatch):
    """What a reader says about a path, without the path."""
    monkeypatch.setattr(reading, "PATIENCE", 0.05)

    def read(path) -> str:
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is what the tests look at
            request.param(path)
        assert str(caught.value).isprintable(), "one line"
        return str(caught.value).removeprefix(f"{path}: ")

    return read


def test_a_pipe_that_nobody_writes_to(complaint, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert complaint(tmp_path / "pipe") == "is a pipe that sent nothing for 0.05 s"


def test_a_pipe_that_stops_in_the_middle(complaint, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    both_ends = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(both_ends, b"x")
    assert complaint(tmp_path / "pipe") == "is a pipe that sent nothing for 0.05 s"
    os.close(both_ends)


def test_a_terminal(complaint):
    ours, theirs = pty.openpty()
    assert complaint(os.ttyname(theirs)) == "must be a file, but is a terminal"
    os.close(ours)
    os.close(theirs)


def test_devices_and_folders(complaint, tmp_path):
    assert complaint("/dev/zero") == "must be a file, but is a device"
    assert complaint(tmp_path) == "cannot be read: Is a directory"


def test_a_pipe_is_read_to_its_end(tmp_path):
    text = "täxt " * 100_000  # more than a pipe holds
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text, "utf-8"))
    writer.start()
    assert read_text(str(tmp_path / "pipe"), 10**6) == text
    writer.join()


def test_a_history_from_a_pipe(tmp_path):
    rows = "experiment,arm,pulls,successes\n1,a,100,30\n1,b,100,40\n2,a,100,60\n"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file.csv").write_text(rows)
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(rows,))
    writer.start()
    fitted = fit_prior(tmp_path / "pipe", model="bernoulli")
    writer.join()
    assert fitted.parameters == fit_prior(tmp_path / "file.csv", model="bernoulli").parameters


def test_too_large_and_not_text(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_text(str(path), 5) == "12345"
    with pytest.raises(ValueError, match="is too large; it may have at most 0 MB"):
        read_text(str(path), 4)
    path.write_bytes(b"12\xff")
    with pytest.raises(ValueError, match="must be UTF-8 text, but byte 3 is not"):
        read_text(str(path), 5)


def test_errors_begin_with_the_name():
    with pytest.raises(ValueError, match=r"^'a\\nb': is bad$"), naming("a\nb"):
        raise ValueError("is bad")
