"""What an experiment is started with: checked, and as the text that the store keeps."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bayesregret import checks
from bayesregret.agent.names import checked_names
from bayesregret.agent.start import LARGEST_SEED
from bayesregret.models import Bandit
from bayesregret.models.bandit import as_bandit
from bayesregret.policies import Policy
from bayesregret.policy_data import as_policy, policy_from_dict, policy_to_dict
from bayesregret.problem import problem_from_dict

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
LONGEST_UNIT = 40
MISSING = ("zero", "lost")
LONGEST_WINDOW = 1e10  # seconds; times are floats, whose digits end there


@dataclass(frozen=True)
class Setup:
    """What an experiment is started with."""

    policy: Policy
    problem: Bandit
    horizon: int
    seed: int
    arms: tuple[str, ...]
    unit: str | None
    reward_after: float | None  # seconds
    missing: str

    def to_text(self) -> str:
        data = dataclasses.asdict(dataclasses.replace(self, policy=None, problem=None))  # type: ignore[arg-type]
        data |= {"policy": policy_to_dict(self.policy), "problem": self.problem.to_dict()}
        return json.dumps(data, allow_nan=False)

    @classmethod
    def from_text(cls, text: str) -> Setup:
        data = json.loads(text)
        made = {
            "policy": policy_from_dict(data["policy"]),
            "problem": problem_from_dict(data["problem"]),
            "arms": tuple(data["arms"]),
        }
        return cls(**(data | made))


def checked_setup(
    bandit: Any, policy: Any, *, horizon: Any, seed: Any, arms: Any, unit: Any, reward_after: Any, missing: Any
) -> Setup:
    """Check all arguments of `ExperimentStore.start`; ValueError, in one line, for a bad one."""
    problem, policy = as_bandit(bandit), as_policy(policy)
    default = [f"arm-{number}" for number in range(problem.arms)]
    setup = Setup(
        policy,
        problem,
        checks.rounds("horizon", horizon, 1),
        checks.whole_up_to("seed", seed, 0, LARGEST_SEED // 2),
        checked_names(default if arms is None else arms, problem.arms),
        None if unit is None else _checked_unit(unit),
        None if reward_after is None else _checked_window(reward_after),
        checks.one_of("missing", missing, MISSING),
    )
    if setup.reward_after is not None and setup.missing == "zero":
        _check_zero(problem)
    try:
        text = setup.to_text()
    except TypeError as error:
        raise ValueError(f"settings must be numbers, texts or lists of them to be stored: {error}") from None
    return Setup.from_text(text)  # as every process will read it


def checked_name(name: Any) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise checks.fail("name", "1 to 100 letters, digits, dots, hyphens or underscores", name)
    return name


def _checked_unit(unit: Any) -> str:
    if not isinstance(unit, str) or not 0 < len(unit) <= LONGEST_UNIT or not unit.isprintable():
        raise checks.fail("unit", f"a printable text of 1 to {LONGEST_UNIT} letters", unit)
    return unit


def _checked_window(window: Any) -> float:
    may_be = "a positive number of seconds, or a timedelta"
    seconds = checks.real("reward_after", window.total_seconds() if isinstance(window, timedelta) else window, may_be)
    if not 0.0 < seconds <= LONGEST_WINDOW:
        raise checks.fail("reward_after", may_be, window)
    return seconds


def _check_zero(problem: Bandit) -> None:
    try:
        problem.check_reward(0.0)
    except ValueError:
        raise ValueError(
            f'missing must be "lost" for {problem.a_kind} bandit, which gives no reward of 0, got "zero"'
        ) from None
