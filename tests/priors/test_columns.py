"""Columns under names of the user's own."""

import pytest

import bayesregret as br
from bayesregret.priors.columns import MOST_NAMES, choose_columns
from bayesregret.priors.history import read_history
from priors.reading import GOOD, summed

NAMES = {"experiment": "Test", "arm": "Variant of ours", "pulls": "Visitors, all", "successes": "Sold = yes"}
RENAMED = GOOD.replace("experiment,arm,pulls,successes", 'Test , variant  OF ours,"Visitors, all",Sold = yes')


def test_columns_are_renamed_in_files_tables_and_rows(read):
    expected = summed(read(GOOD))
    assert summed(read(RENAMED, columns=NAMES)) == expected
    assert (
        summed(read(RENAMED, columns={f" {name.upper()}": column.lower() for name, column in NAMES.items()}))
        == expected
    )
    cells = [line.split(",") for line in GOOD.splitlines()[1:]]
    table = dict(zip(NAMES.values(), zip(*cells, strict=True), strict=True))
    rows = [dict(zip(NAMES.values(), row, strict=True)) for row in cells]
    for history in (table, rows):
        assert summed(read_history(history, "bernoulli", columns=NAMES)) == expected
    numbered = dict(enumerate(table.values()))
    by_number = {name: at for at, name in enumerate(NAMES)}
    assert summed(read_history(numbered, "bernoulli", columns=by_number)) == expected
    assert (
        summed(read(RENAMED.replace("Test ", "experiment"), columns={**NAMES, "experiment": "EXPERIMENT"})) == expected
    )


def test_pandas_columns_are_renamed():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"site": [1, 1], "version": ["a", "b"], "n": [10, 20], "k": [1, 9]})
    names = {"experiment": "site", "arm": "version", "pulls": "n", "successes": "k"}
    assert br.fit_prior(table, model="bernoulli", columns=names).family.history.pulls.tolist() == [10.0, 20.0]


def test_a_renamed_column_goes_by_its_new_name_only(read):
    text = "experiment,arm,total,events\n1,a,2.5,3\n1,b,4,7\n"
    assert summed(read(text, "poisson", columns={"pulls": "total"})) == {("1", "a"): (2.5, 3), ("1", "b"): (4, 7)}
    swapped = GOOD.replace("pulls,successes", "successes,pulls")
    assert summed(read(swapped, columns={"pulls": "successes", "successes": "pulls"})) == summed(read(GOOD))
    replaced = GOOD.replace("experiment,arm,pulls,successes", "experiment,arm,visitors,successes,pulls").replace(
        "\n", ",0\n"
    )
    assert summed(read(replaced.replace("pulls,0", "pulls"), columns={"pulls": "visitors"})) == summed(read(GOOD))


def test_renamed_columns_choose_the_form():
    found = ["experiment", "arm", "pulls", "successes", "bought"]
    assert choose_columns(found, {}, "bernoulli", False) == ("pulls", "successes")
    assert choose_columns(found, {"reward": "Bought"}, "bernoulli", False) == ("reward",)


def test_bad_rows_name_both_columns(read):
    with pytest.raises(ValueError, match=r"line 3: pulls \(Visitors, all\) must be a number, got 'x'"):
        read(RENAMED.replace("20", "x"), columns=NAMES)
    with pytest.raises(ValueError, match=r"line 3: arm \(Variant of ours\) must have a name, got nothing"):
        read(RENAMED.replace("B", ""), columns=NAMES)
    with pytest.raises(
        ValueError, match=r"line 4: successes \(Sold = yes\) must be at most pulls \(Visitors, all\), 30"
    ):
        read(RENAMED.replace("30,9", "30,31"), columns=NAMES)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"weight": "w"}, "columns: 'weight' is not a column of a bernoulli history, which may have experiment, arm, "),
        (
            {"mean": "w"},
            "columns: 'mean' is not a column of a bernoulli history, which may have experiment, arm, pulls, ",
        ),
        ({"": "w"}, "columns: '' is not a column of a bernoulli history, which may have "),
        ({"arm": "a", "ARM ": "b"}, "columns: arm is given twice"),
        ({"arm": " "}, "columns: arm must be the name of your column, got nothing"),
        (
            {"pulls": "Vistors"},
            "columns: there is no column 'Vistors' for pulls; found: experiment, arm, pulls, successes",
        ),
        ({"pulls": "a\nb"}, "columns: there is no column 'a\\nb' for pulls; found: "),
        ("arm=Variant", 'columns must be a table of names and your columns, such as {"pulls": "visitors"}, got \'arm'),
        (["arm"], 'columns must be a table of names and your columns, such as {"pulls": "visitors"}, got ['),
    ],
)
def test_bad_names(tmp_path, columns, said):
    path = tmp_path / "history.csv"
    path.write_text(GOOD)
    with pytest.raises(ValueError, match="columns") as raised:
        br.fit_prior(path, model="bernoulli", columns=columns)
    message = str(raised.value).removeprefix(f"{path}: ")
    assert message.startswith(said)
    assert message.isprintable()


def test_a_missing_column_shows_the_columns_that_were_found(read):
    with pytest.raises(
        ValueError,
        match="experiment, arm, pulls, successes are missing; found: Test, variant OF ours, Visitors, all, S",
    ):
        read(RENAMED)
    text = ",".join(f"column {at}" for at in range(40)) + "\n"
    with pytest.raises(ValueError, match=rf"column 10, column {MOST_NAMES - 1}, {40 - MOST_NAMES} more; a bernoulli"):
        read(text)
    with pytest.raises(ValueError, match=r"found: 'x\\x07', '(long ){11}l\.\.\., note, 1 more; a") as raised:
        read(f"x\x07,{'long ' * 30},note,,{'y' * 55}\n")
    assert str(raised.value).isprintable()
    with pytest.raises(
        ValueError, match="columns pulls, total are missing; found: experiment, arm; a poisson history has "
    ):
        read_history({"experiment": [1], "arm": [1]}, "poisson")
