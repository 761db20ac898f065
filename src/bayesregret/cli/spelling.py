"""Options as the user types them, in messages of the package that name arguments of Python functions.

    horizon must be a whole number       --horizon must be a whole number
    keep="summary" needs no memory       --keep summary needs no memory
    exact=True computes it               --exact computes it

One rule for all messages. Names within sentences stay, because most of them are words, and so do those after the name
of a file, because they are its fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# Arguments of Python functions that have other names on the command line.
OTHER_NAMES = {"bandit": "problem", "policies": "policy", "url": "store"}

Spelling = tuple[str, str]  # of a value that is given or true, and of one that is false
_spellings: ContextVar[dict[str, Spelling]] = ContextVar("_spellings", default={})  # noqa: B039 (never changed)


@contextmanager
def spellings_of(parameters: Sequence[Any]) -> Iterator[None]:
    """In this block a command with these parameters runs."""
    found = {parameter.name: _spelling(parameter) for parameter in parameters}
    found |= {name: found[typed] for name, typed in OTHER_NAMES.items() if typed in found}
    before = _spellings.set(found)
    try:
        yield
    finally:
        _spellings.reset(before)


def _spelling(parameter: Any) -> Spelling:
    if parameter.param_type_name == "argument":
        word = str(parameter.metavar).strip("[].")
        return word, word
    typed = next(name for name in parameter.opts if name.startswith("--"))
    return typed, next(iter(parameter.secondary_opts), typed)


def as_typed(message: str) -> str:
    """Return a message with the options of the running command as the user types them."""
    spellings = _spellings.get()
    if not spellings:
        return message
    name = f"(?:{'|'.join(map(re.escape, sorted(spellings, key=len, reverse=True)))})"
    subject = rf"^{name}(?:(?:, | and | or ){name})*(?=:? )"
    message = re.sub(subject, lambda found: re.sub(rf"\b{name}\b", lambda one: spellings[one[0]][0], found[0]), message)
    message = re.sub(rf"\bwith ({name})(?= \d)", lambda found: f"with {spellings[found[1]][0]}", message)
    value = r'"[^"]*"|\w[\w.]*'
    return re.sub(
        rf"(?:^|(?<=\s)|(?<=\s\())({name})=({value})", lambda found: _given(spellings[found[1]], found[2]), message
    )


def _given(spelling: Spelling, value: str) -> str:
    if value in ("True", "False"):
        return spelling[value == "False"]
    text = value.strip('"')
    return f"{spelling[0]} {text}"
