"""Checks of input and their messages."""

import re
from fractions import Fraction

import numpy as np
import pytest

import bayesregret as br
from bayesregret import checks
from bayesregret.bounds.gaps.bernoulli import LARGEST_COUNT, SMALLEST_COUNT
from bayesregret.optimal.gittins import LARGEST_DISCOUNT

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


# --- limits in messages ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [(50.0, "50"), (1e50, "1e+50"), (0.1, "0.1"), (2.0 / 35.0, "0.05714285714285714"), (1234567.0, "1234567.0")],
)
def test_numbers_in_full(value, text):
    assert checks.in_full(value) == text
    assert float(text) == value
    assert checks.in_full(np.float64(value)) == text


def just_below(value):
    return float(np.nextafter(value, -np.inf))


def just_above(value):
    return float(np.nextafter(value, np.inf))


UNIFORM = br.BernoulliBandit([1, 1], [1, 1])
SALES = {"experiment": [1, 1, 2, 2], "arm": list("abab"), "pulls": [500] * 4, "successes": [10, 22, 31, 52]}
REFUSED = {
    "at least": lambda: checks.at_least("x", just_below(0.1 + 0.2), 0.1 + 0.2),
    "at most": lambda: checks.at_least("x", just_above(0.1 + 0.2), 0.0, 0.1 + 0.2),
    "positive": lambda: checks.positive("x", just_below(checks.SMALLEST)),
    "entries": lambda: checks.array("x", [just_above(0.7 + 0.1)], 1, "small", most=0.7 + 0.1),
    "few pseudo-counts": lambda: br.bounds.certified_floor(
        br.BernoulliBandit([just_below(SMALLEST_COUNT), 1], [1, 1]), horizon=50
    ),
    "many pseudo-counts": lambda: br.bounds.certified_floor(
        br.BernoulliBandit([just_above(LARGEST_COUNT), 1], [1, 1]), horizon=50
    ),
    "exponential shape": lambda: br.ExponentialBandit([just_below(1.0)], [1.0]),
    "normal-gamma shape": lambda: br.NormalGammaBandit([0.0], 1.0, just_below(0.5), 1.0),
    "discount": lambda: br.gittins_index(UNIFORM, 0, discount=just_above(LARGEST_DISCOUNT["bernoulli"])),
    "width": lambda: br.fit_prior(SALES, model="bernoulli").bandit(2, level=0.3, width=just_above(0.21**0.5)),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
def test_no_message_contradicts_itself(refused):
    """The refused number is beyond the limit as printed, however near it is."""
    with pytest.raises(ValueError, match=r"must be|none beyond") as caught:
        refused()
    assert is_beyond(str(caught.value)), caught.value


def is_beyond(message):
    number = r"(-?[\d.]+(?:e[+-]\d+)?)"
    given = re.search(rf"got {number}$", message)
    if given is None:  # the entries of an array are not printed
        return re.search(rf"none beyond {number}$", message)[1] == repr(0.7 + 0.1)
    limits = re.search(rf"between {number} and {number}", message)
    if limits:
        return not float(limits[1]) <= float(given[1]) <= float(limits[2])
    least = re.search(rf"at least {number}", message)
    if least:
        return float(given[1]) < float(least[1])
    below = re.search(rf"below {number}", message) or re.search(rf"at most {number}", message)
    if below:
        return float(given[1]) >= float(below[1])
    return float(given[1]) <= float(re.search(rf"above {number}", message)[1])


def test_a_rounded_limit_is_noticed():
    """The control."""
    assert is_beyond("alpha must be between 0.0572 and 1e+08 for a bound, got 0.0571088")
    assert not is_beyond("alpha must be between 0.0571 and 1e+08 for a bound, got 0.0571088")
    assert not is_beyond("width must be below 0.4583 for arms around the level 0.3, got 0.458")
