"""The table of all bounds for a bandit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesregret import checks
from bayesregret.bounds.bound import ANY, DoesNotHold, Formula, Setting, make_setting
from bayesregret.bounds.catalog import certified
from bayesregret.bounds.result import Bound
from bayesregret.digits import PLUS_MINUS, brief, counted, with_error
from bayesregret.models import Bandit
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesregret.simulation.result import SimulationResult

KINDS = ("upper", "lower", "quantity")
WORDS = ("form", "source", "policy", "applies")
BEST = "best certified"


@dataclass(frozen=True, eq=False, repr=False)
class BoundTable(Result):
    """All bounds for a bandit, the result of `bounds.table`.

    Upper bounds come first, then lower bounds, then quantities; within each group those that apply come first, in
    order of their values. Look bounds up by name, iterate over them, or print the table. `plot` draws each bound on a
    logarithmic axis, with the simulated regret if the table has one.

    Attributes
    ----------
    bandit : Bandit
        The problem.
    horizon : int
        Number of rounds.
    delta : float
        Confidence parameter of the policies.
    epsilon : float
        Epsilon of the paper's forms.
    bounds : tuple[Bound, ...]
        The bounds, in order.
    refused : Mapping[str, str]
        Certified bounds that are not proved here, each with the reason.
    against : SimulationResult or None
        Simulation that the bounds are compared with.

    Examples
    --------
    >>> bandit = GaussianBandit(prior_mean=[1, 0, 0], prior_width=1, reward_noise=1)
    >>> found = bounds.table(bandit, horizon=100)
    >>> found.best.name
    'certified_first_passage'
    >>> found["gap_dependent"].value > found.best.value
    True
    """

    bandit: Bandit
    horizon: int
    delta: float
    epsilon: float
    bounds: tuple[Bound, ...]
    refused: Mapping[str, str]
    against: SimulationResult | None = None

    def __getitem__(self, name: str) -> Bound:
        for bound in self.bounds:
            if bound.name == name:
                return bound
        names = [bound.name for bound in self.bounds]
        raise KeyError(f"no bound {name!r} in this table; it has {', '.join(names)}{checks.suggestion(name, names)}")

    def __iter__(self) -> Iterator[Bound]:
        return iter(self.bounds)

    def __len__(self) -> int:
        return len(self.bounds)

    @property
    def best(self) -> Bound | None:
        """The smallest certified bound on the regret of BayesUCB, None if there is none.

        For a mixture it holds whatever the policy believes.
        """
        proved = [
            bound
            for bound in self.bounds
            if (bound.form, bound.kind) == ("certified", "upper") and bound.policy in (certified.policy, ANY)
        ]
        return min(proved, key=lambda bound: bound.value, default=None)

    def ratio(self, bound: Bound) -> float | None:
        """Return the bound over the simulated regret of its policy, None if that was not simulated.

        A bound that holds for every policy is compared with the largest regret.

        Parameters
        ----------
        bound : Bound
            A bound of this table.
        """
        if self.against is None or bound.kind != "upper":
            return None
        regrets = [result.mean for name, result in self.against.policies.items() if bound.policy in (name, ANY)]
        if not regrets:
            return None
        regret = max(regrets)
        return bound.value / regret if regret > 0.0 else math.inf

    def table(self) -> list[list[str]]:
        """Return headings and one row per bound, as `print` and the command line show them."""
        compared = ["times regret"] if self.against is not None else []
        rows = [["bound", "form", "source", "policy", "value", "leading", "remainder", "error", *compared, "applies"]]
        remarks = self.remarks()
        for bound in self.bounds:
            numbers = [bound.shown, _shown(bound.leading), _shown(bound.remainder)]
            ratio = self.ratio(bound)
            ratios = [("-" if ratio is None else _shown(ratio))] if compared else []
            mark = f"{_applies(bound, remarks)}{f', {BEST}' if bound is self.best else ''}"
            about = [bound.name, bound.form, bound.source, bound.policy]
            rows.append([*about, *numbers, f"{bound.error:.0e}", *ratios, mark])
        return rows

    def remarks(self) -> list[str]:
        """Return the reasons why some statements do not apply, and caveats for readers of others, each once."""
        return list(dict.fromkeys(remark for remark in map(_remark, self.bounds) if remark is not None))

    def summary(self) -> str:
        """Return the settings, the simulated regrets, the numbered remarks and the refused bounds as text."""
        size = f"{counted(self.bandit.arms, 'arm')}, {counted(self.horizon, 'round')}"
        lines = [f"{self.bandit.kind} bandit, {size}, delta {self.delta:g}, epsilon {self.epsilon:g}"]
        if self.against is not None:
            regrets = (f"{name} {with_error(r.mean, r.stderr)}" for name, r in self.against.policies.items())
            lines.append(f"simulated regret over {counted(self.against.runs, 'run')}: {', '.join(regrets)}")
        lines += [f"({number}) {remark}" for number, remark in enumerate(self.remarks(), start=1)]
        for reason in dict.fromkeys(self.refused.values()):
            names = (name for name, why_not in self.refused.items() if why_not == reason)
            lines.append(f"not proved here, since {reason}: {', '.join(names)}")
        return "\n".join(lines)

    def records(self) -> list[dict[str, Any]]:
        """Return one row per bound as plain data."""
        return [record | self._ratio_dict(bound) for bound in self.bounds for record in bound.records()]

    def _draw(self, axes: Axes) -> None:
        shown = [bound for bound in reversed(self.bounds) if bound.kind != "quantity" and 0.0 < bound.value < math.inf]
        for form, colour in (("paper", "C1"), ("certified", "C0")):
            for applies, face in ((True, colour), (False, "none")):
                of_kind = [i for i, bound in enumerate(shown) if (bound.form, bound.applies) == (form, applies)]
                label = form if applies else f"{form}, does not apply here"
                if of_kind:
                    values = [shown[i].value for i in of_kind]
                    axes.plot(values, of_kind, "o", color=colour, markerfacecolor=face, label=label)
        for number, (name, found) in enumerate(() if self.against is None else self.against.policies.items()):
            low, high = found.mean - found.stderr, found.mean + found.stderr
            axes.axvspan(low, high, color=f"C{2 + number}", alpha=0.5, label=f"simulated {name}, {PLUS_MINUS} error")
        axes.set_yticks(range(len(shown)), [f"{bound.name} ({bound.kind})" for bound in shown])
        axes.set_xscale("log")
        axes.set_xlabel("bound on the Bayes regret")
        axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.12), frameon=False, ncols=2)

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as `bayesregret bounds --json` prints it."""
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
        return bound.to_dict() | self._ratio_dict(bound)

    def _ratio_dict(self, bound: Bound) -> dict[str, float | None]:
        return {} if self.against is None else {"times_regret": self.ratio(bound)}


