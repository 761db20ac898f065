import math

import numpy as np
import pytest

from bayesregret.numerics.harmonic_sums import ASYMPTOTIC, harmonic_sum


@pytest.mark.parametrize("x", [1e-8, 0.3, 1.0, ASYMPTOTIC - 1e-9, ASYMPTOTIC, 1e5, 1e12])
@pytest.mark.parametrize("terms", [1, 7, 1000])
def test_term_by_term(x, terms):
    assert float(harmonic_sum(x, terms)) == pytest.approx(math.fsum(1.0 / (x + k) for k in range(terms)), rel=2e-14)


def test_many_terms_and_arrays():
    found = harmonic_sum(np.array([[1.0, 50.0]]), 10**9)
    assert found.shape == (1, 2)
    assert found[0, 0] == pytest.approx(math.log(10**9) + 0.5772156649015329 + 0.5e-9, rel=1e-14)
