"""What a reader takes home: a command, Python, a problem file, numbers, figures, a plan."""

from __future__ import annotations

import base64
import shlex
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from bayesregret.exploring.settings import BOUNDS, ONE_RUN, PageState
from bayesregret.exploring.snapshot import Snapshot
from bayesregret.models import Bandit
from bayesregret.plotting.drawing import draw
from bayesregret.plotting.saving import DPI, csv_table, file_name, rendered
from bayesregret.plotting.style import PAGE, PAPER
from bayesregret.problem import COMMON_PROBLEMS
from bayesregret.report.downloads import problem_text
from bayesregret.reproduction.table import Table

PROBLEM_FILE = "problem.toml"
KINDS = {"csv": "text/csv", "svg": "image/svg+xml", "png": "image/png", "toml": "text/plain", "html": "text/html"}


def command(state: PageState) -> str:
    """Return the command line that computes what the page shows."""
    parts = ["bayesregret", "bounds" if state.view == BOUNDS else "simulate", *_problem_words(state)]
    if state.view != BOUNDS:
        parts += [word for text in _policy_texts(state) for word in ("--policy", text)]
    parts += ["--horizon", str(state.horizon)]
    if state.view != BOUNDS:
        one = state.view == ONE_RUN
        parts += ["--runs", "1" if one else str(state.runs), "--seed", str(state.seed + state.instance * one)]
    if state.view == BOUNDS and state.delta is not None:
        parts += ["--delta", repr(state.delta)]
    return shlex.join(parts)


def _problem_words(state: PageState) -> list[str]:
    if not _is_common(state):
        return [PROBLEM_FILE]
    options = [(f"--{name.replace('_', '-')}", _plain(value)) for name, value in state.values]
    return [state.problem, *(word for pair in options for word in pair)]


def _is_common(state: PageState) -> bool:
    return state.problem in COMMON_PROBLEMS and not state.has_fields


def _plain(value: Any) -> str:
    return repr(value)


def python(state: PageState, bandit: Bandit) -> str:
    """Return Python that computes what the page shows."""
    lines = ["import bayesregret as br", "", *_problem_code(state, bandit)]
    policies = f"[{', '.join(map(repr, _policy_texts(state)))}]"
    delta = "" if state.delta is None else f", delta={state.delta!r}"
    if state.view == BOUNDS:
        lines.append(f"print(br.bounds.table(bandit, horizon={state.horizon}{delta}))")
        return "\n".join(lines)
    one = state.view == ONE_RUN
    runs, seed = (1, state.seed + state.instance) if one else (state.runs, state.seed)
    lines.append(f"result = br.simulate(bandit, {policies}, horizon={state.horizon}, runs={runs}, seed={seed})")
    lines.append("print(result)")
    return "\n".join(lines)


def _policy_texts(state: PageState) -> list[str]:
    """Return the policies as texts that have the page's delta."""
    if state.delta is None:
        return list(state.policies)
    texts = []
    for text, policy in zip(state.policies, state.play().values(), strict=True):
        takes_it = "delta=" not in text and getattr(policy, "delta", None) is not None
        texts.append(f"{text}{',' if ':' in text else ':'}delta={state.delta!r}" if takes_it else text)
    return texts


def _problem_code(state: PageState, bandit: Bandit) -> list[str]:
    if not _is_common(state):
        return [f"bandit = br.load_problem({PROBLEM_FILE!r})  # download it below"]
    function = COMMON_PROBLEMS[state.problem].__name__
    options = ", ".join(f"{name}={_plain(value)}" for name, value in state.values)
    return [f"from bayesregret.problem import {function}", "", f"bandit = {function}({options})"]


def panel(state: PageState, bandit: Bandit, *, has_address: bool) -> str:
    """Return the HTML of this part of the page."""
    link = Markup('<button type=button data-copy="" data-key=copy-link>Copy the link to this page</button>')
    copies = [("command", "On the command line", command(state)), ("python", "In Python", python(state, bandit))]
    blocks = Markup("").join(
        Markup(
            '<h3>{1}</h3><pre tabindex=0 id="take-{0}">{2}</pre>'
            '<button type=button data-copy="{2}" data-key="copy-{0}">Copy</button>'
        ).format(name, title, text)
        for name, title, text in copies
    )
    files = [("csv", "Numbers (CSV)"), ("svg", "Figure (SVG)"), ("png", "Figure (PNG)"), ("toml", "Problem file")]
    files.append(("html", "Plan (HTML), takes a while"))
    buttons = Markup("").join(
        Markup('<button type=button name=save value="{0}" data-key="save-{0}">{1}</button>').format(form, label)
        for form, label in files
    )
    return Markup("<h2 class=apart>Take it away</h2><div class=buttons>{}{}</div>{}").format(
        link if has_address else "", buttons, blocks
    )


def saved(form: str, snapshot: Snapshot, state: PageState, bandit: Bandit) -> dict[str, str]:
    """Return a file for the reader to save, as the browser needs it."""
    name, content = _content(form, snapshot, state, bandit)
    return {"name": name, "kind": KINDS[form], "content": base64.b64encode(content).decode()}


def _content(form: str, snapshot: Snapshot, state: PageState, bandit: Bandit) -> tuple[str, bytes]:
    if form == "toml":
        return PROBLEM_FILE, problem_text(bandit).encode()
    if form == "html":
        from bayesregret.planning import plan
        from bayesregret.report.plan_page import plan_page

        made = plan(bandit, list(state.play().values()), horizon=state.horizon, seed=state.seed, progress=False)
        return "plan.html", plan_page(made).encode()
    name = f"{file_name(snapshot.table.figure)}.{form}"
    if form == "csv":
        return name, csv_table(snapshot.numbers or snapshot.table).encode()
    options: dict[str, Any] = {"dpi": DPI, "facecolor": PAPER} if form == "png" else {"metadata": {"Date": None}}
    return name, rendered(draw(_without_hidden(snapshot.table, state), PAGE), form, **options)


def _without_hidden(table: Table, state: PageState) -> Table:
    shown = tuple(trend for trend in table.trends if trend.name not in state.hidden)
    return replace(table, trends=shown or table.trends)
