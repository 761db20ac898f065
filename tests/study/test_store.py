"""A study: saved points come back bit for bit, by their settings."""

import json
import math
import struct

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import bayesregret
from bayesregret.study import Study, StudyError, point_key

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.integers(-(2**200), 2**200)
names = st.text(st.characters(exclude_categories=())) | st.sampled_from(["", ".", "a.b", "\ud800", "\0", "é"])
values = st.recursive(
    st.none() | st.booleans() | numbers | names,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=15,
)
tables = st.dictionaries(names, values, max_size=5)


@pytest.fixture
def study(tmp_path):
    with Study.open(tmp_path / "study.sqlite") as opened:
        yield opened


def same_bits(one, two) -> bool:
    """Equal, with floats to the last bit and nothing turned into another type."""
    if type(one) is not type(two):
        return False
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", two)
    if isinstance(one, dict):
        return list(one) == list(two) and all(same_bits(one[name], two[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(two) and all(map(same_bits, one, two))
    return one == two


def test_every_bit_counts():
    """The control."""
    assert same_bits({"a": [1.5, "x", None]}, {"a": [1.5, "x", None]})
    assert not same_bits(0.0, -0.0)
    assert not same_bits(1, 1.0)
    assert not same_bits(1, True)
    assert not same_bits([1.0], [math.nextafter(1.0, 2.0)])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables, tables)
def test_everything_comes_back_bit_for_bit(tmp_path, chosen, result):
    path = tmp_path / "study.sqlite"
    path.unlink(missing_ok=True)
    with Study.open(path) as study:
        assert study.result(chosen) is None
        study.save(chosen, result, seconds=0.1)
    with Study.open(path) as study:
        assert same_bits(study.result(chosen), result)
        (entry,) = study.entries()
        assert same_bits(entry.settings, chosen)
        assert same_bits(entry.result, result)
        assert (entry.key, entry.seconds, entry.version) == (point_key(chosen), 0.1, bayesregret.__version__)


@given(tables, tables)
def test_other_settings_are_another_key(one, two):
    same = json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
    assert (point_key(one) == point_key(two)) == same
    assert point_key(dict(reversed(one.items()))) == point_key(one), "the order of fields does not count"
    assert point_key(one, "0.0.0") != point_key(one)


def test_small_changes_are_another_point(study, monkeypatch):
    study.save({"width": 0.1, "seed": 7}, {"regret": 1.0}, seconds=0.0)
    assert study.result({"seed": 7, "width": 0.1}) == {"regret": 1.0}
    assert study.result({"width": math.nextafter(0.1, 1.0), "seed": 7}) is None
    assert study.result({"width": 0.1, "seed": 8}) is None
    assert study.result({"width": 0.1}) is None
    monkeypatch.setattr(bayesregret, "__version__", "99.0")
    assert study.result({"width": 0.1, "seed": 7}) is None
    study.save({"width": 0.1, "seed": 7}, {"regret": 2.0}, seconds=0.0)
    assert [entry.version for entry in study.entries()] != ["99.0", "99.0"]
    assert study.result({"width": 0.1, "seed": 7}) == {"regret": 2.0}


def test_saved_again(study):
    study.save({"seed": 7}, {"a": 1.0, "b": [1, 2]}, seconds=1.0)
    (first,) = study.entries()
    study.save({"seed": 7}, {"b": [1, 2], "a": 1.0}, seconds=2.0)
    with pytest.raises(StudyError) as caught:
        study.save({"seed": 7}, {"a": math.nextafter(1.0, 2.0), "b": [1, 2]}, seconds=1.0)
    assert str(caught.value) == (
        f"{study.name}: the point {first.key[:10]} has two different results (settings {{'seed': 7}}); "
        "the first is kept"
    )
    assert list(study.entries()) == [first]
    study.save({"seed": 8}, {"a": 1.0}, seconds=1.0)  # an error leaves no transaction open
    assert len(study) == 2


def test_entries_are_in_order_of_being_finished(study):
    for seed in (3, 1, 2):
        study.save({"seed": seed}, {}, seconds=seed)
    entries = list(study.entries())
    assert [entry.settings["seed"] for entry in entries] == [3, 1, 2]
    assert [entry.seconds for entry in entries] == [3.0, 1.0, 2.0]
    times = [entry.finished for entry in entries]
    assert times == sorted(times)
    assert all(len(moment) == 27 and moment.endswith("Z") for moment in times)


def test_numpy_values_and_tuples_are_plain_data(study):
    chosen = {"horizon": np.int64(5), "mean": np.array([1.0, 0.1]), "names": ("a", "b"), "ok": np.bool_(True)}
    study.save(chosen, {"regret": np.float64(0.1)}, seconds=np.float64(1.0))
    (entry,) = study.entries()
    assert same_bits(entry.settings, {"horizon": 5, "mean": [1.0, 0.1], "names": ["a", "b"], "ok": True})
    assert same_bits(entry.result, {"regret": 0.1})
    assert study.result({**chosen, "horizon": 5}) == {"regret": 0.1}


def deep(levels: int):
    return [] if levels == 0 else [deep(levels - 1)]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"a": {"b": math.inf}}, "result.a.b must be text, a truth value, a whole or finite number"),
        ({"a": [0.0, math.nan]}, "result.a[1] must be text"),
        ({"a": np.array([1.0, np.inf])}, "result.a[1] must be text"),
        ({"a": b"bytes"}, "result.a must be text"),
        ({"a": {1, 2}}, "result.a must be text"),
        ({"a": 10**5000}, "result.a must be text"),
        ({1: 2}, "every name in result must be text, got 1"),
        ({"a": deep(200)}, "is nested too deeply: at most 100 levels are allowed"),
        ([1], "result must be a table of named values, got [1]"),
        (None, "result must be a table of named values, got None"),
    ],
)
def test_what_json_cannot_hold_is_refused(study, bad, said):
    for field in ("result", "settings"):
        chosen, result = ({"seed": 7}, bad) if field == "result" else (bad, {"regret": 1.0})
        with pytest.raises(ValueError, match=r"must be|nested") as caught:
            study.save(chosen, result, seconds=0.0)
        assert said.replace("result", field) in str(caught.value)
        assert str(caught.value).isprintable()
    assert len(study) == 0


