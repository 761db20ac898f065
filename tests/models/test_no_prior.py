"""No prior: the posterior mean of an arm is its sample mean."""

import math

from bayesregret.contracts import inverse_pulls, posterior_mean, prior_pulls, prior_total, variance_proxy
from bayesregret.models.no_prior import NoPriorModel

MODEL = NoPriorModel(reward_proxy=4.0)


def test_nothing_is_known_before_the_first_pull():
    assert prior_pulls(MODEL, 0) == prior_total(MODEL, 0) == inverse_pulls(MODEL, 0, 0) == 0.0
    assert posterior_mean(MODEL, 0, 0, 0.0) == 0.0
    assert variance_proxy(MODEL, 0, 0) == math.inf


def test_then_it_is_the_sample_mean():
    assert posterior_mean(MODEL, 0, 8, 6.0) == 0.75
    assert variance_proxy(MODEL, 0, 8) == 0.5
