"""Real servers: `bayesregret serve` in a process of its own, and PostgreSQL where its programs are found."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = Path("/usr/lib/postgresql")
PATIENCE = 60  # seconds


class Server:
    """`bayesregret serve` on a free port of this machine."""

    def __init__(self, store: str, *options: str) -> None:
        command = [sys.executable, "-m", "bayesregret", "serve", "--store", store, "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        found = re.search(r"http://[\d.]+:(\d+)", self.line)
        if found is None:
            raise AssertionError(f"the server did not start: {self.process.communicate()[1]}")
        self.url, self.port = found[0], int(found[1])

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def stop(self) -> tuple[int, str]:
        """Return the exit status after SIGTERM, and what the server wrote to standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors


@contextlib.contextmanager
def serving(store: str, *options: str) -> Iterator[Server]:
    server = Server(store, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    return max(PROGRAMS.glob("*/bin"), default=None)


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """Start a PostgreSQL of our own in a new folder; yield the URL of its database."""
    programs = postgres_programs()
    assert programs is not None
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # it refuses to run as root
    with tempfile.TemporaryDirectory() as folder:
        if as_user:
            shutil.chown(folder, "postgres")
        data = f"{folder}/data"
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        subprocess.run([*as_user, programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres"], **quiet)
        options = f"-c listen_addresses='' -c unix_socket_directories={folder}"
        control = [*as_user, programs / "pg_ctl", "-D", data, "-w"]
        subprocess.run([*control, "-o", options, "start"], **quiet)
        try:
            yield f"postgresql://postgres@/postgres?host={folder}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
