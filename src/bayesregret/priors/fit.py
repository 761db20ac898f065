"""The front door: from a history to a prior."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.priors.bernoulli import BernoulliArms
from bayesregret.priors.comparison import Comparison
from bayesregret.priors.doubts import LEVEL_SPREAD, doubts
from bayesregret.priors.family import ORDERS, ROUGH_ORDERS, Family, Point
from bayesregret.priors.fitted import FittedPrior
from bayesregret.priors.gaussian import GaussianArms
from bayesregret.priors.history import SUMMARIES, History, read_history
from bayesregret.priors.optimum import FLAT, STEP, Optimum, covariance, highest, highest_likely
from bayesregret.priors.poisson import PoissonArms

# Of levels, in units of the family's scale.
LEVEL_SPREADS = (1e-6, 30.0)
FARTHEST_LOCATION = 60.0
# Where the climb may begin.
SPREADS_TRIED, LEVEL_SPREADS_TRIED = (1.0, 0.2, 0.02), (0.03, 0.1, 0.3, 1.0)
LIKELY_LOSS = 0.5 * 2.705543  # of log-likelihood, for an upper limit that holds in 95 of 100 histories


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
    0.041
    """
    model = checks.one_of("model", model, SUMMARIES)
    if grouped is not None and not isinstance(grouped, bool):
        raise checks.fail("grouped", "True, False or None", grouped)
    arms = read_history(history, model)
    family = _family(arms, model, reward_noise)
    why_not = _cannot_group(arms)
    if grouped and why_not is not None:
        raise ValueError(f"grouped must not be True: {why_not}")
    alone = _fit(family, family.start)
    if why_not is not None:
        return _finished(alone, why_not)
    together = _fit_levels(alone)
    comparison = Comparison.of(alone.optimum.value, together.optimum.value)
    return _finished(alone if grouped is False else together, comparison)


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


@dataclass(frozen=True)
class Fit:
    """The highest point of the likelihood, by coordinates: location, log of the spread and of the level spread."""

    family: Family
    optimum: Optimum
    limits: Array
    function: Callable[[Array], float]
    rough: Callable[[Array], float]  # about the same, and quicker

    def point(self, x: Array) -> Point:
        return _point(self.family, x)

    @property
    def best(self) -> Point:
        """A spread at its lower limit is 0."""
        point = self.point(self.optimum.x)
        at_zero = self.optimum.at_limit & (self.optimum.x - self.limits[:, 0] < STEP)
        return Point(
            point.location,
            0.0 if at_zero[1] else point.spread,
            0.0 if len(at_zero) < 3 or at_zero[2] else point.level_spread,
        )


def _point(family: Family, x: Array) -> Point:
    """Coordinates that are all of the size of 1, to a prior."""
    location = family.start.location + family.scale * float(x[0])
    return Point(location, math.exp(x[1]), family.scale * math.exp(x[2]) if len(x) == 3 else 0.0)


def _fit(family: Family, start: Point, *, level_spreads: Sequence[float] = ()) -> Fit:
    """From spreads that are shares of the start's, and level spreads if any, to the highest likelihood."""
    coordinates = 3 if level_spreads else 2
    limits = np.array([[-FARTHEST_LOCATION, FARTHEST_LOCATION], np.log(family.limits), np.log(LEVEL_SPREADS)])
    limits = limits[:coordinates]

    def log_likelihood(x: Array, orders: tuple[int, int] = ORDERS) -> float:
        return family.log_likelihood(_point(family, x), orders)

    x = (start.location - family.start.location) / family.scale
    starts = [
        np.array([x, math.log(start.spread * share), math.log(level or 1.0)])[:coordinates]
        for share, level in itertools.product(SPREADS_TRIED, level_spreads or (0.0,))
    ]
    rough = functools.partial(log_likelihood, orders=ROUGH_ORDERS)
    return Fit(family, highest(log_likelihood, rough, starts, limits, may_vanish=1), limits, log_likelihood, rough)


def _fit_levels(alone: Fit) -> Fit:
    """As good as the fit with one level, or better."""
    found = _fit(alone.family, alone.point(alone.optimum.x), level_spreads=LEVEL_SPREADS_TRIED)
    if found.optimum.value > alone.optimum.value + FLAT:
        return found
    x, at_limit = np.append(alone.optimum.x, found.limits[2, 0]), np.append(alone.optimum.at_limit, True)
    return replace(found, optimum=Optimum(x, alone.optimum.value, at_limit))


def _finished(fit: Fit, comparison: Comparison | str) -> FittedPrior:
    parameters = _parameters(fit.family, fit.best, len(fit.limits) == 3)
    errors, upper_limits = _standard_errors(fit, parameters), _upper_limits(fit)
    return FittedPrior(
        model=fit.family.kind,
        grouped=len(fit.limits) == 3,
        parameters=parameters,
        standard_errors=errors,
        log_likelihood=fit.optimum.value,
        comparison=comparison if isinstance(comparison, Comparison) else None,
        warnings=doubts(fit.family, parameters, errors, upper_limits, comparison),
        upper_limits=upper_limits,
        family=fit.family,
        point=fit.best,
    )


def _upper_limits(fit: Fit) -> dict[str, float]:
    """The largest likely width and level spread, where the best one is 0."""
    names = (fit.family.width_name, LEVEL_SPREAD)
    best = (fit.best.spread, fit.best.level_spread)
    found = {}
    for coordinate, (name, value) in enumerate(zip(names[: len(fit.limits) - 1], best, strict=False), 1):
        if value == 0.0:
            x = fit.optimum.x.copy()
            x[coordinate] = highest_likely(fit.rough, fit.optimum, coordinate, fit.limits, LIKELY_LOSS)
            found[name] = _parameters(fit.family, fit.point(x), len(x) == 3)[name]
    return found


def _parameters(family: Family, point: Point, grouped: bool) -> dict[str, float]:
    return family.parameters(point) | ({LEVEL_SPREAD: point.level_spread} if grouped else {})


def _standard_errors(fit: Fit, parameters: dict[str, float]) -> dict[str, float]:
    """By the delta method from the observed information; infinite for what depends on a coordinate at its limit."""
    x, optimum = fit.optimum.x, fit.optimum
    found = covariance(fit.function, optimum)
    slopes = np.array([_slope(fit, x, i) for i in range(len(x))])  # (coordinates, parameters)
    errors = {}
    for column, name in enumerate(parameters):
        slope = slopes[:, column]
        unsure = found is None or bool((slope[optimum.at_limit] != 0.0).any())
        free = slope[optimum.free]
        errors[name] = math.inf if unsure else math.sqrt(float(free @ found @ free))
    return errors | ({"reward_noise": fit.family.noise_error} if isinstance(fit.family, GaussianArms) else {})


def _slope(fit: Fit, x: Array, coordinate: int) -> list[float]:
    move = np.zeros(len(x))
    move[coordinate] = STEP
    up, down = (_parameters(fit.family, fit.point(x + sign * move), len(x) == 3) for sign in (1.0, -1.0))
    return [(up[name] - down[name]) / (2.0 * STEP) for name in up]
