"""A PostgreSQL server of its own in a temporary folder, for tests and attacks; it listens on a Unix socket only."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "tester"


def binaries() -> Path | None:
    """The folder of initdb and postgres; None if they are not installed."""
    on_path = shutil.which("initdb")
    if on_path is not None:
        return Path(on_path).resolve().parent
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


class Server:
    """A server that can be crashed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = binaries()
        # The server refuses to run as root.
        self._as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []

    def initialise(self) -> None:
        if self._as_user:
            owner = pwd.getpwnam("postgres")
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", USER, "-E", "UTF8", "--no-sync")
        self.start()

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder}"
        self._run("pg_ctl", "-D", self.data, "-w", "-o", options, "-l", str(self.folder / "log"), "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop the server; "immediate" is a crash, after which it recovers from its log."""
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def new_database(self, name: str) -> str:
        """Make a database and return its URL."""
        self._run("createdb", "-h", str(self.folder), "-U", USER, name)
        return f"postgresql://{USER}@/{name}?host={self.folder}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(self.bin / program), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")


@contextmanager
def running_server() -> Iterator[Server]:
    """A server in a folder with a short name: that of a socket may have no more than about 100 letters."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    server = Server(folder)
    try:
        server.initialise()
        yield server
        server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
