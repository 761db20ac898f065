"""One point of an experiment: settings and results as plain data.

Settings contain everything that a result depends on, so a study can store a finished point and find it again
(study/store.py).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesregret import checks
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.policy_data import policy_from_dict
from bayesregret.problem import problem_from_dict
from bayesregret.simulation.cost import expected_time
from bayesregret.simulation.engines.choose import EngineLike
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.simulate import LARGEST_HORIZON, LARGEST_RUNS, SMALL_ROUNDS, checked_late, simulate
from bayesregret.simulation.size import check_rounds, most_runs

if TYPE_CHECKING:
    from bayesregret.bounds.bound import Formula

Settings = dict[str, Any]
Result = dict[str, Any]

EXACT_ENOUGH = 1e-4  # relative error of exact regrets: invisible in a figure
DEFAULTS = {"exact": False, "optimal": False, "delay": 0, "batch": 1}
ALL_BOUNDS = "all"  # every upper bound for this kind of bandit


def point_settings(
    bandit: Bandit,
    policies: Sequence[Mapping[str, Any]],
    *,
    horizon: int,
    runs: int,
    seed: int,
    bounds: Sequence[str] | str = (),
    accuracy: float | None = None,
    exact: bool | Sequence[str] = False,
    optimal: bool = False,
    delay: int = 0,
    batch: int = 1,
) -> Settings:
    """Return a point's settings as plain data. A policy is {"name": ...} and its settings, a prior is a problem's dict.

    `accuracy` is the relative standard error required of bounds that are averages over random instances; `exact`
    requests the exact regret of every policy, or of those with these names, `optimal` the smallest regret that any
    policy can have, or a lower bound on it. `delay` and `batch` are those of `simulate`.
    """
    settings: Settings = {
        "problem": bandit.to_dict(),
        "policies": [dict(policy) for policy in policies],
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
        "bounds": bounds if isinstance(bounds, str) else list(bounds),
        "accuracy": accuracy,
    }
    # Defaults are left out, so that points computed before these settings existed keep their keys.
    exact = exact if isinstance(exact, bool) else list(exact) or False
    optional = {"exact": exact, "optimal": optimal, "delay": delay, "batch": batch}
    return settings | {name: value for name, value in optional.items() if value != DEFAULTS[name]}


def check_size(settings: Settings, engine: Engine) -> None:
    """Raise an error if the simulation of a point does not fit into memory, has too many rounds, or takes too long."""
    horizon = checks.whole("horizon", settings["horizon"], 1, LARGEST_HORIZON)
    runs = checks.whole("runs", settings["runs"], 1, LARGEST_RUNS)
    delay, batch = checked_late(settings.get("delay", 0), settings.get("batch", 1), horizon)
    check_rounds(horizon, runs)
    policies = [policy_from_dict(policy) for policy in settings["policies"]]
    size = {"checkpoints": 1, "threads": engine.threads, "late": min(delay + batch, horizon)}
    bandit = problem_from_dict(settings["problem"])
    most_runs(bandit, policies, runs=runs, keep=None, **size)
    if horizon * runs > SMALL_ROUNDS:  # otherwise a table of indices would be computed here, for nothing
        expected_time(bandit, policies, horizon=horizon, runs=runs, engine=engine)


class Computed(NamedTuple):
    """The part of a result that needs no simulation."""

    exact: list[dict[str, float]]  # one per policy
    bounds: dict[str, Any]
    optimal: dict[str, Any]


def compute_point(settings: Settings) -> Computed:
    """Compute the exact regrets, bounds and optimal regret that the settings request; ValueError if impossible."""
    bandit = problem_from_dict(settings["problem"])
    policies = [policy_from_dict(policy) for policy in settings["policies"]]
    return Computed(_exact(bandit, policies, settings), _bounds(bandit, settings), _optimal(bandit, settings))


def run_point(settings: Settings, engine: EngineLike | None = None, computed: Computed | None = None) -> Result:
    """Return the result of a point. Computations come first, so that impossible requests fail before any simulation."""
    exact, bounds, optimal = compute_point(settings) if computed is None else computed
    bandit = problem_from_dict(settings["problem"])
    policies = [policy_from_dict(policy) for policy in settings["policies"]]
    found = simulate(
        bandit,
        policies,
        horizon=settings["horizon"],
        runs=settings["runs"],
        seed=settings["seed"],
        checkpoints=[settings["horizon"]],
        engine=engine,
        delay=settings.get("delay", 0),
        batch=settings.get("batch", 1),
        progress=False,
    )
    names = list(found.policies)
    paired = [found.paired(name, names[0]) for name in names]
    return {
        "policies": [
            {
                "name": name,
                "regret": found[name].mean,
                "stderr": found[name].stderr,
                "more": difference.mean,  # regret minus the first policy's, run by run
                "more_stderr": difference.stderr,
            }
            | regret
            for name, difference, regret in zip(names, paired, exact, strict=True)
        ],
        "bounds": bounds,
    } | optimal


def _exact(bandit: Bandit, policies: Sequence[Policy], settings: Settings) -> list[dict[str, float]]:
    """Return the exact regret of each policy with its numerical error, if the settings request it."""
    requested = settings.get("exact", False)
    if not requested:
        return [{} for _ in policies]
    from bayesregret.exact import exact_regret

    found: list[dict[str, float]] = []
    for policy in policies:
        if requested is True or policy.name in requested:
            exact = exact_regret(bandit, policy, horizon=settings["horizon"], accuracy=EXACT_ENOUGH)
            found.append({"exact": exact.regret, "exact_error": exact.error})
        else:
            found.append({})
    return found


def _optimal(bandit: Bandit, settings: Settings) -> dict[str, Any]:
    if not settings.get("optimal", False):
        return {}
    from bayesregret.bounds.least import UNKNOWN, least_regret

    least = least_regret(bandit, settings["horizon"])
    least.check_has_ratios()
    if least.regret <= 0.0:
        raise ValueError(f"optimal must be false here: {UNKNOWN}")
    is_immediate = (settings.get("delay", 0), settings.get("batch", 1)) == (0, 1)
    return {"optimal": least.to_dict() | {"exact": least.exact and is_immediate}}


def _bounds(bandit: Bandit, settings: Settings) -> dict[str, Any]:
    """Return the requested bounds as plain data, without those whose assumptions fail."""
    requested = settings["bounds"]
    if not requested:
        return {}
    from bayesregret.bounds.bound import DoesNotHold, Formula

    found = {}
    for formula in Formula.every.values():
        wanted = formula.kind == "upper" and formula.listed if requested == ALL_BOUNDS else formula.name in requested
        if wanted and formula.covers(bandit):
            try:
                bound = formula(bandit, horizon=settings["horizon"], **_options(formula, bandit, settings))
            except DoesNotHold:
                continue
            found[formula.name] = {
                "form": bound.form,
                "policy": bound.policy,
                "value": _finite(bound.value),
                "leading": _finite(bound.leading),
                "error": bound.error,
                "applies": bound.applies,
            }
    return found


def _options(formula: Formula, bandit: Bandit, settings: Settings) -> dict[str, Any]:
    """Return the accuracy, if the formula takes one."""
    body = formula.body(bandit)
    accuracy = settings["accuracy"]
    return {"accuracy": accuracy} if accuracy is not None and "accuracy" in inspect.signature(body).parameters else {}


def _finite(value: float) -> float | str:
    """Return an infinity as text: JSON has none."""
    return value if math.isfinite(value) else str(value)


def number(value: float | str) -> float:
    """Return the number that `_finite` wrote."""
    return float(value)
