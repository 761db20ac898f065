"""What a move of a control makes of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bayesregret import checks
from bayesregret.checks import parsed_number
from bayesregret.exploring.limits import MOST_EDITED_ARMS
from bayesregret.exploring.presets import FIGURES, PRESETS
from bayesregret.exploring.ranges import RANGES
from bayesregret.exploring.settings import DELTA, PageState, checked, state_of
from bayesregret.models import Bandit

Given = Mapping[str, Bandit]
WHOLE = ("horizon", "runs", "seed", "instance", "round")
TEXT = ("view", "sweep", "watched")


def moved(state: PageState, name: str, value: Any, given: Given) -> PageState:
    """Return the state after a move; ValueError in one line if a page cannot show it."""
    kind, _, rest = name.partition(":")
    move = MOVES.get(kind)
    if move is not None:
        changed = move(state, rest, value, given)
    elif name in TEXT:
        changed = state.changed(**{name: str(value)})
    elif name in WHOLE:
        changed = state.changed(**{name: _number(name, value)})
    elif name == DELTA:
        changed = state.changed(delta=_number(name, value))
    else:
        changed = state.with_value(checks.one_of("control", name, RANGES), _number(name, value))
    return checked(changed, given)


def _number(name: str, value: Any) -> Any:
    number = parsed_number(value) if isinstance(value, str) else value
    if isinstance(number, float) and number.is_integer() and abs(number) < 2**53:
        number = int(number)
    return number if isinstance(number, int | float) else _refuse(name, value)


def _refuse(name: str, value: Any) -> Any:
    raise checks.fail(name, "a number", value)


# --- moves of several settings at once --------------------------------------------------------------------------------


def _preset(state: PageState, rest: str, value: Any, given: Given) -> PageState:
    if value in given:
        return state_of(given[value], value, view=state.view)
    return PRESETS[checks.one_of("preset", value, PRESETS)].state.changed(view=state.view)


def _figure(state: PageState, rest: str, value: Any, given: Given) -> PageState:
    return FIGURES[checks.one_of("figure", value, FIGURES)].state


def _problem(state: PageState, rest: str, value: Any, given: Given) -> PageState:
    return state.changed(problem=value, values=(), instance=0, round=0)


def _edit_arms(state: PageState, rest: str, value: Any, given: Given) -> PageState:
    """From options to a number for each arm, and back."""
    if state.has_fields:
        return state.changed(values=())
    bandit = state.bandit(given)
    edited = state_of(bandit, state.problem)
    if not edited.has_fields:
        raise ValueError(f"arms must be at most {MOST_EDITED_ARMS} to edit each, and not linear, got {bandit.arms:,}")
    return state.changed(values=edited.values, round=0)


def _arm(state: PageState, rest: str, value: Any, given: Given) -> PageState:
    field, _, place = rest.partition(":")
    row, at = state.mapping.get(field), parsed_number(place)
    if not isinstance(row, tuple) or not isinstance(at, int) or not 0 <= at < len(row):
        raise checks.fail("arm", "one of the table", rest)
    return state.with_value(field, (*row[:at], _number(field, value), *row[at + 1 :]))


def _arms_in_table(state: PageState, rest: str, value: Any, given: Given) -> PageState:
    """One arm more, like the last one, or one less."""
    rows = {name: row for name, row in state.mapping.items() if isinstance(row, tuple)}
    if value == "more":
        made = {name: (*row, row[-1]) for name, row in rows.items()}
    else:
        made = {name: row[:-1] if len(row) > 2 else row for name, row in rows.items()}
    if any(len(row) > MOST_EDITED_ARMS for row in made.values()):
        raise ValueError(f"arms must be at most {MOST_EDITED_ARMS} to edit each")
    return state.changed(values=tuple((state.mapping | made).items()))


def _policy(state: PageState, rest: str, value: Any, given: Given) -> PageState:
    others = tuple(name for name in state.policies if name != rest)
    return state.changed(policies=(*others, rest) if value else others or state.policies)


def _hide(state: PageState, rest: str, value: Any, given: Given) -> PageState:
    others = tuple(name for name in state.hidden if name != rest)
    return state.changed(hidden=others if rest in state.hidden else (*others, rest))


def _usual_delta(state: PageState, rest: str, value: Any, given: Given) -> PageState:
    return state.changed(delta=None if value else 1.0 / state.horizon)


MOVES: dict[str, Callable[[PageState, str, Any, Given], PageState]] = {
    "preset": _preset,
    "figure": _figure,
    "problem": _problem,
    "edit_arms": _edit_arms,
    "arm": _arm,
    "arms_in_table": _arms_in_table,
    "policy": _policy,
    "hide": _hide,
    "usual_delta": _usual_delta,
}
