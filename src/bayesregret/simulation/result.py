"""Results of simulations, with standard errors, tables and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.digits import PLUS_MINUS, brief, counted, with_error
from bayesregret.models import Bandit
from bayesregret.results import Result, draw_curve, show_legend
from bayesregret.simulation.estimates import Estimate, estimate
from bayesregret.simulation.over_optimal import OverOptimal
from bayesregret.simulation.policy_result import PolicyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesregret.bounds.least import Least
    from bayesregret.enclosure import Enclosure
    from bayesregret.exact import ExactRegret
    from bayesregret.optimal import OptimalRegret
    from bayesregret.simulation.exact_comparison import ExactComparison

# A simulated mean contradicts a value that is more than this many standard errors away.
DECISIVE = 4.0


@dataclass(frozen=True, eq=False, repr=False)
class SimulationResult(Result):
    """Result of `simulate`: a mapping from names of policies to their results.

    `to_frame` has the regret curves, and `plot` draws them with bands of one standard error.

    Attributes
    ----------
    bandit : Bandit
    horizon : int
        Number of rounds in a run.
    runs : int
        Number of runs of each policy.
    seed : int
    rounds : ndarray of int
        Checkpoints of the regret curves.
    policies : dict[str, PolicyResult]
    precision : float or None
        Relative standard error that was requested.
    precision_reached : bool
        Whether all policies reached it.
    delay, batch : int
        Delay of rewards in rounds, and number of rounds in a batch.

    Examples
    --------
    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> result = simulate(bandit, [Greedy(), UCB1()], horizon=20, runs=100, seed=7)
    >>> list(result)
    ['greedy', 'ucb1']
    >>> print(result.summary())
    bernoulli bandit, 100 runs of 20 rounds, 2 arms, seed 7; ± one standard error
    """

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
            hint = checks.suggestion(name, self.policies)
            raise KeyError(f"policy must be one of {', '.join(self.policies)}, got {name!r}{hint}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.policies)

    def __len__(self) -> int:
        return len(self.policies)

    def paired(self, first: str, second: str) -> Estimate:
        """Mean difference of regret between two policies, paired by run: both met the same instances and rewards.

        Parameters
        ----------
        first, second : str
            Names of policies; the regret of `second` is subtracted from that of `first`.
        """
        return estimate(self[first].final_regret - self[second].final_regret)

    def against_exact(self, exact: Mapping[str, ExactRegret] | None = None) -> ExactComparison:
        """Compare simulated with exact regret, in standard errors; for Gaussian and Bernoulli bandits.

        Parameters
        ----------
        exact : mapping of str to ExactRegret, optional
            Results of `exact_regret` by name of policy. By default they are computed.

        Returns
        -------
        ExactComparison
            A mapping from names of policies to differences with the attributes `exact`, `error` and `z`.

        Examples
        --------
        >>> bandit = GaussianBandit(prior_mean=[1, 0], prior_width=1, reward_noise=1)
        >>> result = simulate(bandit, BayesUCB(), horizon=3, runs=1000, seed=7)
        >>> abs(result.against_exact()["bayes-ucb"].z) < 4
        True
        """
        from bayesregret.exact import exact_regret  # needs SciPy, which simulations do not
        from bayesregret.simulation.exact_comparison import compare

        if (self.delay, self.batch) != (0, 1):
            raise ValueError(
                "delay must be 0 and batch 1 to compare with exact regret, which assumes immediate rewards"
            )
        if exact is None:
            exact = {
                name: exact_regret(self.bandit, result.policy, horizon=self.horizon)
                for name, result in self.policies.items()
            }
        return compare(self, exact)

    def over_optimal(self, optimal: OptimalRegret | Enclosure | Least | None = None) -> OverOptimal:
        """Ratio of the regret of each policy to the least regret that any policy can have.

        Where the dynamic programme reaches, these are the ratios. Elsewhere they are upper limits, ratios to the
        certified lower bound; late rewards make the ratios to the least regret with immediate ones upper limits, too.

        Parameters
        ----------
        optimal : OptimalRegret, Enclosure or Least, optional
            Result of `bayes_optimal_regret` or `optimal_regret` for the same bandit and horizon. By default the least
            regret or its lower bound is computed.

        Returns
        -------
        OverOptimal
            A mapping from names of policies to estimates, whose attribute `exact` says whether they are upper limits.

        Examples
        --------
        >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
        >>> found = simulate(bandit, [Greedy(), UCB1()], horizon=20, runs=500, seed=7).over_optimal()
        >>> round(found["greedy"].mean, 1), round(found["ucb1"].mean, 1), found.exact
        (1.1, 1.4, True)
        """
        from bayesregret.bounds.least import as_least, least_regret  # needs SciPy, which simulations do not

        least = least_regret(self.bandit, self.horizon) if optimal is None else as_least(optimal)
        if (least.bandit, least.horizon) != (self.bandit, self.horizon):
            raise ValueError("optimal must be for the bandit and horizon of the simulation")
        least.check_has_ratios()
        if (self.delay, self.batch) != (0, 1):
            least = replace(least, exact=False)
        if least.regret <= 0.0:
            return OverOptimal(least, {})
        ratios = {
            name: Estimate(result.mean / least.regret, result.stderr / least.regret)
            for name, result in self.policies.items()
        }
        return OverOptimal(least, ratios)

    def __repr__(self) -> str:
        return str(self)

    def table(self, over_optimal: OverOptimal | None = None) -> list[list[str]]:
        """Headings and one row per policy, as `print` and the command line show them.

        Parameters
        ----------
        over_optimal : OverOptimal, optional
            Ratios from the method `over_optimal`, for an additional column.
        """
        columns: dict[str, Callable[[str], str]] = {
            "policy": lambda name: name,
            "Bayes regret": lambda name: str(self[name].estimate),
        }
        baseline = next(iter(self))
        if self.has_runs and len(self) > 1:
            columns[f"minus {baseline}"] = lambda name: self._difference(name, baseline)
        if over_optimal is not None:
            columns[over_optimal.heading] = over_optimal.cell
        columns["median"] = lambda name: brief(self[name].quantile(0.5))
        columns["5% to 95%"] = lambda name: " to ".join(brief(self[name].quantile(q)) for q in (0.05, 0.95))
        columns["best arm"] = lambda name: f"{self[name].best_share:.1%}"
        return [list(columns), *([column(name) for column in columns.values()] for name in self)]

    def _difference(self, name: str, baseline: str) -> str:
        if name == baseline:
            return ""
        paired = self.paired(name, baseline)
        return with_error(paired.mean, paired.stderr, signed=True)

    @property
    def has_runs(self) -> bool:
        """Whether there are results of each run; not so with ``keep="summary"``."""
        return all(result.kept is not None for result in self.policies.values())

    def summary(self) -> str:
        """One line that describes the simulation."""
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
        """Plain data, as `bayesregret simulate --json` prints them."""
        return {
            "problem": self.bandit.to_dict(),
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "delay": self.delay,
            "batch": self.batch,
            "policies": {name: result.to_dict() for name, result in self.policies.items()},
            **({"paired": self._paired_dict()} if self.has_runs else {}),
            "rounds": self.rounds.tolist(),
        } | ({} if self.precision is None else self._precision_dict())

    def _precision_dict(self) -> dict[str, Any]:
        return {"precision": self.precision, "precision_reached": self.precision_reached}

    def _paired_dict(self) -> dict[str, dict[str, float]]:
        baseline, *others = self.policies
        differences = {f"{name} - {baseline}": self.paired(name, baseline) for name in others}
        return {name: {"difference": d.mean, "stderr": d.stderr} for name, d in differences.items()}

    def records(self) -> list[dict[str, Any]]:
        """Regret curves as plain data: policy, round, regret and stderr at each checkpoint."""
        return [
            {"policy": name, "round": round_, "regret": mean, "stderr": stderr}
            for name, found in self.policies.items()
            for round_, mean, stderr in zip(*(part.tolist() for part in found.curve), strict=True)
        ]

    def _draw(self, axes: Axes) -> None:
        for name, found in self.policies.items():
            rounds, mean, stderr = found.curve
            draw_curve(axes, rounds, mean, name, np.where(np.isfinite(stderr), stderr, 0.0))
        show_legend(axes, title=f"{PLUS_MINUS} standard error")
