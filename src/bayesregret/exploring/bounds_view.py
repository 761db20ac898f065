"""The view "between the bounds": regret and its bounds as one parameter sweeps."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bayesregret.bounds.bound import Formula
from bayesregret.digits import counted
from bayesregret.exact.availability import why_simulated
from bayesregret.exploring.cached import SimulationKey, bound, exact, simulated
from bayesregret.exploring.ranges import range_of
from bayesregret.exploring.settings import PageState, number_of, with_number
from bayesregret.exploring.snapshot import NOTHING, WAITING, IsAbandoned, Line, Reading, Snapshot, never
from bayesregret.models import Bandit
from bayesregret.reproduction.paper_settings import GAPS, WIDTHS
from bayesregret.reproduction.table import Axis, Kind, Table, Trend
from bayesregret.simulation.cost import run_cost

HEADINGS = ("between the bounds", "here")
POINTS = 13
PAPER_POINTS: dict[str, Sequence[float]] = {"prior_width": WIDTHS, "prior_gap": GAPS}
SLICE = 0.06  # seconds between two pictures
LARGEST_COST, FEWEST_RUNS = 5e7, 64  # nanoseconds for all runs of a point, by a rough estimate

Make = Callable[[PageState], Bandit]
Pair = tuple[float, float]  # a value and its error

# The paper draws leading terms. Bounds are in the order of their cost, the quickest first.
PRINTED = ("sqrt", "ucb1_gap_dependent", "prior_dependent", "gap_dependent")
CERTIFIED = {
    "certified": "certified upper bound",
    "certified_ucb1": "certified upper bound of ucb1",
    "certified_thompson": "certified upper bound of thompson",
    "certified_trivial": "trivial bound: the worst arm in every round",
    "certified_lower": "certified lower bound of every policy",
}
EVERY = ("certified_trivial", "certified_lower", "certified")  # whatever policies are chosen
QUICK = (*PRINTED[:3], "certified_trivial")
ORDER = (*QUICK, "gap_dependent", "certified", "certified_ucb1", "certified_thompson")
QUICK_KINDS = ("gaussian", "bernoulli", "linear")  # on others a point of the slower bounds takes many seconds


class Swept(NamedTuple):
    """One trend of the picture."""

    name: str
    label: str
    kind: Kind
    at: Callable[[PageState, Bandit], Pair | None]


def sweep_steps(state: PageState, bandit: Bandit, make: Make, is_abandoned: IsAbandoned = never) -> Iterator[Snapshot]:
    """Yield pictures with more and more points; `make` returns the bandit of a state."""
    here = number_of(state, state.sweep)
    points = sorted({*_points(state), here})
    trends = _trends(state, bandit, is_abandoned)
    found: dict[tuple[str, float], Pair | None] = {}
    last = time.monotonic()
    order = _coarse_to_fine(points, here)
    for trend in trends:
        for x in order:
            found[trend.name, x] = _at(trend, state, x, make)
            if time.monotonic() - last > SLICE:
                yield _snapshot(state, trends, points, found, here, done=False)
                last = time.monotonic()
    yield _snapshot(state, trends, points, found, here, done=True)


def _at(trend: Swept, state: PageState, x: float, make: Make) -> Pair | None:
    moved = with_number(state, state.sweep, x)
    try:
        return trend.at(moved, make(moved))
    except ValueError:  # the sweep leaves what the problem allows
        return None


def _points(state: PageState) -> list[float]:
    """The paper's points where the paper has the axis, otherwise evenly spaced ones."""
    limits = range_of(state.problem, state.sweep)
    if state.sweep in PAPER_POINTS:
        return list(PAPER_POINTS[state.sweep])
    low, high = limits.low, limits.high
    if limits.scale == "log":
        return [limits.rounded(x) for x in np.geomspace(low, high, POINTS).tolist()]
    return [limits.rounded(x) for x in np.linspace(low, high, POINTS).tolist()]


def _coarse_to_fine(points: list[float], here: float) -> list[float]:
    """The present value, then every fourth point, every second, and the others."""
    order = [here]
    for step in (4, 2, 1):
        order += [x for x in points[::step] if x not in order]
    return order


# --- trends ----------------------------------------------------------------------------------------------------------


