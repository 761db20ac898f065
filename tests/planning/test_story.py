"""From past experiments to advice: what a plan promises is what happens in the world that the history describes.

The world is simulated here without the package's models, policies and engine: levels and widths are continuous, and
policies are a few lines of NumPy.
"""

import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.priors.fitted_prior import LEVEL_SPREAD_LOG, LOCATION, SPREAD

pytestmark = pytest.mark.compiled

ARMS, HORIZON, RUNS = 3, 4_000, 3_000


def made_up_history(seed, *, level=-3.0, level_spread=1.2, pseudo_count=60.0):
    """Arms of 12 conversion experiments whose base rates differ."""
    rng = np.random.default_rng(seed)
    rows = []
    for experiment in range(12):
        rate = 1.0 / (1.0 + math.exp(-level - level_spread * rng.standard_normal()))
        for arm in range(3 + experiment % 4):
            theta, pulls = rng.beta(rate * pseudo_count, (1.0 - rate) * pseudo_count), int(rng.integers(500, 4_000))
            successes = int(rng.binomial(pulls, theta))
            rows.append({"experiment": experiment, "arm": arm, "pulls": pulls, "successes": successes})
    return rows


def drawn_means(fitted, rng, runs, arms=ARMS):
    """(runs, arms): conversion rates of new experiments, with the fit's levels, widths and their errors."""
    errors, point = fitted.coordinate_errors, fitted.point
    spread = point.level_spread * np.exp(errors[LEVEL_SPREAD_LOG] * rng.standard_normal(runs))
    location = point.location + errors[LOCATION] * rng.standard_normal(runs) + spread * rng.standard_normal(runs)
    level = 1.0 / (1.0 + np.exp(-location))
    pseudo_count = np.exp(errors[SPREAD] * rng.standard_normal(runs)) / point.spread
    alpha, beta = level * pseudo_count, (1.0 - level) * pseudo_count
    return rng.beta(np.repeat(alpha[:, None], arms, 1), np.repeat(beta[:, None], arms, 1))


def regrets(means, choose, rng, horizon=HORIZON):
    """(runs,): final regrets of a policy, all runs side by side; `choose` maps successes, pulls and round to arms."""
    runs, arms = means.shape
    wins, pulls, regret, rows = np.zeros((runs, arms)), np.zeros((runs, arms)), np.zeros(runs), np.arange(runs)
    gaps = means.max(axis=1, keepdims=True) - means
    for round_ in range(horizon):
        arm = choose(wins, pulls, round_)
        wins[rows, arm] += rng.random(runs) < means[rows, arm]
        pulls[rows, arm] += 1.0
        regret += gaps[rows, arm]
    return regret


def thompson(prior, rng):
    return lambda wins, pulls, round_: rng.beta(prior.alpha + wins, prior.beta + pulls - wins).argmax(axis=1)


def upper_confidence(prior, delta):
    """BayesUCB: the sub-Gaussian proxy of a Beta posterior is 1 / (4 (pseudo-count + 1))."""
    pseudo, factor = prior.alpha + prior.beta, 2.0 * math.log(1.0 / delta)

    def choose(wins, pulls, round_):
        mean = (prior.alpha + wins) / (pseudo + pulls)
        return (mean + np.sqrt(factor * 0.25 / (pseudo + pulls + 1.0))).argmax(axis=1)

    return choose


def split_test(explore, prior):
    def choose(wins, pulls, round_):
        if round_ < explore:
            return np.full(len(wins), round_ % wins.shape[1])
        if round_ == explore:
            choose.winner = ((prior.alpha + wins) / (prior.alpha + prior.beta + pulls)).argmax(axis=1)
        return choose.winner

    return choose


@pytest.fixture(scope="module")
def fitted():
    return br.fit_prior(made_up_history(seed=7), model="bernoulli")


@pytest.fixture(scope="module")
def plan(fitted):
    return br.plan(fitted.bandit(ARMS), HORIZON, seed=3, progress=False)


def independent(plan, means):
    """Regrets in an independently simulated world, by name of the policy in the plan."""
    prior, rng = plan.bandit.conjugate(), np.random.default_rng(11)
    found = {"thompson": regrets(means, thompson(prior, rng), rng)}
    for name, outcome in plan.outcomes.items():
        if isinstance(outcome.policy, br.BayesUCB):
            found[name] = regrets(means, upper_confidence(prior, outcome.policy.delta or 1.0 / HORIZON), rng)
        if isinstance(outcome.policy, br.ExploreCommit):
            found[name] = regrets(means, split_test(outcome.policy.explore, prior), rng)
    return found


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
    naive = br.plan(narrow, HORIZON, [br.BayesUCB(), br.Thompson()], seed=3, progress=False)
    policy = naive.best.policy
    means, rng = drawn_means(fitted, np.random.default_rng(6), RUNS), np.random.default_rng(12)
    is_thompson = isinstance(policy, br.Thompson)
    chooser = thompson(narrow, rng) if is_thompson else upper_confidence(narrow, policy.delta or 1.0 / HORIZON)
    found = regrets(means, chooser, rng)
    assert found.mean() > 1.3 * naive.best.regret.mean
