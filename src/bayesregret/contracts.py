"""The whole contract between the engine, the models and the policies, on one page.

A model is a NamedTuple of arrays and numbers; a policy is a NamedTuple of settings. The engine knows neither: it
calls the functions below, and the class of the first argument picks the body when the kernel is compiled.

What is known about an arm of an independent-arm bandit is two numbers: how often it was pulled (`count`) and the
sum of its rewards (`total`). A conjugate prior is worth `prior_pulls` imaginary pulls that brought `prior_total` in
sum, so that the posterior mean is (prior_total + total) / (prior_pulls + count) in every such model.
"""

from __future__ import annotations

from bayesregret.dispatch import contract, jitable

# --- a model as the world: what is drawn ---------------------------------------------------------------------------


@contract
def draw_means(model, means, stream):
    """Draw an instance: write the mean reward of every arm into `means`; return the stream that comes after."""


@contract
def draw_reward(model, arm, mean, stream):
    """Draw one reward of an arm with this mean reward; return it and the stream that comes after."""


# --- a model as a belief: what is inferred -------------------------------------------------------------------------


@contract
def prior_pulls(model, arm):
    """How many pulls the prior of this arm is worth."""


@contract
def prior_total(model, arm):
    """The sum of rewards that those imaginary pulls brought."""


@contract
def variance_proxy(model, arm, count):
    """Variance, or sub-Gaussian variance proxy, of the arm's mean reward after `count` pulls."""


# --- a policy: what is done about it -------------------------------------------------------------------------------


@contract
def confidence_width(policy, variance):
    """What the policy adds to a mean that is known up to this variance: never falls as the variance grows.

    A policy with this function runs on every model: its index is the posterior mean plus the width.
    """


@contract
def arm_index(policy, model, arm, count, total):
    """The index of an arm; the arm with the highest is taken, the lowest-numbered one on ties.

    For policies whose index is not a mean plus a width. It may depend on this arm's own data alone.
    """


# --- derived -------------------------------------------------------------------------------------------------------


@jitable
def inverse_pulls(model, arm, count):
    """One over the real and imaginary pulls, 0 where there are none."""
    pulls = prior_pulls(model, arm) + count
    return 1.0 / pulls if pulls > 0.0 else 0.0


@jitable
def posterior_mean(model, arm, count, total):
    """Mean of the arm's mean reward given its data, 0 where nothing is known."""
    return (prior_total(model, arm) + total) * inverse_pulls(model, arm, count)


@jitable
def mean_plus_width(policy, model, arm, count, total):
    """The index of a policy that has a `confidence_width`."""
    return posterior_mean(model, arm, count, total) + confidence_width(policy, variance_proxy(model, arm, count))
