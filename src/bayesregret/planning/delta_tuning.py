"""The best failure probability delta of BayesUCB for a bandit and a horizon, compared with the paper's 1/n."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from bayesregret.checks import Array
from bayesregret.exact.availability import why_simulated
from bayesregret.models import Bandit
from bayesregret.planning.tracked_simulation import SimulateRegrets
from bayesregret.planning.zero_crossing import Z_95
from bayesregret.policies import BayesUCB
from bayesregret.simulation.estimates import Estimate, estimate

COARSE = 8  # points of a coarse sweep over log(1/delta)
REFINEMENTS = 2  # rounds of points halfway between the best one and its neighbours
SMALLEST = 0.05  # log(1/delta) of the coarse sweep: a delta of 0.95
WRONG_BY = 10.0
# The search computes about twenty exact regrets, which is quick up to this many rounds.
QUICK_HORIZON = {"gaussian": 100, "bernoulli": 50}


@dataclass(frozen=True)
class DeltaAdvice:
    """The best delta for BayesUCB, and the additional regret of other deltas."""

    best: float
    low: float  # at most `low` or at least `high`, regret is significantly larger, or the sweep ended
    high: float
    usual: float  # 1/horizon
    usual_cost: Estimate  # regret with the usual delta minus regret with the best one
    costs: dict[str, Estimate]  # with a delta ten times smaller, and ten times larger if that is below 1
    deltas: tuple[float, ...]
    differences: tuple[Estimate, ...]  # regret with each of `deltas` minus regret with the best one
    is_exact: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {
            "best": self.best,
            "low": self.low,
            "high": self.high,
            "usual": self.usual,
            "usual_cost": _as_dict(self.usual_cost),
            "costs": {name: _as_dict(cost) for name, cost in self.costs.items()},
            "exact": self.is_exact,
        }


def _as_dict(value: Estimate) -> dict[str, float]:
    return {"mean": value.mean, "stderr": value.stderr}


def advise_delta(
    bandit: Bandit, policy: BayesUCB, regrets: SimulateRegrets, horizon: int, *, is_immediate: bool = True
) -> DeltaAdvice | None:
    """Find the best delta by exact regrets where they are quick, otherwise by simulation; None if no delta matters."""
    if horizon == 1 or bandit.arms == 1:
        return None
    is_quick = is_immediate and horizon <= QUICK_HORIZON.get(bandit.kind, 0)
    if is_quick and why_simulated(bandit, horizon, None) is None:
        with contextlib.suppress(ValueError):  # a prior so extreme that digits are lost
            return _by_exact_regret(bandit, horizon)
    return _by_simulation(policy, regrets, horizon)


def _by_simulation(policy: BayesUCB, regrets: SimulateRegrets, horizon: int) -> DeltaAdvice:
    """Search over exponents log(1/delta)."""
    usual = math.log(horizon)

    def with_exponent(exponent: float) -> Array:
        return regrets(dataclasses.replace(policy, delta=math.exp(-exponent)))

    found = {exponent: with_exponent(exponent) for exponent in _coarse_exponents(usual)}

    def cheapest() -> float:
        return min(found, key=lambda exponent: float(found[exponent].mean()))

    for _ in range(REFINEMENTS):
        exponents, best = sorted(found), cheapest()
        i = exponents.index(best)
        for other in exponents[max(0, i - 1) : i + 2]:
            middle = 0.5 * (best + other)
            if middle not in found:
                found[middle] = with_exponent(middle)
    best = cheapest()
    wrong = {"ten times smaller": best + math.log(WRONG_BY), "ten times larger": best - math.log(WRONG_BY)}
    costs = {
        name: estimate(with_exponent(exponent) - found[best]) for name, exponent in wrong.items() if exponent > 0.0
    }
    exponents = sorted(found)
    differences = [estimate(found[exponent] - found[best]) for exponent in exponents]
    most, least = _significantly_worse(exponents, differences)
    return DeltaAdvice(
        math.exp(-best),
        math.exp(-most),
        math.exp(-least),
        1.0 / horizon,
        estimate(found[usual] - found[best]),
        costs,
        tuple(math.exp(-exponent) for exponent in exponents),
        tuple(differences),
    )


def _significantly_worse(exponents: list[float], differences: list[Estimate]) -> tuple[float, float]:
    """The nearest exponents above and below the best with significantly more regret, or the ends of the sweep."""
    alike = [exponent for exponent, cost in zip(exponents, differences, strict=True) if cost.mean <= Z_95 * cost.stderr]
    above = [exponent for exponent in exponents if exponent > max(alike)]
    below = [exponent for exponent in exponents if exponent < min(alike)]
    return min(above, default=exponents[-1]), max(below, default=exponents[0])


def _coarse_exponents(usual: float) -> list[float]:
    """Geometric grid of log(1/delta) from nearly 0 to twice the usual one, and the usual one."""
    first = min(SMALLEST, 0.5 * usual)
    grid = [first * (2.0 * usual / first) ** (i / (COARSE - 1)) for i in range(COARSE)]
    return [*grid, usual]


def _by_exact_regret(bandit: Bandit, horizon: int) -> DeltaAdvice:
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
