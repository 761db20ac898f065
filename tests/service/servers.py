"""`bayesregret serve` in a process of its own."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

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
