"""Problem files: what is good comes back as the bandit it describes, what is bad as one line."""

import errno
import json
import os
import pathlib

import pytest
from hypothesis import given

import bayesregret as br
from bayesregret import problem
from bayesregret.problem import bandit_classes, load_problem, problem_from_dict, save_problem
from problems import BANDITS, bernoulli_bandits, gaussian_bandits, linear_bandits

GAUSSIAN = {"model": "gaussian", "prior_mean": [1, 0], "prior_width": 1.0, "reward_noise": 2}
LINEAR = {"model": "linear", "features": [[1, 0], [0, 1]], "prior_mean": [1, 0], "prior_width": 1, "reward_noise": 1}

TOML = """# a comment
model = "gaussian"
prior_mean = [1, 0]
prior_width = 1.0
reward_noise = 2
"""


def message_for(path: pathlib.Path, content: bytes | str) -> str:
    """What is said about a bad file, after its name."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is what the tests look at
        load_problem(path)
    message = str(caught.value)
    assert message.isprintable(), "one line"
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def changed(problem: dict, **changes: object) -> str:
    return json.dumps({**problem, **changes})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.toml", TOML),
        ("p.TOML", TOML),
        ("p.json", json.dumps(GAUSSIAN)),
        ("p", TOML),
        ("p.txt", f"\n {json.dumps(GAUSSIAN)}"),
        ("p.toml", "\ufeff" + TOML),
        ("p.toml", TOML.replace("\n", "\r\n")),
    ],
)
def test_toml_and_json_by_suffix_or_first_character(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content.encode())
    assert load_problem(path) == br.GaussianBandit([1, 0], 1.0, 2)
    assert load_problem(str(path)) == load_problem(path)


@pytest.mark.parametrize("bandit", BANDITS.values(), ids=BANDITS)
@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_saved_problems_come_back_equal(tmp_path, bandit, suffix):
    path = tmp_path / f"problem{suffix}"
    save_problem(bandit, path)
    assert load_problem(path) == bandit


@given(bandit=gaussian_bandits() | bernoulli_bandits() | linear_bandits())
def test_plain_data_come_back_equal(bandit):
    assert problem_from_dict(bandit.to_dict()) == bandit
    assert problem_from_dict(json.loads(json.dumps(bandit.to_dict()))) == bandit


def test_numbers_keep_every_bit(tmp_path):
    bandit = br.GaussianBandit([0.1 + 0.2, 1e-300, -1e50], 5e-50, 1 / 3)
    for name in ("p.toml", "p.json"):
        save_problem(bandit, tmp_path / name)
        assert load_problem(tmp_path / name).to_dict() == bandit.to_dict()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            changed(GAUSSIAN, reward_nois=1),
            "reward_nois is not a field of a gaussian problem, which may have prior_mean, ",
        ),
        (changed(GAUSSIAN, **{"a\nb": 1}), r"'a\nb' is not a field"),
        (changed(GAUSSIAN, **{"x" * 10**6: 1}), "'xxx"),
        (changed(GAUSSIAN, self=1), "self is not a field"),
        (
            '{"model": "gaussian", "prior_mean": [1]}',
            "prior_width is missing; a gaussian problem must have prior_mean,",
        ),
        ('{"prior_mean": [1]}', "model is missing; it may be "),
        # Which models are listed depends on those that other tests define.
        (changed(GAUSSIAN, model="gauss"), "model must be "),
        (changed(GAUSSIAN, model=["gaussian"]), "model must be "),
        (changed(GAUSSIAN, model=None), "model must be "),
        (changed(GAUSSIAN, prior_width="1"), "prior_width must be a positive number, got '1'"),
        (changed(GAUSSIAN, prior_width=True), "prior_width must be a positive number, got True"),
        (changed(GAUSSIAN, prior_width=None), "prior_width must be a positive number, got None"),
        (changed(GAUSSIAN, prior_width=0), "prior_width must be a positive number, got 0"),
        (changed(GAUSSIAN, prior_width={}), "prior_width must be a positive number, got {}"),
        (changed(GAUSSIAN, prior_mean=1), "prior_mean must be a list of numbers, one for each arm, got 1"),
        (changed(GAUSSIAN, prior_mean=[]), "prior_mean must be a list of numbers, one for each arm, got []"),
        (changed(GAUSSIAN, prior_mean=["1"]), "prior_mean must be a list of numbers, one for each arm, got ['1']"),
        (changed(GAUSSIAN, prior_mean=[[1], [2, 3]]), "prior_mean must be a list of numbers"),
        (changed(GAUSSIAN, prior_mean=[None]), "prior_mean must be a list of numbers"),
        (changed(GAUSSIAN, noise_kind="loud"), 'noise_kind must be "gaussian" or "rademacher", got \'loud\''),
        (changed(LINEAR, features=[[1, 0], [0]]), "features must be a table of numbers, one row for each arm"),
        (changed(LINEAR, prior_cov=[[1, 0], [0, 1]]), "one of prior_cov and prior_width must be given, and not both"),
        (changed(LINEAR, prior_width=None, prior_cov=[[1, 2], [2, 1]]), "prior_cov must be a symmetric positive semi"),
        ('{"model": "bernoulli", "alpha": [1, 2], "beta": [1]}', "alpha and beta must have one entry for each arm"),
        ("[1, 2]", "a problem must be a table of named fields that includes `model`, got [1, 2]"),
        ("null", "a problem must be a table of named fields"),
        ('{"model": "gaussian", "model": 1}', "model is given twice"),
        ('{"model": {"\\n": 1, "\\n": 1}}', r"'\n' is given twice"),
        ('{"prior_mean": [NaN]}', "is not JSON: has NaN, and numbers must be finite"),
        ('{"prior_mean": -Infinity}', "is not JSON: has -Infinity, and numbers must be finite"),
        (json.dumps(GAUSSIAN).replace("1.0", "1e999"), "prior_width must be a positive number, got inf"),
        ('{"model": ' + "1" * 5000 + "}", "has a whole number with too many digits"),
        ('{"model": "gaussian",}', "is not JSON: "),
        ('{"model": ', "is not JSON: Expecting value (at line 1, column 11)"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"a":' * 100_000, "is nested too deeply"),
        ("", "is empty; it must have `model`"),
        (" \n\t", "is empty; it must have `model`"),
        (b'{"model": "\xff"}', "must be UTF-8 text, but byte 12 is not"),
        (b"\x00\x00", "is not JSON: "),
    ],
)
def test_bad_json_is_one_line(tmp_path, content, said):
    message = message_for(tmp_path / "problem.json", content)
    assert message.startswith(said)
    assert len(message) < 300


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (TOML.replace("reward_noise", "reward_nois"), "reward_nois is not a field of a gaussian problem"),
        (TOML + "prior_width = 2", "is not TOML: Cannot overwrite a value (at "),
        (TOML.replace("1.0", "nan"), "prior_width must be a positive number, got nan"),
        (TOML.replace("1.0", "1979-05-27"), "prior_width must be a positive number, got datetime.date(1979, 5, 27)"),
        (
            TOML.replace("[1, 0]", "[1, inf]"),
            "prior_mean must be a list of numbers, one for each arm, but has an entry",
        ),
        (TOML.replace("1.0", "1" * 5000), "has a whole number with too many digits"),
        ("model = [", "is not TOML: Invalid value (at end of document)"),
        ("{}", "is not TOML: "),
        ("model = " + "[" * 100_000, "is nested too deeply"),
        (TOML.replace("prior_mean", "prior_mean" + ".a" * 5000), "is nested too deeply"),
        (TOML.replace("prior_mean", "prior_mean" + " . 'a'" * 100_000), "is nested too deeply"),
        (b"model = '\xff'", "must be UTF-8 text, but byte 10 is not"),
        ("model = 'a\x00b'", "is not TOML: "),
        ("", "is empty; it must have `model`"),
    ],
)
def test_bad_toml_is_one_line(tmp_path, content, said):
    message = message_for(tmp_path / "problem.toml", content)
    assert message.startswith(said)
    assert len(message) < 300


def test_unreadable_files_are_one_line(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"nosuch\.toml: cannot be read: No such file"):
        load_problem(tmp_path / "nosuch.toml")
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        load_problem(tmp_path)
    with pytest.raises(ValueError, match=r"^'a\\x00b': embedded null"):
        load_problem("a\0b")
    with pytest.raises(ValueError, match="path must be the path of a TOML or JSON file, got 3"):
        load_problem(3)
    monkeypatch.setattr(problem, "LARGEST_FILE", 1_000_000)
    assert message_for(tmp_path / "p.toml", b" " * 1_000_001) == "is too large; it may have at most 1 MB"


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("builtins.open", refuse)  # modes do not bind the superuser, who may run this test
    with pytest.raises(ValueError, match="cannot be read: Permission denied"):
        load_problem(tmp_path / "p.toml")


def test_a_file_name_of_two_lines_is_quoted_in_one(tmp_path):
    path = tmp_path / "a\nb.toml"
    path.write_text("")
    with pytest.raises(ValueError, match=r"a\\nb\.toml': is empty") as caught:
        load_problem(path)
    assert "\n" not in str(caught.value)


def test_saving_needs_a_known_suffix(tmp_path):
    with pytest.raises(ValueError, match=r"path must be the name of a \.toml or a \.json file"):
        save_problem(BANDITS["gaussian"], tmp_path / "problem")


def test_plain_data_of_the_wrong_kind():
    with pytest.raises(ValueError, match="a problem must be a table of named fields"):
        problem_from_dict([("model", "gaussian")])
    with pytest.raises(ValueError, match="3 is not a field of a gaussian problem"):
        problem_from_dict({**GAUSSIAN, 3: 4})


def test_a_bandit_from_outside_joins():
    class Silent(br.GaussianBandit):
        """Inherits its kind, and leaves it to its parent."""

    class Flipped(br.BernoulliBandit):
        kind = "test-flipped"

        def __init__(self, chances, **rest):
            if rest:
                raise TypeError("two\nlines")
            super().__init__(chances, chances)

    assert bandit_classes()["gaussian"] is br.GaussianBandit
    assert {"bernoulli", "gaussian", "linear"} <= set(bandit_classes())
    assert isinstance(problem_from_dict({"model": "test-flipped", "chances": [1, 2]}), Flipped)
    with pytest.raises(ValueError, match="chances is missing; a test-flipped problem must have chances"):
        problem_from_dict({"model": "test-flipped"})
    with pytest.raises(ValueError, match=r"'two\\nlines'"):
        problem_from_dict({"model": "test-flipped", "chances": [1], "more": 1})
