"""`experiment_status`: what a running experiment has learned, what it has cost, and what it may still cost."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.agent import Posterior
from bayesregret.agent.summary import summarise
from bayesregret.bounds.least import Least
from bayesregret.bounds.result import Bound
from bayesregret.digits import (
    PLUS_MINUS,
    brief,
    counted,
    exact_or_with_error,
    html_table,
    lower_bound_digits,
    text_table,
    upper_bound_digits,
    with_error,
    with_thousands,
)
from bayesregret.results import Result
from bayesregret.status.advice import Advice, advise
from bayesregret.status.misfit import Misfit, misfit
from bayesregret.status.progress import Progress
from bayesregret.status.so_far import SoFar, Uncertain, expected_excess, so_far
from bayesregret.status.to_come import Stopping, ToCome, at_start, lower_bound, stopping, to_come, upper_bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 80  # characters of a line
LONGEST_NAME = 24  # of an arm in the table
EFFORT = 0.1  # of draws for P(best) of correlated arms, beside those of `agent.posterior()`
NOT_ASKED = "not computed: exact=False"
OVER = "the experiment is over"


@dataclass(frozen=True, eq=False, repr=False)
class Status(Result):
    """What a running experiment knows: the result of `experiment_status`.

    `print` shows one row for each arm, what the experiment has cost and may cost, and an advice; `plot` draws the
    means of the arms with their intervals.

    Attributes
    ----------
    progress : Progress
        Where the experiment stands.
    posterior : Posterior
        Of each arm the rewards, mean, credible interval, and probability of being the best.
    collected : float
        Sum of all rewards that have arrived.
    so_far : SoFar
        Regret of the decisions so far, and their gain over an equal split.
    stopping : Stopping
        The leader, and the expected loss of keeping it for all rounds that are left.
    to_come : ToCome or None
        Expected regret of the rounds that are left under the policy.
    unknown : str
        Why `to_come` is None.
    bound : Bound or None
        A certified bound on that regret.
    least : Least or None
        The least regret that any policy can have in these rounds, or a certified bound on it.
    misfit : Misfit or None
        Evidence against the prior; None for kinds of bandits without known alternatives.
    advice : Advice
        Go on, stop and keep the leader, or doubt the prior; in one sentence, and why.
    """

    progress: Progress
    posterior: Posterior
    collected: float
    so_far: SoFar
    stopping: Stopping
    to_come: ToCome | None
    unknown: str
    bound: Bound | None
    least: Least | None
    misfit: Misfit | None
    advice: Advice

    @property
    def leader(self) -> str:
        """Name of the arm with the highest posterior mean, of those that are not paused."""
        return self.progress.arms[self.stopping.leader]

    def _rounds(self, number: int) -> str:
        return counted(number, self.progress.unit or "round")

    # --- text ---------------------------------------------------------------------------------------------------------

    def title(self) -> str:
        """Return the name, the policy and how far the experiment is, in one line."""
        at = self.progress
        pending, lost = int(at.pending.sum()), int(at.lost.sum())
        more = [f"{pending:,} pending"] * (pending > 0) + [f"{lost:,} lost"] * (lost > 0) + ["stopped"] * at.stopped
        return ", ".join([f"{at.name}: {at.agent.policy.name}", f"{at.done:,} of {self._rounds(at.horizon)}", *more])

    def table(self) -> list[list[str]]:
        """Return headings and one row for each arm; of many arms, those that are most likely the best."""
        heading, *rows = self.posterior.table()
        shown, pending, paused = self.posterior.shown_arms(), self.progress.pending, self.progress.paused
        for arm, row in zip(shown, rows, strict=True):
            row[0] = _short(row[0])
            row += [f"{pending[arm]:,}"] * bool(pending.any()) + ["paused" if arm in paused else ""] * bool(paused)
        return [[*heading, *["pending"] * bool(pending.any()), *[""] * bool(paused)], *rows]

    def facts(self) -> list[list[str]]:
        """Return headings and one row for each number about the whole experiment."""
        return [["", "expected", ""], *self._facts_so_far(), *self._facts_to_come(), *self._facts_on_prior()]

    def _facts_so_far(self) -> list[list[str]]:
        rewards = counted(int(self.posterior.pulls.sum()), "reward")
        return [
            ["reward so far", with_thousands(brief(self.collected)), f"received, {rewards}"],
            ["regret so far", _with_deviation(self.so_far.regret), "against always the best arm"],
            ["gain so far", _with_deviation(self.so_far.gain), "over an equal split"],
        ]

    def _facts_to_come(self) -> list[list[str]]:
        rows = [["regret to come", "", self.unknown]]
        if self.to_come is not None:
            found = self.to_come
            shown = exact_or_with_error(found.regret, found.error, is_exact=found.how == "computed")
            how = [found.how] + [counted(found.runs, "run")] * (found.runs > 0)
            rows = [["regret to come", shown, ", ".join(how)], *([["", "", found.note]] if found.note else [])]
        if self.bound is not None:
            rows.append(["  certified bound", f"<= {upper_bound_digits(self.bound.value)}", self.bound.name])
        if self.least is not None:
            sign = "" if self.least.exact else ">= "
            rows.append(["  of any policy", f"{sign}{lower_bound_digits(self.least.regret)}", self.least.source])
        if not self._is_over:
            loss = exact_or_with_error(self.stopping.loss, self.stopping.error, is_exact=self.stopping.error == 0.0)
            rows.append(["loss of stopping", loss, f"now, to keep {_short(self.leader)}"])
        return rows

    @property
    def _is_over(self) -> bool:
        return self.progress.stopped or self.progress.left == 0

    def _facts_on_prior(self) -> list[list[str]]:
        if self.misfit is None:
            return []
        words = "the prior looks wrong" if self.misfit.raises_alarm else "no alarm"
        return [["p-value of the prior", f"{self.misfit.p_value:.2g}", f"{words} (level {self.misfit.alarm:g})"]]

    def summary(self) -> str:
        """Return what the whole experiment costs, and the advice, below the table of arms."""
        rest = len(self.progress.arms) - len(self.posterior.shown_arms())
        more = [f"and {counted(rest, 'more arm')}, less likely to be the best"] if rest else []
        facts = "\n".join(text_table(self.facts(), ("",)).split("\n")[2:])
        return "\n".join([*more, "", facts, _legend(), "", *self._advice()])

    def _advice(self) -> list[str]:
        return [self.advice.sentence, *textwrap.wrap(self.advice.why, WIDTH)]

    def __str__(self) -> str:
        return f"{self.title()}\n\n{super().__str__()}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return the tables and the advice, as a notebook shows them."""
        paragraphs = [self.title(), f"{self.advice.sentence} {self.advice.why}", _legend()]
        first, advice, legend = (f"<p>{escape(text)}</p>" for text in paragraphs)
        return first + html_table(self.table(), self.words) + html_table(self.facts(), ("",)) + legend + advice

    # --- data ---------------------------------------------------------------------------------------------------------

    def records(self) -> list[dict[str, Any]]:
        """Return one row for each arm as plain data."""
        at, rows = self.progress, self.posterior.records()
        columns: dict[str, NDArray[np.int64]] = {"decisions": at.decisions, "pending": at.pending, "lost": at.lost}
        for arm, row in enumerate(rows):
            row["rewards"] = row.pop("pulls")
            row |= {name: int(values[arm]) for name, values in columns.items()} | {"paused": arm in at.paused}
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        at = self.progress
        return {
            "name": at.name,
            "unit": at.unit,
            "policy": at.agent.policy.name,
            "kind": at.bandit.kind,
            "horizon": at.horizon,
            "decisions": at.done,
            "left": at.left,
            "stopped": at.stopped,
            "started": at.started,
            "last": at.last,
            "level": self.posterior.level,
            "arms": self.records(),
            "reward": self.collected,
            "regret_so_far": self.so_far.regret._asdict(),
            "gain_over_equal_split": self.so_far.gain._asdict(),
            "regret_to_come": None if self.to_come is None else self.to_come._asdict(),
            "unknown": self.unknown,
            "bound": None if self.bound is None else {"name": self.bound.name, "value": self.bound.value},
            "least": None if self.least is None else self.least.to_dict(),
            "stopping": self.stopping._asdict() | {"leader": self.leader},
            "misfit": None if self.misfit is None else self.misfit.to_dict(),
            "advice": self.advice._asdict(),
        }

    def _draw(self, axes: Axes) -> None:
        self.posterior._draw(axes)
        axes.set_title(f"{self.progress.name}, after {self._rounds(self.progress.done)}")


