"""Whatever a problem file holds, it is a bandit or one line that begins with the file's name."""

import json
import pathlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayesregret import Bandit
from bayesregret.problem import load_problem, problem_from_dict, save_problem
from problems import BANDITS

FIELDS = ["model", "prior_mean", "prior_width", "reward_noise", "noise_kind", "alpha", "beta", "features", "prior_cov"]
MODELS = ["gaussian", "bernoulli", "linear"]

numbers = st.integers() | st.floats() | st.sampled_from([0, 1, 0.5, -1, 1e-320, 1e308, 10**30, 10**400, -(10**400)])
scalars = numbers | st.none() | st.booleans() | st.text(max_size=5) | st.sampled_from(MODELS)
vectors = st.lists(numbers, max_size=3)
tables = st.lists(vectors, max_size=3)
values = st.recursive(
    scalars | vectors | tables,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
problems = st.fixed_dictionaries(
    {"model": st.sampled_from(MODELS)}, optional=dict.fromkeys(FIELDS[1:], values)
) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), values, max_size=6)
suffixes = st.sampled_from([".toml", ".json", "", ".txt"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def good_files(folder) -> list[bytes]:
    files = []
    for bandit in BANDITS.values():
        for name in ("good.toml", "good.json"):
            save_problem(bandit, folder / name)
            files.append((folder / name).read_bytes())
    return files


def check_message(message: str, begins: str = "") -> None:
    assert message.startswith(begins)
    assert message.isprintable(), "one line"
    assert len(message) < len(begins) + 400


def try_file(folder: pathlib.Path, suffix: str, content: bytes) -> Bandit | None:
    path = folder / f"fuzz{suffix}"
    path.write_bytes(content)
    try:
        bandit = load_problem(path)
    except ValueError as error:
        check_message(str(error), f"{path}: ")
        return None
    assert isinstance(bandit, Bandit)
    assert bandit.arms >= 1
    return bandit


@given(suffix=suffixes, content=st.binary(max_size=60))
@example(suffix=".json", content=b'{"model": "gaussian", "prior_mean": [1e400], "prior_width": 1, "reward_noise": 1}')
@example(suffix=".json", content=b'"\\ud800"')
@example(suffix=".json", content=b'{"\\ud800": 1, "model": "linear"}')
@example(suffix=".toml", content=b"model = 00:00:00\r")
def test_bytes(folder, suffix, content):
    try_file(folder, suffix, content)


@given(suffix=suffixes, content=st.text("\"'{}[]=,.:#\n eE+-0123456789_abdefgilnostuxmodelprir\\", max_size=40))
def test_punctuation(folder, suffix, content):
    try_file(folder, suffix, content.encode())


@given(data=problems)
def test_json_structures(folder, data):
    try_file(folder, ".json", json.dumps(data).encode())


@given(data=problems)
def test_toml_structures(folder, data):
    lines = [f"{json.dumps(field)} = {json.dumps(value)}" for field, value in data.items()]
    text = "\n".join(lines).replace("NaN", "nan").replace("Infinity", "inf")
    try_file(folder, ".toml", text.encode())


@given(data=problems)
def test_plain_data(data):
    try:
        bandit = problem_from_dict(data)
    except ValueError as error:
        check_message(str(error))
    else:
        assert problem_from_dict(bandit.to_dict()) == bandit


@given(data=st.data(), suffix=suffixes)
def test_damaged_files(folder, good_files, data, suffix):
    """Bytes cut out, put in and doubled."""
    content = data.draw(st.sampled_from(good_files))
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(begin, min(begin + 8, len(content))))
        put = data.draw(
            st.sampled_from([b"", content[begin:end] * 2, b"-", b"9" * 400, b"[", b"]", b'"', b"\n", b"\xff"])
        )
        content = content[:begin] + put + content[end:]
    try_file(folder, suffix, content)


def test_undamaged_files_are_bandits(folder, good_files):
    """The control: the fuzz starts from files that do load."""
    assert all(try_file(folder, "", content) for content in good_files)
