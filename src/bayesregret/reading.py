"""Read files that a user names; every error is one line that begins with the file's name."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TOO_MANY_DIGITS = "has a whole number with too many digits"
TOO_DEEP = "is nested too deeply"
# A key of 100 parts, such as a.a.a: Python's reader of TOML needs memory for the square of their number.
LONG_KEY = re.compile(r"(?:\.[ \t]{0,9}[\w\"'-]{1,60}+[ \t]{0,9}){100}")


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Begin the message of an error with the file's name."""
    name = os.fsdecode(path)
    name = name if name.isprintable() else repr(name)
    try:
        yield
    except RecursionError:
        raise ValueError(f"{name}: {TOO_DEEP}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def read_text(name: str, most: int) -> str:
    """Return the text of a file of at most `most` bytes; ValueError if it cannot be read."""
    try:
        with open(name, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from None
    if len(data) > most:
        raise ValueError(f"is too large; it may have at most {most // 10**6} MB")
    try:
        return data.decode("utf-8-sig")  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        raise ValueError(f"must be UTF-8 text, but byte {error.start + 1} is not") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML file."""
    if LONG_KEY.search(text):
        raise ValueError(TOO_DEEP)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"is not TOML: {' '.join(str(error).split())}") from None
    except ValueError:  # Python's limit on the digits of an int
        raise ValueError(TOO_MANY_DIGITS) from None
