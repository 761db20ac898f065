"""One line in place of the compiler's page of errors: which of the user's functions is at fault, and why."""

from __future__ import annotations

import pathlib
import re

from bayesregret.sources import is_outside_file

UNTYPED = re.compile(r"Untyped global name '(\w+)'.*?<class 'function'>", re.DOTALL)
PLACE = re.compile(r'File "([^"]+)", line (\d+)')
DEFINITION = re.compile(r"^def (\w+)\(", re.MULTILINE)
NO_TYPE = "Cannot determine Numba type of"
# Signs that the formula makes something that needs memory, which no kernel may take.
NEEDS_MEMORY = re.compile(r"NRT required|dictobject\.py|DictType|listobj\.py|reflected list|setobj\.py|reflected set")
CALLEE = re.compile(
    r"resolving callee type: Function\(<(?:built-in )?function (\w+).*?>\)\s+During: typing of call at (\S+)"
)
# What the compiler says of a mistake in the formula itself, wherever in its text.
MISTAKES = re.compile(
    r"Unknown attribute '.*|Cannot unify .*|Use of unsupported .*|name '\w+' is not defined|Unsupported .*"
)


def explain(error: Exception) -> TypeError:
    """One line for an error of the compiler."""
    text = str(error)
    where = _users_place(text)
    untyped = UNTYPED.search(text)
    if untyped:
        return TypeError(f"{untyped[1]}, called{where}, needs @jitable above its definition to be compiled")
    if NO_TYPE in text and not where:
        return TypeError(
            "settings and models must be NamedTuples of numbers, arrays or such NamedTuples to be compiled"
        )
    return TypeError(f"a formula{where} does not compile: {_reason(text)[:200]}")


def _reason(text: str) -> str:
    """Why a formula does not compile."""
    if NEEDS_MEMORY.search(text):
        return "it may use numbers, tuples and loops, but no dict, list, set or new array"
    mistake = MISTAKES.search(text)
    if mistake:
        return mistake[0].strip()
    callees = [name for name, path in CALLEE.findall(text) if is_outside_file(path)]
    if callees:
        return f"it calls {callees[0]} with arguments for which there is no compiled form"
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("File ", "During"))]
    return next((line for line in lines if not line.startswith(("Failed in", "No impl", "-", "<"))), "unknown reason")


def _users_place(text: str) -> str:
    """The last line of the user's own files that the compiler names, with the function that contains it."""
    outside = [(path, line) for path, line in PLACE.findall(text) if is_outside_file(path)]
    if not outside:
        return ""
    path, line = outside[-1]
    return f" in {_function_at(path, int(line))} ({pathlib.Path(path).name}, line {line})"


def _function_at(path: str, line: int) -> str:
    try:
        before = "".join(pathlib.Path(path).read_text().splitlines(keepends=True)[:line])
    except OSError:
        return "a function"
    names = DEFINITION.findall(before)
    return names[-1] if names else "a function"
