"""Expected outcome of one policy."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesregret.bounds.result import Bound
from bayesregret.checks import Array
from bayesregret.planning.tracked_simulation import TrackedRuns
from bayesregret.planning.zero_crossing import Z_95, Crossing, SampledFunction
from bayesregret.policies import Policy
from bayesregret.simulation.estimates import Estimate, estimate

QUANTILES = (0.05, 0.5, 0.95)
LIKELY = 0.95  # probability of an arm within epsilon of the best from which on a policy has settled


@dataclass(frozen=True, eq=False)
class PolicyOutcome:
    """Regret of one policy over the horizon, and how soon it pulls the best arm."""

    name: str
    policy: Policy
    horizon: int
    tracked: TrackedRuns
    exact: float | None  # Bayes regret without simulation, where that is quick
    exact_error: float | None
    bound: Bound | None  # the best certified bound that holds
    least_ratio: float | None  # regret divided by the least regret, or by a lower bound on it
    is_tuned: bool = False  # whether the plan chose its delta

    @property
    def runs(self) -> int:
        return len(self.tracked.final_regret)

    @functools.cached_property
    def simulated(self) -> Estimate:
        return estimate(self.tracked.final_regret)

    @property
    def regret(self) -> Estimate:
        """Bayes regret: the exact one with its numerical error where known, otherwise the simulated one."""
        if self.exact is None or self.exact_error is None:
            return self.simulated
        return Estimate(self.exact, self.exact_error)

    @property
    def most_regret(self) -> float:
        """Regret is not above this: with the numerical error, or with 95 percent confidence where it is simulated."""
        return self.regret.mean + (1.0 if self.exact is not None else Z_95) * self.regret.stderr

    @property
    def regret_per_round(self) -> Estimate:
        return Estimate(self.regret.mean / self.horizon, self.regret.stderr / self.horizon)

    @functools.cached_property
    def quantiles(self) -> dict[float, Estimate]:
        """5, 50 and 95 percent quantiles of the regret over instances."""
        in_order = np.sort(self.tracked.final_regret)
        return {probability: _quantile(in_order, probability) for probability in QUANTILES}

    @property
    def on_best(self) -> Estimate:
        """Probability that the last round is on the best arm."""
        return Estimate(float(self.tracked.on_best[-1]), float(self.tracked.on_best_stderr[-1]))

    @property
    def near_best(self) -> Estimate:
        """Probability that the last round is on an arm within epsilon of the best."""
        return Estimate(float(self.tracked.near_best[-1]), float(self.tracked.near_best_stderr[-1]))

    @functools.cached_property
    def settled(self) -> Crossing | None:
        """Round from which on that probability stays above 95 percent; None if it is not above it at the end."""
        tracked = self.tracked
        above = [
            Estimate(probability - LIKELY, stderr)
            for probability, stderr in zip(tracked.near_best.tolist(), tracked.near_best_stderr.tolist(), strict=True)
        ]
        log_rounds = tuple(math.log(round_) for round_ in tracked.rounds.tolist())
        if all(value.mean > 0.0 for value in above):
            return Crossing(1.0, 1.0, 1.0)
        crossing = SampledFunction(log_rounds, tuple(above)).crossing()
        return None if crossing is None else Crossing(*(float(math.exp(at)) for at in crossing))

    def to_dict(self) -> dict[str, Any]:
        tracked = self.tracked
        return {
            "regret": self.regret.mean,
            "error": self.regret.stderr,
            "exact": self.exact is not None,
            "simulated": {"regret": self.simulated.mean, "stderr": self.simulated.stderr, "runs": self.runs},
            "per_round": self.regret_per_round.mean,
            "quantiles": {
                f"{probability:g}": {"regret": value.mean, "stderr": value.stderr}
                for probability, value in self.quantiles.items()
            },
            "bound": None if self.bound is None else {"name": self.bound.name, "value": self.bound.value},
            "on_best": {"chance": self.on_best.mean, "stderr": self.on_best.stderr},
            "near_best": {"probability": self.near_best.mean, "stderr": self.near_best.stderr},
            "settled": None if self.settled is None else self.settled._asdict(),
            "times_least": self.least_ratio,
            "delta": tracked.delta,
            "explore": getattr(self.policy, "explore", None),
            "curve": {"regret": tracked.curve.tolist(), "stderr": tracked.curve_stderr.tolist()},
            "on_best_by_round": {"chance": tracked.on_best.tolist(), "stderr": tracked.on_best_stderr.tolist()},
            "rounds": tracked.rounds.tolist(),
        }


def _quantile(in_order: Array, probability: float) -> Estimate:
    """Quantile with a standard error: half the distance between the quantiles one standard error of the rank away."""
    runs = len(in_order)
    spread = math.sqrt(probability * (1.0 - probability) / runs)
    low, at, high = (_clipped_quantile(in_order, probability + off) for off in (-spread, 0.0, spread))
    return Estimate(at, 0.5 * (high - low) if runs > 1 else math.inf)


def _clipped_quantile(in_order: Array, probability: float) -> float:
    return float(np.quantile(in_order, min(1.0, max(0.0, probability))))
