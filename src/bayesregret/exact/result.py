"""`ExactRegret`: the result of an exact computation, with its numerical error."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesregret.checks import Array
from bayesregret.digits import PLUS_MINUS, brief, counted, exact_digits
from bayesregret.models import Bandit
from bayesregret.results import Result, draw_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class ExactRegret(Result):
    """The Bayes regret of one policy, computed without simulation: the result of `exact_regret`.

    `to_frame` has the regret after each round with its numerical error, and `plot` draws it.

    Attributes
    ----------
    bandit : Bandit
        The bandit.
    policy : str
        Name of the policy.
    horizon : int
        Number of rounds.
    delta : float or None
        Failure probability of the policy; None if the policy has none.
    curve : ndarray, shape (horizon,)
        Bayes regret after each round, with the delta of the whole horizon.
    curve_error : ndarray, shape (horizon,)
        Estimates of the numerical error of `curve`.
    pulls : ndarray, shape (arms,)
        Expected pulls of each arm.
    imbalance : float
        Largest difference, over rounds t, between t and the arms' total expected pulls until round t. It is 0 but for
        numerical error.
    find_best_chance : callable
        Computes `best_chance`.

    Examples
    --------
    >>> exact_regret(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), UCB1(), horizon=4).curve.round(6)
    array([0.166667, 0.333333, 0.416667, 0.486111])
    """

    bandit: Bandit
    policy: str
    horizon: int
    delta: float | None
    curve: Array
    curve_error: Array
    pulls: Array
    imbalance: float
    find_best_chance: Callable[[], Array | None]

    @property
    def regret(self) -> float:
        """Bayes regret at the horizon."""
        return float(self.curve[-1])

    @property
    def error(self) -> float:
        """Estimate of the regret's numerical error."""
        return float(self.curve_error[-1])

    @functools.cached_property
    def best_chance(self) -> Array | None:
        """Probability that each round pulls the best arm, shape (horizon,); computed on first access.

        It has about five digits for Gaussian bandits and three for Bernoulli ones. It is None for heteroscedastic
        Gaussian arms, and where it would take too long: Bernoulli bandits over more than 2,000 rounds, and Gaussian
        bandits with a prior 30 times as wide as the noise, with confidence bounds wider than 15 posterior standard
        deviations, or, for policies without a prior, with noise 8 times as wide as the prior.
        """
        return self.find_best_chance()

    @property
    def best_share(self) -> float | None:
        """Expected fraction of rounds on the best arm; None where `best_chance` is None."""
        return None if self.best_chance is None else float(self.best_chance.mean())

    def table(self, best_arm: bool = False) -> list[list[str]]:
        """Return the headings and the row that `print` and the command line show.

        Parameters
        ----------
        best_arm : bool
            Add the probability of pulling the best arm, which takes longer to compute.
        """
        headings = ["policy", "Bayes regret", "error", "per round"]
        regret = exact_digits(self.regret, self.error)
        row = [self.policy, regret, f"{self.error:.0e}", brief(self.regret / self.horizon)]
        if best_arm:
            probability = self.best_chance
            headings += ["best arm", "best arm at the end"]
            row += ["", ""] if probability is None else [f"{probability.mean():.2%}", f"{probability[-1]:.2%}"]
        return [headings, row]

    def summary(self) -> str:
        """Describe the computation in one line."""
        size = f"{counted(self.horizon, 'round')}, {counted(self.bandit.arms, 'arm')}"
        delta = "" if self.delta is None else f", delta {self.delta:g}"
        return f"{self.bandit.kind} bandit, {size}{delta}; computed, not simulated"

    def records(self) -> list[dict[str, Any]]:
        """Return the regret after each round as plain data: round, regret and error."""
        values = zip(self.curve.tolist(), self.curve_error.tolist(), strict=True)
        return [{"round": round_, "regret": regret, "error": error} for round_, (regret, error) in enumerate(values, 1)]

    def _draw(self, axes: Axes) -> None:
        draw_curve(axes, range(1, self.horizon + 1), self.curve, f"{self.policy}, exact")

    def __repr__(self) -> str:
        return (
            f"<{self.policy}: exact Bayes regret {exact_digits(self.regret, self.error)} {PLUS_MINUS} {self.error:.0e}>"
        )

    def to_dict(self, best_arm: bool = False) -> dict[str, Any]:
        """Return plain data, as `bayesregret exact --json` prints it.

        Parameters
        ----------
        best_arm : bool
            Add the probability of pulling the best arm, which takes longer to compute.
        """
        data = {
            "problem": self.bandit.to_dict(),
            "policy": self.policy,
            "horizon": self.horizon,
            "delta": self.delta,
            "regret": self.regret,
            "error": self.error,
            "pulls": self.pulls.tolist(),
            "curve": self.curve.tolist(),
            "curve_error": self.curve_error.tolist(),
        }
        if best_arm:
            data["best_share"] = self.best_share
            data["best_chance"] = None if self.best_chance is None else self.best_chance.tolist()
        return data
