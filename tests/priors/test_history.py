"""Histories are read from files, columns and rows, and errors are reported in one line."""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bayesregret as br
from bayesregret.priors import readers
from bayesregret.priors.history import History, read_history
from priors.reading import GOOD, ROW, summed


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        "\n" + GOOD.replace("\n", "\n\n"),
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.replace("experiment,arm", "Experiment, ARM "),
        GOOD.replace("1,A,10,3", '"1","A",1e1,3.0'),
        GOOD.replace("1,B,20,5\n", "1,C,0,0\n1,B,15,5\n1,B,5,0\n"),
        "note,arm,experiment,successes,pulls\nx,A,1,3,10\ny,B,1,5,20\n,A,2,9,30\n",
    ],
)
def test_files_from_different_programs(read, text):
    history = read(text)
    assert summed(history) == {("1", "A"): (10, 3), ("1", "B"): (20, 5), ("2", "A"): (30, 9)}
    assert history.experiment.tolist() == [0, 0, 1]
    assert history.arms_per_experiment.tolist() == [2, 1]


def test_python_has_columns_rows_and_tables(read):
    rows = list(csv.DictReader(io.StringIO(GOOD)))
    by_column = {name: [row[name] for row in rows] for name in rows[0]}
    expected = summed(read(GOOD))
    assert summed(read_history(rows, "bernoulli")) == expected
    assert summed(read_history(by_column, "bernoulli")) == expected
    numbers = {"experiment": np.array([1, 1, 2]), "arm": ["A", "B", "A"], "pulls": (10, 20, 30), "successes": [3, 5, 9]}
    history = read_history(numbers, "bernoulli")
    assert list(summed(history).values()) == list(expected.values())
    assert read_history(history, "bernoulli") is history
    pandas = pytest.importorskip("pandas")
    assert summed(read_history(pandas.DataFrame(rows), "bernoulli")) == expected


def test_single_rewards_add_up():
    rng = np.random.default_rng(2)
    experiment, arm = rng.integers(0, 3, 500), rng.integers(0, 2, 500)
    rewards = 1e6 + rng.normal(size=500)
    history = read_history({"experiment": experiment, "arm": arm, "reward": rewards}, "gaussian")
    for (of, name), pulls, mean, squares in zip(
        history.labels, history.pulls, history.means, history.squares, strict=True
    ):
        own = rewards[(experiment == of) & (arm == name)]
        assert pulls == len(own)
        assert mean == pytest.approx(own.mean(), rel=1e-14)
        assert squares == pytest.approx(own.var() * len(own), rel=1e-8)
    counts = read_history({"experiment": [1, 1, 1], "arm": "aab", "reward": [2, 0, 7]}, "poisson")
    assert summed(counts) == {(1, "a"): (2, 2), (1, "b"): (1, 7)}
    truth = read_history({"experiment": [1, 1, 1], "arm": "aab", "reward": [True, False, True]}, "bernoulli")
    assert summed(truth) == {(1, "a"): (2, 1), (1, "b"): (1, 1)}


def test_summaries_of_the_same_arm_add_up():
    """As if all rewards were in one row."""
    rewards = np.array([1.0, 4.0, 2.0, 9.0, 3.0])
    parts = [rewards[:2], rewards[2:]]
    history = {
        "experiment": [1, 1, 1],
        "arm": ["a", "a", "b"],
        "pulls": [2, 3, 0],
        "mean": [*(part.mean() for part in parts), None],
        "variance": [*(part.var(ddof=1) for part in parts), ""],
    }
    found = read_history(history, "gaussian")
    assert (found.pulls.tolist(), found.totals.tolist()) == ([5.0], [19.0])
    assert found.squares[0] == pytest.approx(rewards.var() * 5)


