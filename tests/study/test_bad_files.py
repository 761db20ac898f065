"""Files that cannot be used get one clear line and stay as they were, to the byte."""

import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import hypothesis.strategies as st
import pytest
from hypothesis import given

from bayesregret.study import Study, StudyError, export

POINTS = [({"seed": seed, "mean": [1.0, 0.5]}, {"regret": seed / 7, "curve": [seed / 3] * 50}) for seed in range(12)]


def make(path: pathlib.Path) -> pathlib.Path:
    with Study.open(path) as study:
        for settings, result in POINTS:
            study.save(settings, result, seconds=0.5)
    return path


def sqlite_file(path: pathlib.Path, *commands: str) -> None:
    database = sqlite3.connect(path)
    for command in commands:
        database.execute(command)
    database.commit()
    database.close()


def cut(path: pathlib.Path, keep: float) -> None:
    data = make(path).read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])


def with_pages_lost(path: pathlib.Path) -> None:
    data = bytearray(make(path).read_bytes())
    data[8192:12288] = bytes(4096)
    path.write_bytes(data)


def with_a_digit_changed(path: pathlib.Path) -> None:
    data = make(path).read_bytes()
    digits = repr(11 / 7).encode()
    assert data.count(digits) == 1
    path.write_bytes(data.replace(digits, digits[:-1] + b"%d" % ((digits[-1] - ord("0") + 1) % 10)))


def without_an_index_entry(path: pathlib.Path) -> None:
    data = make(path).read_bytes()
    with Study.open(path) as study:
        key = next(study.entries()).key.encode()
    place = data.index(key) if data.count(key) == 2 else -1
    assert place > 0
    path.write_bytes(data[:place] + key[::-1] + data[place + len(key) :])


def with_an_unreadable_schema(path: pathlib.Path) -> None:
    data = make(path).read_bytes()
    assert data.count(b"CREATE TABLE points (") == 1
    path.write_bytes(data.replace(b"CREATE TABLE points (", b"CREATE TABLE \xff\xfe\xfd \xff\xff("))


def of_format(version: int):
    return lambda path: sqlite_file(make(path), f"PRAGMA user_version = {version}")


NO_DATABASE = "is not a study: it is not an SQLite database"
BAD = {
    "text": (
        lambda path: path.write_text("regret,stderr\n1,2\n" * 100),
        NO_DATABASE,
    ),
    "short text": (lambda path: path.write_text("x"), NO_DATABASE),
    "zeros": (lambda path: path.write_bytes(bytes(10_000)), NO_DATABASE),
    "foreign": (
        lambda path: sqlite_file(path, "CREATE TABLE points (key)"),
        "is not a study but an SQLite database of",
    ),
    "foreign with a log": (
        lambda path: sqlite_file(path, "PRAGMA journal_mode = WAL", "CREATE TABLE points (key)"),
        "is not a study but an SQLite database of another program",
    ),
    "newer": (of_format(2), "has format 2, but bayesregret "),
    "unknown": (of_format(0), "has format 0, but bayesregret "),
    "cut in half": (lambda path: cut(path, 0.5), "is damaged: "),
    "cut to 60 bytes": (lambda path: make(path).write_bytes(path.read_bytes()[:60]), "is "),
    "last page lost": (lambda path: cut(path, 0.9), "is damaged: "),
    "zeroed page": (with_pages_lost, "is damaged: "),
    "changed digit": (with_a_digit_changed, "has changed since it was saved"),
    "changed index": (without_an_index_entry, "is damaged: "),
    "changed schema": (with_an_unreadable_schema, "is damaged: "),
    "no table": (lambda path: sqlite_file(make(path), "DROP TABLE points"), "is damaged: no such table"),
    "renamed table": (
        lambda path: sqlite_file(make(path), "ALTER TABLE points RENAME TO p"),
        "has the table 'p', which bayesregret did not make",
    ),
    "trigger": (
        lambda path: sqlite_file(
            make(path), "CREATE TRIGGER spy AFTER INSERT ON points BEGIN DELETE FROM points WHERE number = 1; END"
        ),
        "has the trigger 'spy', which bayesregret did not make",
    ),
    "view": (
        lambda path: sqlite_file(make(path), "CREATE VIEW [a\nb] AS SELECT * FROM points"),
        "has the view 'a\\nb', which bayesregret did not make",
    ),
    "view in place of the table": (
        lambda path: sqlite_file(
            make(path), "ALTER TABLE points RENAME TO p", "CREATE VIEW points AS SELECT * FROM p WHERE number > 1"
        ),
        "which bayesregret did not make",
    ),
    "another table": (
        lambda path: sqlite_file(make(path), "CREATE TABLE notes (text)"),
        "has the table 'notes', which bayesregret did not make",
    ),
    "another index": (
        lambda path: sqlite_file(make(path), "CREATE INDEX quick ON points (finished)"),
        "has the index 'quick', which bayesregret did not make",
    ),
    "another column": (
        lambda path: sqlite_file(make(path), "ALTER TABLE points ADD COLUMN note"),
        "has the table 'points', which bayesregret did not make",
    ),
    "folder": (lambda path: path.mkdir(), "is not a study but a folder"),
    "pipe": (lambda path: os.mkfifo(path), "is not a study but a device"),
}