def _trends(state: PageState, bandit: Bandit, is_abandoned: IsAbandoned) -> list[Swept]:
    policies = state.play()
    kinds = {policy.name for policy in policies.values()}
    bounds = [name for name in ORDER if _is_wanted(name, bandit, kinds)]
    quick, slow = [name for name in bounds if name in QUICK], [name for name in bounds if name not in QUICK]
    regrets = [_regret(name, is_abandoned) for name in policies]
    return [
        *map(_bound, quick, [bandit] * len(quick)),
        *regrets,
        *map(_bound, slow, [bandit] * len(slow)),
        *([_bound("certified_lower", bandit)] if _is_wanted("certified_lower", bandit, kinds) else []),
    ]


def _is_wanted(name: str, bandit: Bandit, kinds: set[str]) -> bool:
    formula = Formula.every[name]
    is_about = name in EVERY or any(map(formula.is_about, kinds))
    is_quick = name in QUICK or bandit.kind in QUICK_KINDS
    return is_about and is_quick and formula.covers(bandit)


def _bound(name: str, bandit: Bandit) -> Swept:
    is_printed = name in PRINTED

    def at(state: PageState, there: Bandit) -> Pair | None:
        found = bound(name, there, state.horizon, state.delta)
        return None if found is None else (found[1] if is_printed else found[0], found[2])

    return Swept(name, bound_label(name, bandit), "printed" if is_printed else "certified", at)


def bound_label(name: str, bandit: Bandit) -> str:
    if name not in PRINTED:
        return CERTIFIED[name]
    formula = Formula.every[name]
    return f"{name.replace('_', ' ')} ({formula.source(bandit)}), leading term, {formula.policy}"


def _regret(name: str, is_abandoned: IsAbandoned) -> Swept:
    """Exact regret where that is quick, otherwise simulated."""

    def at(state: PageState, there: Bandit) -> Pair | None:
        policy = state.play()[name]
        if why_simulated(there, state.horizon, None) is None:
            try:
                found = exact(there, policy, state.horizon)
            except ValueError:  # not an index policy
                pass
            else:
                return found.regret, found.error
        result = simulated(
            SimulationKey(there, policy, state.horizon, point_runs(state, there), state.seed), is_abandoned
        )
        return result.mean, result.stderr

    return Swept(name, f"regret of {name}", "regret", at)


def point_runs(state: PageState, bandit: Bandit) -> int:
    """Number of runs of a simulated point, from the known cost of a round."""
    cost = max(run_cost(policy, bandit, state.horizon) for policy in state.play().values())
    runs = FEWEST_RUNS
    while runs < 1024 and 4 * runs * cost <= LARGEST_COST:
        runs *= 4
    return runs


# --- the picture -----------------------------------------------------------------------------------------------------


def _snapshot(
    state: PageState,
    trends: Sequence[Swept],
    points: Sequence[float],
    found: dict[tuple[str, float], Pair | None],
    here: float,
    *,
    done: bool,
) -> Snapshot:
    limits = range_of(state.problem, state.sweep)
    known = [tuple((found.get((trend.name, x)) or (math.nan, math.nan))[0] for x in points) for trend in trends]
    errors = [tuple((found.get((trend.name, x)) or (math.nan, math.nan))[1] for x in points) for trend in trends]
    table = Table(
        f"bounds-{state.sweep}",
        f"Regret and bounds as {limits.label.lower()} changes",
        "Regret without simulation where that is quick, otherwise simulated with one standard error; the paper's "
        "bounds are leading terms, as in its figures, and the certified ones are whole.",
        Axis(limits.label, limits.scale),
        Axis("Bayes regret", "log"),
        tuple(points),
        tuple(
            Trend(trend.name, trend.label, trend.kind, values, error if trend.kind == "regret" else None)
            for trend, values, error in zip(trends, known, errors, strict=True)
        ),
    )
    lines = tuple(_line(trend, found.get((trend.name, here), WAITING)) for trend in trends)
    total, ready = len(trends) * len(points), len(found)
    status = "Done." if done else f"Computing: {ready} of {counted(total, 'number')}."
    return Snapshot(table, HEADINGS, tuple(sorted(lines, key=_by_value)), status, done, at=here)


def _by_value(line: Line) -> float:
    value = line.readings[0].value
    return -value if math.isfinite(value) else math.inf


def _line(trend: Swept, pair: Pair | Reading | None) -> Line:
    if isinstance(pair, Reading):
        return Line(trend.name, trend.label, (pair,))
    if pair is None:
        return Line(trend.name, trend.label, (NOTHING,), "not stated or not proved here")
    value, error = pair
    if trend.kind == "regret" and error > 1e-3 * abs(value):
        return Line(trend.name, trend.label, (Reading.simulated(value, error),))
    return Line(trend.name, trend.label, (Reading.computed(value, error),))
