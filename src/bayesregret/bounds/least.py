"""The least regret that any policy can have, for ratios to it: exactly, or a certified lower bound."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bayesregret.bounds.bound import ANY, Formula
from bayesregret.bounds.catalog import certified_lower
from bayesregret.digits import exact_digits, lower_bound_digits
from bayesregret.models import Bandit, BernoulliBandit
from bayesregret.optimal.bayes_optimal import LARGEST_HORIZON, OptimalRegret, bayes_optimal_regret

PROGRAMME: Final = "dynamic programme"
NONE = "none"
UNKNOWN = "no lower bound on the regret of every policy is known here, and so no ratio to the best possible"


@dataclass(frozen=True)
class Least:
    """The least Bayes regret that any policy can have, or a certified lower bound on it.

    Attributes
    ----------
    bandit : Bandit
        The bandit.
    horizon : int
        Number of rounds.
    regret : float
        No policy has less; 0 if no lower bound is known.
    error : float
        Numerical error; a lower bound already contains it.
    exact : bool
        Whether it is the least regret itself. A ratio to a lower bound is an upper limit of the ratio to the least.
    source : str
        "dynamic programme", the name of a bound in `bayesregret.bounds`, or "none".
    """

    bandit: Bandit
    horizon: int
    regret: float
    error: float
    exact: bool
    source: str

    def check_has_ratios(self) -> None:
        """Raise a ValueError if the least regret is known to be 0, so that no ratio to it exists."""
        if self.bandit.arms == 1 or (self.exact and self.regret <= 0.0):
            raise ValueError("the ratio to optimal regret is undefined: this bandit's optimal regret is 0")

    def sentence(self) -> str:
        """Return what is known: the least regret, or from where its lower bound is."""
        if self.exact:
            return f"no policy has less regret than {exact_digits(self.regret, self.error)}"
        if self.regret <= 0.0:
            return UNKNOWN
        shown = lower_bound_digits(self.regret, 4)
        return f"no policy has less regret than {shown} ({self.source}): the ratios are upper limits"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without the problem."""
        return {name: getattr(self, name) for name in ("regret", "error", "exact", "source")}


def as_least(found: Any) -> Least:
    """Return what a result of `bayes_optimal_regret` or `optimal_regret` says about the least regret."""
    if isinstance(found, Least):
        return found
    if isinstance(found, OptimalRegret):
        return Least(found.bandit, found.horizon, found.regret, found.error, True, PROGRAMME)
    return Least(found.bandit, found.horizon, found.lower, 0.0, found.exact, found.lower_from)


def is_programmed(bandit: Bandit, horizon: int, programme: Mapping[int, int] = LARGEST_HORIZON) -> bool:
    """Whether the dynamic programme reaches; `programme` has its longest horizon by number of arms."""
    return isinstance(bandit, BernoulliBandit) and horizon <= programme.get(bandit.arms, 0)


def least_regret(
    bandit: Bandit, horizon: int, *, programme: Mapping[int, int] = LARGEST_HORIZON, accuracy: float | None = None
) -> Least:
    """Return the least regret from the dynamic programme, where it reaches, or the highest certified lower bound.

    `programme` is as in `is_programmed`, and `accuracy` as in `certified_lower`.
    """
    if is_programmed(bandit, horizon, programme):
        return as_least(bayes_optimal_regret(bandit, horizon=horizon))
    options = {} if accuracy is None else {"accuracy": accuracy}
    found = []
    for formula in Formula.every.values():
        if (formula.form, formula.kind, formula.policy) == ("certified", "lower", ANY) and formula.covers(bandit):
            # Not proved here, or a prior so extreme that its integrals are not computed.
            with contextlib.suppress(ValueError):
                found.append(formula(bandit, horizon=horizon, **(options if formula is certified_lower else {})))
    best = max(found, key=lambda bound: bound.value, default=None)
    if best is None:
        return Least(bandit, horizon, 0.0, 0.0, False, NONE)
    return Least(bandit, horizon, best.value, best.error, False, best.name)
