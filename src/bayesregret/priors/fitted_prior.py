"""A prior that was fitted, with its errors and doubts, and the bandits that it is a prior of."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from bayesregret import checks
from bayesregret.digits import PLUS_MINUS, brief, counted, text_table, with_error
from bayesregret.models import Bandit
from bayesregret.priors.families.family import Family, Point
from bayesregret.priors.likelihood_ratio import Comparison
from bayesregret.problem import LARGEST_ARMS, save_problem


@dataclass(frozen=True, repr=False, eq=False)
class FittedPrior:
    """What `fit_prior` returns.

    `parameters` are those of the prior of arms at the typical level, and in a grouped fit `level_spread`, the standard
    deviation of experiments' levels after the link: none for gaussian, logit for bernoulli, log for poisson.
    `standard_errors` has the same names; infinite where the history does not say. `upper_limits` has, for a width or
    a level_spread whose best value is 0, the largest one that is likely: in 95 of 100 large histories the true one is
    below.
    """

    model: str
    grouped: bool
    parameters: dict[str, float]
    standard_errors: dict[str, float]
    log_likelihood: float
    comparison: Comparison | None  # None where experiments and arms cannot be told apart
    warnings: tuple[str, ...]
    upper_limits: dict[str, float]
    family: Family  # the history under its model
    point: Point

    @property
    def level(self) -> float:
        """The typical level: half of all experiments have a lower one."""
        return self.level_quantile(0.5)

    @property
    def width(self) -> float:
        """Standard deviation of arms around the typical level."""
        return self.family.width(self.level, self.point.spread)

    def level_quantile(self, share: float) -> float:
        """The level below which this share of experiments is; the typical level for all if they are not grouped."""
        z = float(ndtri(checks.probability("share", share)))
        return float(self.family.level(np.asarray(self.point.location + z * self.point.level_spread)))

    def bandit(self, arms: int, *, level: float | None = None, width: float | None = None) -> Bandit:
        """The prior of a new experiment's arms: independent, around its level.

        `level` is the new experiment's own, the typical one if None. `width` is the standard deviation of arms around
        it, the fitted one if None; where that is 0, no prior can be made without it.
        """
        arms = checks.whole("arms", arms, 1, LARGEST_ARMS)
        level = self.level if level is None else self._checked_level(level)
        width = self.family.width(level, self.point.spread) if width is None else checks.positive("width", width)
        if width == 0.0:
            raise ValueError(
                "width must be given: the history's arms differ by no more than chance explains; up to "
                f"{self.upper_limits[self.family.width_name]:.2g} is likely"
            )
        return self.family.bandit(arms, level, width)

    def _checked_level(self, level: float) -> float:
        if self.model == "bernoulli":
            return checks.probability("level", level)
        return checks.positive("level", level) if self.model == "poisson" else checks.real("level", level)

    def save(self, path: str | os.PathLike[str], arms: int, **new: float | None) -> Bandit:
        """Write the problem file of a new experiment with so many arms, `level` and `width` as in `bandit`."""
        made = self.bandit(arms, **new)
        save_problem(made, path)
        return made

    def __repr__(self) -> str:
        return f"{text_table(self.table())}\n{self.summary()}"

    def table(self) -> list[list[str]]:
        """Headings and a row for each parameter, as `print` and the command line show them."""
        return [["parameter", "estimate"], *([name, self._told(name)] for name in self.parameters)]

    def _told(self, name: str) -> str:
        value, error = self.parameters[name], self.standard_errors[name]
        if name in self.upper_limits:
            return f"0, up to {self.upper_limits[name]:.2g}"
        if math.isinf(error):
            return f"{brief(value)}, unsure" if math.isfinite(value) else "infinite"
        return with_error(value, error)

    def summary(self) -> str:
        """What was fitted, the comparison and the warnings, a line each."""
        history = self.family.history
        size = f"{counted(history.arms, 'arm')} of {counted(self.family.history.experiments, 'experiment')}"
        how = "experiments have levels of their own" if self.point.level_spread > 0.0 else "one level for all"
        lines = [f"{self.model} prior from {size}, {how}; {PLUS_MINUS} one standard error"]
        if self.comparison is not None:
            lines.append(f"own levels against one for all: {self.comparison}")
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesregret prior fit --json` prints it."""
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
