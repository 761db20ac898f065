"""Bounds on Bayes regret: every result of the paper, as printed and repaired, as a number with its evidence.

Each bound is a `Formula`: call it with a bandit and a horizon. `table` computes all bounds for a bandit, `audit` checks
them on simulated runs.

>>> import bayesregret as br
>>> bandit = br.GaussianBandit(prior_mean=[1] + [0] * 9, prior_width=1, reward_noise=1)
>>> print(br.bounds.gap_dependent(bandit, horizon=1_000))
gap_dependent bound on bayes-ucb [paper, Theorem 1] = 1352.067688
>>> br.bounds.certified(bandit, horizon=1_000).details["name"]
'certified_first_passage'
"""

from typing import TYPE_CHECKING, Any

# Importing these registers the bodies of the formulas. The public name `certified`, below, is the smallest bound.
import bayesregret.bounds.best_certified
import bayesregret.bounds.certified
import bayesregret.bounds.paper  # noqa: F401
from bayesregret.bounds.bound import DoesNotHold, Formula
from bayesregret.bounds.catalog import (
    action_bound,
    certified,
    certified_all_gaps,
    certified_epsilon,
    certified_first_passage,
    certified_floor,
    certified_gap_free,
    certified_index,
    certified_lower,
    certified_min_gap,
    certified_prior_dependent,
    certified_small_width,
    certified_thompson,
    certified_thompson_lower,
    certified_trivial,
    certified_ucb1,
    complexity,
    complexity_bound,
    failure_probability,
    failure_regret,
    gap_dependent,
    information,
    lai_lower,
    posterior_variances,
    prior_dependent,
    sqrt,
    ucb1_gap_dependent,
    ucb1_prior_dependent,
)
from bayesregret.bounds.result import Bound
from bayesregret.bounds.table import BoundTable, table

if TYPE_CHECKING:
    from bayesregret.audit import audit

__all__ = [
    "Bound",
    "BoundTable",
    "DoesNotHold",
    "Formula",
    "action_bound",
    "audit",
    "certified",
    "certified_all_gaps",
    "certified_epsilon",
    "certified_first_passage",
    "certified_floor",
    "certified_gap_free",
    "certified_index",
    "certified_lower",
    "certified_min_gap",
    "certified_prior_dependent",
    "certified_small_width",
    "certified_thompson",
    "certified_thompson_lower",
    "certified_trivial",
    "certified_ucb1",
    "complexity",
    "complexity_bound",
    "failure_probability",
    "failure_regret",
    "gap_dependent",
    "information",
    "lai_lower",
    "posterior_variances",
    "prior_dependent",
    "sqrt",
    "table",
    "ucb1_gap_dependent",
    "ucb1_prior_dependent",
]


def __getattr__(name: str) -> Any:
    """Import `audit` on first use: it imports the simulation, which imports this package."""
    if name == "audit":
        from bayesregret.audit import audit

        return audit
    raise AttributeError(f"module 'bayesregret.bounds' has no attribute {name!r}")
