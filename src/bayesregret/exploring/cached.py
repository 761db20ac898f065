"""Calls of the library whose results a page keeps for a while: a slider often comes back to where it was."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from bayesregret.bounds.bound import DoesNotHold, Formula
from bayesregret.exact import ExactRegret, exact_regret
from bayesregret.exploring.snapshot import Abandoned, IsAbandoned
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.simulation.policy_result import PolicyResult
from bayesregret.simulation.simulate import simulate

ENOUGH = 1e-4  # relative error of exact regrets: invisible in a picture
# Of bounds that take long without it: relative.
ACCURACY = {"certified_lower": 0.01, "gap_dependent": 0.05}
KEPT = 256


@lru_cache(maxsize=KEPT)
def exact(bandit: Bandit, policy: Policy, horizon: int) -> ExactRegret:
    found = exact_regret(bandit, policy, horizon=horizon, accuracy=ENOUGH)
    return replace(found, find_best_chance=lambda: None)  # which holds on to all that was computed


class SimulationKey(NamedTuple):
    """The arguments on which the bits of a simulation depend."""

    bandit: Bandit
    policy: Policy
    horizon: int
    runs: int
    seed: int


class _Simulations:
    """Results of simulations, the latest `KEPT` of them."""

    def __init__(self) -> None:
        self._kept: dict[SimulationKey, PolicyResult] = {}
        self._lock = threading.Lock()

    def find(self, key: SimulationKey, is_abandoned: IsAbandoned) -> PolicyResult:
        found = self._kept.get(key)
        if found is None:
            found = _simulate(key, is_abandoned)
            with self._lock:  # pages compute in several threads
                while len(self._kept) >= KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[key] = found
        return found


def _simulate(key: SimulationKey, is_abandoned: IsAbandoned) -> PolicyResult:
    def check(done: int, total: int) -> None:
        if is_abandoned():
            raise Abandoned

    settings = {"horizon": key.horizon, "runs": key.runs, "seed": key.seed, "keep": "summary", "progress": check}
    found = simulate(key.bandit, {"it": key.policy}, **settings)["it"]  # type: ignore[arg-type]
    return replace(found, regret_counts=None)  # megabytes, for quantiles that a page does not show


simulated = _Simulations().find


def bound(name: str, bandit: Bandit, horizon: int, delta: float | None) -> tuple[float, float, float] | None:
    """Return value, leading term and error of a bound; None where it is not stated or not proved."""
    formula = Formula.every[name]
    if not formula.covers(bandit):
        return None
    try:
        found = formula(bandit, horizon=horizon, delta=delta, **bound_options(name, bandit))
    except DoesNotHold:
        return None
    return found.value, found.leading, found.error


def bound_options(name: str, bandit: Bandit) -> dict[str, Any]:
    """Return the accuracy with which a page computes a bound, if it takes long otherwise."""
    slow = name == "certified_lower" or bandit.representative.kind == "linear"
    return {"accuracy": ACCURACY[name]} if slow and name in ACCURACY else {}
