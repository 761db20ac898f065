"""The failure probability that suits a bandit and a horizon best, beside the paper's 1/n."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bayesregret.audit.bound_checks import why_simulated
from bayesregret.models import Bandit
from bayesregret.planning.zero_crossing import SURE
from bayesregret.policies import BayesUCB, Policy
from bayesregret.simulation.result import Estimate, estimate

COARSE = 7  # points of a coarse sweep over log(1/delta)
STEPS = 2  # rounds of points halfway to the neighbours of the best one
LEAST = 0.25  # log(1/delta) that is looked at
WRONG_BY = 10.0
# Exact regrets are computed some twenty times: quick up to so many rounds.
QUICK_HORIZON = {"gaussian": 100, "bernoulli": 50}

Regrets = Callable[[Policy], Any]


@dataclass(frozen=True)
class DeltaAdvice:
    """The best delta for BayesUCB, what the usual one costs beside it, and what a wrong one does."""

    best: float
    low: float  # at and below it, and at and above `high`, regret is surely larger, or the sweep ended
    high: float
    usual: float  # 1/horizon
    usual_cost: Estimate  # regret with the usual delta minus that with the best
    costs: dict[str, Estimate]  # of a delta ten times smaller, and ten times larger where that is one
    deltas: tuple[float, ...]
    differences: tuple[Estimate, ...]  # regret with each of these minus that with the best
    is_exact: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {
            "best": self.best,
            "low": self.low,
            "high": self.high,
            "usual": self.usual,
            "usual_cost": _told(self.usual_cost),
            "costs": {name: _told(cost) for name, cost in self.costs.items()},
            "exact": self.is_exact,
        }


def _told(value: Estimate) -> dict[str, float]:
    return {"mean": value.mean, "stderr": value.stderr}


def advise_delta(bandit: Bandit, regrets: Regrets, horizon: int) -> DeltaAdvice | None:
    """By exact regrets where they are quick, otherwise by simulation; None at horizon 1, where no delta matters.

    `regrets` simulates a policy on the bandit, always on the same instances and the same noise: (runs,).
    """
    if horizon == 1 or bandit.arms == 1:
        return None
    if horizon <= QUICK_HORIZON.get(bandit.kind, 0) and why_simulated(bandit, horizon, None) is None:
        with contextlib.suppress(ValueError):  # a prior so extreme that digits are lost
            return _exactly(bandit, horizon)
    return _by_simulation(regrets, horizon)


def _by_simulation(regrets: Regrets, horizon: int) -> DeltaAdvice:
    usual = math.log(horizon)
    found = {level: regrets(BayesUCB(delta=math.exp(-level))) for level in _levels(usual)}

    def cheapest() -> float:
        return min(found, key=lambda level: float(found[level].mean()))

    for _ in range(STEPS):
        levels, best = sorted(found), cheapest()
        i = levels.index(best)
        for other in levels[max(0, i - 1) : i + 2]:
            middle = 0.5 * (best + other)
            if middle not in found:
                found[middle] = regrets(BayesUCB(delta=math.exp(-middle)))
    best = cheapest()
    wrong = {"ten times smaller": best + math.log(WRONG_BY), "ten times larger": best - math.log(WRONG_BY)}
    costs = {
        name: estimate(regrets(BayesUCB(delta=math.exp(-level))) - found[best])
        for name, level in wrong.items()
        if level > 0.0
    }
    levels = sorted(found)
    differences = [estimate(found[level] - found[best]) for level in levels]
    most, least = _surely_worse(levels, differences)
    return DeltaAdvice(
        math.exp(-best),
        math.exp(-most),
        math.exp(-least),
        1.0 / horizon,
        estimate(found[usual] - found[best]),
        costs,
        tuple(math.exp(-level) for level in levels),
        tuple(differences),
    )


def _surely_worse(levels: list[float], differences: list[Estimate]) -> tuple[float, float]:
    """The first levels above and below from which on regret is surely larger than the least, or the sweep's ends."""
    alike = [level for level, cost in zip(levels, differences, strict=True) if cost.mean <= SURE * cost.stderr]
    above = [level for level in levels if level > max(alike)]
    below = [level for level in levels if level < min(alike)]
    return min(above, default=levels[-1]), max(below, default=levels[0])


def _levels(usual: float) -> list[float]:
    """log(1/delta) from nearly 0 to twice the usual one, which is among them."""
    first = min(LEAST, 0.5 * usual)
    spread = [first * (2.0 * usual / first) ** (i / (COARSE - 1)) for i in range(COARSE)]
    return [*spread, usual]


def _exactly(bandit: Bandit, horizon: int) -> DeltaAdvice:
    from bayesregret.exact import best_delta, exact_regret

    found = best_delta(bandit, BayesUCB(), horizon=horizon)

    best = exact_regret(bandit, BayesUCB(found.delta), horizon=horizon)

    def cost(delta: float) -> Estimate:
        other = exact_regret(bandit, BayesUCB(delta), horizon=horizon)
        return Estimate(other.regret - best.regret, other.error + best.error)

    wrong = {"ten times smaller": found.delta / WRONG_BY, "ten times larger": found.delta * WRONG_BY}
    return DeltaAdvice(
        found.delta,
        found.delta,
        found.delta,
        1.0 / horizon,
        cost(1.0 / horizon),
        {name: cost(delta) for name, delta in wrong.items() if delta < 1.0},
        (found.delta,),
        (Estimate(0.0, 0.0),),
        True,
    )
