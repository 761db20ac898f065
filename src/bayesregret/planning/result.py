"""`Plan`, the result of `plan`."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesregret import checks
from bayesregret.agent import Agent
from bayesregret.bounds.least import Least
from bayesregret.digits import (
    PLUS_MINUS,
    counted,
    exact_or_with_error,
    percent,
    rounded_to_error,
    upper_bound_digits,
    with_interval,
)
from bayesregret.extras import require
from bayesregret.models import Bandit
from bayesregret.planning.delta_tuning import DeltaAdvice
from bayesregret.planning.elsewhere import OtherHorizon, Scenario
from bayesregret.planning.misspecification import PriorLimit
from bayesregret.planning.policy_outcome import LIKELY, QUANTILES, PolicyOutcome
from bayesregret.planning.recommendation import recommended
from bayesregret.planning.reward import ExpectedReward
from bayesregret.planning.running import snippet
from bayesregret.planning.settling import Settling
from bayesregret.planning.summary_text import sentences
from bayesregret.planning.targets import Inversion
from bayesregret.planning.value_of_prior import PriorWorth
from bayesregret.planning.zero_crossing import Z_95
from bayesregret.results import Result
from bayesregret.writing import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """Expected outcome of each policy in an experiment that has not been run yet; the result of `plan`.

    `plan["thompson"]` is the outcome of a policy, and `print(plan)` shows the table and the conclusions. `plot` draws
    the expected regret of each policy, with the range that it has in 90 percent of instances.

    Attributes
    ----------
    bandit : Bandit
        The reward model and the prior of the arms; that of rewards to maximise, if the problem has costs.
    horizon : int
        Number of rounds.
    seed : int
        Seed of all simulations.
    delay, batch : int
        Rewards arrive `delay` rounds late, and at the ends of batches of `batch` rounds.
    epsilon : float
        A policy has settled once it is on an arm within epsilon of the best with 95 percent probability.
    outcomes : Mapping[str, PolicyOutcome]
        Regret and best-arm probability by name of the policy; the last ones are the A/B test and BayesUCB with the
        best delta.
    reward : ExpectedReward
        Expected reward of the best arm, of the recommended policy and of the control, if given.
    settling : Settling or None
        From which round on the recommended policy is on an arm within epsilon of the best with 95 percent probability.
    worth : PriorWorth or None
        Value of the prior to the recommended policy; None if that uses none, or if no policy without a prior runs.
    limits : tuple[PriorLimit, ...]
        How wrong the prior of the recommended policy may be in each direction.
    scenarios : tuple[Scenario, ...]
        What would be best if the level or width of a mixture were at an end of its 90 percent interval.
    other_horizons : tuple[OtherHorizon, ...]
        What a horizon half or twice as long would change.
    delta : DeltaAdvice or None
        The best delta of BayesUCB; None if no delta matters or the search would take too long.
    least : Least or None
        The least regret of any policy or a certified lower bound on it, where that is quick to compute.
    inversions : tuple[Inversion, ...]
        Answers to the target searches that were requested.
    notes : tuple[str, ...]
        What was not computed, with the reasons.

    Examples
    --------
    >>> found = plan(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), ["bayes-ucb", "ucb1"], horizon=4, runs=8)
    >>> found["ucb1"].regret.mean > found["bayes-ucb"].regret.mean
    True
    >>> found.sentences()[0].startswith(f"Run {found.best.name}")
    True
    """

    bandit: Bandit
    horizon: int
    seed: int
    delay: int
    batch: int
    epsilon: float
    outcomes: Mapping[str, PolicyOutcome]
    reward: ExpectedReward
    settling: Settling | None
    worth: PriorWorth | None
    limits: tuple[PriorLimit, ...]
    scenarios: tuple[Scenario, ...]
    other_horizons: tuple[OtherHorizon, ...]
    delta: DeltaAdvice | None
    least: Least | None
    inversions: tuple[Inversion, ...]
    notes: tuple[str, ...]

    def __getitem__(self, name: str) -> PolicyOutcome:
        try:
            return self.outcomes[name]
        except KeyError:
            hint = checks.suggestion(name, self.outcomes)
            raise KeyError(f"policy must be one of {', '.join(self.outcomes)}, got {name!r}{hint}") from None

    @property
    def best(self) -> PolicyOutcome:
        """The recommended outcome: the least expected regret, but no tuned delta that is not clearly better."""
        return recommended(self.outcomes.values())

    def table(self) -> list[list[str]]:
        """Return headings and one row per policy, in increasing order of regret."""
        quantiles = [f"{probability:.0%}" for probability in QUANTILES]
        least = ["times the least"] if self.least is not None and self.least.regret > 0.0 else []
        proved = ["certified"] if self._has_bounds else []
        headings = ["policy", "Bayes regret", *quantiles, *proved, *least, "per round", "best arm at the end"]
        headings.append(f"within {self.epsilon:g} from round")
        return [headings, *map(self._row, self._in_order)]

    @property
    def _has_bounds(self) -> bool:
        return any(outcome.bound is not None for outcome in self.outcomes.values())

    def _row(self, outcome: PolicyOutcome) -> list[str]:
        is_only_arm = self.bandit.arms == 1
        regret, each, on_best = outcome.regret, outcome.regret_per_round, outcome.on_best
        ratio = outcome.least_ratio
        proved = "-" if outcome.bound is None else upper_bound_digits(outcome.bound.value)
        return [
            outcome.name,
            exact_or_with_error(regret.mean, regret.stderr, is_exact=is_only_arm or outcome.exact is not None),
            *(rounded_to_error(value.mean, value.stderr) for value in outcome.quantiles.values()),
            *([proved] if self._has_bounds else []),
            *([] if ratio is None else [self._ratio_text(outcome, ratio)]),
            rounded_to_error(each.mean, max(each.stderr, 1e-3 * each.mean)),
            "100%" if is_only_arm else percent(on_best.mean, on_best.stderr),
            self._settled_text(outcome),
        ]

    def _ratio_text(self, outcome: PolicyOutcome, ratio: float) -> str:
        """The ratio to the least regret, or its upper limit where only a lower bound is known."""
        if self.least is not None and not self.least.exact:
            return f"at most {upper_bound_digits(outcome.most_regret / self.least.regret, 3)}"
        relative_error = outcome.regret.stderr / outcome.regret.mean if outcome.regret.mean > 0.0 else 0.0
        return rounded_to_error(ratio, max(1e-4, relative_error) * ratio)

    def _settled_text(self, outcome: PolicyOutcome) -> str:
        if outcome.settled is not None:
            return with_interval(*outcome.settled, reach=self.horizon, is_whole=True)
        near = outcome.near_best
        return "unsure" if near.mean + Z_95 * near.stderr > LIKELY else f"> {self.horizon:,}"

    def sentences(self) -> list[str]:
        """Return the conclusions as sentences: the recommended policy first, then the reasons."""
        return sentences(self)

    def agent(self, *, arms: Sequence[str] | None = None, seed: int = 0) -> Agent:
        """Start an agent that runs the recommended policy.

        Parameters
        ----------
        arms : sequence of str, optional
            Names of the arms, by which the agent may be given rewards.
        seed : int
            Seed of the policy's own random choices.
        """
        return self.best.policy.start(self.bandit, horizon=self.horizon, seed=seed, arms=arms)

    def snippet(self, *, problem: str | None = None, agent: str | None = None) -> str:
        """Return Python code that runs the recommended policy.

        Parameters
        ----------
        problem : str, optional
            Name of the problem file of the plan.
        agent : str, optional
            Name of the file with the state of `agent()`, to start from it.
        """
        names = {"problem": problem, "agent": agent}
        given: dict[str, Any] = {"minimise": self.reward.minimise, "batch": self.batch, **names}
        return snippet(self.best.policy, self.bandit, self.horizon, **given)

    def summary(self) -> str:
        """Return the conclusions, the notes and the size of the simulation, line by line."""
        runs = sorted({outcome.runs for outcome in self.outcomes.values()})
        many = counted(runs[-1], "run") if len(runs) == 1 else f"{runs[0]:,} to {counted(runs[-1], 'run')}"
        size = f"{counted(self.bandit.arms, 'arm')}, {counted(self.horizon, 'round')}"
        late = f", delay {self.delay:,}" if self.delay > 0 else ""
        late += f", batches of {self.batch:,}" if self.batch > 1 else ""
        made = f"{self.bandit.kind} bandit, {size}{late}, {many} of each policy, seed {self.seed}"
        return "\n".join([*self.sentences(), *self.notes, f"{made}; {PLUS_MINUS} one standard error"])

    def records(self) -> list[dict[str, Any]]:
        """Return one row per policy as plain data, in increasing order of regret."""
        return [
            {
                "policy": outcome.name,
                "regret": outcome.regret.mean,
                "stderr": outcome.regret.stderr,
                "exact": outcome.exact is not None,
                **{f"{probability:.0%}": value.mean for probability, value in outcome.quantiles.items()},
                "certified": None if outcome.bound is None else outcome.bound.value,
                "per_round": outcome.regret_per_round.mean,
                "best_arm_at_the_end": outcome.on_best.mean,
                "settled": None if outcome.settled is None else outcome.settled[0],
                "times_least": outcome.least_ratio,
            }
            for outcome in self._in_order
        ]

    @property
    def _in_order(self) -> list[PolicyOutcome]:
        return sorted(self.outcomes.values(), key=lambda outcome: outcome.regret.mean)

    def _draw(self, axes: Axes) -> None:
        shown = self._in_order[::-1]
        rows = range(len(shown))
        low, high = (np.array([outcome.quantiles[q].mean for outcome in shown]) for q in (QUANTILES[0], QUANTILES[-1]))
        axes.hlines(rows, low, high, color="C0", lw=2.0, alpha=0.4, label="90% of instances")
        means, errors = np.transpose([(outcome.regret.mean, outcome.regret.stderr) for outcome in shown])
        axes.errorbar(means, rows, xerr=errors, fmt="o", color="C0", label=f"mean {PLUS_MINUS} standard error")
        axes.set_yticks(rows, [outcome.name for outcome in shown])
        axes.set_xlabel(f"regret after {counted(self.horizon, 'round')}")
        axes.legend(frameon=False)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the plan as one HTML page, and write it to a file if there is a path; needs the extra `report`.

        Parameters
        ----------
        path : str or os.PathLike, optional
            Name of the file.
        """
        require("report", "to_html")
        page = importlib.import_module("bayesregret.report.plan_page")
        text: str = page.plan_page(self)
        if path is not None:
            write_atomically(path, text)
        return text

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as `bayesregret plan --json` prints it."""
        return {
            "problem": self.bandit.to_dict(),
            "horizon": self.horizon,
            "seed": self.seed,
            "delay": self.delay,
            "batch": self.batch,
            "epsilon": self.epsilon,
            "best": self.best.name,
            "reward": self.reward.to_dict(),
            "policies": {name: outcome.to_dict() for name, outcome in self.outcomes.items()},
            "least": None if self.least is None else self.least.to_dict(),
            "settling": None if self.settling is None else self.settling.to_dict(),
            "prior_worth": None if self.worth is None else self.worth.to_dict(),
            "prior_limits": [limit.to_dict() for limit in self.limits],
            "scenarios": [scenario.to_dict() for scenario in self.scenarios],
            "other_horizons": [other.to_dict() for other in self.other_horizons],
            "delta": None if self.delta is None else self.delta.to_dict(),
            "inversions": [inversion.to_dict() for inversion in self.inversions],
            "notes": list(self.notes),
        }