NEEDED = (
    "a bernoulli history has experiment, arm, pulls, successes; or experiment, arm, reward; rename yours with --col"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; its first line must name the columns"),
        ("\n \n", "is empty; its first line must name the columns"),
        ("experiment,arm,pulls,successes\n", "has no rows; there must be one for each arm, or for each reward"),
        ("arm,pulls,successes\n1,2,3\n", f"column experiment is missing; found: arm, pulls, successes; {NEEDED}"),
        ("experiment,arm,pulls\n1,2,3\n", f"column successes is missing; found: experiment, arm, pulls; {NEEDED}"),
        ("root:x:0\nbin,bash", f"columns experiment, arm, pulls, successes are missing; found: root:x:0; {NEEDED}"),
        ("experiment,arm\n1,2\n", f"columns pulls, successes are missing; found: experiment, arm; {NEEDED}"),
        ("experiment,arm,arm,reward\n1,2,3,1\n", "'arm' is the name of two columns"),
        (GOOD.replace("10", "-10"), "line 2: pulls must be a whole number, at least 0 and at most 1e+15, got -10"),
        (GOOD.replace("10", "2.5"), "line 2: pulls must be a whole number, at least 0 and at most 1e+15, got 2.5"),
        (GOOD.replace("10", "1e20"), "line 2: pulls must be a whole number, at least 0 and at most 1e+15, got 1e+20"),
        (GOOD.replace("20", "nan"), "line 3: pulls must be a whole number, at least 0 and at most 1e+15, got nothing"),
        (GOOD.replace("20", ""), "line 3: pulls must be a whole number, at least 0 and at most 1e+15, got nothing"),
        (GOOD.replace("20", "inf"), "line 3: pulls must be a whole number, at least 0 and at most 1e+15, got inf"),
        (GOOD.replace("20", "many"), "line 3: pulls must be a number, got 'many'"),
        (GOOD.replace(",9", ",31"), "line 4: successes must be at most pulls, 30, got 31"),
        (GOOD.replace("2,A", ",A"), "line 4: experiment must have a name, got nothing"),
        (GOOD.replace("2,A", "2,"), "line 4: arm must have a name, got nothing"),
        (GOOD.replace(",9", ""), "line 4: must have 4 cells, one for each column, got 3"),
        ("experiment,arm,pulls,successes\n1,a,0,0\n1,b,0,0\n", "pulls must be above 0 for some arm"),
        ("experiment,arm,reward\n1,a,0\n1,b,2\n", "line 3: reward must be 0 or 1, true or false, or yes or no, got 2"),
        (GOOD.encode("utf-16"), "is not UTF-8 text; save it as CSV in UTF-8"),
        (GOOD.encode() + b"2,\xe9,3,1\n", "is not UTF-8 text; save it as CSV in UTF-8"),
        ('experiment,arm,reward\n1,"a,0\n' + "x\n" * 70_000, "is not CSV: field larger than field limit (131072)"),
        ("x" * 200_000, "has a line of more than 100000 characters; a history has one line for each row"),
    ],
)
def test_bad_files(read, tmp_path, text, said):
    with pytest.raises(ValueError, match=r"history\.csv: ") as raised:
        read(text)
    check_message(str(raised.value), f"{tmp_path / 'history.csv'}: {said}")


@pytest.mark.parametrize(
    ("model", "columns", "said"),
    [
        ("gaussian", {"pulls": [2, 2], "mean": [1, "inf"], "variance": [1, 1]}, "row 2: mean must be a finite number"),
        ("gaussian", {"pulls": [2, 2], "mean": [1, 2], "variance": [1, None]}, "row 2: variance must be a finite"),
        ("gaussian", {"pulls": [2, 2], "mean": [1, 2], "variance": [1, -1]}, "row 2: variance must be a number, at"),
        ("gaussian", {"reward": [1, "nan"]}, "row 2: reward must be a finite number, got nothing"),
        ("gaussian", {"reward": [1, 10**400]}, "row 2: reward must be a number, got 1000"),
        ("gaussian", {"reward": [1, -1e300]}, r"row 2: reward must be at most 1e\+50 either way, got -1e\+300"),
        ("poisson", {"reward": [1, 0.5]}, "row 2: reward must be a whole number, at least 0"),
        ("poisson", {"pulls": [1, 0], "total": [1, 3]}, "row 2: total must be 0 for an arm without pulls, got 3"),
        ("poisson", {"pulls": [1, 1], "events": [1, -3]}, "row 2: events must be a whole number, at least 0"),
        (
            "poisson",
            {"pulls": [1, 1]},
            "column total is missing; found: experiment, arm, pulls; a poisson history has experiment, arm, pulls",
        ),
        ("bernoulli", {"reward": 1}, "column reward must be a list with an entry for each row, got 1"),
        ("bernoulli", {"reward": [1]}, "history must have columns of the same length, got 1 and 2 rows"),
        ("bernoulli", {"experiment": [[], []], "reward": [1, 1]}, "experiment and arm must be names or numbers"),
        ("bernoulli", {"arm": [1.0, math.nan], "reward": [1, 1]}, "row 2: arm must have a name, got nothing"),
        ("bernoulli", {"Arm ": [1, 2], "reward": [1, 1]}, "'arm' is the name of two columns"),
    ],
)
def test_bad_columns(model, columns, said):
    with pytest.raises(ValueError, match="^" + said):
        read_history({"experiment": [1, 1], "arm": ["a", "b"], **columns}, model)


