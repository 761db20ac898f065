"""erfc and the normal quantile against mpmath, at their ends, and compiled."""

import math

import mpmath
import numpy as np
import pytest

from bayesregret.numerics import normal_tails
from bayesregret.numerics.normal_tails import erfc, ndtri, ndtri_of_each
from draws import compiled

ULPS = 6.0
GENERATOR = np.random.default_rng(3)
FOR_ERFC = np.concatenate([GENERATOR.uniform(-6.0, 6.0, 1000), GENERATOR.uniform(6.0, 26.0, 500), [0.0, 1e-300, -1e-9]])
TAILS = np.concatenate(
    [GENERATOR.random(500), 10.0 ** GENERATOR.uniform(-300.0, 0.0, 500), [0.075, 0.925, 1e-11, 1.4e-11, 0.4999999]]
)


def fill_both(out, x, tails):
    for i in range(x.shape[0]):
        out[0, i] = erfc(x[i])
    for i in range(tails.shape[0]):
        out[1, i] = ndtri(tails[i])


def exact_quantile(tail):
    """Newton's method, started where the tail's logarithm says."""
    tail = mpmath.mpf(tail)
    z = mpmath.mpf(ndtri(float(tail)))
    for _ in range(4):
        z -= (mpmath.ncdf(z) - tail) / mpmath.npdf(z)
    return z


def errors_of_erfc():
    with mpmath.workprec(120):
        exact = [mpmath.erfc(x) for x in FOR_ERFC.tolist()]
        return [
            float(abs(erfc(x) - value)) / math.ulp(float(value))
            for x, value in zip(FOR_ERFC.tolist(), exact, strict=True)
        ]


def errors_of_quantiles():
    with mpmath.workprec(120):
        exact = list(map(exact_quantile, TAILS.tolist()))
        return [
            float(abs(ndtri(tail) - value)) / math.ulp(float(value))
            for tail, value in zip(TAILS.tolist(), exact, strict=True)
        ]


def test_erfc(monkeypatch):
    assert max(errors_of_erfc()) < ULPS
    first, *rest = normal_tails.SCALED_ERFC
    monkeypatch.setattr(normal_tails, "SCALED_ERFC", (first + 1e-14, *rest))
    assert max(errors_of_erfc()) > ULPS


@pytest.mark.parametrize("table", ["IN_MIDDLE", "UNDER_MIDDLE", "NEAR", "UNDER_NEAR", "FAR", "UNDER_FAR"])
def test_quantiles(table, monkeypatch):
    assert max(errors_of_quantiles()) < ULPS
    first, second, *rest = getattr(normal_tails, table)
    monkeypatch.setattr(normal_tails, table, (first, second * (1.0 + 1e-12), *rest))
    assert max(errors_of_quantiles()) > ULPS


@pytest.mark.compiled
def test_plain_and_compiled_code_give_the_same_bits():
    out = np.zeros((2, len(FOR_ERFC)))
    compiled(fill_both)(out, FOR_ERFC, TAILS)
    assert out[0].tobytes() == np.array([erfc(x) for x in FOR_ERFC.tolist()]).tobytes()
    assert out[1, : len(TAILS)].tobytes() == ndtri_of_each(TAILS).tobytes()


def test_ends():
    assert [erfc(x) for x in (math.inf, -math.inf, 30.0, -30.0)] == [0.0, 2.0, 0.0, 2.0]
    assert [ndtri(p) for p in (0.0, 0.5, 1.0)] == [-math.inf, 0.0, math.inf]
    assert all(map(math.isnan, [erfc(math.nan), ndtri(math.nan), ndtri(-0.1), ndtri(1.1)]))
    assert ndtri(5e-324) == pytest.approx(-38.46740561714434, rel=1e-15)
