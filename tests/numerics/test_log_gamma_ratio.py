"""Logarithms of Gamma and Beta functions against mpmath, and compiled."""

import mpmath
import numpy as np
import pytest

from bayesregret.numerics import log_gamma_ratio as module
from bayesregret.numerics.log_gamma_ratio import lgamma, log_beta, log_gamma_ratio
from draws import compiled

GENERATOR = np.random.default_rng(5)
X = np.concatenate([10.0 ** GENERATOR.uniform(-300.0, 6.0, 200), GENERATOR.uniform(0.01, 30.0, 400), [1.0, 2.0, 1e15]])
PAIRS = 10.0 ** GENERATOR.uniform(-2.0, 8.0, (300, 2))


def largest_error(found, exact):
    """Relative to the value, or to 1 if that is larger."""
    return max(float(abs(a - b) / max(1, abs(b))) for a, b in zip(found, exact, strict=True))


def gamma_error():
    with mpmath.workprec(150):
        return largest_error(map(lgamma, X.tolist()), map(mpmath.loggamma, X.tolist()))


def test_gamma(monkeypatch):
    assert gamma_error() < 1e-14
    monkeypatch.setattr(module, "HALF_LOG_TWO_PI", module.HALF_LOG_TWO_PI * (1.0 + 4e-14))
    assert gamma_error() > 1e-14


def test_beta_keeps_its_digits_where_both_arguments_are_large():
    with mpmath.workprec(200):
        found = [log_beta(a, b) for a, b in PAIRS.tolist()]
        exact = [mpmath.log(mpmath.beta(a, b)) for a, b in PAIRS.tolist()]
        by_differences = [lgamma(a) + lgamma(b) - lgamma(a + b) for a, b in PAIRS.tolist()]
        assert largest_error(found, exact) < 5e-14
        assert largest_error(by_differences, exact) > 1e-12


def fill_all(out, pairs):
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        out[i, 0], out[i, 1], out[i, 2] = lgamma(a), log_beta(a, b), log_gamma_ratio(a, b)


@pytest.mark.compiled
def test_plain_and_compiled_code_give_the_same_bits():
    plain, out = np.empty((len(PAIRS), 3)), np.empty((len(PAIRS), 3))
    fill_all(plain, PAIRS)
    compiled(fill_all)(out, PAIRS)
    assert plain.tobytes() == out.tobytes()
