"""`Bound`: a number with its evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from bayesregret.digits import brief, lower_bound_digits
from bayesregret.results import Result, draw_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Form = Literal["paper", "certified"]
Kind = Literal["upper", "lower", "quantity"]


@dataclass(frozen=True)
class Bound(Result):
    """A number with its evidence: named terms, a numerical error, and whether its assumptions hold.

    `plot` draws a line at the value, for a picture of the regret of policies; its label names the policy that the
    statement is about, since the regret of another policy may be higher.

    Attributes
    ----------
    name : str
        Name of the formula, as in `bayesregret.bounds`.
    form : {"paper", "certified"}
        As printed in the paper, or proved in docs/theory.
    kind : {"upper", "lower", "quantity"}
        Upper or lower bound on the Bayes regret of `policy`, or a quantity that enters such bounds.
    source : str
        The statement that the number comes from.
    policy : str
        Name of the policy that the statement is about; "any" for all policies.
    value : float
        Sum of all terms. A certified value is on the safe side of the numerical error: an upper bound contains it as
        its last term, "numerical error", and a lower bound, which is never below 0, is reduced by it.
    terms : Mapping[str, float]
        Named parts of the value, the leading one first.
    error : float
        Estimate of the numerical error of the other terms.
    applies : bool
        Whether the assumptions of the statement hold for this bandit, horizon and delta.
    why_not : str or None
        The assumption that fails; None if `applies`.
    note : str or None
        A caveat for readers of the number.
    details : Mapping[str, float | str]
        Intermediate results.

    Examples
    --------
    >>> bandit = GaussianBandit(prior_mean=[1, 0, 0], prior_width=1, reward_noise=1)
    >>> bound = bounds.certified_floor(bandit, horizon=100)
    >>> bound.form, bound.kind, bound.applies
    ('certified', 'upper', True)
    >>> list(bound.terms)
    ['leading', 'bad rounds', 'numerical error']
    >>> bound.value == bound.leading + bound.remainder
    True
    """

    name: str
    form: Form
    kind: Kind
    source: str
    policy: str
    value: float
    terms: Mapping[str, float]
    error: float
    applies: bool
    why_not: str | None
    note: str | None
    details: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def leading(self) -> float:
        """The leading term, which the paper's figures draw."""
        return next(iter(self.terms.values()))

    @property
    def remainder(self) -> float:
        """The sum of all terms but the leading one."""
        return sum(list(self.terms.values())[1:])

    @property
    def shown(self) -> str:
        """The value with four digits; a certified lower bound is rounded down, so that it stays one."""
        if (self.form, self.kind) == ("certified", "lower"):
            return lower_bound_digits(self.value, 4).replace(",", "")
        return brief(self.value) if math.isfinite(self.value) else str(self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as `bayesregret bounds --json` prints it."""
        return {
            "name": self.name,
            "form": self.form,
            "kind": self.kind,
            "source": self.source,
            "policy": self.policy,
            "value": self.value,
            "leading": self.leading,
            "remainder": self.remainder,
            "error": self.error,
            "applies": self.applies,
            "why_not": self.why_not,
            "note": self.note,
            "terms": dict(self.terms),
            "details": dict(self.details),
        }

    def table(self) -> list[list[str]]:
        """Return headings and one row."""
        numbers = [self.shown, brief(self.leading), brief(self.remainder)]
        about = [self.name, self.form, self.source, self.policy]
        return [
            ["bound", "form", "source", "policy", "value", "leading", "remainder", "error", "applies"],
            [*about, *numbers, f"{self.error:.0e}", "yes" if self.applies else "no"],
        ]

    def summary(self) -> str:
        """Return the assumption that fails or the caveat, if there is one."""
        return self.why_not or self.note or ""

    def records(self) -> list[dict[str, Any]]:
        """Return the bound as plain data, without its terms and details."""
        return [{name: value for name, value in self.to_dict().items() if name not in ("terms", "details")}]

    @property
    def title(self) -> str:
        """The name, and whose regret it bounds: "certified bound on bayes-ucb"."""
        if self.kind == "quantity":
            return self.name
        return f"{self.name} bound on {'any policy' if self.policy == 'any' else self.policy}"

    def _draw(self, axes: Axes) -> None:
        draw_level(axes, self.value, self.title if self.form == "certified" else f"{self.title} ({self.form})")

    def __str__(self) -> str:
        state = "" if self.applies else f" (does not apply: {self.why_not})"
        return f"{self.title} [{self.form}, {self.source}] = {self.value:.10g}{state}"
