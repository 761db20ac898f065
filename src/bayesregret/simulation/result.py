"""What a simulation found, with honest error bars."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesregret.digits import PLUS_MINUS, brief, counted, text_table, with_error
from bayesregret.models import Bandit
from bayesregret.policies import Policy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayesregret.exact import ExactRegret
    from bayesregret.optimal import OptimalRegret
    from bayesregret.simulation.exact_comparison import AgainstExact

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# An average decides when it is this many standard errors away from what it is held against.
DECISIVE = 4.0


@dataclass(frozen=True)
class Estimate:
    """A mean over runs and its standard error."""

    mean: float
    stderr: float

    def __str__(self) -> str:
        return with_error(self.mean, self.stderr)


@dataclass(frozen=True, eq=False)
class Curve:
    """Mean and standard error of cumulative regret after each of `rounds`."""

    rounds: NDArray[np.int64]
    mean: NDArray[np.float64]
    stderr: NDArray[np.float64]


def estimate(values: NDArray[np.float64]) -> Estimate:
    """Mean and standard error, from exactly rounded sums."""
    runs = len(values)
    mean = math.fsum(values) / runs
    squares = math.fsum((values - mean) ** 2)
    return Estimate(mean, float(standard_error(squares, runs)))


def standard_error(squares: Any, runs: int) -> Any:
    """Standard error of a mean over runs from the sum of squared deviations; infinite for a single run."""
    return np.sqrt(squares / (runs - 1) / runs) if runs > 1 else squares + math.inf


@dataclass(frozen=True, eq=False)
class PolicyResult:
    """The Bayes regret of one policy."""

    name: str
    policy: Policy
    delta: float | None  # the failure probability it ran with, where it has one
    final_regret: NDArray[np.float64]  # (runs,)
    best_pulls: NDArray[np.int64]  # (runs,): rounds on the best arm
    mean_pulls: NDArray[np.float64]  # (arms,): pulls of each arm, averaged over runs
    curve: Curve
    horizon: int

    @functools.cached_property
    def estimate(self) -> Estimate:
        return estimate(self.final_regret)

    @property
    def mean(self) -> float:
        """Bayes regret: the final regret averaged over runs."""
        return self.estimate.mean

    @property
    def stderr(self) -> float:
        return self.estimate.stderr

    @property
    def best_share(self) -> float:
        """Share of rounds on the best arm."""
        return float(self.best_pulls.mean() / self.horizon)

    def quantile(self, share: float) -> float:
        """Quantile of the final regret over runs."""
        return float(np.quantile(self.final_regret, share))

    def __repr__(self) -> str:
        return f"<{self.name}: Bayes regret {self.estimate}>"


@dataclass(frozen=True, eq=False, repr=False)
class SimulationResult:
    """What `simulate` returns: a mapping from the names of policies to their results."""

    bandit: Bandit
    horizon: int
    runs: int
    seed: int
    rounds: NDArray[np.int64]
    policies: dict[str, PolicyResult]
    precision: float | None = None
    precision_reached: bool = True
    delay: int = 0
    batch: int = 1

    def __getitem__(self, name: str) -> PolicyResult:
        try:
            return self.policies[name]
        except KeyError:
            raise KeyError(f"policy must be one of {', '.join(self.policies)}, got {name!r}") from None

    def __iter__(self) -> Any:
        return iter(self.policies)

    def __len__(self) -> int:
        return len(self.policies)

    def paired(self, first: str, second: str) -> Estimate:
        """Regret of the first policy minus that of the second; run by run they met the same instance and noise."""
        return estimate(self[first].final_regret - self[second].final_regret)

    def against_exact(self, exact: Mapping[str, ExactRegret] | None = None) -> AgainstExact:
        """Every policy's regret against the exact one, in standard errors, for Gaussian and Bernoulli bandits.

        `exact` has what `exact_regret` found for each policy, by its name here; it is computed if None.

        >>> bandit = GaussianBandit(prior_mean=[1, 0], prior_width=1, reward_noise=1)
        >>> result = simulate(bandit, BayesUCB(), horizon=3, runs=1000, seed=7)
        >>> abs(result.against_exact()["bayes-ucb"].z) < 4
        True
        """
        from bayesregret.exact import exact_regret  # needs SciPy, which simulations do not
        from bayesregret.simulation.exact_comparison import compare

        if (self.delay, self.batch) != (0, 1):
            raise ValueError("delay must be 0 and batch 1 to compare with exact regret, which is of rewards in time")
        if exact is None:
            exact = {
                name: exact_regret(self.bandit, result.policy, horizon=self.horizon)
                for name, result in self.policies.items()
            }
        return compare(self, exact)

    def over_optimal(self, optimal: OptimalRegret | None = None) -> dict[str, Estimate]:
        """Every policy's regret over the least that any policy can have, where that can be computed.

        `optimal` is what `bayes_optimal_regret` found for the same bandit and horizon; it is computed if None.

        >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
        >>> result = simulate(bandit, [Greedy(), UCB1()], horizon=20, runs=500, seed=7)
        >>> {name: round(ratio.mean, 1) for name, ratio in result.over_optimal().items()}
        {'greedy': 1.1, 'ucb1': 1.4}
        """
        from bayesregret.optimal import bayes_optimal_regret

        least = bayes_optimal_regret(self.bandit, self.horizon) if optimal is None else optimal
        if (least.bandit, least.horizon) != (self.bandit, self.horizon):
            raise ValueError("optimal must be for the bandit and horizon of the simulation")
        least.check_positive()
        return {
            name: Estimate(result.mean / least.regret, result.stderr / least.regret)
            for name, result in self.policies.items()
        }

    def __str__(self) -> str:
        return f"{text_table(self.table())}\n{self.summary()}"

    __repr__ = __str__

    def table(self, over_optimal: Mapping[str, Estimate] | None = None) -> list[list[str]]:
        """Headings and a row for each policy, as `print` and the command line show them.

        With the ratios that the method `over_optimal` gives there is a column for them.
        """
        baseline, *others = self.policies
        difference = [f"minus {baseline}"] if others else []
        ratio = [] if over_optimal is None else ["over optimal"]
        rows = [["policy", "Bayes regret", *difference, *ratio, "median", "5% to 95%", "best arm"]]
        for name, result in self.policies.items():
            paired = self.paired(name, baseline)
            less = [with_error(paired.mean, paired.stderr, signed=True) if name != baseline else ""] if others else []
            times = [] if over_optimal is None else [str(over_optimal[name])]
            spread = [brief(result.quantile(0.5)), f"{brief(result.quantile(0.05))} to {brief(result.quantile(0.95))}"]
            rows.append([name, str(result.estimate), *less, *times, *spread, f"{result.best_share:.1%}"])
        return rows

    def summary(self) -> str:
        """One line that says what was run."""
        size = f"{counted(self.runs, 'run')} of {counted(self.horizon, 'round')}, {counted(self.bandit.arms, 'arm')}"
        late = [f"rewards {counted(self.delay, 'round')} late"] if self.delay else []
        late += [f"in batches of {self.batch:,}"] if self.batch > 1 else []
        what = ", ".join([f"{self.bandit.kind} bandit", size, *late, f"seed {self.seed}"])
        text = f"{what}; {PLUS_MINUS} one standard error"
        if self.precision is None:
            return text
        verdict = "reached" if self.precision_reached else "not reached"
        return f"{text}; precision {self.precision:g} {verdict}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesregret simulate --json` prints it."""
        return {
            "problem": self.bandit.to_dict(),
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "delay": self.delay,
            "batch": self.batch,
            "policies": {name: _policy_dict(result) for name, result in self.policies.items()},
            "paired": self._paired_dict(),
            "rounds": self.rounds.tolist(),
        } | ({} if self.precision is None else self._precision_dict())

    def _precision_dict(self) -> dict[str, Any]:
        return {"precision": self.precision, "precision_reached": self.precision_reached}

    def _paired_dict(self) -> dict[str, dict[str, float]]:
        baseline, *others = self.policies
        differences = {f"{name} - {baseline}": self.paired(name, baseline) for name in others}
        return {name: {"difference": d.mean, "stderr": d.stderr} for name, d in differences.items()}

    def to_frame(self) -> pd.DataFrame:
        """A pandas table of the curves: policy, round, regret, stderr."""
        import pandas as pd

        return pd.concat(
            pd.DataFrame({"policy": name, "round": r.curve.rounds, "regret": r.curve.mean, "stderr": r.curve.stderr})
            for name, r in self.policies.items()
        ).reset_index(drop=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the regret curves with bands of two standard errors; needs matplotlib."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        for name, result in self.policies.items():
            curve = result.curve
            (line,) = ax.plot(curve.rounds, curve.mean, label=name)
            band = 2.0 * np.where(np.isfinite(curve.stderr), curve.stderr, 0.0)
            ax.fill_between(curve.rounds, curve.mean - band, curve.mean + band, color=line.get_color(), alpha=0.2, lw=0)
        ax.set_xlabel("Round")
        ax.set_ylabel("Bayes regret")
        ax.legend(frameon=False)
        return ax


def _policy_dict(result: PolicyResult) -> dict[str, Any]:
    return {
        "regret": result.mean,
        "stderr": result.stderr,
        "delta": result.delta,
        "quantiles": {f"{share:g}": result.quantile(share) for share in QUANTILES},
        "best_share": result.best_share,
        "pulls": result.mean_pulls.tolist(),
        "curve": {"regret": result.curve.mean.tolist(), "stderr": result.curve.stderr.tolist()},
    }
