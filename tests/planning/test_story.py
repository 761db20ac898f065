"""From past experiments to advice: what a plan promises is what happens in the world that the history describes.

The world is simulated here without the package's models, policies and engine: levels and widths are continuous, and
policies are a few lines of NumPy.
"""

import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.priors.fitted_prior import LEVEL_SPREAD_LOG, LOCATION, SPREAD
from planning.independent_world import Hyperprior, beta_arms, chooser, regrets

pytestmark = pytest.mark.compiled

ARMS, HORIZON, RUNS = 3, 800, 3_000


def drawn_means(fitted, rng, runs, arms=ARMS):
    """(runs, arms): conversion rates of new experiments, with the fit's levels, widths and their errors.

    The variance of past levels, as far as they are known, is drawn from its posterior, an inverse chi-squared
    distribution; the part that is due to errors of levels is known. So new levels have Student's t distribution.
    """
    errors, point, experiments = fitted.coordinate_errors, fitted.point, fitted.family.history.experiments
    inflated = experiments / rng.chisquare(experiments - 1.0, runs)
    seen = point.level_spread**2 * max(1.0, math.sqrt(2.0 * experiments) * errors[LEVEL_SPREAD_LOG])
    variance = np.maximum(point.level_spread**2 + seen * (inflated - 1.0), 0.0) + errors[LOCATION] ** 2 * inflated
    location = point.location + np.sqrt(variance) * rng.standard_normal(runs)
    pseudo_count = np.exp(errors[SPREAD] * rng.standard_normal(runs)) / point.spread
    return beta_arms(rng, location, pseudo_count, arms)


@pytest.fixture(scope="module")
def fitted():
    return br.fit_prior(Hyperprior().history(np.random.default_rng(7)), model="bernoulli")


@pytest.fixture(scope="module")
def plan(fitted):
    return br.plan(fitted.bandit(ARMS), horizon=HORIZON, runs=3_000, seed=3, progress=False)


def independent(plan, means):
    """Regrets of the policies that use a prior, in an independently simulated world, by name in the plan."""
    rng = np.random.default_rng(11)
    return {
        name: regrets(means, chooser(outcome.policy, plan.bandit, HORIZON, rng), rng, HORIZON)
        for name, outcome in plan.outcomes.items()
        if isinstance(outcome.policy, br.BayesUCB | br.Thompson | br.ExploreCommit | br.Gittins)
    }


def deviations(plan, found):
    """By how many standard errors the plan's regrets differ from those in the other world."""
    return {
        name: (plan[name].regret.mean - values.mean())
        / math.hypot(plan[name].regret.stderr, values.std() / math.sqrt(len(values)))
        for name, values in found.items()
    }


def test_what_is_promised_is_what_happens(fitted, plan):
    means = drawn_means(fitted, np.random.default_rng(5), RUNS)
    found = independent(plan, means)
    assert max(map(abs, deviations(plan, found).values())) < 4.0
    best = min(found, key=lambda name: found[name].mean())
    assert (
        plan.best.name == best or abs(plan.best.regret.mean - plan[best].regret.mean) < 3.0 * plan[best].regret.stderr
    )


def test_without_the_levels_the_promise_fails(fitted, plan):
    """The control: a world in which all experiments have the typical level."""
    alpha, beta = fitted.parameters["alpha"], fitted.parameters["beta"]
    means = np.random.default_rng(5).beta(alpha, beta, (RUNS, ARMS))
    assert max(map(abs, deviations(plan, independent(plan, means)).values())) > 4.0


def test_a_plan_that_ignores_levels_promises_too_little(fitted):
    """The old advice: one level for all, which is wrong in the world of the history."""
    narrow = fitted.bandit(ARMS, level=fitted.level, uncertainty=False)
    naive = br.plan(narrow, [br.BayesUCB(), br.Thompson()], horizon=HORIZON, runs=2_000, seed=3, progress=False)
    means, rng = drawn_means(fitted, np.random.default_rng(6), RUNS), np.random.default_rng(12)
    found = regrets(means, chooser(naive.best.policy, narrow, HORIZON, rng), rng, HORIZON)
    assert found.mean() > 1.3 * naive.best.regret.mean
