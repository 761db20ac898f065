"""Read files that a user names; every error is one line that begins with the file's name."""

from __future__ import annotations

import io
import os
import re
import select
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from bayesregret import checks

PATIENCE = 10.0  # seconds to wait while a pipe sends nothing

TOO_MANY_DIGITS = "has a whole number with too many digits"
TOO_DEEP = "is nested too deeply"
# A key of 100 parts, such as a.a.a: Python's reader of TOML needs memory for the square of their number.
LONG_KEY = re.compile(r"(?:\.[ \t]{0,9}[\w\"'-]{1,60}+[ \t]{0,9}){100}")


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Begin the message of an error with the file's name."""
    name = checks.one_line(os.fsdecode(path))
    try:
        yield
    except RecursionError:
        raise ValueError(f"{name}: {TOO_DEEP}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


@contextmanager
def open_file(name: str) -> Iterator[BinaryIO]:
    """Open a file or a pipe for reading, and never wait for ever; ValueError if it cannot be read."""
    try:
        with open(name, "rb", opener=_open_at_once) as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISFIFO(mode):
                yield io.BufferedReader(_Pipe(file.fileno()))
            elif stat.S_ISREG(mode):
                yield file
            else:
                raise ValueError(f"must be a file, but is {'a terminal' if file.isatty() else 'a device'}")
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from None


def _open_at_once(name: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))


class _Pipe(io.RawIOBase):
    """The reading end of a pipe, such as `<(command)` of a shell."""

    def __init__(self, number: int) -> None:
        self._number = number
        os.set_blocking(number, True)

    def fileno(self) -> int:
        return self._number

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        ready, _, _ = select.select([self._number], [], [], PATIENCE)
        if not ready:
            raise ValueError(f"is a pipe that sent nothing for {PATIENCE:g} s")
        return os.readv(self._number, [buffer])


def read_text(name: str, most: int) -> str:
    """Return the text of a file of at most `most` bytes; ValueError if it cannot be read."""
    with open_file(name) as file:
        data = file.read(most + 1)
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
