"""All bounds that there are for a bandit, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesregret import checks
from bayesregret.bounds.bound import Bound, DoesNotHold, Formula, Setting, make_setting
from bayesregret.bounds.catalog import certified
from bayesregret.digits import brief, counted, text_table, with_error
from bayesregret.models import Bandit

if TYPE_CHECKING:
    from bayesregret.simulation.result import SimulationResult

KINDS = ("upper", "lower", "quantity")
WORDS = ("form", "source", "policy", "applies")
BEST = "best certified"


@dataclass(frozen=True, eq=False, repr=False)
class BoundTable:
    """What `bounds.table` returns: bounds in order of their values, those that apply first."""

    bandit: Bandit
    horizon: int
    delta: float
    epsilon: float
    bounds: tuple[Bound, ...]
    refused: Mapping[str, str]  # certified forms that are not proved here, with the reason
    against: SimulationResult | None = None

    def __getitem__(self, name: str) -> Bound:
        for bound in self.bounds:
            if bound.name == name:
                return bound
        raise KeyError(f"no bound {name!r} here; there are {', '.join(bound.name for bound in self.bounds)}")

    def __iter__(self) -> Any:
        return iter(self.bounds)

    def __len__(self) -> int:
        return len(self.bounds)

    @property
    def best(self) -> Bound | None:
        """The smallest certified bound on the regret of BayesUCB."""
        proved = [bound for bound in self.bounds if bound.form == "certified" and bound.policy == certified.policy]
        return min(proved, key=lambda bound: bound.value + bound.error, default=None)

    def ratio(self, bound: Bound) -> float | None:
        """How many times the simulated regret of its policy the bound is; None where there is nothing to compare."""
        if self.against is None or bound.kind != "upper" or bound.policy not in self.against.policies:
            return None
        regret = self.against[bound.policy].mean
        return bound.value / regret if regret > 0.0 else math.inf

    def table(self) -> list[list[str]]:
        """Headings and a row for each bound, as `print` and the command line show them."""
        compared = ["times regret"] if self.against is not None else []
        rows = [["bound", "form", "source", "policy", "value", "leading", "remainder", "error", *compared, "applies"]]
        remarks = self.remarks()
        for bound in self.bounds:
            numbers = [_shown(number) for number in (bound.value, bound.leading, bound.remainder)]
            ratio = self.ratio(bound)
            times = [("" if ratio is None else _shown(ratio))] if compared else []
            remark = _remark(bound)
            numbered = "" if remark is None else f" ({remarks.index(remark) + 1})"
            mark = f"{'yes' if bound.applies else 'no'}{numbered}{f', {BEST}' if bound is self.best else ''}"
            about = [bound.name, bound.form, bound.source, bound.policy]
            rows.append([*about, *numbers, f"{bound.error:.0e}", *times, mark])
        return rows

    def remarks(self) -> list[str]:
        """The reasons why some statements do not apply or are infinite, each once."""
        return list(dict.fromkeys(remark for remark in map(_remark, self.bounds) if remark is not None))

    def summary(self) -> str:
        """What was asked, and what the table's numbers in brackets stand for."""
        asked = f"{counted(self.bandit.arms, 'arm')}, {counted(self.horizon, 'round')}"
        lines = [f"{self.bandit.kind} bandit, {asked}, delta {self.delta:g}, epsilon {self.epsilon:g}"]
        if self.against is not None:
            regrets = (f"{name} {with_error(r.mean, r.stderr)}" for name, r in self.against.policies.items())
            lines.append(f"simulated regret over {counted(self.against.runs, 'run')}: {', '.join(regrets)}")
        lines += [f"({number}) {remark}" for number, remark in enumerate(self.remarks(), start=1)]
        for reason in dict.fromkeys(self.refused.values()):
            names = (name for name, its_reason in self.refused.items() if its_reason == reason)
            lines.append(f"not proved here, since {reason}: {', '.join(names)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{text_table(self.table(), WORDS)}\n{self.summary()}"

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesregret bounds --json` prints them."""
        compared = {} if self.against is None else {"simulation": _simulation_dict(self.against)}
        return {
            "problem": self.bandit.to_dict(),
            "horizon": self.horizon,
            "delta": self.delta,
            "epsilon": self.epsilon,
            "best": None if self.best is None else self.best.name,
            "bounds": [self._bound_dict(bound) for bound in self.bounds],
            "refused": [{"name": name, "why_not": reason} for name, reason in self.refused.items()],
        } | compared

    def _bound_dict(self, bound: Bound) -> dict[str, Any]:
        return bound.to_dict() | ({} if self.against is None else {"times_regret": self.ratio(bound)})


def table(
    bandit: Bandit,
    *,
    horizon: int,
    delta: float | None = None,
    epsilon: float | None = None,
    against: SimulationResult | None = None,
) -> BoundTable:
    """Every bound that there is for this bandit, in both forms.

    `delta` is 1/horizon if None. `epsilon`, if None, is 1/horizon in the paper's forms, and the certified ones use
    the best. `against` is a simulation of the same bandit, horizon and delta to compare with.

    >>> from bayesregret.models import BernoulliBandit
    >>> found = table(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), horizon=100)
    >>> found.best.name
    'certified_first_passage'
    """
    if not isinstance(bandit, Bandit):
        raise checks.fail("bandit", "a bandit", bandit)
    setting = make_setting(horizon, delta, epsilon)
    _check_same(bandit, setting, against)
    bounds: list[Bound] = []
    refused: dict[str, str] = {}
    for formula in Formula.every.values():
        if formula.listed and formula.fits(bandit):
            try:
                bounds.append(formula(bandit, horizon=horizon, delta=delta, epsilon=epsilon))
            except DoesNotHold as reason:
                refused[formula.name] = reason.reason
    if not bounds and not refused:
        raise checks.fail("bandit", "one that bounds are stated for", bandit.kind)
    in_order = sorted(bounds, key=lambda bound: (KINDS.index(bound.kind), not bound.applies, bound.value))
    return BoundTable(bandit, setting.horizon, setting.delta, setting.paper_epsilon, tuple(in_order), refused, against)


def _check_same(bandit: Bandit, setting: Setting, against: SimulationResult | None) -> None:
    if against is None:
        return
    deltas = {result.delta for result in against.policies.values()} - {None}
    if against.bandit != bandit or against.horizon != setting.horizon or deltas - {setting.delta}:
        raise ValueError("against must be a simulation of the same bandit, horizon and delta")


def _remark(bound: Bound) -> str | None:
    return bound.why_not if not bound.applies or math.isfinite(bound.value) else bound.note


def _shown(number: float) -> str:
    return brief(number) if math.isfinite(number) else str(number)


def _simulation_dict(result: SimulationResult) -> dict[str, Any]:
    regrets = {name: {"regret": r.mean, "stderr": r.stderr} for name, r in result.policies.items()}
    return {"runs": result.runs, "seed": result.seed, "policies": regrets}
