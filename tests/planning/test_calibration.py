"""Advice is a claim: what a plan promises for its recommendation is what happens, in worlds that it does not know.

`benchmarks/calibration.py` is the same study with 100 worlds.
"""

import math

import numpy as np
import pytest

import bayesregret as br
from planning.calibration_study import Setting, Summary, one_world
from planning.independent_world import chooser, regrets

pytestmark = pytest.mark.compiled

# Without the Gittins index, whose tables take a second in each world.
QUICK = ("bayes-ucb", "thompson", "kl-ucb", "moss", "ucb1")
SMALL = Setting(horizon=1_000, experiments=500, runs=200, seed=3, policies=QUICK)
WORLDS = 6
BANDIT = br.BernoulliBandit([1.2] * 3, [12.0] * 3)
POLICIES = [
    br.Thompson(),
    br.BayesUCB(),
    br.BayesUCB(delta=0.5),
    br.ExploreCommit(60),
    br.KLUCB(),
    br.MOSS(),
    br.UCB1(),
    br.Gittins(discount=0.99),
]


def study(setting):
    return Summary([one_world(setting, number) for number in range(WORLDS)])


def test_promises_are_kept_on_average_and_rarely_far_off():
    found = study(SMALL)
    assert found.is_close
    assert found.ratio_error < 0.08, "a ratio that is known so roughly says little"
    assert found.at_least_half == 1.0


def test_without_shared_levels_they_are_not():
    """The control: the same study with one level for all experiments, as if the history had not shown any others."""
    found = study(SMALL._replace(with_levels=False))
    assert found.ratio + 4.0 * found.ratio_error < 0.9
    assert not found.is_rarely_far


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{policy.name}-{getattr(policy, 'delta', None)}")
def test_the_independent_policies_are_those_of_the_package(policy):
    rng = np.random.default_rng(4)
    means = rng.beta(BANDIT.alpha, BANDIT.beta, (1_500, BANDIT.arms))
    found = regrets(means, chooser(policy, BANDIT, 300, rng), rng, 300)
    theirs = br.simulate(BANDIT, policy, horizon=300, runs=1_500, seed=5, progress=False)[policy.name]
    error = math.hypot(theirs.stderr, found.std() / math.sqrt(len(found)))
    assert abs(theirs.mean - found.mean()) < 4.0 * error
    assert abs(1.2 * theirs.mean - found.mean()) > 4.0 * error, "the control: a fifth more would be noticed"
