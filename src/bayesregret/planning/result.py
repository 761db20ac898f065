"""What `plan` returns: outcomes, what the prior is worth, how wrong it may be, and the answers turned round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayesregret.digits import PLUS_MINUS, counted, text_table
from bayesregret.models import Bandit
from bayesregret.optimal import OptimalRegret
from bayesregret.planning.delta_tuning import DeltaAdvice
from bayesregret.planning.misspecification import Limit
from bayesregret.planning.numbers import at_most, percent, rounded, told, with_interval
from bayesregret.planning.policy_outcome import LIKELY, SHARES, Outcome
from bayesregret.planning.summary_text import sentences
from bayesregret.planning.targets import Inversion
from bayesregret.planning.value_of_prior import PriorWorth
from bayesregret.planning.zero_crossing import SURE


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What to expect of every way of running an experiment, before there are data."""

    bandit: Bandit
    horizon: int
    seed: int
    outcomes: Mapping[str, Outcome]  # by name; after the policies the A/B test, and BayesUCB with the best delta
    worth: PriorWorth | None
    limits: tuple[Limit, ...]
    delta: DeltaAdvice | None
    least: OptimalRegret | None  # the least regret there is, where it is known
    inversions: tuple[Inversion, ...]
    notes: tuple[str, ...]  # what cannot be told here, and why

    def __getitem__(self, name: str) -> Outcome:
        try:
            return self.outcomes[name]
        except KeyError:
            raise KeyError(f"policy must be one of {', '.join(self.outcomes)}, got {name!r}") from None

    @property
    def best(self) -> Outcome:
        """The outcome with the least expected regret."""
        return min(self.outcomes.values(), key=lambda outcome: outcome.regret.mean)

    def table(self) -> list[list[str]]:
        """Headings and a row for each policy, that of the least regret first."""
        shares = [f"{share:.0%}" for share in SHARES]
        headings = ["policy", "Bayes regret", *shares, "certified", "per round", "best arm at the end"]
        headings.append(f"{LIKELY:.0%} from round")
        headings += ["times the least"] if self.least is not None and self.least.regret > 0.0 else []
        return [headings, *map(self._row, sorted(self.outcomes.values(), key=lambda outcome: outcome.regret.mean))]

    def _row(self, outcome: Outcome) -> list[str]:
        is_sure = self.bandit.arms == 1
        quantiles = [rounded(value.mean, value.stderr) for value in outcome.quantiles.values()]
        each = outcome.regret_per_round
        row = [
            outcome.name,
            told(outcome.regret, is_sure or outcome.exact is not None),
            *quantiles,
            "-" if outcome.bound is None else at_most(outcome.bound.value + outcome.bound.error),
            rounded(each.mean, max(each.stderr, 1e-3 * each.mean)),
            "100%" if is_sure else percent(outcome.on_best),
            self._from_round(outcome),
        ]
        ratio = outcome.least_ratio
        if ratio is not None:
            share = outcome.regret.stderr / outcome.regret.mean if outcome.regret.mean > 0.0 else 0.0
            row.append(rounded(ratio, max(1e-4, share) * ratio))
        return row

    def _from_round(self, outcome: Outcome) -> str:
        if outcome.settled is not None:
            return with_interval(outcome.settled, self.horizon, is_whole=True)
        return "unsure" if outcome.on_best.mean + SURE * outcome.on_best.stderr > LIKELY else "never"

    def sentences(self) -> list[str]:
        """The answer first, then what it rests on."""
        return sentences(self)

    def summary(self) -> str:
        """What the table's numbers mean for a decision, line by line, and what was run."""
        runs = sorted({outcome.runs for outcome in self.outcomes.values()})
        many = counted(runs[-1], "run") if len(runs) == 1 else f"{runs[0]:,} to {counted(runs[-1], 'run')}"
        size = f"{counted(self.bandit.arms, 'arm')}, {counted(self.horizon, 'round')}"
        made = f"{self.bandit.kind} bandit, {size}, {many} of each policy, seed {self.seed}"
        return "\n".join([*self.sentences(), *self.notes, f"{made}; {PLUS_MINUS} one standard error"])

    def __str__(self) -> str:
        return f"{text_table(self.table())}\n{self.summary()}"

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesregret plan --json` prints it."""
        return {
            "problem": self.bandit.to_dict(),
            "horizon": self.horizon,
            "seed": self.seed,
            "best": self.best.name,
            "policies": {name: outcome.to_dict() for name, outcome in self.outcomes.items()},
            "least": None if self.least is None else {"regret": self.least.regret, "error": self.least.error},
            "prior_worth": None if self.worth is None else self.worth.to_dict(),
            "prior_limits": [limit.to_dict() for limit in self.limits],
            "delta": None if self.delta is None else self.delta.to_dict(),
            "inversions": [inversion.to_dict() for inversion in self.inversions],
            "notes": list(self.notes),
        }
