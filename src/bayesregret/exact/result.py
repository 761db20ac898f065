"""What an exact computation found, with its numerical error."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bayesregret.checks import Array
from bayesregret.digits import PLUS_MINUS, brief, counted, exact_digits, text_table
from bayesregret.models import Bandit


@dataclass(frozen=True, eq=False, repr=False)
class ExactRegret:
    """The Bayes regret of one policy, computed without a random number."""

    bandit: Bandit
    policy: str
    horizon: int
    delta: float | None  # the failure probability that the policy has, where it has one
    curve: Array  # (horizon,): Bayes regret after each round, with the delta of the whole horizon
    curve_error: Array  # (horizon,): estimates of the numerical error
    pulls: Array  # (arms,): expected pulls of each arm
    imbalance: float  # how far the expected pulls of all arms until round t are from t, at most
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
        """(horizon,): the chance that each round is on the best arm, to about five digits for Gaussian bandits and
        three for Bernoulli ones; computed when it is first asked for.

        None for Gaussian arms with prior widths or reward noises of their own, and where it would take too long:
        Bernoulli bandits over more than 2,000 rounds, Gaussian ones with a prior 30 times as wide as the noise,
        confidence bounds of more than 15 deviations, or, for policies without a prior, noise 8 times as wide as the
        prior.
        """
        return self.find_best_chance()

    @property
    def best_share(self) -> float | None:
        """Expected share of rounds on the best arm."""
        return None if self.best_chance is None else float(self.best_chance.mean())

    def table(self, best_arm: bool = False) -> list[list[str]]:
        """Headings and a row, as `print` and the command line show them; the best arm's chances take longer."""
        headings = ["policy", "Bayes regret", "error", "per round"]
        regret = exact_digits(self.regret, self.error)
        row = [self.policy, regret, f"{self.error:.0e}", brief(self.regret / self.horizon)]
        if best_arm:
            chance = self.best_chance
            headings += ["best arm", "best arm at the end"]
            row += ["", ""] if chance is None else [f"{chance.mean():.2%}", f"{chance[-1]:.2%}"]
        return [headings, row]

    def summary(self) -> str:
        """One line that says what was computed."""
        size = f"{counted(self.horizon, 'round')}, {counted(self.bandit.arms, 'arm')}"
        delta = "" if self.delta is None else f", delta {self.delta:g}"
        return f"{self.bandit.kind} bandit, {size}{delta}; computed, not simulated"

    def __str__(self) -> str:
        return f"{text_table(self.table())}\n{self.summary()}"

    def __repr__(self) -> str:
        return (
            f"<{self.policy}: exact Bayes regret {exact_digits(self.regret, self.error)} {PLUS_MINUS} {self.error:.0e}>"
        )

    def to_dict(self, best_arm: bool = False) -> dict[str, Any]:
        """Plain data, as `bayesregret exact --json` prints it."""
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
