"""Marginal likelihoods against other people's code, and against integrals by brute force."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logsumexp

from bayesregret.numerics.log_rising import log_rising
from bayesregret.priors.families.bernoulli import BernoulliArms
from bayesregret.priors.families.family import PriorPoint
from bayesregret.priors.families.gaussian import GaussianArms
from bayesregret.priors.families.poisson import PoissonArms
from bayesregret.priors.history import read_history
from priors.histories import simulated

LOCATION, SPREAD = -1.3, 0.07
SIZE = {"experiments": 5, "arms": 3, "pulls": 40, "location": LOCATION, "spread": SPREAD, "level_spread": 0.6}


def made(model, **changes):
    history = read_history(simulated(model, **{"seed": 3, **SIZE, **changes}), model)
    return GaussianArms(history, 2.0) if model == "gaussian" else FAMILIES[model](history)


FAMILIES = {"bernoulli": BernoulliArms, "poisson": PoissonArms}


@pytest.mark.parametrize("spread", [5.0, 0.3, 1e-3, 1e-7])
def test_bernoulli_is_beta_binomial(spread):
    family = made("bernoulli")
    history = family.history
    level = expit(LOCATION)
    alone = stats.betabinom(history.pulls, level / spread, (1.0 - level) / spread).logpmf(history.totals)
    if spread < 1e-5:  # where SciPy's own digits end
        alone = stats.binom(history.pulls, level).logpmf(history.totals)
    found = family.log_marginals(np.asarray(LOCATION), spread)
    assert found == pytest.approx(alone, rel=1e-10, abs=1e-10 if spread > 1e-5 else 1e-3)
    assert family.log_likelihood(PriorPoint(LOCATION, spread)) == pytest.approx(found.sum(), rel=1e-14)


@pytest.mark.parametrize("spread", [5.0, 0.3, 1e-3])
def test_poisson_is_negative_binomial(spread):
    family = made("poisson")
    history = family.history
    rate = 1.0 / (spread * np.exp(LOCATION))
    alone = stats.nbinom(1.0 / spread, rate / (rate + history.pulls)).logpmf(history.totals)
    assert family.log_marginals(np.asarray(LOCATION), spread) == pytest.approx(alone, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("level_spread", [0.0, 1e-3, 0.6, 40.0])
def test_gaussian_is_multivariate_normal(level_spread):
    family = made("gaussian")
    history = family.history
    same = history.experiment[:, None] == history.experiment
    covariance = np.diag(SPREAD + 4.0 / history.pulls) + level_spread**2 * same
    alone = stats.multivariate_normal(np.full(history.arms, LOCATION), covariance).logpdf(history.means)
    assert family.log_likelihood(PriorPoint(LOCATION, SPREAD, level_spread)) == pytest.approx(alone, rel=1e-10)


@pytest.mark.parametrize("model", ["bernoulli", "poisson", "gaussian"])
@pytest.mark.parametrize(
    ("pulls", "spread", "level_spread"), [(40, 0.07, 0.6), (10_000, 2e-5, 1.0), (5, 0.5, 1.0), (40, 0.07, 1e-3)]
)
def test_levels_are_integrated_out(model, pulls, spread, level_spread):
    """Narrow likelihoods in wide priors, and wide ones in narrow priors."""
    family = made(model, pulls=pulls, spread=spread, level_spread=level_spread)
    found = logsumexp(family.group_means(PriorPoint(LOCATION, spread, level_spread)).log_terms, axis=0)
    places, step = np.linspace(-10.0, 10.0, 20_001, retstep=True)
    for experiment in range(2):
        arms = np.flatnonzero(family.history.experiment == experiment)
        one = family.with_history(family.history.take(arms, np.zeros(len(arms), dtype=np.intp), 1))
        of_arms = one.log_marginals((LOCATION + level_spread * places)[:, None], spread).sum(axis=1)
        by_force = logsumexp(of_arms + stats.norm.logpdf(places)) + np.log(step)
        assert found[experiment] == pytest.approx(by_force, abs=1e-7)
    wrong = logsumexp(family.group_means(PriorPoint(LOCATION, spread, 1.1 * level_spread)).log_terms, axis=0)
    assert np.abs(wrong - found).max() > 1e-6, "the control"


def test_ratios_of_gamma_functions_keep_their_digits():
    start = np.array([1e-3, 2.5, 99.0, 101.0, 1e6, 1e12])
    by_terms = [np.log(x + np.arange(7)).sum() for x in start]
    assert log_rising(start, np.array(7.0)) == pytest.approx(by_terms, rel=1e-13)
    assert log_rising(np.array(3.0), np.array(0.0)) == 0.0
