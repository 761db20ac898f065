"""Expected rewards or costs: of the best arm, of a policy, and of keeping a control."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.models import Bandit
from bayesregret.planning.costs import largest_cost
from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.simulation.estimates import Estimate, estimate

# Instances are cheaper than runs: this many for each run, within limits for instances and for mean rewards in them.
INSTANCES_PER_RUN, FEWEST_INSTANCES, MOST_INSTANCES, MOST_MEANS = 50, 200, 200_000, 4_000_000
EPSILON_INSTANCES = 10_000
LONGEST_UNIT = 40
REWARD, COST = "reward", "cost"  # units if none is given


@dataclass(frozen=True)
class Control:
    """An arm that is used today: its known mean reward or cost, or one of the bandit's arms."""

    mean: float | None
    arm: int | None


@dataclass(frozen=True)
class KeptControl:
    """What keeping the control gives over the whole horizon, and how the recommended policy compares."""

    arm: int | None
    amount: Estimate  # reward or cost of keeping the control
    gain: Estimate  # additional reward of the policy, or the cost that it saves
    better: float  # probability that some arm is better than the control

    def to_dict(self) -> dict[str, Any]:
        return {"arm": self.arm, "amount": _pair(self.amount), "gain": _pair(self.gain), "better": self.better}


@dataclass(frozen=True)
class ExpectedReward:
    """Rewards, or costs if they are minimised, over the whole horizon, averaged over the prior."""

    unit: str
    minimise: bool
    best_arm: Estimate  # of always pulling the best arm
    policy: Estimate  # of the recommended policy
    control: KeptControl | None

    @property
    def lost(self) -> float | None:
        """Regret as a fraction of the best arm's reward or cost; None where that is not positive."""
        if self.best_arm.mean <= 0.0:
            return None
        return abs(self.best_arm.mean - self.policy.mean) / self.best_arm.mean

    def to_dict(self) -> dict[str, Any]:
        return {
            "unit": self.unit,
            "minimise": self.minimise,
            "best_arm": _pair(self.best_arm),
            "policy": _pair(self.policy),
            "lost": self.lost,
            "control": None if self.control is None else self.control.to_dict(),
        }


def _pair(value: Estimate) -> dict[str, float]:
    return {"mean": value.mean, "stderr": value.stderr}


def expected_reward(
    bandit: Bandit,
    horizon: int,
    outcome: PolicyOutcome,
    *,
    unit: str,
    minimise: bool,
    control: Control | None,
    seed: int,
) -> ExpectedReward:
    """Compute the best arm's reward from instances, and the policy's from its regret.

    The bandit has rewards to maximise; if `minimise`, they come from costs by `Bandit.for_costs`.
    """
    means = _instances(bandit, min(INSTANCES_PER_RUN * outcome.runs, MOST_INSTANCES), seed)
    best, regret = means.max(axis=1), outcome.regret
    total = _over(horizon, best)
    reward = Estimate(total.mean - regret.mean, math.hypot(total.stderr, regret.stderr))
    to_amount = _cost_of(bandit, horizon, minimise)
    kept = None if control is None else _kept(control, means, horizon, regret, to_amount)
    return ExpectedReward(unit, minimise, to_amount(total), to_amount(reward), kept)


def _instances(bandit: Bandit, count: int, seed: int) -> Array:
    return bandit.draw_means(max(FEWEST_INSTANCES, min(count, MOST_MEANS // bandit.arms)), seed=seed)


def _over(horizon: int, each_round: Array) -> Estimate:
    found = estimate(each_round)
    return Estimate(horizon * found.mean, horizon * found.stderr)


def _cost_of(bandit: Bandit, horizon: int, minimise: bool) -> Callable[[Estimate], Estimate]:
    """The function that turns a reward over the horizon into the amount that is shown, and back."""
    if not minimise:
        return lambda reward: reward
    most = horizon * largest_cost(bandit)
    return lambda reward: Estimate(most - reward.mean, reward.stderr)


def _kept(
    control: Control, means: Array, horizon: int, regret: Estimate, to_amount: Callable[[Estimate], Estimate]
) -> KeptControl:
    """Compare on the same instances: the difference to the control varies less than the rewards."""
    best = means.max(axis=1)
    if control.arm is not None:
        kept = means[:, control.arm]
        amount = to_amount(_over(horizon, kept))
    else:
        assert control.mean is not None
        amount = Estimate(horizon * control.mean, 0.0)
        kept = np.full(len(best), to_amount(amount).mean / horizon)
    more = _over(horizon, best - kept)
    gain = Estimate(more.mean - regret.mean, math.hypot(more.stderr, regret.stderr))
    return KeptControl(control.arm, amount, gain, float((best > kept).mean()))


# --- arguments ------------------------------------------------------------------------------------------------------


def checked_control(bandit: Bandit, mean: Any, arm: Any) -> Control | None:
    """Return the control; `bandit` has the rewards or costs of the problem."""
    if mean is None and arm is None:
        return None
    if mean is not None and arm is not None:
        raise ValueError("control and control_arm must not both be given")
    if arm is not None:
        return Control(None, checks.whole("control_arm", arm, 0, bandit.arms - 1))
    kind = bandit.representative.kind
    if kind == "bernoulli":
        return Control(checks.fraction("control", mean), None)
    if kind in ("poisson", "exponential"):
        return Control(checks.at_least("control", mean, 0.0), None)
    return Control(checks.real("control", mean), None)


def checked_unit(unit: Any, minimise: bool) -> str:
    """Return the name of the rewards' unit: a few printable characters on one line."""
    if unit is None:
        return COST if minimise else REWARD
    may_be = f"a word of at most {LONGEST_UNIT} printable characters, such as conversions"
    if not isinstance(unit, str) or not unit.strip() or len(unit) > LONGEST_UNIT or not unit.isprintable():
        raise checks.fail("unit", may_be, unit)
    if any(character in unit for character in "<>&\"'`$\\{}"):
        raise checks.fail("unit", f"{may_be}, without quotes, braces or markup", unit)
    return unit.strip()


def default_epsilon(bandit: Bandit, runs: int | None, seed: int) -> float:
    """A tenth of what choosing the best arm is worth over a random one, to two digits; 0 if arms are equal."""
    means = _instances(bandit, EPSILON_INSTANCES if runs is None else min(runs, EPSILON_INSTANCES), seed)
    return float(f"{0.1 * float((means.max(axis=1) - means.mean(axis=1)).mean()):.2g}")