def content(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() if path.is_file() else b"" for path in folder.iterdir()}


@pytest.mark.parametrize(("spoil", "said"), BAD.values(), ids=BAD)
def test_bad_files_are_reported_and_left_alone(tmp_path, spoil, said):
    bad, good = tmp_path / "bad.sqlite", make(tmp_path / "good.sqlite")
    spoil(bad)
    before = content(tmp_path)
    with Study.open(good) as study:
        for use in (
            lambda: Study.open(bad),
            lambda: Study.open(str(bad), create=False),
            lambda: Study.open(bad, write=False),
            lambda: study.merge(bad),
            lambda: export(bad, tmp_path / "points.csv"),
        ):
            with pytest.raises(StudyError) as caught:
                use()
            line = str(caught.value)
            assert line.startswith(f"{bad}: ")
            assert said in line
            assert line.isprintable()
    assert content(tmp_path) == before


def test_statistics_of_sqlite_itself_do_no_harm(tmp_path):
    path = make(tmp_path / "study.sqlite")
    sqlite_file(path, "ANALYZE")
    with Study.open(path) as study:
        assert len(study) == len(POINTS)


def test_a_newer_format_says_what_helps(tmp_path):
    of_format(7)(tmp_path / "new.sqlite")
    with pytest.raises(StudyError, match=r"has format 7, .* reads format 1 only; a newer bayesregret may read it$"):
        Study.open(tmp_path / "new.sqlite")


def test_missing_files(tmp_path):
    for use, said in (
        (lambda: Study.open(tmp_path / "no.sqlite", create=False), "no.sqlite: there is no such file"),
        (lambda: Study.open(tmp_path / "no.sqlite", write=False), "no.sqlite: there is no such file"),
        (lambda: Study.open(tmp_path / "no" / "no.sqlite"), "no.sqlite: the folder it should be in does not exist"),
        (lambda: Study.open(tmp_path / ("x" * 300)), "cannot be read: File name too long"),
        (lambda: Study.open("a\0b"), "path must be the path of a study, got 'a\\x00b'"),
        (lambda: Study.open(7), "path must be the path of a study, got 7"),
    ):
        with pytest.raises(ValueError, match=r"no|path") as caught:
            use()
        assert str(caught.value).endswith(said)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_what_a_killed_process_may_leave(tmp_path):
    path = tmp_path / "empty.sqlite"
    path.touch()
    for options in ({"create": False}, {"write": False}):
        with pytest.raises(StudyError, match=r"empty\.sqlite: is empty and not a study$"):
            Study.open(path, **options)
    assert path.read_bytes() == b""
    assert len(make(path).read_bytes()) > 0


def test_killed_while_it_was_being_made(tmp_path):
    """The first page is written, others are not, and the journal says that the file was empty."""
    path = tmp_path / "half.sqlite"
    interrupted = (
        "import os, sqlite3, sys\n"
        "from bayesregret.study import files\n"
        "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "database.execute('PRAGMA cache_size = 1')\n"  # pages go to the file before the end of the transaction
        "database.executescript(files.CREATE.replace('COMMIT;', ''))\n"
        "database.execute('CREATE TABLE filler (text)')\n"
        "database.executemany('INSERT INTO filler VALUES (?)', [('x' * 3000,)] * 500)\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", interrupted, str(path)], check=True)
    Study.open(tmp_path / "new.sqlite").close()
    data = (tmp_path / "new.sqlite").read_bytes()[:4096] + path.read_bytes()[4096:]
    journal = (tmp_path / "half.sqlite-journal").read_bytes()
    for options in ({"create": False}, {"write": False}):
        path.write_bytes(data)
        (tmp_path / "half.sqlite-journal").write_bytes(journal)
        with pytest.raises(StudyError, match=r"half\.sqlite: is empty and not a study$"):
            Study.open(path, **options)
    path.write_bytes(data)
    (tmp_path / "half.sqlite-journal").write_bytes(journal)
    with Study.open(make(path)) as study:
        assert len(study) == len(POINTS)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    path = make(tmp_path_factory.mktemp("pristine") / "study.sqlite")
    return path.read_bytes()


@given(data=st.data())
def test_any_flipped_bits_are_noticed_or_do_no_harm(pristine, data):
    places = data.draw(st.lists(st.integers(0, len(pristine) - 1) | st.integers(0, 400), min_size=1, max_size=3))
    spoiled = bytearray(pristine)
    for place in places:
        spoiled[place] ^= data.draw(st.integers(1, 255))
    write = data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "study.sqlite"
        path.write_bytes(spoiled)
        complaint = None
        try:
            with Study.open(path, write=write) as study:
                assert [(entry.settings, entry.result) for entry in study.entries()] == POINTS
                assert study.result(POINTS[3][0]) == POINTS[3][1]
        except StudyError as error:
            complaint = str(error)
        if complaint is not None:
            assert complaint.startswith(f"{path}: ")
            assert complaint.isprintable()
            assert path.read_bytes() == spoiled
            assert os.listdir(folder) == ["study.sqlite"]


def test_a_damaged_file_with_a_log_is_left_as_it_was(tmp_path):
    """A connection that may write would move the log into the file when it closes."""
    with Study.open(make(tmp_path / "alive.sqlite")) as study:
        study.save({"seed": 100}, {"regret": 1.5}, seconds=0.0)
        for end in ("", "-wal"):
            shutil.copy(tmp_path / f"alive.sqlite{end}", tmp_path / f"dead.sqlite{end}")
    path, log = tmp_path / "dead.sqlite", tmp_path / "dead.sqlite-wal"
    whole = path.read_bytes()
    place = whole.index(repr(4 / 7).encode())
    path.write_bytes(whole[:place] + b"9" + whole[place + 1 :])
    before = path.read_bytes(), log.read_bytes()
    assert log.stat().st_size > 0
    with pytest.raises(StudyError, match=r"dead\.sqlite: is damaged: the point \w{10} has changed since it was saved$"):
        Study.open(path)
    assert (path.read_bytes(), log.read_bytes()) == before
    path.write_bytes(whole)
    with Study.open(path) as study:
        assert len(study) == len(POINTS) + 1, "the control"
    assert path.read_bytes() != whole


def test_a_closed_study_is_a_fault_of_the_program(tmp_path):
    study = Study.open(tmp_path / "study.sqlite")
    study.close()
    with pytest.raises(sqlite3.ProgrammingError):
        len(study)
