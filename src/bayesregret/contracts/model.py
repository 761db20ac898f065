"""What a reward model implements.

A model is a NamedTuple of arrays and numbers. As the world it draws instances and rewards; as a belief it describes an
arm's posterior. The prior of an arm acts like `prior_pulls` imaginary pulls whose rewards sum to `prior_total`, so the
posterior mean is (prior_total + total) / (prior_pulls + count) in every conjugate model.
"""

from __future__ import annotations

from bayesregret.dispatch import contract


@contract(returns="stream")
def draw_means(model, means, stream):
    """Draw an instance: write the mean reward of every arm into `means`; return the next stream."""


@contract(returns="reward, stream")
def draw_reward(model, arm, mean, stream):
    """Draw one reward of an arm whose mean reward is `mean`; return it and the next stream."""


@contract(returns="pulls")
def prior_pulls(model, arm):
    """Number of imaginary pulls that the arm's prior is equivalent to: its prior pseudo-count."""


@contract(returns="total")
def prior_total(model, arm):
    """Sum of the rewards of those imaginary pulls."""


@contract(returns="variance")
def variance_proxy(model, arm, count):
    """Posterior variance of the arm's mean reward after `count` pulls, or its sub-Gaussian variance proxy."""


# --- optional: what some policies need -----------------------------------------------------------------------------


@contract(returns="draw, stream")
def posterior_draw(model, stats, arm, stream):
    """Draw the arm's mean reward from its posterior; return it and the next stream. Thompson sampling needs it."""


@contract(returns="quantile")
def posterior_quantile(model, stats, arm, tail):
    """Value that the arm's mean reward exceeds with posterior probability `tail`. QuantileUCB needs it."""


@contract(returns="limit")
def divergence_limit(model, arm, mean, divergence):
    """Largest q with KL(P_mean || P_q) <= divergence, for the arm's reward distributions P. KL-UCB needs it."""
