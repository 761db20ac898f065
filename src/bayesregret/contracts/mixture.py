"""Mixtures of priors, and what a model implements so that priors of its kind can be mixed.

A mixture holds the models of its components as one model whose arrays have one more axis, the first: `stacked`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.dispatch import contract, jitable
from bayesregret.rng import uniform


@contract(returns="model")
def component(stacked, number):
    """Model of one component."""


@contract(returns="logarithm")
def log_predictive(model, stats, arm, reward):
    """Logarithm of the density or probability of the arm's next reward, given its rewards so far.

    Terms that depend neither on the prior nor on earlier rewards may be left out: they cancel between components.
    """


@contract(returns="variance")
def posterior_variance(model, stats, arm):
    """Posterior variance of the arm's mean reward; infinite if it has none."""


class MixtureModel(NamedTuple):
    """As a belief it keeps, at the end of `stats.memory`, the gains and the posterior weights of its components.

    A gain is the logarithm of the probability of all rewards, minus a number that is the same for all components.
    """

    weights: Array  # (components,): prior weights
    log_weights: Array
    parts: Any  # the components' models, stacked
    drawn: NDArray[np.int64]  # (1,): component of the instance drawn last; unused in a belief


@jitable
def current_weight(model, stats, number):
    """Posterior weight of a component."""
    if stats.received[0] == 0:
        return model.weights[number]
    return stats.memory[stats.memory.shape[0] - model.weights.shape[0] + number]


@jitable
def draw_component(model, stats, stream):
    """Number of a component, drawn from the posterior; never one of weight 0, however the sum is rounded."""
    u, stream = uniform(stream)
    drawn = 0
    for number in range(model.weights.shape[0]):
        weight = current_weight(model, stats, number)
        if weight > 0.0:
            drawn = number
            if u < weight:
                break
            u -= weight
    return drawn, stream
