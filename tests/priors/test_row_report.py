"""Bad rows are reported together, and rows with missing cells are skipped if asked to."""

import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.priors import readers
from bayesregret.priors.history import read_history
from priors.reading import GOOD, ROW, summed

MISSING = "experiment,arm,pulls,successes\n1,A,10,3\n,A,9,1\n1,B,,5\n1,B,20,5\n1, ,7,2\n2,A,30,NA\n2,A,30,9\n"


def test_rows_with_missing_cells_are_skipped(read):
    found = read(MISSING, skip_missing=True)
    assert summed(found) == {("1", "A"): (10, 3), ("1", "B"): (20, 5), ("2", "A"): (30, 9)}
    assert found.skipped == 4
    assert read(GOOD, skip_missing=True).skipped == 0
    with pytest.raises(ValueError, match="4 bad rows\nline 3: experiment must have a name, got nothing\n") as raised:
        read(MISSING)
    hint = "\n--skip-missing (skip_missing= in Python) leaves out rows with missing cells: lines 3, 4, 6, 7"
    assert str(raised.value).endswith(hint)
    # Bad rows stay bad; a cell that is not needed may be missing.
    with pytest.raises(ValueError, match=r"history\.csv: line 2: pulls must be a number, got 'x'$"):
        read(MISSING.replace("10", "x"), skip_missing=True)
    moments = "experiment,arm,pulls,mean,variance\n1,a,1,2.5,\n1,b,0,,\n1,c,2,3,\n1,d,2,4,1\n"
    assert (
        read(moments, "gaussian", skip_missing=True).skipped,
        read(moments, "gaussian", skip_missing=True).arms,
    ) == (1, 2)
    with pytest.raises(ValueError, match="has no row without missing cells, of 2 rows"):
        read("experiment,arm,reward\n1,a,\n1,b,\n", skip_missing=True)


@pytest.mark.parametrize("nothing", [None, math.nan, "", np.float64("nan"), "null"])
def test_missing_cells_of_tables(nothing):
    columns = {"experiment": [1, 1, 1], "arm": ["a", "b", "c"], "reward": [1, nothing, 0]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for history in (columns, rows):
        found = read_history(history, "bernoulli", skip_missing=True)
        assert (found.arms, found.skipped) == (2, 1)
        with pytest.raises(ValueError, match=r"^row 2: reward must be 0 or 1, true .* got nothing; --skip-missing "):
            read_history(history, "bernoulli")


def test_missing_cells_of_pandas():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {"experiment": [1, 1, 2], "arm": ["a", "b", pandas.NA], "reward": [True, pandas.NA, False]}
    )
    for reward in (table["reward"], table["reward"].astype("boolean"), table["reward"].astype("Int64")):
        found = read_history(table.assign(reward=reward), "bernoulli", skip_missing=True)
        assert (found.labels, found.skipped) == (((1, "a"),), 2)


def test_a_fit_says_how_many_rows_were_skipped(tmp_path):
    (tmp_path / "history.csv").write_text(MISSING)
    fitted = br.fit_prior(tmp_path / "history.csv", model="bernoulli", skip_missing=True)
    assert fitted.warnings[0] == "4 rows with missing cells skipped"
    assert "\nwarning: 4 rows with missing cells skipped\n" in fitted.summary()
    (tmp_path / "history.csv").write_text(GOOD + "3,A,,1\n")
    once = br.fit_prior(tmp_path / "history.csv", model="bernoulli", skip_missing=True)
    assert once.warnings[0] == "1 row with missing cells skipped"
    (tmp_path / "history.csv").write_text(GOOD)
    none = br.fit_prior(tmp_path / "history.csv", model="bernoulli", skip_missing=True)
    assert none.warnings == once.warnings[1:]
    with pytest.raises(ValueError, match="skip_missing must be True or False, got 1"):
        br.fit_prior(tmp_path / "history.csv", model="bernoulli", skip_missing=1)


def test_a_fit_says_how_many_arms_have_no_pulls(tmp_path):
    (tmp_path / "history.csv").write_text(GOOD + "3,A,0,0\n3,B,0,0\n")
    fitted = br.fit_prior(tmp_path / "history.csv", model="bernoulli")
    assert fitted.warnings[0] == "2 arms without pulls left out"


def test_the_hint_names_the_first_rows_with_missing_cells(read):
    text = "experiment,arm,reward\n" + "1,a,\n" * 12
    with pytest.raises(ValueError, match=r"missing cells: lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more$"):
        read(text)


def test_all_bad_rows_are_in_one_report(read, monkeypatch):
    rows = [f"{i},A,{'x' if i % 3 == 0 else 10},{-1 if i % 3 == 1 else 4}" for i in range(36)]
    rows[2], rows[5] = "2,A,10,11", "5,A,10"
    text = "experiment,arm,pulls,successes\n" + "\n".join(rows)
    for at_once in (10_000, 7, 1):
        monkeypatch.setattr(readers, "ROWS_AT_ONCE", at_once)
        with pytest.raises(ValueError, match="26 bad rows") as raised:
            read(text)
        whole = "successes must be a whole number, at least 0 and at most 1e+15, got -1"
        assert str(raised.value).split("\n")[1:] == [
            "line 2: pulls must be a number, got 'x'",
            f"line 3: {whole}",
            "line 4: successes must be at most pulls, 10, got 11",
            "line 5: pulls must be a number, got 'x'",
            f"line 6: {whole}",
            "line 7: must have 4 cells, one for each column, got 3",
            "line 8: pulls must be a number, got 'x'",
            f"line 9: {whole}",
            "line 11: pulls must be a number, got 'x'",
            f"line 12: {whole}",
            "and 16 more",
        ]


def test_all_bad_rows_of_a_list_are_in_one_report():
    history = [{**ROW, "reward": reward} for reward in (1, 2, 0, "x", 1)]
    history[2:3] = [7, {"arm": 1}]
    with pytest.raises(ValueError, match=r"^4 bad rows\nrow 2: reward .*, got 2\nrow 3: must be a table") as raised:
        read_history(history, "bernoulli")
    assert [line[:6] for line in str(raised.value).split("\n")[1:]] == ["row 2:", "row 3:", "row 4:", "row 5:"]
