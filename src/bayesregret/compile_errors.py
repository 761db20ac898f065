"""One line in place of the compiler's page of errors: which of the user's functions is at fault, and why."""

from __future__ import annotations

import pathlib
import re

from bayesregret.sources import is_outside_file

UNTYPED = re.compile(r"Untyped global name '(\w+)'.*?<class 'function'>", re.DOTALL)
PLACE = re.compile(r'File "([^"]+)", line (\d+)')
DEFINITION = re.compile(r"^def (\w+)\(", re.MULTILINE)


def explain(error: Exception) -> TypeError:
    """One line for an error of the compiler."""
    text = str(error)
    where = _users_place(text)
    untyped = UNTYPED.search(text)
    if untyped:
        return TypeError(f"{untyped[1]}, called{where}, needs @jitable above its definition to be compiled")
    reasons = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("File ", "During"))]
    reason = next((line for line in reasons if not line.startswith(("Failed in", "-", "<"))), "unknown reason")
    return TypeError(f"a formula{where} does not compile: {reason[:200]}")


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
