"""Proved bounds; the proofs are in docs/theory. Importing this package registers them."""

from bayesregret.bounds.certified import (
    conjugate,
    first_passage_bernoulli,
    first_passage_gaussian,
    gap_dependent,
    linear,
    linear_index,
    linear_lower,
    lower_bernoulli,
    lower_gaussian,
    lower_poisson,
    lower_scaled,
    mixture,
    prior_dependent,
    thompson,
    thompson_lower,
    ucb1,
)

__all__ = [
    "conjugate",
    "first_passage_bernoulli",
    "first_passage_gaussian",
    "gap_dependent",
    "linear",
    "linear_index",
    "linear_lower",
    "lower_bernoulli",
    "lower_gaussian",
    "lower_poisson",
    "lower_scaled",
    "mixture",
    "prior_dependent",
    "thompson",
    "thompson_lower",
    "ucb1",
]
