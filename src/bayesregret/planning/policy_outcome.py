"""What is to be expected of one policy."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.bounds.bound import Bound
from bayesregret.checks import Array
from bayesregret.planning.tracked_simulation import Watched
from bayesregret.planning.zero_crossing import Crossing, Sweep
from bayesregret.policies import Policy
from bayesregret.simulation.result import Estimate, estimate

SHARES = (0.05, 0.5, 0.95)
LIKELY = 0.95


@dataclass(frozen=True, eq=False)
class Outcome:
    """The regret of one policy over the horizon, and how soon it is on the best arm."""

    name: str
    policy: Policy
    horizon: int
    seen: Watched
    exact: float | None  # Bayes regret without simulation, where that is quick
    exact_error: float | None
    bound: Bound | None  # the best certified bound that holds
    least_ratio: float | None  # how many times the least regret there is, where that is known

    @property
    def runs(self) -> int:
        return len(self.seen.final_regret)

    @functools.cached_property
    def simulated(self) -> Estimate:
        return estimate(self.seen.final_regret)

    @property
    def regret(self) -> Estimate:
        """Bayes regret with its error: the exact one with its numerical error where there is one."""
        if self.exact is None or self.exact_error is None:
            return self.simulated
        return Estimate(self.exact, self.exact_error)

    @property
    def regret_per_round(self) -> Estimate:
        return Estimate(self.regret.mean / self.horizon, self.regret.stderr / self.horizon)

    @functools.cached_property
    def quantiles(self) -> dict[float, Estimate]:
        """5, 50 and 95 percent of the regret over instances."""
        in_order = np.sort(self.seen.final_regret)
        return {share: _quantile(in_order, share) for share in SHARES}

    @property
    def on_best(self) -> Estimate:
        """The chance that the last round is on the best arm."""
        return Estimate(float(self.seen.on_best[-1]), float(self.seen.on_best_stderr[-1]))

    @functools.cached_property
    def settled(self) -> Crossing | None:
        """The round from which on that chance stays above 95 percent; None if it is not above it at the end."""
        above = [
            Estimate(chance - LIKELY, stderr)
            for chance, stderr in zip(self.seen.on_best.tolist(), self.seen.on_best_stderr.tolist(), strict=True)
        ]
        log_rounds = tuple(math.log(round_) for round_ in self.seen.rounds.tolist())
        if all(value.mean > 0.0 for value in above):
            return Crossing(1.0, 1.0, 1.0)
        crossing = Sweep(log_rounds, tuple(above)).crossing()
        return None if crossing is None else Crossing(*(float(math.exp(at)) for at in crossing))

    def to_dict(self) -> dict[str, Any]:
        seen = self.seen
        return {
            "regret": self.regret.mean,
            "error": self.regret.stderr,
            "exact": self.exact is not None,
            "simulated": {"regret": self.simulated.mean, "stderr": self.simulated.stderr, "runs": self.runs},
            "per_round": self.regret_per_round.mean,
            "quantiles": {
                f"{share:g}": {"regret": value.mean, "stderr": value.stderr} for share, value in self.quantiles.items()
            },
            "bound": None if self.bound is None else {"name": self.bound.name, "value": self.bound.value},
            "on_best": {"chance": self.on_best.mean, "stderr": self.on_best.stderr},
            "settled": None if self.settled is None else self.settled._asdict(),
            "times_least": self.least_ratio,
            "delta": seen.delta,
            "explore": getattr(self.policy, "explore", None),
            "curve": {"regret": seen.curve.tolist(), "stderr": seen.curve_stderr.tolist()},
            "on_best_by_round": {"chance": seen.on_best.tolist(), "stderr": seen.on_best_stderr.tolist()},
            "rounds": seen.rounds.tolist(),
        }


def _quantile(in_order: Array, share: float) -> Estimate:
    """With a standard error: half of what lies between the values a standard error of the rank away on either side."""
    runs = len(in_order)
    spread = math.sqrt(share * (1.0 - share) / runs)
    low, at, high = (_at(in_order, share + off) for off in (-spread, 0.0, spread))
    return Estimate(at, 0.5 * (high - low) if runs > 1 else math.inf)


def _at(in_order: NDArray[np.float64], share: float) -> float:
    return float(np.quantile(in_order, min(1.0, max(0.0, share))))
