"""Kill processes that write a file, at random moments, and count what they leave.

python tests/killed_writers.py TARGET FIRST SECOND KILLS [WRITER]

Each process writes the contents of the files FIRST and SECOND to TARGET in turns, through the package, until it is
killed. WRITER is `package`, or `plain` for the control: a plain write, of which halves remain. Prints how often TARGET
had one of the contents, how often neither, and how many temporary files were left, which is how many kills came
between the beginning of a file and its new name.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bayesregret.writing import write_atomically

LONGEST = 0.03  # seconds until the kill: several files


class Remains(NamedTuple):
    """What killed processes left: contents that were whole, contents that were not, and temporary files."""

    whole: int
    half: int
    temporary: int


def kill_writers(
    target: Path, versions: tuple[bytes, bytes], kills: int, moments: random.Random, *, plain: bool = False
) -> Remains:
    """Start and kill processes that write the file, which has a folder of its own."""
    write = Path.write_bytes if plain else write_atomically
    write(target, versions[0])
    whole = temporary = 0
    for _ in range(kills):
        process = os.fork()
        if process == 0:
            while True:
                for version in versions[::-1]:
                    write(target, version)
        time.sleep(moments.uniform(0.0, LONGEST))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        whole += target.read_bytes() in versions
        for left in set(target.parent.iterdir()) - {target}:
            left.unlink()
            temporary += 1
    return Remains(whole, kills - whole, temporary)


def kill_elsewhere(folder: Path, versions: tuple[bytes, bytes], kills: int, writer: str = "package") -> Remains:
    """Do this in a process of its own, which has no threads that a fork would lose."""
    files = [folder / "first", folder / "second"]
    for file, version in zip(files, versions, strict=True):
        file.write_bytes(version)
    (folder / "kills").mkdir()
    command = [sys.executable, __file__, folder / "kills" / "target", *files, str(kills), writer]
    return Remains(*map(int, subprocess.run(command, capture_output=True, check=True).stdout.split()))


if __name__ == "__main__":
    target, first, second = map(Path, sys.argv[1:4])
    versions = first.read_bytes(), second.read_bytes()
    found = kill_writers(target, versions, int(sys.argv[4]), random.Random(7), plain=sys.argv[5:] == ["plain"])
    print(*found)
