"""Posterior of a linear bandit, for policies with a `choose_linear`."""

from __future__ import annotations

from bayesregret.dispatch import contract


@contract(returns="mean")
def mean_now(posterior, arm):
    """Posterior mean of the arm's mean reward."""


@contract(returns="variance")
def variance_now(posterior, arm):
    """Posterior variance of the arm's mean reward."""


@contract()
def means_at(posterior, xi, means):
    """Write every column's mean reward at the parameter with standard coordinates `xi`.

    The coordinates are 0 at the posterior mean; standard normal draws give a draw from the posterior.
    """


@contract(returns="information")
def information(posterior):
    """log(det(prior covariance) / det(posterior covariance)) of the parameter."""
