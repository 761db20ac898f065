"""The printed formulas, by their letters."""

import math

import numpy as np
import pytest

from bayesregret import LinearBandit
from bayesregret.bounds.catalog import failure_probability, gap_dependent, information, posterior_variances, sqrt
from bayesregret.bounds.gaps.linear import expected_inverse_gap
from bayesregret.problem import common_linear

FEATURES = [[1.0, 0.0], [0.6, 0.8], [-0.5, 0.3]]
COVARIANCE = np.array([[1.0, 0.4], [0.4, 0.8]])
BANDIT = LinearBandit(FEATURES, [0.3, -0.1], prior_cov=COVARIANCE, reward_noise=1.2)


def by_hand(n, delta, delta_star):
    """V and the failure term of Theorem 6."""
    eigenvalue = np.linalg.eigvalsh(COVARIANCE)[-1]
    S2, d, s2 = eigenvalue, 2, 1.44  # the longest feature vector is 1 long
    V = S2 * d / math.log(1 + S2 / s2) * math.log(1 + S2 * n / (s2 * d))
    L_star = math.hypot(0.3, 0.1) + math.sqrt(1.8) + math.sqrt(2 * eigenvalue * math.log(1 / delta_star))
    return V, 4 * L_star * 3 * n * delta


def test_theorem_6():
    n, delta, epsilon = 500, 0.01, 0.02
    V, failures = by_hand(n, delta, delta)
    bound = gap_dependent(BANDIT, horizon=n, delta=delta, epsilon=epsilon)
    inverse_gap = expected_inverse_gap(BANDIT, epsilon).value
    assert bound.leading == pytest.approx(8 * inverse_gap * V * math.log(100), rel=1e-12)
    assert bound.terms["small gaps"] == pytest.approx(10.0)
    assert bound.terms["failures"] == pytest.approx(failures, rel=1e-12)
    assert bound.details["V"] == pytest.approx(V, rel=1e-12)
    assert bound.details["expected_inverse_gap"] == inverse_gap
    assert bound.source == "Theorem 6"
    assert "no meaning" in bound.note
    assert 0.0 < bound.error < 0.002 * bound.value


def test_delta_star():
    n, delta = 500, 0.01
    _, failures = by_hand(n, delta, 0.3)
    assert gap_dependent(BANDIT, horizon=n, delta=delta, delta_star=0.3).terms["failures"] == pytest.approx(failures)
    with pytest.raises(ValueError, match="delta_star must be a number strictly between 0 and 1, got 2"):
        gap_dependent(BANDIT, horizon=n, delta=delta, delta_star=2)


def test_gap_free_bound():
    n = 500
    V, failures = by_hand(n, 1 / n, 1 / n)
    bound = sqrt(BANDIT, horizon=n)
    assert bound.leading == pytest.approx(2 * math.sqrt(2 * n * math.log(n) * V), rel=1e-12)
    assert bound.remainder == pytest.approx(1.0 + failures, rel=1e-12)


def test_information_is_theorem_6():
    ours, theirs = information(BANDIT, horizon=500), gap_dependent(BANDIT, horizon=500)
    assert ours.value == pytest.approx(theirs.value, rel=1e-12)
    S2 = np.linalg.eigvalsh(COVARIANCE)[-1]
    assert ours.details["gamma_squared"] == pytest.approx(16 * math.log(500) * S2 / math.log(1 + S2 / 1.44), rel=1e-12)
    assert ours.details["information"] == pytest.approx(math.log(1 + S2 * 500 / 2.88), rel=1e-12)


def test_lemmas():
    V, _ = by_hand(500, 0.002, 0.002)
    assert posterior_variances(BANDIT, horizon=500).value == pytest.approx(V, rel=1e-12)
    assert failure_probability(BANDIT, horizon=500).value == pytest.approx(2 * 3 / 500)


def test_leading_terms_of_the_figures():
    """The paper's linear experiment in closed form: V at prior width 1 is 10 log(101)/log 2."""
    bound = sqrt(common_linear(), horizon=1000)
    V = 10 * math.log(101) / math.log(2)
    assert bound.leading == pytest.approx(2 * math.sqrt(2000 * math.log(1000) * V), rel=1e-12)


def test_a_known_parameter_has_no_variance():
    stats = LinearBandit(FEATURES, [0.3, -0.1], prior_cov=np.zeros((2, 2)), reward_noise=1.2)
    assert posterior_variances(stats, horizon=100).value == 0.0
    assert gap_dependent(stats, horizon=100).leading == 0.0
    assert sqrt(stats, horizon=100).leading == 0.0


def test_narrow_priors_go_to_nothing_smoothly():
    """V tends to n S^2."""
    for width in (1e-8, 1e-40):
        bandit = LinearBandit(FEATURES, [0.3, -0.1], prior_width=width, reward_noise=1.0)
        assert posterior_variances(bandit, horizon=100).value == pytest.approx(100 * width**2, rel=1e-9)