def table(
    bandit: BanditLike,
    *,
    horizon: int,
    delta: float | None = None,
    epsilon: float | None = None,
    against: SimulationResult | None = None,
) -> BoundTable:
    """Compute all bounds for a bandit, the paper's and the certified ones.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        The problem; its prior is the one that the bounds average over.
    horizon : int
        Number of rounds.
    delta : float or None
        Confidence parameter of the policies, 1/horizon if None.
    epsilon : float or None
        Gaps below epsilon count as epsilon. If None: 1/horizon in the paper's forms, the best epsilon in the certified
        ones.
    against : SimulationResult or None
        Simulation of the same bandit, horizon and delta to compare the bounds with.

    Returns
    -------
    BoundTable
        The bounds in order, and the certified ones that are not proved here.

    Examples
    --------
    >>> found = bounds.table(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), horizon=100)
    >>> found.best.name
    'certified_first_passage'
    >>> [bound.name for bound in found if bound.kind == "lower"]
    ['certified_lower', 'certified_thompson_lower', 'lai_lower']
    """
    bandit = as_bandit(bandit)
    setting = make_setting(horizon, delta, epsilon)
    _check_same(bandit, setting, against)
    bounds: list[Bound] = []
    refused: dict[str, str] = {}
    for formula in Formula.every.values():
        if formula.listed and formula.covers(bandit):
            try:
                bounds.append(formula(bandit, horizon=horizon, delta=delta, epsilon=epsilon))
            except DoesNotHold as refusal:
                refused[formula.name] = refusal.reason
    if not bounds and not refused:
        raise checks.fail("bandit", "of a kind that some bound covers", bandit.kind)
    in_order = sorted(bounds, key=lambda bound: (KINDS.index(bound.kind), not bound.applies, bound.value))
    return BoundTable(bandit, setting.horizon, setting.delta, setting.paper_epsilon, tuple(in_order), refused, against)


def _check_same(bandit: Bandit, setting: Setting, against: SimulationResult | None) -> None:
    if against is None:
        return
    deltas = {result.delta for result in against.policies.values()} - {None}
    if against.bandit != bandit or against.horizon != setting.horizon or deltas - {setting.delta}:
        raise ValueError("against must be a simulation of the same bandit, horizon and delta")


def _remark(bound: Bound) -> str | None:
    if bound.applies and bound.kind == "quantity" and math.isfinite(bound.value):
        return None
    return bound.why_not or bound.note


def _applies(bound: Bound, remarks: Sequence[str]) -> str:
    remark = _remark(bound)
    if remark is None:
        return "yes"
    number = f"({remarks.index(remark) + 1})"
    if not bound.applies:
        return f"no {number}"
    return f"yes, but {number}"


def _shown(number: float) -> str:
    return brief(number) if math.isfinite(number) else str(number)


def _simulation_dict(result: SimulationResult) -> dict[str, Any]:
    regrets = {name: {"regret": r.mean, "stderr": r.stderr} for name, r in result.policies.items()}
    return {"runs": result.runs, "seed": result.seed, "policies": regrets}
