"""Checks of input and their messages."""

import re
from fractions import Fraction

import numpy as np
import pytest

from bayesregret import checks

HUGE = pytest.param(10**400, id="huge")
NOT_NUMBERS = [None, "1", True, np.True_, [1.0], 1j, np.array([1.0]), object()]


@pytest.mark.parametrize("value", [1, 1.5, np.float32(1.5), np.int8(3), Fraction(1, 3), -0.0])
def test_real(value):
    made = checks.real("x", value)
    assert type(made) is float
    assert made == float(value)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, np.nan, np.inf, -np.inf, HUGE])
def test_not_real(value):
    with pytest.raises(ValueError, match=r"^x must be a finite number, got "):
        checks.real("x", value)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, np.nan, 0, 0.0, -1, -1e-300])
def test_not_positive(value):
    with pytest.raises(ValueError, match=r"^x must be a positive number, got "):
        checks.positive("x", value)


@pytest.mark.parametrize("value", [1e-51, 1e51, 5e-324, 1e308])
def test_beyond_what_can_be_squared(value):
    with pytest.raises(ValueError, match=r"^x must be between 1e-50 and 1e\+50, got "):
        checks.positive("x", value)
    assert checks.positive("x", 1e-50) == 1e-50
    assert checks.positive("x", 1e50) == 1e50


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, 1, 0.0, 1.0, -0.5, 1.5, np.nan])
def test_not_a_probability(value):
    with pytest.raises(ValueError, match=r"^x must be a number strictly between 0 and 1, got "):
        checks.probability("x", value)
    assert checks.probability("x", np.nextafter(1.0, 0.0)) < 1.0


@pytest.mark.parametrize("value", [None, "1", True, 1.0, np.float64(1.0), 0, 11, -3, HUGE])
def test_not_whole(value):
    with pytest.raises(ValueError, match=r"^x must be a whole number, at least 1 and at most 10, got "):
        checks.whole("x", value, 1, 10)


def test_whole():
    assert type(checks.whole("x", np.uint8(7), 1)) is int
    assert checks.whole("x", 10**400, 0) == 10**400


def test_one_of():
    assert checks.one_of("x", "a", ("a", "b")) == "a"
    for value in ["c", "", None, 1]:
        with pytest.raises(ValueError, match=r'^x must be "a" or "b", got '):
            checks.one_of("x", value, ("a", "b"))


@pytest.mark.parametrize(
    "value",
    [
        "12",
        b"12",
        {"a": 1},
        [],
        1.0,
        None,
        [[1.0]],
        [[1.0], [1.0, 2.0]],
        ["1"],
        [None],
        [True, False],
        [1j],
        [HUGE.values[0]],
    ],
)
def test_not_a_vector(value):
    with pytest.raises(ValueError, match=r"^x must be a list of numbers, one for each arm, got "):
        checks.vector("x", value)


@pytest.mark.parametrize("value", [[np.nan], [1.0, np.inf], [-np.inf]])
def test_not_finite(value):
    with pytest.raises(
        ValueError, match=r"^x must be a list of numbers, .* but has an entry that is not a finite number$"
    ):
        checks.vector("x", value)


def test_too_large():
    with pytest.raises(ValueError, match=r"^x must be a list of numbers, one for each arm, none beyond 1e\+50$"):
        checks.vector("x", [0.0, -1e51])


@pytest.mark.parametrize("value", [[0.0], [1.0, -1.0], [1e-51]])
def test_not_a_positive_vector(value):
    with pytest.raises(ValueError, match=r"^x must be a list of positive numbers, .* but has the entry "):
        checks.positive_vector("x", value)


def test_a_vector_is_a_read_only_copy():
    mine = np.arange(6, dtype=np.int32)[::2]
    made = checks.vector("x", mine)
    assert made.dtype == np.float64
    assert made.flags.c_contiguous
    assert not made.flags.writeable
    assert made.tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("value", ["a\nb", "x" * 500, np.zeros((50, 50)), pytest.param(10**5000, id="huge"), object()])
def test_messages_are_one_short_line(value):
    message = str(checks.fail("field", "something else", value))
    assert message.startswith("field must be something else, got ")
    assert "\n" not in message
    assert len(message) < 120


def test_few_names_are_listed_and_of_many_the_close_ones():
    few, many = ["red", "green"], ["bayes-ucb", "thompson", "ucb1", "kl-ucb", "moss", "greedy", "gittins"]
    assert checks.one_of("x", "red", few) == "red"
    for value, names, said in (
        ("reed", few, 'x must be "red" or "green", got \'reed\''),
        ("Tompson", many, "x must be one of 7 names, got 'Tompson'; did you mean thompson?"),
        ("BayesUCB", many, "x must be one of 7 names, got 'BayesUCB'; did you mean bayes-ucb?"),
        ("xyz", many, f"x must be one of {', '.join(many)}, got 'xyz'"),
        (3, many, f"x must be one of {', '.join(many)}, got 3"),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
            checks.one_of("x", value, names)


@pytest.mark.parametrize(
    ("value", "hint"),
    [("5,001", "; write 5001, without commas"), ("-1,234,567.5", "; write -1234567.5, without commas"), ("1,5", "")],
)
def test_commas_between_thousands_get_a_hint(value, hint):
    with pytest.raises(ValueError, match=re.escape(f"got '{value}'{hint}") + "$"):
        checks.whole("x", value, 1)
