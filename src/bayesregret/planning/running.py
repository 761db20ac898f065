"""Python code that runs a recommended policy."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

from bayesregret.models import Bandit
from bayesregret.planning.beliefs import believed_bandit
from bayesregret.policies import Policy

WIDTH = 79  # characters of a line of code
LONGEST_LINE = 100  # characters: a bandit with a longer text is read from its problem file


def snippet(
    policy: Policy,
    bandit: Bandit,
    horizon: int,
    *,
    minimise: bool,
    batch: int = 1,
    problem: str | None = None,
    agent: str | None = None,
) -> str:
    """Python code that starts the agent and shows the loop that it runs in.

    `problem` and `agent` are names of files: of the user's problem, and of the agent that the plan wrote.
    """
    if agent is not None:
        start = [f"agent = br.Agent.from_json(Path({json.dumps(agent)}).read_text())"]
    else:
        start = [
            f"bandit = {_bandit_code(bandit, minimise, problem)}",
            f"agent = {_policy_code(policy, bandit)}.start(bandit, horizon={horizon})",
        ]
    return "\n".join(
        [
            *(["from pathlib import Path", ""] if agent is not None else []),
            "import bayesregret as br",
            "",
            *map(_broken, start),
            *_loop_code(_reward_code(bandit, minimise), batch),
            "state = agent.to_json()  # br.Agent.from_json(state) continues from here",
        ]
    )


def _broken(line: str) -> str:
    """Break a long line of code after commas, all of which are within brackets; file names stay as they are."""
    if '"' in line:
        return line
    lines = [""]
    for part in re.split(r"(?<=,) ", line):
        longer = f"{lines[-1]} {part}" if lines[-1] else part
        if len(longer) <= WIDTH or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(f"    {part}")
    return "\n".join(lines)


def _loop_code(reward: str, batch: int) -> list[str]:
    """A choice and its reward, or those of a batch."""
    if batch == 1:
        return [
            "arm = agent.select()  # in each round: the arm to use now",
            f"agent.update(arm, {reward})  # as soon as it is known, in any order",
        ]
    many = "rewards" if reward == "reward" else f"[{reward} for cost in costs]"
    return [
        f"arms = [agent.select() for _ in range({batch})]  # the arms of a batch",
        f"agent.update_many(arms, {many})  # as soon as they are known",
    ]


def _bandit_code(bandit: Bandit, minimise: bool, problem: str | None) -> str:
    """The problem file, or the constructor where that is short."""
    if problem is not None:
        return f"br.load_problem({json.dumps(problem)}){'.for_costs()' if minimise else ''}"
    text = repr(bandit)
    if len(text) <= LONGEST_LINE and "..." not in text:
        return f"br.{text}"
    return 'br.load_problem("problem.toml")  # the problem of this plan'


def _reward_code(bandit: Bandit, minimise: bool) -> str:
    if not minimise:
        return "reward"
    return "1 - cost" if bandit.representative.kind == "bernoulli" else "-cost"


def _policy_code(policy: Any, bandit: Bandit) -> str:
    """The policy's constructor with the settings that differ from the default ones."""
    given = []
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        if field.name == "prior":
            if value is not None:
                is_matched = value == believed_bandit(bandit)
                given.append(f"prior={'bandit.conjugate()' if is_matched else f'br.{value!r}'}")
        elif value != field.default:
            given.append(f"{field.name}={value!r}")
    return f"br.{type(policy).__name__}({', '.join(given)})"
