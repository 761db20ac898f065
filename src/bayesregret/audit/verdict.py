"""Verdicts on inequalities, and the numbers that they rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from bayesregret.bounds.result import Form
from bayesregret.simulation.result import DECISIVE

Verdict = Literal["holds", "fails", "exceeded", "not applicable", "not decided"]

# The source of the observed number: runs tracked round by round, a regret from `simulate`, or one from `exact_regret`.
EvidenceKind = Literal["tracked", "simulated", "exact"]


class Inequality(NamedTuple):
    """An inequality of the paper or of this package."""

    name: str
    source: str  # where it is stated
    form: Form
    statement: str  # in one line
    why_not: str | None = None  # the assumption that fails for this bandit


@dataclass(frozen=True)
class Check:
    """An inequality with the worst observed value, the value it allows there, and the verdict.

    `evidence` is the source of `observed`: "tracked" runs, a "simulated" regret or an "exact" one. `stderr` is its
    standard error, 0 if the inequality is about every single run, and `error` its numerical error if exact; `where`
    names the run, arm or round of the worst value. Of a lower bound, `observed` is the bound and `allowed` the regret,
    whose errors are given. An inequality whose assumptions fail for this bandit is "not applicable", or "exceeded" if
    the observed value is above the allowed one, too.
    """

    name: str
    source: str
    form: Form
    statement: str
    observed: float
    allowed: float
    ratio: float
    stderr: float
    error: float
    evidence: EvidenceKind
    verdict: Verdict
    where: str | None
    why: str | None

    @property
    def is_lower(self) -> bool:
        """Whether this is about a lower bound, so that `allowed` is the number with errors."""
        return self.statement.startswith(f"{self.name} <=")

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data, as `bayesregret audit --json` prints it."""
        return dict(vars(self))


def make_check(
    inequality: Inequality,
    observed: float,
    allowed: float,
    verdict: Verdict,
    *,
    stderr: float = 0.0,
    error: float = 0.0,
    evidence: EvidenceKind = "tracked",
    where: str | None = None,
    worst_ratio: float | None = None,
) -> Check:
    """Return a check; the verdict changes if the inequality's assumptions fail."""
    return Check(
        name=inequality.name,
        source=inequality.source,
        form=inequality.form,
        statement=inequality.statement,
        observed=observed,
        allowed=allowed,
        ratio=ratio(observed, allowed) if worst_ratio is None else worst_ratio,
        stderr=stderr,
        error=error,
        evidence=evidence,
        verdict=verdict if inequality.why_not is None else _outside(verdict),
        where=where,
        why=inequality.why_not,
    )


def _outside(verdict: Verdict) -> Verdict:
    """Verdict on an inequality whose assumptions fail."""
    return "exceeded" if verdict == "fails" else "not applicable"


def not_applicable(inequality: Inequality, why: str, evidence: EvidenceKind = "tracked") -> Check:
    """Check of an inequality for which there is nothing to observe."""
    unmet = inequality._replace(why_not=inequality.why_not or why)
    return make_check(unmet, 0.0, math.inf, "not applicable", evidence=evidence)


def ratio(observed: float, allowed: float) -> float:
    """Observed over allowed; infinite if the allowed value is negative, since no observed quantity can be."""
    if allowed > 0.0:
        return max(0.0, observed) / allowed
    return 0.0 if allowed == 0.0 and observed <= 0.0 else math.inf


def judge_average(observed: float, stderr: float, allowed: float) -> Verdict:
    """Verdict on an inequality between an average over runs and a number."""
    margin = DECISIVE * stderr
    if observed - margin > allowed:
        return "fails"
    return "holds" if observed + margin <= allowed else "not decided"
