"""Write files whole or not at all, and CSV that no spreadsheet runs."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bayesregret.checks import one_line

# What a spreadsheet takes for the beginning of a formula (OWASP, "CSV injection"); the last four have full width.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")
KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}


class WriteError(OSError):
    """A file cannot be written; the one that was there has not changed."""


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write the whole file or nothing: a reader, or a process after a kill, finds the old content or the new.

    Only a regular file is replaced, and keeps its permissions. A killed process may leave a hidden file beside it.
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    found = obstacle(path)
    if found is not None:
        raise WriteError(f"{one_line(str(path))}: cannot be written: {found}")
    temporary = path.parent / f".bayesregret-{secrets.token_hex(8)}.part"
    try:
        with open(temporary, "xb") as file:
            with contextlib.suppress(FileNotFoundError):  # there is no old file
                os.chmod(temporary, stat.S_IMODE(os.lstat(path).st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)  # never follows a link, not even one made since the check
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise WriteError(f"{one_line(str(path))}: cannot be written: {error.strerror or error}") from error
        raise
    _flush_folder(path.parent)
    return path


def obstacle(path: str | os.PathLike[str]) -> str | None:
    """Return why a file cannot be written, in a few words; None if it can, as far as one can tell without trying."""
    folder = os.path.dirname(path) or os.curdir
    try:
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode):
            return f"it is {KINDS.get(stat.S_IFMT(mode), 'a device')}"
        if not os.access(path, os.W_OK):
            return "the file is read-only"
    except FileNotFoundError:
        if not os.path.isdir(folder):
            return "its folder does not exist"
    except OSError as error:
        return error.strerror or str(error)
    return None if os.access(folder, os.W_OK | os.X_OK) else "its folder is read-only"


def _flush_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power failure, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV; text that a spreadsheet would run as a formula gets an apostrophe in front.

    >>> csv_text([["=1+1", -1.5, "a, b"]])
    '\\'=1+1,-1.5,"a, b"\\n'
    """
    return "".join(f"{_csv_line(row)}\n" for row in rows)


def _csv_line(row: Iterable[Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")  # quotes cells with one of these, which would begin a new row
    writer.writerow(map(_harmless, row))
    return text.getvalue().removesuffix("\r\n")


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell
