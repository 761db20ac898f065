"""Files are written whole or not at all."""

import os

import pytest

from bayesregret.writing import write_atomically


def test_a_file_is_replaced_by_text_or_bytes(tmp_path):
    path = tmp_path / "report.html"
    assert write_atomically(path, "täxt") == path
    assert path.read_text(encoding="utf-8") == "täxt"
    write_atomically(str(path), b"bytes")
    assert path.read_bytes() == b"bytes"
    assert list(tmp_path.iterdir()) == [path]


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
