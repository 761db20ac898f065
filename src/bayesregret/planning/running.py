"""Python code that runs a recommended policy."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

from bayesregret.models import Bandit
from bayesregret.planning.beliefs import believed_bandit, explicit_prior
from bayesregret.policies import Policy
from bayesregret.sources import is_outside

WIDTH = 79  # characters of a line of code
LONGEST_BANDIT = 240  # characters, three lines: a bandit with a longer text is read from its problem file


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
            *_imports(policy, bandit, is_loaded=agent is not None),
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
    text = _constructed(bandit)
    if bandit.kind != "mixture" and len(text) <= LONGEST_BANDIT and "..." not in text:
        return text
    return 'br.load_problem("problem.toml")  # the problem of this plan'


def _reward_code(bandit: Bandit, minimise: bool) -> str:
    if not minimise:
        return "reward"
    return "1 - cost" if bandit.representative.kind == "bernoulli" else "-cost"


def _policy_code(policy: Any, bandit: Bandit) -> str:
    """The policy's constructor with the settings that differ from the default ones."""
    fields = dataclasses.fields(policy) if dataclasses.is_dataclass(policy) else ()
    defaults = {field.name: field.default for field in fields}
    given = []
    for name, value in vars(policy).items():
        if name == "prior" and value is not None:
            is_matched = value == believed_bandit(bandit)
            given.append(f"prior={'bandit.conjugate()' if is_matched else _constructed(value)}")
        elif name not in defaults or value != defaults[name]:
            given.append(f"{name}={value!r}")
    return f"{_prefix(policy)}{type(policy).__name__}({', '.join(given)})"


def _constructed(value: Any) -> str:
    return f"{_prefix(value)}{value!r}"


def _prefix(value: Any) -> str:
    """The package, in front of its own classes; those of the user are imported by their names."""
    return "" if is_outside((type(value),)) else "br."


def _imports(policy: Policy, bandit: Bandit, *, is_loaded: bool) -> list[str]:
    """Imports of the user's own classes, also of those that a saved agent names."""
    values = (policy, bandit, explicit_prior(policy))
    kinds = dict.fromkeys(type(value) for value in values if value is not None and is_outside((type(value),)))
    return [_import(kind, "  # from_json needs it" if is_loaded else "") for kind in kinds]


def _import(kind: type, why: str) -> str:
    if kind.__module__ == "__main__" or kind.__qualname__ != kind.__name__:  # in no module, or not at its top
        return f"# define {kind.__name__} here: your own class{why.replace('  #', ';')}"
    return f"from {kind.__module__} import {kind.__name__}{why}"
