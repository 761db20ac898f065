"""Warnings of a fit: what the history cannot determine."""

from __future__ import annotations

import math

import numpy as np

from bayesregret.digits import with_error
from bayesregret.priors.families.family import LEVEL_SPREAD, Family
from bayesregret.priors.likelihood_ratio import LikelihoodRatio

Numbers = dict[str, float]

FEW_ARMS, FEW_EXPERIMENTS = 10, 5
SIGNIFICANT = 0.05
ROUGH = 0.5  # a width is rough if its standard error is above this fraction of it


def fit_warnings(
    family: Family, parameters: Numbers, errors: Numbers, upper_limits: Numbers, comparison: LikelihoodRatio | str
) -> tuple[str, ...]:
    """One line for each reason not to trust the fit.

    `comparison` tests one level per experiment against one for all, or says why the history cannot be grouped.
    """
    few_arms = family.history.arms < FEW_ARMS
    return (
        *_width_warnings(family.width_name, parameters, errors, upper_limits),
        *_level_warnings(family.history.experiments, parameters, upper_limits, comparison),
        *[f"only {family.history.arms} arms: standard errors are rough themselves"] * few_arms,
        *_pull_warnings(family, parameters),
    )


def _width_warnings(name: str, parameters: Numbers, errors: Numbers, upper_limits: Numbers) -> list[str]:
    width, error = parameters[name], errors[name]
    if name in upper_limits:
        likely = f"the best {name} is 0, and up to {upper_limits[name]:.2g} is likely"
        return [f"arms differ by no more than chance explains: {likely}; more pulls or arms would narrow this down"]
    if math.isinf(error):
        return [f"the likelihood is flat or highest at a limit: the history does not determine the {name}"]
    if error > ROUGH * width:
        return [f"{name} is known only roughly: {with_error(width, error)}"]
    return []


def _level_warnings(
    experiments: int, parameters: Numbers, upper_limits: Numbers, comparison: LikelihoodRatio | str
) -> list[str]:
    if isinstance(comparison, str):
        return [comparison]
    if LEVEL_SPREAD in upper_limits:
        likely = f"the best {LEVEL_SPREAD} is 0, and up to {upper_limits[LEVEL_SPREAD]:.2g} is likely"
        return [f"levels of experiments differ by no more than chance explains: {likely}"]
    if LEVEL_SPREAD not in parameters:
        differ = f"levels of experiments differ (p = {comparison.p_value:.2g})"
        return [f"{differ}, and count as differences of arms here"] * (comparison.p_value < SIGNIFICANT)
    few = experiments < FEW_EXPERIMENTS
    return [f"only {experiments} experiments: {LEVEL_SPREAD} is known only roughly"] * few


def _pull_warnings(family: Family, parameters: Numbers) -> list[str]:
    """Warn if most arms have fewer pulls than the prior pseudo-count."""
    pseudo_count = _pseudo_count(parameters)
    few = float(np.mean(family.history.pulls < pseudo_count))
    if math.isinf(pseudo_count) or few <= 0.5:
        return []
    about = f"about {float(f'{pseudo_count:.2g}'):,g}"
    return [
        f"{few:.0%} of the arms have fewer pulls than the prior pseudo-count, {about}: their means are mostly noise"
    ]


def _pseudo_count(parameters: Numbers) -> float:
    """Number of pulls with as much information as the prior."""
    if "alpha" in parameters:
        return parameters["alpha"] + parameters["beta"]
    if "rate" in parameters:
        return parameters["rate"]
    width = parameters["prior_width"]
    return (parameters["reward_noise"] / width) ** 2 if width > 0.0 else math.inf
