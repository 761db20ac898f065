"""The memory that this process may still take, and what arrays take of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

PROCESS_GROUPS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")
MEMORY = Path("/proc/meminfo")


def free_memory() -> int | None:
    """Return the bytes that are free on the machine and in the control groups of this process; None if unknown."""
    found = [free for free in (_free_on_machine(), *_free_in_groups()) if free is not None]
    return min(found, default=None)


def _free_on_machine() -> int | None:
    try:
        fields = dict(line.split(":") for line in MEMORY.read_text().splitlines())
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, ValueError, KeyError):  # not Linux
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _free_in_groups() -> Iterator[int | None]:
    """Yield what is free in the group of this process and in each group around it; containers are such groups."""
    try:
        lines = [line.split(":", 2) for line in PROCESS_GROUPS.read_text().splitlines()]
    except OSError:
        return
    for _, kinds, path in lines:
        own = PurePosixPath(path.lstrip("/"))
        for group in (own, *own.parents):
            if kinds == "":
                yield _free_in(GROUPS / group, "memory.max", "memory.current", "inactive_file")
            elif "memory" in kinds.split(","):  # the first version of control groups
                folder = GROUPS / "memory" / group
                yield _free_in(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def _free_in(folder: Path, limit: str, used: str, cached: str) -> int | None:
    """Return the limit of a group minus what it uses; a cache of files that nobody reads is free."""
    try:
        statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        taken = int((folder / used).read_text()) - int(statistics.get(cached, 0))
        return max(0, int((folder / limit).read_text()) - taken)
    except (OSError, ValueError):  # no such group, or its limit is "max"
        return None


def array_bytes(data: Any) -> int:
    """Return the bytes of all arrays in nested tuples."""
    if isinstance(data, tuple):
        return sum(map(array_bytes, data))
    return data.nbytes if isinstance(data, np.ndarray) else 0


def shown_bytes(number: float) -> str:
    """Text of a number of bytes, such as 7.7 GB."""
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number / 1e3:,.1f} kB"


def rounded_down(number: int) -> int:
    """Return a number with two digits and zeros, not above the given one."""
    zeros: int = 10 ** max(0, len(str(number)) - 2)
    return number // zeros * zeros
