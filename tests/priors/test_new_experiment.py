"""Levels of new experiments are predicted with the errors of the fit."""

import math

import numpy as np
import pytest
from scipy import stats

import bayesregret as br
from bayesregret.priors.fitted_prior import LEVEL_SPREAD_LOG, LOCATION
from bayesregret.priors.new_experiment import FEWEST_EXPERIMENTS, predicted_deviation
from priors.histories import simulated

# Arms hardly differ and have many pulls, so that the levels of these experiments are known almost exactly.
KNOWN_LEVELS = {"location": 3.0, "spread": 1e-6, "level_spread": 1.5, "arms": 3, "pulls": 10**7}


def level_variance(fitted, **options):
    """Variance of the level that gaussian arms share: their covariance."""
    bandit = fitted.bandit(2, **options)
    parts = bandit.bandits if isinstance(bandit, br.MixtureBandit) else (bandit,)
    (found,) = {round(float(part.prior_cov[0, 1]), 12) for part in parts}
    return found


@pytest.mark.parametrize("experiments", [8, 12, 40])
def test_with_known_levels_a_new_one_has_the_variance_of_students_t(experiments):
    history = simulated("gaussian", seed=2, experiments=experiments, **KNOWN_LEVELS)
    levels = history["mean"].reshape(experiments, -1).mean(axis=1)
    scale = levels.std(ddof=1) * math.sqrt(1.0 + 1.0 / experiments)
    fitted = br.fit_prior(history, model="gaussian")
    assert level_variance(fitted) == pytest.approx(stats.t(experiments - 1, scale=scale).var(), rel=1e-3)
    assert level_variance(fitted, uncertainty=False) == pytest.approx(levels.var(), rel=1e-3), "the control"


def test_students_t_covers_new_levels_and_the_fit_alone_does_not():
    """Standardised by the t distribution's scale, new levels are outside of its 90 percent interval one time in ten."""
    rng, n, many = np.random.default_rng(1), 6, 40_000
    levels, new = rng.standard_normal((many, n)), rng.standard_normal(many)
    fitted = levels.std(axis=1)
    deviation = np.array([predicted_deviation(s, 1.0 / math.sqrt(2 * n), s / math.sqrt(n), n) for s in fitted])
    off = np.abs(new - levels.mean(axis=1))
    scale = deviation / stats.t(n - 1).std()
    error = math.sqrt(0.09 / many)
    assert abs((off > scale * stats.t(n - 1).ppf(0.95)).mean() - 0.1) < 4.0 * error
    assert (off > fitted * stats.norm.ppf(0.95)).mean() > 0.2, "the control"


def test_errors_of_past_levels_are_not_counted_as_uncertainty_about_their_spread():
    """A standard error k times that of known levels adds k times the variance, not k^2 times or exp(k) times."""
    known = predicted_deviation(1.0, 1.0 / math.sqrt(24), 0.0, 12) ** 2 - 1.0
    assert known == pytest.approx(1.0 / 3.0)
    assert predicted_deviation(1.0, 2.5 / math.sqrt(24), 0.0, 12) ** 2 - 1.0 == pytest.approx(2.5 * known)
    assert predicted_deviation(1.0, 0.1, 0.0, 12) ** 2 - 1.0 == pytest.approx(known), "no better than known levels"


def test_few_experiments_have_a_finite_variance():
    for experiments in range(2, FEWEST_EXPERIMENTS + 1):
        found = predicted_deviation(0.7, 1.0 / math.sqrt(2 * experiments), 0.0, experiments)
        assert found == pytest.approx(0.7 * math.sqrt(2.0))
    assert predicted_deviation(0.7, 0.25, 0.0, FEWEST_EXPERIMENTS + 2) < found


def test_a_level_spread_of_0_is_still_uncertain():
    history = simulated("gaussian", seed=1, experiments=10, arms=4, pulls=50, location=3.0, spread=0.25)
    fitted = br.fit_prior(history, model="gaussian")
    assert fitted.parameters["level_spread"] == 0.0
    likely = fitted.upper_limits["level_spread"] / stats.norm.ppf(0.95)
    assert level_variance(fitted) == pytest.approx(likely**2 + fitted.coordinate_errors[LOCATION] ** 2, rel=1e-5)
    alone = br.fit_prior(history, model="gaussian", grouped=False)  # no levels, whatever the history says
    assert level_variance(alone) == pytest.approx(alone.coordinate_errors[LOCATION] ** 2, rel=1e-5)


def test_more_experiments_make_levels_more_certain():
    """The ratio to the fitted variance falls towards 1."""
    ratios = []
    for experiments in (8, 40, 200):
        history = simulated("gaussian", seed=3, experiments=experiments, **KNOWN_LEVELS)
        fitted = br.fit_prior(history, model="gaussian")
        assert fitted.coordinate_errors[LEVEL_SPREAD_LOG] == pytest.approx(1.0 / math.sqrt(2.0 * experiments), rel=0.01)
        ratios.append(level_variance(fitted) / fitted.point.level_spread**2)
    assert ratios[0] > 1.5 > ratios[1] > 1.05 > ratios[2] > 1.0
