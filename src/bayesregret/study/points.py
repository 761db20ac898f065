"""Points of a study: settings, result, and a key that identifies the settings.

Settings and result are stored as JSON text. Python writes a float with the fewest digits that read back as the same
bits, so nothing is lost.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from bayesregret import checks

DEEPEST = 100  # nested tables and lists; far below Python's recursion limit
LONGEST_INT = 13_000  # bits; Python does not parse integers beyond 4,300 digits
MAY_BE = 'text, a truth value, a whole or finite number (an infinity is the text "inf"), or a list or table of these'


@dataclass(frozen=True)
class StudyEntry:
    """A finished point of a study."""

    key: str  # 64 hexadecimal digits
    settings: dict[str, Any]
    result: dict[str, Any]
    version: str  # of the package that computed the result
    seconds: float
    finished: str  # UTC, as 2026-03-01T12:00:00.000000Z


class Row(NamedTuple):
    """A point as stored in the file."""

    key: str
    settings: str
    result: str
    version: str
    seconds: float
    finished: str
    checksum: str

    def is_intact(self) -> bool:
        """Return whether nothing has changed since the point was saved."""
        try:
            return self.checksum == _checksum(*self[:-1])
        except TypeError:  # a field is not text
            return False

    def entry(self) -> StudyEntry:
        return StudyEntry(
            self.key, json.loads(self.settings), json.loads(self.result), self.version, self.seconds, self.finished
        )

    def agrees_with(self, other: Row) -> bool:
        """Return whether both have the same result, in any order of its fields."""
        return self.result == other.result or canonical(json.loads(self.result)) == canonical(json.loads(other.result))


def make_row(settings: Mapping[str, Any], result: Mapping[str, Any], seconds: float) -> Row:
    """Return the row of a point finished now."""
    taken = checks.real("seconds", seconds, "a number of seconds, at least 0")
    if taken < 0.0:
        raise checks.fail("seconds", "a number of seconds, at least 0", seconds)
    finished = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    version = package_version()
    # Fields keep their order, so that a result read from the file looks the same.
    texts = json.dumps(table("settings", settings)), json.dumps(table("result", result))
    fields = (point_key(settings, version), *texts, version, taken, finished)
    return Row(*fields, _checksum(*fields))


def point_key(settings: Mapping[str, Any], version: str | None = None) -> str:
    """Return the SHA-256 of settings and package version: changed settings or code make another point.

    >>> point_key({"seed": 7, "horizon": 100}, "1.0") == point_key({"horizon": 100, "seed": 7}, "1.0")
    True
    >>> point_key({"seed": 7}, "1.0") == point_key({"seed": 7}, "1.1")
    False
    """
    version = package_version() if version is None else version
    text = canonical({"settings": table("settings", settings), "version": version})
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def package_version() -> str:
    # Imported by name: the package imports this module, not the other way round.
    return str(import_module("bayesregret").__version__)


def canonical(value: Any) -> str:
    """Return the same JSON text for the same value, in any order of its fields."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def table(field: str, value: Any) -> dict[str, Any]:
    """Return a copy as plain data; raise an error for values that JSON would change or cannot hold."""
    if not isinstance(value, Mapping):
        raise checks.fail(field, "a table of named values", value)
    made = _plain(field, value, 0)
    assert isinstance(made, dict)
    return made


def _plain(field: str, value: Any, depth: int) -> Any:
    if depth > DEEPEST:
        raise ValueError(f"{checks.shown(field)} is nested too deeply: at most {DEEPEST} levels are allowed")
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | str) or _is_number(value):
        return value
    if isinstance(value, Mapping):
        return {_name(field, name): _plain(f"{field}.{name}", inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(f"{field}[{i}]", inner, depth + 1) for i, inner in enumerate(value)]
    raise checks.fail(field, MAY_BE, value)


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and value.bit_length() <= LONGEST_INT


def _name(field: str, name: Any) -> str:
    if not isinstance(name, str):
        raise checks.fail(f"every name in {field}", "text", name)
    return name


def _checksum(key: str, settings: str, result: str, version: str, seconds: float, finished: str) -> str:
    text = "\n".join((key, settings, result, version, repr(seconds), finished))
    return hashlib.sha256(text.encode()).hexdigest()
