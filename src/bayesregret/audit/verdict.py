"""One inequality held against what was seen: the verdict and its evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from bayesregret.bounds.bound import Form
from bayesregret.simulation.result import DECISIVE

Verdict = Literal["holds", "fails", "exceeded", "not applicable", "not decided"]

# What an inequality is held against: runs that are watched round by round, the regret that `simulate` finds, or the one
# that `exact_regret` computes.
Evidence = Literal["watched", "simulated", "exact"]


class Claim(NamedTuple):
    """An inequality: what it is called, where it stands, and what it says in one line."""

    name: str
    source: str
    form: Form
    statement: str
    why_not: str | None = None  # the assumption that fails here


@dataclass(frozen=True)
class Check:
    """An inequality with the worst that was observed and what it allows there.

    `evidence` says where `observed` is from: "watched" runs, a regret that was "simulated", or an "exact" one. `stderr`
    is its standard error, 0 where the inequality is about every single run, and `error` the numerical error of an exact
    one; `where` says where the worst was seen. A statement whose assumptions fail here is "not applicable"; "exceeded"
    if its number does not hold either.
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
    evidence: Evidence
    verdict: Verdict
    where: str | None
    why: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesregret audit --json` prints them."""
        return dict(vars(self))


def make_check(
    claim: Claim,
    observed: float,
    allowed: float,
    verdict: Verdict,
    *,
    stderr: float = 0.0,
    error: float = 0.0,
    evidence: Evidence = "watched",
    where: str | None = None,
    worst_ratio: float | None = None,
) -> Check:
    return Check(
        name=claim.name,
        source=claim.source,
        form=claim.form,
        statement=claim.statement,
        observed=observed,
        allowed=allowed,
        ratio=ratio(observed, allowed) if worst_ratio is None else worst_ratio,
        stderr=stderr,
        error=error,
        evidence=evidence,
        verdict=verdict if claim.why_not is None else _outside(verdict),
        where=where,
        why=claim.why_not,
    )


def _outside(verdict: Verdict) -> Verdict:
    """The verdict on a statement whose assumptions fail."""
    return "exceeded" if verdict == "fails" else "not applicable"


def unseen(claim: Claim, why: str, evidence: Evidence = "watched") -> Check:
    """A statement that nothing here can be held against."""
    return make_check(claim._replace(why_not=claim.why_not or why), 0.0, math.inf, "not applicable", evidence=evidence)


def ratio(observed: float, allowed: float) -> float:
    """Observed over allowed; infinite where less than nothing is allowed, since nothing of this is ever negative."""
    if allowed > 0.0:
        return max(0.0, observed) / allowed
    return 0.0 if allowed == 0.0 and observed <= 0.0 else math.inf


def judge_average(observed: float, stderr: float, allowed: float) -> Verdict:
    """The verdict on an inequality between an average over runs and a number."""
    margin = DECISIVE * stderr
    if observed - margin > allowed:
        return "fails"
    return "holds" if observed + margin <= allowed else "not decided"
