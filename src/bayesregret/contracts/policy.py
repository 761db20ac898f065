"""What a policy implements: one of these functions, for the class of its settings.

A policy's settings are a NamedTuple. The arm with the highest index is pulled, the lowest-numbered one on ties.
"""

from __future__ import annotations

from bayesregret.dispatch import contract


@contract(returns="width")
def confidence_width(policy, variance):
    """Width that the policy adds to the posterior mean; it never falls as the posterior variance grows.

    A policy with this function runs on every model, linear bandits included.
    """


@contract(returns="index")
def arm_index(policy, model, arm, count, total):
    """Index of an arm, from this arm's own number of pulls and sum of rewards alone."""


@contract(returns="index")
def rising_index(policy, model, stats, arm, round_):
    """Index of an arm in a round; given the data, it never falls from one round to the next."""


@contract(returns="arm, stream")
def choose_arm(policy, model, stats, round_, stream):
    """Arm to pull in this round (the first is round 1), and the next stream of random numbers."""


@contract(returns="arm, stream")
def choose_linear(policy, posterior, stats, round_, stream):
    """Like `choose_arm`, from a linear posterior, which the functions in `linear.py` describe.

    `posterior.roots` has a row for each standard coordinate of the parameter and a column for each arm, followed by
    padding columns whose mean is -inf.
    """
