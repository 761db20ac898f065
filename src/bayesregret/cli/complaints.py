"""What goes wrong, in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

PROGRAM = "bayesregret"


class InputError(Exception):
    """The user gave something that cannot be used."""


@contextmanager
def bad_input() -> Iterator[None]:
    """Where the package's checks are at work, what they refuse is the user's to mend."""
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(str(error)) from error


def check_can_be_written(option: str, file: str) -> None:
    """Said before there is anything to write."""
    if os.path.isdir(file) or not os.path.isdir(os.path.dirname(file) or "."):
        raise ValueError(f"{option} must be a file in a folder that there is, got {file}")


def complain(message: str, status: int) -> int:
    """Say it on standard error; return the exit status."""
    print(f"{PROGRAM}: {' '.join(message.split())}", file=sys.stderr)
    return status
