"""Result of an audit, as a table and as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesregret.audit.verdict import Check
from bayesregret.digits import brief, counted, with_error
from bayesregret.models import Bandit
from bayesregret.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADINGS = ["check", "source", "form", "evidence", "observed", "allowed", "worst ratio", "verdict", "note"]
WORDS = ("source", "form", "evidence", "verdict", "note")


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Result):
    """Result of `bounds.audit`: every inequality with its worst ratio and a verdict.

    `plot` draws the worst ratio of each inequality; beyond 1 the observed value exceeds what the inequality allows.
    """

    words = WORDS

    problem: Bandit
    horizon: int
    runs: int
    seed: int
    delta: float
    epsilon: float
    checks: tuple[Check, ...]
    why_simulated: str | None  # why bounds are compared with a simulated regret; None if with the exact one

    @property
    def failures(self) -> tuple[Check, ...]:
        """Checks with the verdict "fails"."""
        return tuple(check for check in self.checks if check.verdict == "fails")

    def table(self) -> list[list[str]]:
        """Return headings and a row per check, as `print` and the command line show them."""
        return [HEADINGS, *map(_row, self.checks)]

    def summary(self) -> str:
        """Return two lines: the runs and the number of failures, and the regret that bounds were compared with."""
        size = f"{counted(self.runs, 'run')} of {counted(self.horizon, 'round')}, {counted(self.problem.arms, 'arm')}"
        printed = sum(check.form == "paper" for check in self.failures)
        failed = f"{printed} printed and {len(self.failures) - printed} certified statements fail"
        regret = "exact regret" if self.why_simulated is None else f"simulated regret, since {self.why_simulated}"
        run = f"{self.problem.kind} bandit, {size}, seed {self.seed}, delta {self.delta:g}"
        return f"{run}; {failed}\nbounds are compared with the {regret}"

    def records(self) -> list[dict[str, Any]]:
        """Return one row per check as plain data."""
        return [check.to_dict() for check in self.checks]

    def _draw(self, axes: Axes) -> None:
        shown = [check for check in reversed(self.checks) if 0.0 < check.ratio < math.inf]
        for number, verdict in enumerate(dict.fromkeys(check.verdict for check in reversed(shown))):
            rows = [i for i, check in enumerate(shown) if check.verdict == verdict]
            axes.plot([shown[i].ratio for i in rows], rows, "o", color=f"C{number}", label=verdict)
        axes.axvline(1.0, color="gray", lw=0.8)
        axes.set_yticks(range(len(shown)), [f"{check.name} ({check.form})" for check in shown])
        axes.set_xscale("log")
        axes.set_xlabel("observed / allowed")
        axes.legend(frameon=False)

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, as `bayesregret audit --json` prints it."""
        return {
            "problem": self.problem.to_dict(),
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "delta": self.delta,
            "epsilon": self.epsilon,
            "why_simulated": self.why_simulated,
            "checks": [check.to_dict() for check in self.checks],
        }


def _row(check: Check) -> list[str]:
    sides = [_shown(check.observed), _with_error(check, check.allowed)]
    if not check.is_lower:
        sides = [_with_error(check, check.observed), _shown(check.allowed)]
    return [
        check.name,
        check.source,
        check.form,
        check.evidence,
        *sides,
        _shown(check.ratio),
        check.verdict,
        check.why or check.where or "",
    ]


def _with_error(check: Check, value: float) -> str:
    if 0.0 < check.stderr < math.inf:
        return with_error(value, check.stderr)
    return f"< {2.0 * check.error:.0e}" if value < check.error else _shown(value)


def _shown(value: float) -> str:
    return brief(value) if math.isfinite(value) else str(value)
