"""The front door: from a history to a prior."""

from __future__ import annotations

import math
from typing import Any

from threadpoolctl import threadpool_limits

from bayesregret import checks
from bayesregret.priors.families.bernoulli import BernoulliArms
from bayesregret.priors.families.family import Family
from bayesregret.priors.families.gaussian import GaussianArms
from bayesregret.priors.families.poisson import PoissonArms
from bayesregret.priors.fitted_prior import FittedPrior
from bayesregret.priors.history import SUMMARIES, History, read_history
from bayesregret.priors.likelihood_ratio import Comparison
from bayesregret.priors.maximum_likelihood import (
    Fit,
    fit_one_level,
    fit_own_levels,
    parameters,
    standard_errors,
    upper_limits,
)
from bayesregret.priors.warnings import doubts


def fit_prior(
    history: Any, *, model: str, grouped: bool | None = None, reward_noise: float | None = None
) -> FittedPrior:
    """The prior that makes a history of experiments most likely, with standard errors and plain doubts.

    `history` is a CSV file, a table of columns or a list of rows. Each row is an arm of an experiment: `experiment`,
    `arm` and `pulls`, with `successes` (bernoulli), `mean` and `variance` (gaussian) or `total` (poisson); or it is a
    single reward: `experiment`, `arm` and `reward`. Arms are alike before they are pulled, whatever their names.

    `grouped` says whether every experiment has a level of its own, around which its arms vary; None does so whenever
    the history can tell levels from arms. `reward_noise` is the standard deviation of gaussian rewards; None takes it
    from the history.

    >>> past = {"experiment": [1, 1, 2, 2, 3, 3], "arm": list("ababab"), "pulls": [500] * 6}
    >>> past["successes"] = [10, 22, 31, 52, 15, 9]
    >>> found = fit_prior(past, model="bernoulli")
    >>> found.bandit(arms=4).arms
    4
    >>> round(found.parameters["mean"], 3)
    0.042
    """
    model = checks.one_of("model", model, SUMMARIES)
    if grouped is not None and not isinstance(grouped, bool):
        raise checks.fail("grouped", "True, False or None", grouped)
    arms = read_history(history, model)
    family = _family(arms, model, reward_noise)
    why_not = _cannot_group(arms)
    if grouped and why_not is not None:
        raise ValueError(f"grouped must not be True: {why_not}")
    # Threads for matrices of three rows take a hundred times as long as the work.
    with threadpool_limits(limits=1, user_api="blas"):
        return _fitted(family, grouped, why_not)


def _family(history: History, model: str, reward_noise: float | None) -> Family:
    """With what makes a fit impossible refused."""
    if model != "gaussian" and reward_noise is not None:
        raise ValueError(f"reward_noise goes with gaussian only, not with {model}")
    if history.arms < 2:
        raise ValueError(f"history must have at least 2 arms with pulls, got {history.arms}")
    if (history.means == history.means[0]).all():
        raise ValueError(
            f"history must have arms that differ, but every arm has the mean {history.means[0]:.4g}; "
            "that says nothing of how far a new arm may be from it"
        )
    if model == "gaussian":
        return GaussianArms(history, *_noise(history, reward_noise))
    if model == "bernoulli" and history.pulls.max() == 1.0:
        raise ValueError("pulls must be at least 2 for some arm: single pulls do not say how much arms differ")
    return BernoulliArms(history) if model == "bernoulli" else PoissonArms(history)


def _noise(history: History, reward_noise: float | None) -> tuple[float, float]:
    """Pooled from all arms, with its standard error for normal rewards; without error if it is given."""
    if reward_noise is not None:
        return checks.positive("reward_noise", reward_noise), 0.0
    freedom = float((history.pulls - 1.0).sum())
    if freedom == 0.0:
        raise ValueError("reward_noise must be given: every arm has one pull, which says nothing of the noise")
    noise = math.sqrt(float(history.squares.sum()) / freedom)
    if noise == 0.0:
        raise ValueError("reward_noise must be given: rewards of every arm are all the same")
    return checks.positive("reward_noise", noise), noise / math.sqrt(2.0 * freedom)


def _cannot_group(history: History) -> str | None:
    arms = history.arms_of_experiments
    if len(arms) == 1:
        return "there is one experiment only, and its level is taken for that of all"
    if arms.max() == 1:
        return "every experiment has one arm only, so levels and arms cannot be told apart"
    return None


def _fitted(family: Family, grouped: bool | None, why_not_grouped: str | None) -> FittedPrior:
    alone = fit_one_level(family.centred())
    if why_not_grouped is not None:
        return _finished(family, alone, why_not_grouped)
    together = fit_own_levels(alone)
    comparison = Comparison.of(alone.optimum.value, together.optimum.value)
    return _finished(family, alone if grouped is False else together, comparison)


def _finished(family: Family, found: Fit, comparison: Comparison | str) -> FittedPrior:
    best = found.best._replace(location=family.centre + found.best.location)
    named = parameters(family, best, found.grouped)
    errors, limits = standard_errors(found, list(named)), upper_limits(found)
    return FittedPrior(
        model=family.kind,
        grouped=found.grouped,
        parameters=named,
        standard_errors=errors,
        log_likelihood=found.optimum.value,
        comparison=comparison if isinstance(comparison, Comparison) else None,
        warnings=doubts(family, named, errors, limits, comparison),
        upper_limits=limits,
        family=family,
        point=best,
    )
