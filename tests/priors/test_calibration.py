"""Histories that follow their prior look even; others do not."""

import functools

import numpy as np
import pytest
from scipy import stats

import bayesregret as br
from bayesregret.priors.calibration import check_fit
from bayesregret.priors.families.bernoulli import _beta_binomial_cdf
from priors.histories import simulated

PRIORS = {"bernoulli": (-2.0, 0.02), "poisson": (0.5, 0.05), "gaussian": (3.0, 0.25)}


@functools.cache
def fitted(model, level_spread, **changes):
    location, spread = PRIORS[model]
    size = {"seed": 8, "experiments": 70, "arms": 3, "pulls": 60, **changes}
    history = simulated(model, location=location, spread=spread, level_spread=level_spread, **size)
    return br.fit_prior(history, model=model)


@pytest.mark.parametrize("level_spread", [0.0, 0.7])
@pytest.mark.parametrize("model", PRIORS)
def test_a_true_prior_is_even(model, level_spread):
    check = check_fit(fitted(model, level_spread))
    assert check.history.arms == 210
    assert check.heights.sum() == pytest.approx(1.0)
    assert check.p_value > 0.01
    assert abs(check.outside.mean() - 0.1) < 4.0 * np.sqrt(0.09 / 210)
    assert (check.below <= check.at_most).all()


@pytest.mark.parametrize("model", PRIORS)
def test_a_wrong_prior_is_not(model):
    """The controls: arms that vary less than the fit says, and levels that it does not know of."""
    right = fitted(model, 0.7)
    too_wide = br.FittedPrior(**{**vars(right), "point": right.point._replace(spread=9.0 * right.point.spread)})
    assert check_fit(too_wide).p_value < 1e-6
    blind = br.FittedPrior(**{**vars(right), "point": right.point._replace(level_spread=1e-3)})
    assert check_fit(blind).p_value < 1e-6


def test_large_histories_are_looked_at_in_part():
    check = check_fit(fitted("gaussian", 0.7), most_arms=60)
    assert check.history.arms == 54
    assert check.history.experiments == 18
    assert check.bins == 5
    one = fitted("gaussian", 0.0, experiments=1, arms=50)
    assert check_fit(one, most_arms=20).history.arms == 20


def test_experiments_of_one_arm_have_nothing_to_go_by():
    """All arms that are looked at are the first ones of their experiments."""
    history = {"experiment": [1, 2, 3, 4, 4], "arm": range(5), "pulls": [50] * 5, "successes": [9, 22, 31, 4, 6]}
    prior = br.fit_prior(history, model="bernoulli")
    assert prior.grouped
    check = check_fit(prior, most_arms=3)
    assert check.history.labels == ((1, 0), (3, 2))
    assert np.isfinite(check.at_most).all()


@pytest.mark.parametrize(
    ("pulls", "alpha", "beta"), [(30, 2.0, 5.0), (30, 200.0, 50.0), (500, 0.3, 4.0), (500, 20.0, 80.0)]
)
def test_the_distribution_of_successes(pulls, alpha, beta):
    wins = np.arange(-1.0, pulls + 1.0)
    found = _beta_binomial_cdf(wins, np.asarray(float(pulls)), np.asarray(alpha), np.asarray(beta))
    assert found == pytest.approx(stats.betabinom(pulls, alpha, beta).cdf(wins), abs=5e-4)
    assert (found[0], found[-1]) == (0.0, 1.0)


def test_the_distribution_of_counts():
    family = fitted("poisson", 0.0, experiments=3, arms=2).family
    history = family.history
    rate = 1.0 / (0.05 * np.exp(0.5))
    expected = stats.nbinom(20.0, rate / (rate + history.pulls))
    less, at_most = family.observed_cdf(np.full(history.arms, 0.5), 0.05)
    assert less == pytest.approx(expected.cdf(history.totals - 1.0), abs=1e-10)
    assert at_most == pytest.approx(expected.cdf(history.totals), abs=1e-10)
