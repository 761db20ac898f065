"""`bayes_optimal_regret`: the Bayes regret of the optimal policy, and that policy's decisions."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.digits import PLUS_MINUS, counted, exact_digits
from bayesregret.models import Bandit, BernoulliBandit
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.numerics.expected_maximum import beta_best
from bayesregret.old_spellings import horizon_by_name
from bayesregret.optimal.dp_three_arms import solve_three_arms
from bayesregret.optimal.dp_two_arms import solve_two_arms
from bayesregret.results import Result, draw_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# By number of arms. With two, time grows with the fourth power of the horizon; with three, memory with the sixth.
LARGEST_HORIZON = {1: 1_000_000, 2: 500, 3: 60}
# Rounding operations per value, and the largest relative error ever observed in the mean of the best arm.
OPERATIONS = 8
BEST_MEAN_ERROR = 1e-14


@dataclass(frozen=True, repr=False)
class OptimalRegret(Result):
    """The smallest Bayes regret of any policy: the result of `bayes_optimal_regret`.

    `plot` draws a line at this regret, for a picture of the regret of policies.

    Attributes
    ----------
    bandit : Bandit
        The bandit.
    horizon : int
        Number of rounds.
    regret : float
        Bayes regret of the optimal policy at the horizon.
    error : float
        Bound on the rounding error of `regret`.

    Examples
    --------
    >>> optimal = bayes_optimal_regret(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), horizon=2)
    >>> optimal.horizon, round(optimal.regret, 12)
    (2, 0.25)
    """

    bandit: Bandit
    horizon: int
    regret: float
    error: float

    def check_positive(self) -> None:
        """Raise a ValueError if the optimal regret is 0, so that no ratio to it exists."""
        if self.regret <= 0.0:
            raise ValueError("the ratio to optimal regret is undefined: this bandit's optimal regret is 0")

    def table(self) -> list[list[str]]:
        """Return headings and one row, as `print` shows them."""
        regret = exact_digits(self.regret, self.error)
        return [["policy", "Bayes regret", "error"], ["bayes-optimal", regret, f"{self.error:.0e}"]]

    def summary(self) -> str:
        """Describe the computation in one line."""
        size = f"{counted(self.horizon, 'round')}, {counted(self.bandit.arms, 'arm')}"
        return f"{self.bandit.kind} bandit, {size}; no policy has less regret"

    def records(self) -> list[dict[str, Any]]:
        """Return horizon, regret and error as plain data."""
        return [{"horizon": self.horizon, "regret": self.regret, "error": self.error}]

    def _draw(self, axes: Axes) -> None:
        draw_level(axes, self.regret, "no policy has less")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"problem": self.bandit.to_dict()} | self.records()[0]

    def __repr__(self) -> str:
        regret = exact_digits(self.regret, self.error)
        return f"<bayes-optimal: Bayes regret {regret} {PLUS_MINUS} {self.error:.0e}>"


class OptimalPlay(NamedTuple):
    """Expected reward and decisions of the optimal policy: `switch` for two arms, `places` and `choice` for three."""

    reward: float
    switch: NDArray[np.uint16]
    places: NDArray[np.int64]
    choice: NDArray[np.uint8]


@horizon_by_name
def bayes_optimal_regret(bandit: BanditLike, *, horizon: int) -> OptimalRegret:
    """Compute the Bayes regret of the optimal policy, by dynamic programming over all posteriors.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        A Bernoulli bandit with at most three arms and any Beta priors.
    horizon : int
        Number of rounds: at most 500 with two arms, 60 with three.

    Returns
    -------
    OptimalRegret
        The smallest Bayes regret of any policy, with a bound on its rounding error.

    Examples
    --------
    >>> optimal = bayes_optimal_regret(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), horizon=2)
    >>> round(optimal.regret, 12), optimal.error < 1e-12
    (0.25, True)
    """
    bandit = as_bandit(bandit)
    if isinstance(bandit, BernoulliBandit) and bandit.arms == 1:
        return OptimalRegret(bandit, checks.whole("horizon", horizon, 1), 0.0, 0.0)
    play = best_play(bandit, horizon)
    best = beta_best(bandit.alpha, bandit.beta)  # type: ignore[attr-defined]
    rounding = np.spacing(0.5) * OPERATIONS * 0.5 * horizon * (horizon + 1)
    error = float(rounding + BEST_MEAN_ERROR * best * horizon)
    return OptimalRegret(bandit, horizon, max(0.0, horizon * best - play.reward), error)


def best_play(bandit: Bandit, horizon: Any) -> OptimalPlay:
    """Return the optimal policy's reward and decisions; cached by bandit and horizon."""
    if not isinstance(bandit, BernoulliBandit):
        raise ValueError(f"bandit must be bernoulli for bayes-optimal, got {bandit.a_kind} one")
    horizon = checks.whole("horizon", horizon, 1)
    if bandit.arms not in LARGEST_HORIZON:
        raise ValueError(f"bandit must have at most {max(LARGEST_HORIZON)} arms for bayes-optimal, got {bandit.arms}")
    largest = LARGEST_HORIZON[bandit.arms]
    if horizon > largest:
        raise ValueError(
            f"horizon must be at most {largest} for bayes-optimal with {counted(bandit.arms, 'arm')}, got {horizon}"
        )
    return _solve(bandit, horizon)


@functools.lru_cache(maxsize=4)
def _solve(bandit: BernoulliBandit, horizon: int) -> OptimalPlay:
    switch, places, choice = np.zeros(0, np.uint16), np.zeros((0, 0, 0), np.int64), np.zeros(0, np.uint8)
    reward = float(horizon * bandit.alpha[0] / (bandit.alpha[0] + bandit.beta[0]))
    if bandit.arms == 2:
        reward, switch = solve_two_arms(bandit.alpha, bandit.beta, horizon)
    if bandit.arms == 3:
        reward, places, choice = solve_three_arms(bandit.alpha, bandit.beta, horizon)
    return OptimalPlay(reward, switch, places, choice)
