"""Results of one policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.policies import Policy
from bayesregret.simulation.estimates import Estimate
from bayesregret.simulation.regret_counts import RegretCounts

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class Curve:
    """Cumulative regret of a policy over time, averaged over runs.

    Attributes
    ----------
    rounds : ndarray of int
        Rounds at which the curve is recorded.
    mean : ndarray of float
        Mean cumulative regret after each of these rounds.
    stderr : ndarray of float
        Standard errors of the means.

    Examples
    --------
    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> curve = simulate(bandit, UCB1(), horizon=20, runs=100, seed=7, checkpoints=[5, 10])["ucb1"].curve
    >>> curve.rounds.tolist()
    [5, 10, 20]
    >>> bool(curve.mean[0] < curve.mean[1] < curve.mean[2])
    True
    """

    rounds: NDArray[np.int64]
    mean: NDArray[np.float64]
    stderr: NDArray[np.float64]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.rounds, self.mean, self.stderr))


class Kept(NamedTuple):
    """Results of each run."""

    final_regret: NDArray[np.float64]  # (runs,)
    best_pulls: NDArray[np.int64]  # (runs,): rounds on the best arm


@dataclass(frozen=True, eq=False)
class PolicyResult:
    """Simulated Bayes regret of one policy.

    Attributes
    ----------
    name : str
        Name of the policy in the simulation.
    policy : Policy
    delta : float or None
        Failure probability that the policy used; None if it has none.
    estimate : Estimate
        Bayes regret with its standard error.
    best_share : float
        Fraction of rounds on the best arm.
    mean_pulls : ndarray of float, shape (arms,)
        Number of pulls of each arm, averaged over runs.
    curve : Curve
        Cumulative regret at the checkpoints.
    horizon : int
        Number of rounds in a run.
    kept : Kept or None
        Results of each run; None with ``keep="summary"``.
    regret_counts : RegretCounts or None
        With ``keep="summary"``, numbers of runs with about the same regret.

    Examples
    --------
    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> found = simulate(bandit, UCB1(), horizon=20, runs=100, seed=7)["ucb1"]
    >>> len(found.final_regret)
    100
    >>> found.quantile(0.05) < found.mean < found.quantile(0.95)
    True
    """

    name: str
    policy: Policy
    delta: float | None
    estimate: Estimate
    best_share: float
    mean_pulls: NDArray[np.float64]
    curve: Curve
    horizon: int
    kept: Kept | None = None
    regret_counts: RegretCounts | None = None

    @property
    def final_regret(self) -> NDArray[np.float64]:
        """(runs,): regret of each run after the last round."""
        return self._each_run.final_regret

    @property
    def best_pulls(self) -> NDArray[np.int64]:
        """(runs,): number of rounds of each run that were on the best arm."""
        return self._each_run.best_pulls

    @property
    def _each_run(self) -> Kept:
        if self.kept is None:
            raise ValueError('keep must be "runs" for paired differences and results of each run')
        return self.kept

    @property
    def mean(self) -> float:
        """Bayes regret, which is the mean regret over runs."""
        return self.estimate.mean

    @property
    def stderr(self) -> float:
        """Standard error of `mean`."""
        return self.estimate.stderr

    def quantile(self, share: float) -> float:
        """Quantile of the final regret over runs; with ``keep="summary"`` to 0.1 percent.

        Parameters
        ----------
        share : float
            Order of the quantile, between 0 and 1.
        """
        share = checks.fraction("share", share)
        if self.regret_counts is not None:
            return self.regret_counts.quantile(share)
        return float(np.quantile(self.final_regret, share))

    def __repr__(self) -> str:
        return f"<{self.name}: Bayes regret {self.estimate}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "regret": self.mean,
            "stderr": self.stderr,
            "delta": self.delta,
            "quantiles": {f"{share:g}": self.quantile(share) for share in QUANTILES},
            "best_share": self.best_share,
            "pulls": self.mean_pulls.tolist(),
            "curve": {"regret": self.curve.mean.tolist(), "stderr": self.curve.stderr.tolist()},
        }
