"""Files are read in blocks, and every row has the number of its line."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesregret.priors import readers
from bayesregret.priors.readers import column_blocks
from bayesregret.priors.row_report import RowReport
from priors.reading import GOOD, summed


def test_a_large_history_is_read_in_blocks(read, monkeypatch):
    whole = read(GOOD)
    monkeypatch.setattr(readers, "ROWS_AT_ONCE", 2)
    assert summed(read(GOOD)) == summed(whole)
    with pytest.raises(ValueError, match="line 4: pulls must be a number, got 'x'"):
        read(GOOD.replace("2,A,30", "2,A,x"))
    with pytest.raises(ValueError, match="line 4: must have 4 cells, one for each column, got 5"):
        read(GOOD.replace("2,A,30", "2,A,30,1"))


def test_a_hundred_thousand_rewards_are_read_quickly(read):
    rows = "\n".join(f"exp-{i % 50},{i % 7},{i % 3 % 2}" for i in range(100_000))
    began = time.perf_counter()
    history = read("experiment,arm,reward\n" + rows)
    assert time.perf_counter() - began < 5.0  # 0.2 s on a machine with nothing else to do
    assert history.pulls.sum() == 100_000


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("experiment,arm,reward\n1,a,1\n1,b,x\n", 3),
        ("\n \nexperiment,arm,reward\n1,a,1\n1,b,x\n", 5),
        ("experiment,arm,reward\n1,a,1\n\n   \n1,b,x\n", 5),
        ("experiment,arm,reward\r\n1,a,1\r\n\r\n1,b,x\r\n", 4),
        ("experiment,arm,reward\r1,a,1\r\r1,b,x\r", 4),
        ('experiment,"ARM",reward,"our\nnote"\n1,a,1,\n1,b,x,\n', 4),
        ('experiment,arm,reward,note\n1,a,1,"two\nlines"\n1,b,x,\n', 4),
        ('experiment,arm,reward,note\r\n1,a,1,"two\r\nlines"\r\n\r\n1,b,x,"and\nthree\nmore"\n', 5),
    ],
)
def test_rows_are_numbered_by_their_lines(read, monkeypatch, text, line):
    for at_once in (10_000, 1):
        monkeypatch.setattr(readers, "ROWS_AT_ONCE", at_once)
        with pytest.raises(ValueError, match=rf"history\.csv: line {line}: reward must be 0 or 1, .*, got 'x'"):
            read(text)


PARTS = st.sampled_from(["1,a,2", '1,"b\nc",3', '"x\r\ny\n",b,"\r"', "", "  ", '"\n\n",,', "1,2,3,4", '1,"a\n"'])


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return tmp_path_factory.mktemp("lines") / "history.csv"


@given(parts=st.lists(PARTS, max_size=12), ends=st.sampled_from(["\n", "\r\n"]), at_once=st.integers(1, 5))
def test_line_numbers_against_a_count(written, parts, ends, at_once):
    """The line of each whole row, from the text before it."""
    text, expected = f"experiment,arm,reward{ends}", []
    for part in parts:
        if part.startswith(("1,a", '1,"b', '"x', '"\n\n"')):
            expected.append(len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))
        text += part + ends
    written.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "ROWS_AT_ONCE", at_once)
        blocks = list(column_blocks(written, RowReport("line")))
    assert np.concatenate([block.numbers for block in blocks]).tolist() == expected
