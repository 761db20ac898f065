"""log, log1p, exp and expm1 against mpmath, at their ends, and with the same bits in plain Python and compiled."""

import math

import mpmath
import numpy as np
import pytest

from bayesregret import elementary
from bayesregret.elementary import exp, expm1, log, log1p
from bayesregret.numerics import normal_tails
from draws import compiled
from reference import minimax

FUNCTIONS = {function.__name__: function for function in (log, log1p, exp, expm1)}
SUBNORMAL = 5e-324
LARGEST = 1.7976931348623157e308


def fill_log(out, x):
    for i in range(x.shape[0]):
        out[i] = log(x[i])


def fill_log1p(out, x):
    for i in range(x.shape[0]):
        out[i] = log1p(x[i])


def fill_exp(out, x):
    for i in range(x.shape[0]):
        out[i] = exp(x[i])


def fill_expm1(out, x):
    for i in range(x.shape[0]):
        out[i] = expm1(x[i])


FILLS = {"log": fill_log, "log1p": fill_log1p, "exp": fill_exp, "expm1": fill_expm1}


def points(name, size):
    """Arguments from the whole range, subnormal ones among them, and from the hard spots; a quarter each."""
    generator = np.random.default_rng(7)
    quarter = size // 4
    positive = generator.integers(1, 0x7FF0000000000000, quarter).view(np.float64)
    sizes = 2.0 ** -generator.uniform(0.0, 60.0, quarter)
    signs = generator.choice([-1.0, 1.0], quarter)
    near_zero = signs * sizes
    spots = {
        "log": (positive, 1.0 + 0.5 * near_zero, generator.uniform(0.5, 3.0, quarter), 1.0 + generator.random(quarter)),
        "log1p": (positive, 0.9 * near_zero, generator.uniform(-0.6, 1.5, quarter), sizes - 1.0 + 2.0**-53),
        "exp": (generator.uniform(-745.0, 709.7, quarter), near_zero, *generator.uniform(-1.0, 1.0, (2, quarter))),
        "expm1": (generator.uniform(-40.0, 709.7, quarter), near_zero, *generator.uniform(-1.5, 1.5, (2, quarter))),
    }
    return np.concatenate(spots[name])


def largest_error(name, x, values):
    """In units of the last place of the exact value."""
    worst = 0.0
    with mpmath.workprec(120):
        exact_function = getattr(mpmath, name)
        for argument, value in zip(x.tolist(), values.tolist(), strict=True):
            exact = exact_function(mpmath.mpf(argument))
            worst = max(worst, float(abs(value - exact) / math.ulp(float(exact))))
    return worst


def in_plain_python(name, x):
    return np.array([FUNCTIONS[name](argument) for argument in x.tolist()])


def in_compiled_code(name, x):
    out = np.empty_like(x)
    compiled(FILLS[name])(out, x)
    return out


@pytest.mark.parametrize("name", FUNCTIONS)
def test_within_one_unit_of_the_last_place(name):
    x = points(name, 20_000)
    assert largest_error(name, x, in_plain_python(name, x)) < 1.0


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_million_points_within_one_unit_of_the_last_place(name):
    x = points(name, 1_000_000)
    assert largest_error(name, x, in_compiled_code(name, x)) < 1.0


@pytest.mark.compiled
@pytest.mark.parametrize("name", FUNCTIONS)
def test_plain_and_compiled_code_give_the_same_bits(name):
    x = np.concatenate([points(name, 40_000), [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, SUBNORMAL, -5.0]])
    assert in_plain_python(name, x).tobytes() == in_compiled_code(name, x).tobytes()


@pytest.mark.parametrize(
    ("name", "coefficient"),
    [*(("log", f"L{place}") for place in range(7)), *(("exp", f"E{place}") for place in range(11))],
)
def test_a_wrong_coefficient_is_noticed(name, coefficient, monkeypatch):
    """Wrong by as much as changes the value by 2^-51 at the end of the range, whatever its place."""
    place = int(coefficient[1:])
    end = 0.17157 ** (2 * place + 2) if name == "log" else 0.34657 ** (place + 2)
    monkeypatch.setattr(elementary, coefficient, getattr(elementary, coefficient) + 2.0**-51 / end)
    x = np.array([math.sqrt(2.0), math.sqrt(0.5) + 1e-9] if name == "log" else [0.34657, -0.34657])
    x = np.concatenate([x + step * 1e-6 for step in range(-50, 50)])
    assert largest_error(name, x, in_plain_python(name, x)) > 1.0


@pytest.mark.slow
def test_coefficients_are_minimax():
    with mpmath.workprec(300):
        found = minimax.coefficients()
    assert found["log"] == [getattr(elementary, f"L{place}") for place in range(7)]
    assert found["exp"] == [getattr(elementary, f"E{place}") for place in range(11)]
    assert found["erfc"] == list(normal_tails.SCALED_ERFC)


@pytest.mark.both
@pytest.mark.parametrize(
    ("name", "x", "value"),
    [
        ("log", 0.0, -math.inf),
        ("log", -0.0, -math.inf),
        ("log", -SUBNORMAL, math.nan),
        ("log", -math.inf, math.nan),
        ("log", math.inf, math.inf),
        ("log", math.nan, math.nan),
        ("log", 1.0, 0.0),
        ("log", SUBNORMAL, -744.4400719213812),
        ("log", LARGEST, 709.782712893384),
        ("log1p", -1.0, -math.inf),
        ("log1p", -1.0000000000000002, math.nan),
        ("log1p", -math.inf, math.nan),
        ("log1p", math.inf, math.inf),
        ("log1p", math.nan, math.nan),
        ("log1p", -0.0, -0.0),
        ("log1p", SUBNORMAL, SUBNORMAL),
        ("log1p", LARGEST, 709.782712893384),
        ("exp", 0.0, 1.0),
        ("exp", -0.0, 1.0),
        ("exp", math.inf, math.inf),
        ("exp", -math.inf, 0.0),
        ("exp", math.nan, math.nan),
        ("exp", 1.0, math.e),
        ("exp", 709.7827128933841, math.inf),
        ("exp", -745.1332191019411, SUBNORMAL),
        ("exp", -745.1332191019412, 0.0),
        ("expm1", -0.0, -0.0),
        ("expm1", -SUBNORMAL, -SUBNORMAL),
        ("expm1", math.inf, math.inf),
        ("expm1", -math.inf, -1.0),
        ("expm1", math.nan, math.nan),
        ("expm1", -1000.0, -1.0),
        ("expm1", 709.7827128933841, math.inf),
    ],
)
def test_ends(name, x, value):
    got = in_compiled_code(name, np.array([x]))[0]
    assert got.tobytes() == np.float64(value).tobytes() or (math.isnan(got) and math.isnan(value))


def test_plain_python_returns_plain_floats():
    """NumPy's would be slow, and would warn where kernels divide by zero."""
    assert [type(function(0.75)) for function in FUNCTIONS.values()] == [float] * 4
