"""`FittedPrior`, the result of `fit_prior`, and the bandits of new experiments."""

from __future__ import annotations

import importlib
import math
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.digits import PLUS_MINUS, brief, counted, with_error
from bayesregret.models import Bandit
from bayesregret.priors.families.family import LEVEL_SPREAD, Family, PriorPoint
from bayesregret.priors.likelihood_ratio import LikelihoodRatio
from bayesregret.priors.maximum_likelihood import LIKELY_LOSS
from bayesregret.priors.new_experiment import NewLevel, new_bandit, predicted_deviation
from bayesregret.problem import LARGEST_ARMS, save_problem
from bayesregret.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOCATION, SPREAD, LEVEL_SPREAD_LOG = range(3)  # places in `coordinate_errors`
LARGEST_LOG_ERROR = 1.0  # a history that says less about a spread than this factor of e says nothing


@dataclass(frozen=True, repr=False, eq=False)
class FittedPrior(Result):
    """A prior fitted to past experiments by `fit_prior`, with standard errors and warnings.

    It stands for the bandit of a new experiment wherever a bandit is expected. `plot` draws the arms of the history
    with their 90 percent predictions.

    The level of an experiment is the mean that its arms vary around. Levels are normal after the model's link: none
    for gaussian, logit for bernoulli, log for poisson.

    Attributes
    ----------
    model : str
        "bernoulli", "gaussian" or "poisson".
    grouped : bool
        Whether the fit has one level per experiment, rather than one for all.
    parameters : dict[str, float]
        Parameters of the prior of arms at the typical level and, in a grouped fit, `level_spread`, the standard
        deviation of levels after the link.
    standard_errors : dict[str, float]
        Standard error of each parameter; infinite if the history does not determine it.
    log_likelihood : float
        Logarithm of the marginal likelihood of the history.
    comparison : LikelihoodRatio or None
        Test of one level per experiment against one for all; None if the history cannot distinguish them.
    warnings : tuple[str, ...]
        Reasons not to trust the fit, one sentence each.
    upper_limits : dict[str, float]
        For a width or a level_spread whose best value is 0, the largest likely value: in 95 of 100 large histories the
        true value is below it.
    family : Family
        The history under its reward model.
    point : PriorPoint
        Coordinates of the fitted prior.
    coordinate_errors : ndarray
        Standard errors of the location, and of the logarithms of spread and level spread; 0 where undetermined.

    Examples
    --------
    >>> past = {"experiment": [1, 1, 2, 2, 3, 3], "arm": list("ababab"), "pulls": [500] * 6}
    >>> past["successes"] = [10, 22, 31, 52, 15, 9]
    >>> fitted = fit_prior(past, model="bernoulli")
    >>> round(fitted.level, 3)
    0.042
    >>> fitted.bandit(arms=3, level=0.1).arms
    3
    """

    model: str
    grouped: bool
    parameters: dict[str, float]
    standard_errors: dict[str, float]
    log_likelihood: float
    comparison: LikelihoodRatio | None
    warnings: tuple[str, ...]
    upper_limits: dict[str, float]
    family: Family
    point: PriorPoint
    coordinate_errors: Array

    @property
    def level(self) -> float:
        """The typical level, which is the median over experiments."""
        return self.level_quantile(0.5)

    @property
    def width(self) -> float:
        """Standard deviation of arms around the typical level."""
        return self.family.width(self.level, self.point.spread)

    @property
    def most_arms(self) -> int:
        """Number of arms of the largest past experiment."""
        return int(self.family.history.arms_per_experiment.max())

    @property
    def width_limit(self) -> float | None:
        """The largest likely width where the best one is 0, so that `bandit` needs one; otherwise None."""
        return self.upper_limits[self.family.width_name] if self.point.spread == 0.0 else None

    def level_quantile(self, share: float) -> float:
        """Return a quantile of the levels of experiments; the typical level if they are not grouped.

        Parameters
        ----------
        share : float
            Fraction of experiments with a lower level, strictly between 0 and 1.
        """
        z = float(ndtri(checks.probability("share", share)))
        return float(self.family.inverse_link(np.asarray(self.point.location + z * self.point.level_spread)))

    def bandit(
        self,
        arms: int | None = None,
        *,
        level: float | None = None,
        width: float | None = None,
        uncertainty: bool = True,
    ) -> Bandit:
        """Return the bandit of a new experiment: arms that vary around a level, which varies as in the history.

        Parameters
        ----------
        arms : int, optional
            Number of arms; by default that of the largest past experiment.
        level : float, optional
            Level of the new experiment, if it is known; by default levels vary as fitted.
        width : float, optional
            Standard deviation of arms around the typical level, or around `level` if given; the fitted one by default.
            Required if the fitted one is 0.
        uncertainty : bool
            Whether the prior includes the sampling errors of the fit: of the typical level, of the level spread and of
            the width.

        Returns
        -------
        Bandit
            A BernoulliBandit, GaussianBandit or PoissonBandit if level and width are known. Otherwise a MixtureBandit
            over levels and widths; gaussian arms with an unknown level are a LinearBandit, or a mixture of them.
        """
        arms = self.most_arms if arms is None else checks.whole("arms", arms, 1, LARGEST_ARMS)
        if not isinstance(uncertainty, bool):
            raise checks.fail("uncertainty", "True or False", uncertainty)
        around = self.level if level is None else self._checked_level(level)
        new_level = self._new_level(uncertainty) if level is None else NewLevel(self._location(around), 0.0)
        spread, error = self.point.spread, self._error(SPREAD) if uncertainty else 0.0
        if width is not None:
            spread, error = self.family.spread(around, checks.positive("width", width)), 0.0
        if spread == 0.0:
            raise ValueError(
                "width must be given: the history's arms differ by no more than chance explains; up to "
                f"{self.width_limit:.2g} is likely"
            )
        return new_bandit(self.family, arms, new_level, spread, error)

    def _new_level(self, uncertainty: bool) -> NewLevel:
        """Distribution of the location of a new experiment."""
        deviation, error = self.point.level_spread, self._error(LOCATION)
        if uncertainty and deviation > 0.0:
            log_error, experiments = self._error(LEVEL_SPREAD_LOG), self.family.history.experiments
            deviation = predicted_deviation(deviation, log_error, error, experiments)
        elif uncertainty:
            deviation = math.hypot(self._likely_level_spread(), error)
        return NewLevel(self.point.location, deviation)

    def _likely_level_spread(self) -> float:
        """Root of the mean squared level spread, where the best one is 0; 0 if the history cannot show any.

        The likelihood is about that of a half-normal level spread: exp(-x^2 / (2 s^2)), with mean square s^2. A history
        that allows more than the link's scale says nothing about level spreads.
        """
        limit = self.upper_limits.get(LEVEL_SPREAD, 0.0)
        return min(limit / math.sqrt(2.0 * LIKELY_LOSS), self.family.link_scale)

    def _error(self, coordinate: int) -> float:
        """Standard error of a coordinate, 0 where the history does not determine it, and at most 1 for logarithms."""
        error = float(self.coordinate_errors[coordinate])
        return error if coordinate == LOCATION else min(error, LARGEST_LOG_ERROR)

    def _location(self, level: float) -> float:
        return float(self.family.link(np.asarray(level)))

    def _checked_level(self, level: float) -> float:
        if self.model == "bernoulli":
            return checks.probability("level", level)
        return checks.positive("level", level) if self.model == "poisson" else checks.real("level", level)

    def save(
        self,
        path: str | os.PathLike[str],
        arms: int | None = None,
        *,
        level: float | None = None,
        width: float | None = None,
        uncertainty: bool = True,
    ) -> Bandit:
        """Write the problem file of a new experiment, and return its bandit.

        Parameters
        ----------
        path : str or os.PathLike
            Name of the file, which ends in .toml or .json.
        arms, level, width, uncertainty
            As in `bandit`.
        """
        made = self.bandit(arms, level=level, width=width, uncertainty=uncertainty)
        save_problem(made, path)
        return made

    def __repr__(self) -> str:
        return str(self)

    def records(self) -> list[dict[str, Any]]:
        """Return one row per parameter as plain data."""
        return [
            {
                "parameter": name,
                "estimate": value,
                "standard_error": self.standard_errors[name],
                "upper_limit": self.upper_limits.get(name),
            }
            for name, value in self.parameters.items()
        ]

    def _draw(self, axes: Axes) -> None:
        importlib.import_module("bayesregret.plotting.prior_fit").draw_arms(axes, self)

    def table(self) -> list[list[str]]:
        """Return headings and one row per parameter, as `print` and the command line show them."""
        return [["parameter", "estimate"], *([name, self._estimate_text(name)] for name in self.parameters)]

    def _estimate_text(self, name: str) -> str:
        value, error = self.parameters[name], self.standard_errors[name]
        if name in self.upper_limits:
            return f"0, up to {self.upper_limits[name]:.2g}"
        if math.isinf(error):
            return f"{brief(value)}, unsure" if math.isfinite(value) else "infinite"
        return with_error(value, error)

    def summary(self) -> str:
        """Return the size of the history, the comparison and the warnings, one line each."""
        history = self.family.history
        size = f"{counted(history.arms, 'arm')} of {counted(self.family.history.experiments, 'experiment')}"
        is_spread = self.point.level_spread > 0.0
        how = "one level per experiment, mean and width at the typical level" if is_spread else "one level for all"
        lines = [f"{self.model} prior from {size}, {how}; {PLUS_MINUS} one standard error"]
        if self.comparison is not None:
            lines.append(f"one level per experiment against one for all: {self.comparison}")
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as `bayesregret prior fit --json` prints it."""
        return {
            "model": self.model,
            "grouped": self.grouped,
            "parameters": dict(self.parameters),
            "standard_errors": dict(self.standard_errors),
            "log_likelihood": self.log_likelihood,
            "upper_limits": dict(self.upper_limits),
            "comparison": None if self.comparison is None else asdict(self.comparison),
            "experiments": self.family.history.experiments,
            "arms": self.family.history.arms,
            "pulls": int(self.family.history.pulls.sum()),
            "warnings": list(self.warnings),
        }
