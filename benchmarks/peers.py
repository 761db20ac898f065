"""Other packages, each in a virtual environment of its own under .bench/, made on demand.

A peer is a script in peer_scripts/ that does its package's nearest equivalent to the work in the table and prints one
JSON object, together with the requirements it was tested with. `python benchmarks/peers.py` runs them all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent / "peer_scripts"
ENVIRONMENTS = SCRIPTS.parent.parent / ".bench"

PEERS = ("pymab", "smpybandits", "bayesianbandits", "river", "mabwiser")


class PeerFailedError(Exception):
    """A peer could not be installed or run; the message fits into a row of the table."""


@dataclass(frozen=True)
class Measurement:
    package: str
    did: str
    ns_per_round: float


def measure(name: str, rounds: int) -> Measurement:
    """Run a peer's script once, for about this many rounds."""
    script = SCRIPTS / f"time_{name}.py"
    said = _run(f"{name} did not run", _python(name), script, str(rounds))
    try:
        return Measurement(**json.loads(said.splitlines()[-1]))
    except (ValueError, TypeError, IndexError) as error:
        raise PeerFailedError(f"{name} gave no figure: {error}") from error


def _python(name: str) -> Path:
    """The interpreter of a peer's environment, which is made anew when its requirements change."""
    requirements = SCRIPTS / f"{name}.txt"
    home = ENVIRONMENTS / name
    installed = home / "installed.txt"
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not installed.exists() or installed.read_text() != requirements.read_text():
        print(f"installing {name} into {home.relative_to(ENVIRONMENTS.parent)}", file=sys.stderr)
        try:
            venv.create(home, clear=True, with_pip=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise PeerFailedError(f"{name} has no environment: {error}") from error
        _run(f"{name} did not install", python, "-m", "pip", "install", "--quiet", "-r", requirements)
        installed.write_text(requirements.read_text())
    return python


def _run(trouble: str, *arguments: str | Path, timeout: float = 600.0) -> str:
    try:
        done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=timeout)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerFailedError(f"{trouble}: {type(error).__name__}") from error
    if done.returncode:
        last_words = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise PeerFailedError(f"{trouble}: {last_words[:200]}")
    return done.stdout


def main() -> None:
    for name in PEERS:
        try:
            print(measure(name, rounds=1_000))
        except PeerFailedError as error:
            print(error)


if __name__ == "__main__":
    main()
