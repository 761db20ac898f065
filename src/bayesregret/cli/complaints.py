"""Errors in one line on standard error."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

from bayesregret.cli.spelling import as_typed
from bayesregret.extras import MissingExtraError
from bayesregret.interrupts import PROGRAM
from bayesregret.writing import obstacle


class InputError(Exception):
    """Bad input from the user."""


@contextmanager
def bad_input() -> Iterator[None]:
    """Treat errors that the package raises in this block as bad input."""
    try:
        yield
    except (ValueError, TypeError, OverflowError, MissingExtraError) as error:
        raise InputError(as_typed(str(error))) from error


def check_can_be_written(option: str, file: str) -> None:
    """Raise an error, before long work begins, if a file cannot be written."""
    found = obstacle(file)
    if found is not None:
        raise ValueError(f"{option} must be a file that can be written, got {file}: {found}")


def complain(message: str, status: int) -> int:
    """Print an error on standard error, one line except in a narrower terminal, and return the exit status."""
    print_error(f"{PROGRAM}: {' '.join(message.split())}")
    return status


def print_error(line: str, indent: str = "") -> None:
    """Print a line on standard error; further lines, in a narrower terminal, are indented."""
    if sys.stderr.isatty():
        columns = shutil.get_terminal_size().columns
        line = textwrap.fill(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    print(line, file=sys.stderr)