def test_capitals_of_names_do_not_matter_in_any_table():
    columns = {"Experiment": [1, 1], " ARM": ["a", "b"], "Pulls": [5, 6], "successes": [1, 2]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for history in (columns, rows):
        assert read_history(history, "bernoulli").totals.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("history", "said"),
    [
        (5, "history must be a CSV file, a table of columns or a list of rows, got 5"),
        ([], "columns experiment, arm, pulls, successes are missing; found: none; a bernoulli"),
        ([1], "row 1: must be a table of named fields, got 1"),
        ([{**ROW}, {"pulls": 1}], "row 2: must have the fields of the first row, experiment, arm, reward$"),
        ([{**ROW}, 7], "row 2: must be a table of named fields, got 7"),
        ("no such file", "no such file: cannot be read: No such file or directory"),
        ("/", "/: cannot be read: Is a directory"),
        ("odd\nname", r"'odd\\nname': cannot be read: No such file"),
    ],
)
def test_no_history(history, said):
    with pytest.raises(ValueError, match="^" + said):
        br.fit_prior(history, model="bernoulli")


def test_a_huge_file_is_not_read(read, monkeypatch):
    monkeypatch.setattr(readers, "LARGEST_FILE", 10)
    with pytest.raises(ValueError, match="is too large; a history has at most 0 MB"):
        read(GOOD)


CELLS = st.sampled_from(["1", "2", "0", "-1", "0.5", "nan", "inf", "1e400", "x", "", '"', "é", "10", "3"])
FILES = st.lists(st.lists(CELLS, min_size=3, max_size=5).map(",".join), max_size=5).map("\n".join)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "history.csv"


def check_message(message, begins):
    """One line; or the number of bad rows, and a line for each of at most ten of them."""
    assert message.startswith(begins)
    first, *rows = message.split("\n")
    assert all(line.isprintable() for line in (first, *rows))
    assert len(first) < len(begins) + 450
    if rows:
        assert first.endswith(" bad rows")
        assert all(row.startswith(("line ", "and ", "--skip-missing ")) for row in rows)
        assert 2 <= sum(row.startswith("line ") for row in rows) <= 10


@given(
    heading=st.sampled_from(
        [
            GOOD.splitlines()[0],
            "experiment,arm,reward",
            "experiment,arm,pulls,total,mean",
            "experiment,arm,exposure,events",
        ]
    ),
    body=FILES,
    noise=st.binary(max_size=6),
    model=st.sampled_from(["bernoulli", "gaussian", "poisson"]),
    options=st.fixed_dictionaries({"skip_missing": st.booleans(), "noise_is_known": st.booleans()}),
)
@example("experiment,arm,reward", "1,1,0\n1,2,1", b"", "bernoulli", {})
def test_whatever_a_file_holds(fuzzed, heading, body, noise, model, options):
    fuzzed.write_bytes(f"{heading}\n{body}\n".encode() + noise)
    try:
        found = read_history(fuzzed, model, **options)
    except ValueError as error:
        check_message(str(error), f"{fuzzed}: ")
    else:
        assert isinstance(found, History)
        assert (found.pulls > 0).all()
        assert np.isfinite(found.totals).all()
