"""What an agent has learned about each arm: the result of `agent.posterior()`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.agent.names import shortened
from bayesregret.checks import Array
from bayesregret.digits import PLUS_MINUS, brief, counted, percent, rounded_to_error
from bayesregret.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN_ARMS = 20  # more are not printed, but the most likely best ones
NAMED_ARMS = 40  # more names would touch in a figure
# Intervals that are narrower, relative to their ends, are written as a mean and a distance.
NARROW = 1e-5
# Numbers beyond these have no fixed decimals in tables.
PRECISION = 0.075  # of numbers in tables, relative to the interval: a third of a standard deviation
LEAST_ERROR, LARGEST_SIZE = 1e-5, 1e7
LEAST_SHARE = 0.0005  # a smaller probability would read 0.0%


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Result):
    """What an agent has learned about each arm: the result of `agent.posterior()`.

    The prior is that of the problem, also if the policy believes in another one. Pending pulls do not count. `plot`
    draws the means with their credible intervals.

    Attributes
    ----------
    arms : tuple of str
        Names of the arms.
    pulls : ndarray of int
        Number of rewards of each arm.
    mean : ndarray of float
        Posterior mean of each arm's mean reward.
    low, high : ndarray of float
        Ends of its credible interval: the mean reward is below `low` and above `high` with the same probability.
    best_probability : ndarray of float
        Probability that the arm has the highest mean reward. They sum to 1.
    best_stderr : ndarray of float
        Standard error of this probability: 0 where it is computed, to six decimals; arms that are correlated given all
        rewards, as those of a linear bandit are, have draws in place of integrals.
    level : float
        Probability of the credible intervals.
    kind : str
        Kind of the problem.

    Examples
    --------
    >>> agent = Thompson().start(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), arms=["blue", "green"])
    >>> agent.update_many(["blue"] * 20 + ["green"] * 20, [1] * 12 + [0] * 8 + [1] * 7 + [0] * 13)
    >>> agent.posterior()
    arm    pulls  mean  95% interval  P(best)
    -----------------------------------------
    blue      20  0.59  0.38 to 0.78    93.9%
    green     20  0.36  0.18 to 0.57     6.1%
    bernoulli bandit, after 40 rewards
    """

    arms: tuple[str, ...]
    pulls: NDArray[np.int64]
    mean: Array
    low: Array
    high: Array
    best_probability: Array
    best_stderr: Array
    level: float
    kind: str

    def __repr__(self) -> str:
        return str(self)

    def shown_arms(self) -> list[int]:
        """Numbers of the arms that are printed: all, or those that are most likely best, in their order."""
        if len(self.arms) <= SHOWN_ARMS:
            return list(range(len(self.arms)))
        return sorted(np.argsort(-self.best_probability, kind="stable")[:SHOWN_ARMS].tolist())

    def table(self) -> list[list[str]]:
        """Return headings and one row for each arm; of many arms, those that are most likely the best."""
        heading = ["arm", "pulls", "mean", f"{self._percent} interval", "P(best)"]
        return [
            heading,
            *([shortened(self.arms[arm]), f"{self.pulls[arm]:,}", *self._cells(arm)] for arm in self.shown_arms()),
        ]

    @property
    def _percent(self) -> str:
        return f"{100.0 * self.level:.10g}%"

    def _cells(self, arm: int) -> list[str]:
        mean, low, high = float(self.mean[arm]), float(self.low[arm]), float(self.high[arm])
        share = _share(float(self.best_probability[arm]), float(self.best_stderr[arm]))
        return [*_with_interval(mean, low, high), share]

    def summary(self) -> str:
        """Return the arms that are not shown, the size of the data, and how the probabilities were found."""
        rest = len(self.arms) - len(self.shown_arms())
        more = f"and {counted(rest, 'more arm')}, less likely to be the best\n" if rest else ""
        size = f"{self.kind} bandit, after {counted(int(self.pulls.sum()), 'reward')}"
        drawn = f"; probabilities of being best by draws, {PLUS_MINUS} one standard error"
        return f"{more}{size}{drawn if self.best_stderr.any() else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with one entry for each arm."""
        columns = {
            "arm": list(self.arms),
            "pulls": self.pulls.tolist(),
            "mean": self.mean.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "best_probability": self.best_probability.tolist(),
            "best_stderr": self.best_stderr.tolist(),
        }
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {"kind": self.kind, "level": self.level, "arms": rows}

    def records(self) -> list[dict[str, Any]]:
        """Return one row for each arm as plain data."""
        rows: list[dict[str, Any]] = self.to_dict()["arms"]
        return rows

    def _draw(self, axes: Axes) -> None:
        places = np.arange(len(self.arms))
        few = len(self.arms) <= NAMED_ARMS
        (points,) = axes.plot(self.mean, places, "o", ms=6.0 if few else 1.5)
        axes.hlines(places, self.low, self.high, lw=2.0 if few else 0.5, color=points.get_color(), alpha=0.5)
        axes.set_ylim(len(self.arms) - 0.5, -0.5)
        if few:
            axes.set_yticks(places, [shortened(name).replace("$", r"\$") for name in self.arms])
        else:
            axes.set_ylabel("arm")
        axes.set_xlabel(f"mean reward and its {self._percent} interval")


def _with_interval(mean: float, low: float, high: float) -> list[str]:
    """Texts of a mean and its interval, with the digits that the interval's width justifies."""
    error, size = PRECISION * (high - low), max(map(abs, (mean, low, high)))
    if not math.isfinite(size):
        texts = [
            brief(x) if math.isfinite(x) else "infinite" if x > 0.0 else "minus infinite" for x in (mean, low, high)
        ]
    elif 0.0 < error < NARROW * size:
        return [f"{mean:.8g}", f"{PLUS_MINUS} {0.5 * (high - low):.1g}"]
    elif error < LEAST_ERROR or size >= LARGEST_SIZE:
        texts = [brief(x) for x in (mean, low, high)]
    else:
        texts = [rounded_to_error(x, error) for x in (mean, low, high)]
    return [texts[0], f"{texts[1]} to {texts[2]}"]


def _share(probability: float, stderr: float) -> str:
    """Text of a probability of being best, as a percentage."""
    if stderr > 0.0:
        return percent(probability, stderr)
    if 0.0 < probability < LEAST_SHARE:
        return "<0.1%"
    return ">99.9%" if 1.0 - LEAST_SHARE < probability < 1.0 else f"{probability:.1%}"
