"""What the data cannot tell, in plain words."""

from __future__ import annotations

import math

import numpy as np

from bayesregret.digits import with_error
from bayesregret.priors.families.family import LEVEL_SPREAD, Family
from bayesregret.priors.likelihood_ratio import Comparison

Numbers = dict[str, float]

FEW_ARMS, FEW_EXPERIMENTS = 10, 5
SURPRISE = 0.05
ROUGH = 0.5  # a standard error of more than this share of a width leaves little of it


def doubts(
    family: Family, parameters: Numbers, errors: Numbers, upper_limits: Numbers, comparison: Comparison | str
) -> tuple[str, ...]:
    """One line for each thing that a user must know before trusting the fit.

    `comparison` is of levels of their own with one level, or why there is none.
    """
    few_arms = family.history.arms < FEW_ARMS
    return (
        *_of_width(family.width_name, parameters, errors, upper_limits),
        *_of_levels(family.history.experiments, parameters, upper_limits, comparison),
        *[f"{family.history.arms} arms only: standard errors are rough themselves"] * few_arms,
        *_of_pulls(family, parameters),
    )


def _of_width(name: str, parameters: Numbers, errors: Numbers, upper_limits: Numbers) -> list[str]:
    width, error = parameters[name], errors[name]
    if name in upper_limits:
        likely = f"the best {name} is 0, and up to {upper_limits[name]:.2g} is likely"
        return [f"arms differ by no more than chance explains: {likely}; more pulls or arms would tell"]
    if math.isinf(error):
        return [f"the likelihood is flat or highest at a limit: the history does not tell the {name}"]
    if error > ROUGH * width:
        return [f"{name} is known only roughly: {with_error(width, error)}"]
    return []


def _of_levels(experiments: int, parameters: Numbers, upper_limits: Numbers, comparison: Comparison | str) -> list[str]:
    if isinstance(comparison, str):
        return [comparison]
    if LEVEL_SPREAD in upper_limits:
        likely = f"the best {LEVEL_SPREAD} is 0, and up to {upper_limits[LEVEL_SPREAD]:.2g} is likely"
        return [f"levels of experiments differ by no more than chance explains: {likely}"]
    if LEVEL_SPREAD not in parameters:
        differ = f"levels of experiments differ (p = {comparison.p_value:.2g})"
        return [f"{differ}, and count as differences of arms here"] * (comparison.p_value < SURPRISE)
    few = experiments < FEW_EXPERIMENTS
    return [f"{experiments} experiments only: {LEVEL_SPREAD} is known only roughly"] * few


def _of_pulls(family: Family, parameters: Numbers) -> list[str]:
    """Said when most arms have fewer pulls than the prior is worth."""
    worth = _worth(parameters)
    few = float(np.mean(family.history.pulls < worth))
    if math.isinf(worth) or few <= 0.5:
        return []
    about = f"about {float(f'{worth:.2g}'):,g}"
    return [f"{few:.0%} of the arms have fewer pulls than the prior is worth, {about}: their means are mostly noise"]


def _worth(parameters: Numbers) -> float:
    """Of the prior, in pulls."""
    if "alpha" in parameters:
        return parameters["alpha"] + parameters["beta"]
    if "rate" in parameters:
        return parameters["rate"]
    width = parameters["prior_width"]
    return (parameters["reward_noise"] / width) ** 2 if width > 0.0 else math.inf