@pytest.mark.parametrize("seconds", [-1.0, math.inf, math.nan, "1", None, True])
def test_seconds(study, seconds):
    with pytest.raises(ValueError, match="seconds must be a number of seconds, at least 0, got "):
        study.save({}, {}, seconds=seconds)


def test_the_deepest_that_is_allowed_comes_back(study):
    study.save({}, {"a": deep(99)}, seconds=0.0)
    assert study.result({}) == {"a": deep(99)}


def test_a_commit_waits_for_the_disk(study):
    """No test can cut the power: with a log, 2 (FULL) is where SQLite promises that a commit survives it."""
    assert study._database.execute("PRAGMA synchronous").fetchone() == (2,)
    assert study._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_closed_it_is_one_file(tmp_path):
    with Study.open(tmp_path / "odd name ?#%20é.sqlite") as study:
        study.save({}, {"regret": 1.0}, seconds=0.0)
        assert len(list(tmp_path.iterdir())) == 3, "the log and its index"
    assert [path.name for path in tmp_path.iterdir()] == ["odd name ?#%20é.sqlite"]
    with Study.open(tmp_path / "odd name ?#%20é.sqlite", create=False) as study:
        assert study.result({}) == {"regret": 1.0}


def test_a_link_leads_to_the_study(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "elsewhere" / "study.sqlite")
    with Study.open(tmp_path / "link.sqlite") as study:
        study.save({}, {"regret": 1.0}, seconds=0.0)
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["study.sqlite"]
    with Study.open(tmp_path / "link.sqlite") as study:
        assert len(study) == 1


def test_reading_changes_nothing(tmp_path):
    path = tmp_path / "study.sqlite"
    with Study.open(path) as study:
        study.save({"seed": 7}, {"regret": 1.0}, seconds=0.0)
    before = path.read_bytes()
    with Study.open(path, write=False) as study:
        assert study.result({"seed": 7}) == {"regret": 1.0}
        with pytest.raises(StudyError, match=r"study\.sqlite: was opened for reading only$"):
            study.save({"seed": 8}, {}, seconds=0.0)
        with pytest.raises(StudyError, match="reading only"):
            study.merge(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_find(study):
    for seed in range(30):
        study.save({"seed": seed}, {}, seconds=0.0)
    entries = list(study.entries())
    for entry in entries:
        assert study.find(entry.key) == study.find(entry.key[:10].upper()) == entry
    for beginning, begins in (("", "begins 30 keys"), ("xyz", "begins none")):
        with pytest.raises(StudyError, match=f"key must be the first characters of one point's key, .* which {begins}"):
            study.find(beginning)


# --- merge ---------------------------------------------------------------------------------------------------------


def make(path, results):
    with Study.open(path) as study:
        for seed, regret in results.items():
            study.save({"seed": seed}, {"regret": regret}, seconds=seed)
    return path


def test_merge_copies_what_is_missing_as_it_is(tmp_path):
    here = make(tmp_path / "here.sqlite", {1: 0.1, 2: 0.2})
    there = make(tmp_path / "there.sqlite", {2: 0.2, 3: 0.3, 4: -0.0})
    with Study.open(there) as study:
        theirs = {entry.key: entry for entry in study.entries()}
    before = there.read_bytes()
    with Study.open(here) as study:
        ours = {entry.key: entry for entry in study.entries()}
        assert study.merge(there) == 2
        assert study.merge(there) == 0
        assert study.merge(here) == 0
        assert {entry.key: entry for entry in study.entries()} == {**theirs, **ours}
        assert [entry.settings["seed"] for entry in study.entries()] == [1, 2, 3, 4]
    assert there.read_bytes() == before


def test_merge_is_all_or_nothing(tmp_path):
    here = make(tmp_path / "here.sqlite", {3: 0.3})
    fine = make(tmp_path / "fine.sqlite", {1: 0.1})
    other = make(tmp_path / "other.sqlite", {2: 0.2, 3: 0.4})
    before = here.read_bytes()
    with Study.open(here) as study:
        with pytest.raises(StudyError) as caught:
            study.merge(fine, other)
        assert str(caught.value) == (
            f"{here} and {other}: the point {point_key({'seed': 3})[:10]} has two different results "
            "(settings {'seed': 3}); the first is kept"
        )
        with pytest.raises(StudyError, match=r"nothing\.sqlite: there is no such file$"):
            study.merge(fine, tmp_path / "nothing.sqlite")
        assert len(study) == 1
    assert here.read_bytes() == before
    with Study.open(here) as study:
        assert study.merge(fine) == 1