def _with_deviation(number: Uncertain) -> str:
    return with_thousands(with_error(number.mean, number.deviation))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _legend() -> str:
    return f"{PLUS_MINUS} one standard deviation of the posterior, or one standard error of a simulation"


def experiment_status(progress: Progress, *, exact: bool = True, level: float = 0.95, seed: int = 0) -> Status:
    """Return what a running experiment has learned, what it has cost, and what it may still cost.

    All numbers are expectations given all rewards that have arrived, under the experiment's prior; the test of misfit
    says whether that prior can be trusted. Regret so far is that of the mean rewards of the arms that were chosen; of
    the rounds that are left only arms that are not paused count, also as the best arm.

    Parameters
    ----------
    progress : Progress
        Where the experiment stands.
    exact : bool
        Whether to find the expected regret of the rounds that are left and its bounds, which may take a few seconds.
    level : float
        Probability of the credible intervals.
    seed : int
        Seed of everything that is drawn or simulated.

    Returns
    -------
    Status
        The status; `print` shows it.

    Examples
    --------
    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> agent = BayesUCB().start(bandit, horizon=50, arms=["blue", "green"])
    >>> agent.update_many([0] * 20 + [1] * 20, [1] * 12 + [0] * 8 + [1] * 7 + [0] * 13)
    >>> progress = Progress(bandit, agent, 50, [20, 20], [0] * 20 + [1] * 20, [1] * 12 + [0] * 8 + [1] * 7 + [0] * 13)
    >>> status = experiment_status(progress, exact=False)
    >>> status.leader, round(status.stopping.loss, 2)
    ('blue', 0.04)
    """
    level, seed = checks.probability("level", level), checks.whole("seed", seed, 0)
    is_over = progress.stopped or progress.left == 0
    posterior = Posterior(
        progress.arms, progress.sums.counts, *summarise(progress.posterior, level, EFFORT), level, progress.bandit.kind
    )
    excess = expected_excess(progress.posterior, seed)
    kept = stopping(progress, expected_excess(progress.rest, seed) if progress.paused else excess)
    if is_over:
        kept = kept._replace(loss=0.0, error=0.0)
    asked = exact and not is_over
    found = to_come(progress, seed) if asked else OVER if is_over else NOT_ASKED
    rest, unknown = (None, found) if isinstance(found, str) else (found, "")
    tested = progress.rewards[: progress.tested]
    doubt = misfit(progress.bandit, progress.reward_arms[: len(tested)], tested)
    return Status(
        progress,
        posterior,
        float(progress.rewards.sum()),
        so_far(progress, excess, level, seed),
        kept,
        rest,
        unknown,
        upper_bound(progress) if asked else None,
        lower_bound(progress) if asked else None,
        doubt,
        advise(
            _short(progress.arms[kept.leader]),
            counted(progress.left, progress.unit or "round"),
            kept,
            at_start(progress, seed).mean,
            rest,
            doubt,
            is_over,
        ),
    )
