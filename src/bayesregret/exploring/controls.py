"""The form of controls as HTML with native inputs, and the values that it shows."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from bayesregret.exploring.limits import MOST_EDITED_ARMS
from bayesregret.exploring.presets import FIGURES, PRESETS
from bayesregret.exploring.ranges import Range, range_of
from bayesregret.exploring.settings import BOUNDS, DELTA, HORIZON, ONE_RUN, REGRET, PageState, number_of, sweepable
from bayesregret.models import Bandit
from bayesregret.problem import COMMON_PROBLEMS

STEPS = 200  # of a logarithmic slider
POLICIES = ("bayes-ucb", "thompson", "ucb1", "kl-ucb", "moss", "gittins", "greedy", "quantile-ucb")
VIEW_NAMES = {REGRET: "Regret", BOUNDS: "Between the bounds", ONE_RUN: "One run"}
FIELD_NAMES = {"prior_mean": "mean", "prior_width": "width", "reward_noise": "noise", "prior_pulls": "pulls"}


def form(state: PageState, given: Mapping[str, Bandit], arms: int) -> str:
    """Return the form for a state, without its values."""
    return Markup('<form onsubmit="return false" aria-label="Settings">{}{}{}</form>').format(
        _problem(state, given, arms), _experiment(state), _policies(state)
    )


def _problem(state: PageState, given: Mapping[str, Bandit], arms: int) -> Markup:
    choices = [(name, preset.label) for name, preset in PRESETS.items()] + [(name, name) for name in given]
    kinds = [(kind, kind) for kind in COMMON_PROBLEMS] + [(name, name) for name in given]
    parts = [
        select("preset", "Start from", [("", "Choose a problem"), *choices]),
        select("problem", "Model", kinds),
        *(slider(name, range_of(state.problem, name)) for name in slider_names(state)),
    ]
    if state.has_fields:
        parts += [_arms_table(state), _button("edit_arms", "", "Back to the sliders")]
    elif state.problem in COMMON_PROBLEMS and state.problem != "linear" and arms <= MOST_EDITED_ARMS:
        parts.append(_button("edit_arms", "", "Edit each arm"))
    return _group("The problem", parts)


def slider_names(state: PageState) -> list[str]:
    """Return the numbers of the problem that have a slider."""
    if state.has_fields:
        return [name for name, value in state.values if not isinstance(value, tuple)]
    if state.problem not in COMMON_PROBLEMS:
        return []
    return [name for name in inspect.signature(COMMON_PROBLEMS[state.problem]).parameters if name != "noise_kind"]


def _experiment(state: PageState) -> Markup:
    parts = [slider(HORIZON, range_of(state.problem, HORIZON))]
    if state.delta is not None:
        parts.append(slider(DELTA, range_of(state.problem, DELTA)))
    parts += [
        check("usual_delta", "Delta is one over the horizon"),
        slider("runs", range_of(state.problem, "runs")),
        number_box("seed", "Seed"),
    ]
    return _group("The experiment", parts)


def _policies(state: PageState) -> Markup:
    names = dict.fromkeys((*POLICIES, *state.policies))
    return _group("Policies", [check(f"policy:{name}", name) for name in names])


def _arms_table(state: PageState) -> Markup:
    rows = {name: row for name, row in state.values if isinstance(row, tuple)}
    heading = Markup("").join(Markup("<th scope=col>{}</th>").format(FIELD_NAMES.get(name, name)) for name in rows)
    number = len(next(iter(rows.values())))
    cell = Markup('<td><input type="number" step="any" name="arm:{0}:{1}" aria-label="{0} of arm {1}"></td>')
    body = Markup("").join(
        Markup("<tr><th scope=row>{}</th>{}</tr>").format(
            f"arm {arm}", Markup("").join(cell.format(name, arm) for name in rows)
        )
        for arm in range(number)
    )
    table = Markup("<div class=scroll><table class=arms><tr><th></th>{}</tr>{}</table></div>").format(heading, body)
    buttons = _button("arms_in_table", "more", "One arm more"), _button("arms_in_table", "less", "One arm less")
    return table + Markup("").join(buttons)


def form_values(state: PageState) -> dict[str, Any]:
    """Return what each input of the form shows."""
    values: dict[str, Any] = {"preset": "", "problem": state.problem, "usual_delta": state.delta is None}
    values |= {name: number_of(state, name) for name in slider_names(state)}
    values |= {HORIZON: state.horizon, "runs": state.runs, "seed": state.seed}
    if state.delta is not None:
        values[DELTA] = state.delta
    values |= {f"policy:{name}": name in state.policies for name in (*POLICIES, *state.policies)}
    for name, row in state.values:
        if isinstance(row, tuple):
            values |= {f"arm:{name}:{arm}": value for arm, value in enumerate(row)}
    return values


# --- the bar above the picture ----------------------------------------------------------------------------------------


def views(state: PageState) -> str:
    """Return the buttons that choose a view, and the settings of this view."""
    buttons = Markup("").join(
        Markup('<button name=view value="{0}" data-key="view-{0}" aria-pressed="{1}">{2}</button>').format(
            name, "true" if name == state.view else "false", label
        )
        for name, label in VIEW_NAMES.items()
    )
    bar = Markup('<div class=buttons role=group aria-label="View">{}</div>').format(buttons)
    return bar + {BOUNDS: _bounds_bar, ONE_RUN: _run_bar}.get(state.view, lambda _: Markup(""))(state)


def _bounds_bar(state: PageState) -> Markup:
    choices = [(name, range_of(state.problem, name).label) for name in sweepable(state)]
    figures = Markup("").join(
        Markup('<button name=figure value="{0}" data-key="figure-{0}" title="{1}">Figure {0}</button>').format(
            name, preset.label
        )
        for name, preset in FIGURES.items()
    )
    return Markup(
        '<div class=bar>{}<div class=buttons role=group aria-label="Figures of the paper">{}</div></div>'
    ).format(select("sweep", "Horizontal axis", choices), figures)


def _run_bar(state: PageState) -> Markup:
    return Markup("<div class=bar>{}</div>").format(
        select("watched", "Policy", [(name, name) for name in state.play()])
    )


# --- single inputs ---------------------------------------------------------------------------------------------------


def slider(name: str, limits: Range) -> Markup:
    """Return a slider and a box for the exact number, both labelled."""
    low, high, step = limits.low, limits.high, limits.step
    if limits.scale == "log":
        low, high = math.log10(low), math.log10(high)
        step = (high - low) / STEPS
    return Markup(
        '<div class=field><label for="{0}">{1}</label>'
        '<input type=number step=any name="{0}" data-key="{0}-box" aria-label="{1}, number">'
        '<input type=range id="{0}" name="{0}" data-scale="{2}" {3} min="{4:.6g}" max="{5:.6g}" step="{6:.6g}"></div>'
    ).format(name, limits.label, limits.scale, Markup("data-whole=1") if limits.is_whole else "", low, high, step)


def number_box(name: str, label: str) -> Markup:
    return Markup(
        '<div class=field><label for="{0}">{1}</label><input type=number step=1 id="{0}" name="{0}"></div>'
    ).format(name, label)


def select(name: str, label: str, choices: Iterable[tuple[str, str]]) -> Markup:
    options = Markup("").join(Markup('<option value="{}">{}</option>').format(*choice) for choice in choices)
    return Markup('<div class=field><label for="{0}">{1}</label><select id="{0}" name="{0}">{2}</select></div>').format(
        name, label, options
    )


def check(name: str, label: str) -> Markup:
    return Markup('<label class=check><input type=checkbox name="{0}" data-key="{0}">{1}</label>').format(name, label)


def _button(name: str, value: str, label: str) -> Markup:
    return Markup('<button type=button name="{0}" value="{1}" data-key="{0}-{1}">{2}</button> ').format(
        name, value, label
    )


def _group(title: str, parts: Iterable[Markup]) -> Markup:
    return Markup("<fieldset><legend>{}</legend>{}</fieldset>").format(title, Markup("").join(parts))
