"""The whole state of a page as one small value, which an address in the browser can hold."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode

from bayesregret import checks
from bayesregret.checks import parsed_number
from bayesregret.exploring.limits import (
    LARGEST_WORK,
    LEAST_ROUNDS,
    LONGEST_ADDRESS,
    MOST_EDITED_ARMS,
    MOST_POLICIES,
    MOST_ROUNDS,
    MOST_RUNS,
    most_arms,
)
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.policy_data import named, policy_from_text
from bayesregret.problem import COMMON_PROBLEMS, bandit_classes, problem_from_dict

REGRET, BOUNDS, ONE_RUN = "regret", "bounds", "run"
VIEWS = (REGRET, BOUNDS, ONE_RUN)
HORIZON, DELTA = "horizon", "delta"

Value = float | tuple[float, ...]
Values = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class PageState:
    """What a page shows: problem, policies, view, and what is hidden or selected in it.

    Attributes
    ----------
    problem : str
        A common problem such as "gaussian", or the name of a problem given to the page.
    values : tuple of (str, float or tuple of float)
        Options of the common problem or, if some have an entry for each arm, the fields of a problem file.
    horizon, delta, runs, seed
        As in `simulate`; runs are the largest number, and delta None means 1/horizon.
    policies : tuple of str
        Policies as the command line takes them.
    view : {"regret", "bounds", "run"}
    sweep : str
        The parameter on the horizontal axis of the view "bounds".
    hidden : tuple of str
        Names of trends that are not drawn.
    watched : str
        The policy of the view "run"; the first one if empty.
    instance : int
        Which instance it meets: the simulation's seed is `seed + instance`.
    round : int
        The round that is shown.
    """

    problem: str = "gaussian"
    values: Values = ()
    horizon: int = 1_000
    delta: float | None = None
    policies: tuple[str, ...] = ("bayes-ucb", "thompson", "ucb1")
    runs: int = 10_000
    seed: int = 0
    view: str = REGRET
    sweep: str = "prior_width"
    hidden: tuple[str, ...] = ()
    watched: str = ""
    instance: int = 0
    round: int = 0

    def changed(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def with_value(self, name: str, value: Value) -> Self:
        """The state with another value of the problem."""
        return self.changed(values=tuple((self.mapping | {name: value}).items()))

    @cached_property
    def mapping(self) -> dict[str, Value]:
        """Values of the problem by name."""
        return dict(self.values)

    @property
    def has_fields(self) -> bool:
        """Whether values are fields of a problem file, with an entry for each arm, and not options."""
        return any(isinstance(value, tuple) for value in self.mapping.values())

    def bandit(self, given: Mapping[str, Bandit]) -> Bandit:
        """Return the bandit; ValueError in one line if there is none, or if it is too large for a page."""
        made = _made(self, given)
        allowed = most_arms(made)
        if made.arms > allowed:
            raise ValueError(f"arms must be at most {allowed:,} on the page, got {made.arms:,}")
        if made.arms * self.horizon > LARGEST_WORK:
            raise ValueError(
                f"horizon must be at most {LARGEST_WORK // made.arms:,} on the page with {made.arms:,} arms, "
                f"got {self.horizon:,}"
            )
        return made

    def play(self) -> dict[str, Policy]:
        """Return the policies by the names that results show."""
        return named([self._with_delta(policy_from_text(text)) for text in self.policies])

    def _with_delta(self, policy: Any) -> Policy:
        if self.delta is not None and getattr(policy, DELTA, self) is None:
            return replace(policy, delta=self.delta)  # type: ignore[no-any-return]
        return policy  # type: ignore[no-any-return]


def _made(state: PageState, given: Mapping[str, Bandit]) -> Bandit:
    if state.problem in given:
        return given[state.problem]
    kind = checks.one_of("problem", state.problem, [*COMMON_PROBLEMS, *given])
    values = state.mapping
    if state.has_fields:
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return problem_from_dict({"model": kind} | plain)
    make = COMMON_PROBLEMS[kind]
    arms = values.get("arms")
    if arms is not None:  # before memory is taken
        checks.whole("arms", arms, 1, 10 * most_arms(kind))
    parameters = inspect.signature(make).parameters
    for name in values:
        if name not in parameters:
            raise ValueError(
                f"{checks.shown(name)} is not a setting of {kind} problems, which have {', '.join(parameters)}"
            )
    return make(**values)


def state_of(bandit: Bandit, name: str, **settings: Any) -> PageState:
    """Return the state for a bandit that is given to a page, with its numbers in it where a page can edit them."""
    data = bandit.to_dict()
    numbers = {field: value for field, value in data.items() if field != "model"}
    is_plain = all(isinstance(value, int | float) or _is_row(value) for value in numbers.values())
    usual = numbers.pop("noise_kind", "gaussian") == "gaussian" and bandit.kind in COMMON_PROBLEMS
    is_plain = all(isinstance(value, int | float) or _is_row(value) for value in numbers.values())
    if usual and is_plain and bandit.arms <= MOST_EDITED_ARMS:
        values = tuple((field, tuple(value) if _is_row(value) else value) for field, value in numbers.items())
        return PageState(problem=bandit.kind, values=values, **settings)
    return PageState(problem=name, **settings)


def _is_row(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(entry, list | dict) for entry in value)


# --- addresses -------------------------------------------------------------------------------------------------------

MANY = {"policies": "policy", "hidden": "hide"}  # fields that may be given several times, by their names in an address
PLAIN = tuple(field.name for field in fields(PageState) if field.name not in (*MANY, "values"))


def encode(state: PageState) -> str:
    """Return the state as the query of an address; defaults are left out.

    >>> encode(PageState(horizon=500, values=(("arms", 3),)))
    'arms=3&horizon=500'
    """
    usual, pairs = PageState(), []
    if state.problem != usual.problem:
        pairs.append(("problem", state.problem))
    pairs += [(name, _text(value)) for name, value in state.values]
    pairs += [(name, _text(getattr(state, name))) for name in PLAIN[1:] if getattr(state, name) != getattr(usual, name)]
    for field, name in MANY.items():
        if getattr(state, field) != getattr(usual, field):
            pairs += [(name, text) for text in getattr(state, field)]
    return urlencode(pairs, safe=",:")


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value)


def decode(query: str, given: Mapping[str, Bandit]) -> PageState:
    """Return the state that a query describes; ValueError in one line for any other text."""
    if len(query) > LONGEST_ADDRESS:
        raise ValueError(f"the address must have at most {LONGEST_ADDRESS:,} characters, got {len(query):,}")
    read: dict[str, Any] = {"values": {}}
    for name, text in parse_qsl(query, keep_blank_values=True):
        field = next((field for field, short in MANY.items() if short == name), None)
        if field is not None:
            read[field] = (*read.get(field, ()), text)
        elif name in read or name in read["values"]:
            raise ValueError(f"{checks.shown(name)} is in the address twice")
        elif name in PLAIN:
            read[name] = text
        else:
            _check_name(name)
            read["values"][name] = text
    return checked(_state(read, given), given)


def _state(read: Mapping[str, Any], given: Mapping[str, Bandit]) -> PageState:
    settings = dict(read)
    values = tuple((name, _value(name, text)) for name, text in settings.pop("values").items())
    for name in ("horizon", "delta", "runs", "seed", "instance", "round"):
        if name in settings:
            settings[name] = parsed_number(settings[name])
    state = PageState(values=values, **settings)
    if state.problem in given and values:
        raise ValueError(f"{checks.shown(values[0][0])} does not go with the problem {checks.shown(state.problem)}")
    return state


def _check_name(name: str) -> None:
    """Check that a value is one of some problem, so that a misspelt setting is called one."""
    known = {"arms"} | {name for make in COMMON_PROBLEMS.values() for name in inspect.signature(make).parameters}
    known |= {name for made in bandit_classes().values() for name in inspect.signature(made).parameters}
    if name not in known:
        hint = checks.suggestion(name, [*known, *PLAIN, *MANY.values()])
        raise ValueError(f"{checks.shown(name)} in the address is not a setting{hint}")


def _value(name: str, text: str) -> Value:
    numbers = text.split(",")
    if len(numbers) > MOST_EDITED_ARMS:
        raise ValueError(f"{checks.shown(name)} must have at most {MOST_EDITED_ARMS} numbers, got {len(numbers):,}")
    read = tuple(_number(name, number) for number in numbers)
    return read if "," in text else read[0]


def _number(name: str, text: str) -> float:
    number = parsed_number(text)
    if isinstance(number, str):
        raise checks.fail(name, "a number, or numbers with commas between them", text)
    checks.real(name, number)
    return number


def checked(state: PageState, given: Mapping[str, Bandit]) -> PageState:
    """Return the state if a page can show it; ValueError in one line if not."""
    checks.whole("horizon", state.horizon, LEAST_ROUNDS, MOST_ROUNDS)
    checks.whole("runs", state.runs, 2, MOST_RUNS)
    checks.whole("seed", state.seed, 0, 2**53)
    checks.whole("instance", state.instance, 0, 10**6)
    checks.whole("round", state.round, 0, MOST_ROUNDS)
    checks.one_of("view", state.view, VIEWS)
    if state.delta is not None:
        checks.at_least(DELTA, state.delta, 1e-12, 1.0)
    if not 1 <= len(state.policies) <= MOST_POLICIES:
        raise ValueError(f"policy must be given once to {MOST_POLICIES} times, got {len(state.policies)}")
    if len(set(state.policies)) < len(state.policies) or len(state.hidden) > 40:
        raise ValueError("policy and hide must be given once for each name")
    bandit = state.bandit(given)
    names = state.play()
    if state.watched and state.watched not in names:
        state = state.changed(watched="")
    possible = sweepable(state)
    if state.sweep not in possible:
        state = state.changed(sweep=possible[0])
    del bandit, given
    return state


def sweepable(state: PageState) -> list[str]:
    """Return the names of the parameters that can be swept: numbers of the problem, the horizon and delta."""
    if state.problem in COMMON_PROBLEMS and not state.has_fields:
        parameters = inspect.signature(COMMON_PROBLEMS[state.problem]).parameters
        numbers = [n for n in parameters if n not in ("arms", "dimension", "noise_kind", "features_seed")]
        order = sorted(numbers, key=lambda name: name != "prior_width")
    else:
        order = [name for name, value in state.values if not isinstance(value, tuple)]
    return [*order, HORIZON, DELTA]


def number_of(state: PageState, name: str) -> float:
    """Return the present value of a parameter."""
    if name == HORIZON:
        return state.horizon
    if name == DELTA:
        return 1.0 / state.horizon if state.delta is None else state.delta
    if name in state.mapping:
        value = state.mapping[name]
        assert not isinstance(value, tuple)
        return value
    return float(inspect.signature(COMMON_PROBLEMS[state.problem]).parameters[name].default)


def with_number(state: PageState, name: str, value: float) -> PageState:
    """Return the state with another value of a parameter."""
    if name in (HORIZON, DELTA):
        return state.changed(**{name: round(value) if name == HORIZON else value})
    return state.with_value(name, value)
