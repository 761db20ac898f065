"""Files that a page carries within itself, as data: links."""

from __future__ import annotations

import base64
import json
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesregret.models import Bandit
from bayesregret.problem import save_problem

if TYPE_CHECKING:
    from bayesregret.planning import Plan

LARGEST = 1_500_000  # bytes: Chromium takes links of up to two million characters


class Download(NamedTuple):
    """A file that a reader can save."""

    name: str
    meaning: str
    link: str | None  # None: too large for a link


def plan_downloads(plan: Plan) -> list[Download]:
    """Return the problem, the agent that runs the recommended policy, and all numbers of a plan."""
    numbers = json.dumps(_strict(plan.to_dict()), allow_nan=False, indent=1)
    problem = "the problem, with rewards in place of costs" if plan.reward.minimise else "the problem"
    return [
        _download("problem.toml", f"{problem}, for br.load_problem and for all commands", problem_text(plan.bandit)),
        _download(
            "agent.json",
            "the recommended policy before its first round, for br.Agent.from_json",
            plan.agent().to_json(),
        ),
        _download("plan.json", "all numbers of this page", numbers),
    ]


def _download(name: str, meaning: str, text: str) -> Download:
    content = (text.rstrip() + "\n").encode()
    if len(content) > LARGEST:
        return Download(name, meaning, None)
    kind = "application/json" if name.endswith(".json") else "text/plain"
    # Base 64 has no character that HTML or a URL would need to escape.
    return Download(name, meaning, f"data:{kind};charset=utf-8;base64,{base64.b64encode(content).decode()}")


def problem_text(bandit: Bandit) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "problem.toml")
        save_problem(bandit, path)
        return path.read_text(encoding="utf-8")


def _strict(value: Any) -> Any:
    """Replace infinities, which JSON does not have, by "inf" and "-inf", as the command line does."""
    if isinstance(value, dict):
        return {key: _strict(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(entry) for entry in value]
    return f"{value}" if isinstance(value, float) and math.isinf(value) else value
