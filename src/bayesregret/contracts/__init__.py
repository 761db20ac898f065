"""The contract between the engine, the models and the policies: all that an author of either needs.

Read `model.py` to add a model, `policy.py` to add a policy, and `linear.py` for a policy that uses a linear posterior.
`fast.py` holds what lets the engine skip work; nobody needs it to add a policy or a model.
"""

from bayesregret.contracts.linear import information, mean_now, means_at, variance_now
from bayesregret.contracts.model import (
    divergence_limit,
    draw_means,
    draw_reward,
    posterior_draw,
    posterior_quantile,
    prior_pulls,
    prior_total,
    variance_proxy,
)
from bayesregret.contracts.policy import arm_index, choose_arm, choose_linear, confidence_width, rising_index
from bayesregret.contracts.statistics import (
    Stats,
    add_reward,
    current_mean,
    empty_stats,
    inverse_pulls,
    posterior_mean,
)

__all__ = [
    "Stats",
    "add_reward",
    "arm_index",
    "choose_arm",
    "choose_linear",
    "confidence_width",
    "current_mean",
    "divergence_limit",
    "draw_means",
    "draw_reward",
    "empty_stats",
    "information",
    "inverse_pulls",
    "mean_now",
    "means_at",
    "posterior_draw",
    "posterior_mean",
    "posterior_quantile",
    "prior_pulls",
    "prior_total",
    "rising_index",
    "variance_now",
    "variance_proxy",
]
