"""Attack everything that writes files: kills at random moments, and a full disk.

NUMBA_DISABLE_JIT=1 python benchmarks/attack_writers.py                50 kills for each kind of output, some minutes
NUMBA_DISABLE_JIT=1 python benchmarks/attack_writers.py --kills 500    more of them

Nothing needs to be compiled, as it does not matter what is simulated. The contents are those that the commands write,
in two versions. First, processes that write both in turns through the package's writer are killed, and as a control
processes that write plainly: their halves show that the kills hit. Then whole commands are killed, and then everything
is written to a full disk of 1 MB, where the system allows a mount. After each of these a file is the old one or a new
one, whole. The exit status is 0 if none was half.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from bayesregret.cli import run
from bayesregret.study import Study
from bayesregret.writing import write_atomically
from killed_writers import kill_elsewhere

OLD = b"old"
COMMANDS = {
    "prior fit": "prior fit history.csv --model bernoulli --width 0.05 --output out/problem.toml --figure out/fit.png",
    "plan": "plan bernoulli --arms 2 --horizon 4 --runs 4 --policy ucb1 --output out/plan.html --agent out/agent.json",
    "sweep": "sweep sweep.toml --output out --study sweep.sqlite",
    "export csv": "study export study.sqlite out/points.csv",
    "export json": "study export study.sqlite out/points.json",
}
FILL = 1_000_000  # bytes on the full disk


def make_inputs(version: int) -> None:
    """Write the files that the commands read, into the current folder."""
    rows = [f"{i},{arm},200,{20 + 7 * i + 3 * j + version}" for i in range(6) for j, arm in enumerate("ab")]
    Path("history.csv").write_text("\n".join(["experiment,arm,pulls,successes", *rows]))
    Path("sweep.toml").write_text(
        f'policies = ["ucb1"]\nhorizon = 10\nruns = {10 + version}\n'
        '[problem]\ncommon = "gaussian"\narms = 3\n[vary]\nprior_width = [0.1, 1]\n'
    )
    with Study.open("study.sqlite") as study:
        for seed in range(200 + version):
            study.save({"seed": seed, "note": "=1+1"}, {"regret": seed / 7, "curve": [seed / 3] * 20}, seconds=0.0)
    Path("out").mkdir()


@contextlib.contextmanager
def new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        yield Path(name)


def outputs() -> dict[str, bytes]:
    """Contents of all files in the folder that the commands write to."""
    return {str(path.relative_to("out")): path.read_bytes() for path in sorted(Path("out").rglob("*.*"))}


def written_by_commands(version: int) -> dict[str, bytes]:
    with new_folder(), contextlib.redirect_stdout(io.StringIO()):
        make_inputs(version)
        for command in COMMANDS.values():
            arguments = command.split() + (["--seed", str(version)] if command.startswith("plan") else [])
            if run(arguments):
                raise SystemExit(f"{command} fails without any attack")
        return outputs()


def kill_loops(versions: dict[str, tuple[bytes, bytes]], kills: int) -> int:
    """Kill processes that write a file in a loop; return the number of halves."""
    print(f"\nwriters killed with SIGKILL, {kills} each\n")
    print(f"{'output':28}{'bytes':>9}{'old or new':>12}{'half':>6}{'in the middle':>15}{'half, plain':>13}")
    halves = 0
    for name, contents in versions.items():
        found = {}
        for writer in ("package", "plain"):
            with tempfile.TemporaryDirectory() as folder:
                found[writer] = kill_elsewhere(Path(folder), contents, kills, writer)
        ours, plain = found["package"], found["plain"]
        print(
            f"{name:28}{len(contents[0]):9}{ours.whole:12}{ours.half:6}{ours.temporary:15}{plain.half:13}", flush=True
        )
        halves += ours.half
    return halves


def kill_commands(kills: int, moments: random.Random) -> int:
    """Kill whole commands, and see that they work afterwards; return the number of files that are not whole."""
    print(f"\ncommands killed with SIGKILL, {kills} each: files that are old, new, half\n")
    halves = 0
    for name, command in COMMANDS.items():
        counts: Counter[str] = Counter()
        with new_folder():
            make_inputs(0)
            start(command).communicate()
            new = make_old()
            begin = time.perf_counter()
            start(command).communicate()
            took = time.perf_counter() - begin
            for _ in range(kills):
                make_old()
                process = start(command)
                time.sleep(moments.uniform(0.5, 1.0) * took)
                process.send_signal(signal.SIGKILL)
                process.communicate()
                counts.update(state(file, new[file]) for file in new)
            start(command).communicate()
            counts["half"] += sum(state(file, new[file]) != "new" for file in new)
        print(f"{name:28}{counts['old']:9}{counts['new']:12}{counts['half']:6}", flush=True)
        halves += counts["half"]
    return halves


def make_old() -> dict[str, bytes]:
    """Replace all outputs by old ones, and return what they were."""
    found = outputs()
    for file in found:
        Path("out", file).write_bytes(OLD)
    return found


def start(command: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-m", "bayesregret", *command.split()]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def state(file: str, new: bytes) -> str:
    """Return whether a file is old, new or half."""
    content = Path("out", file).read_bytes()
    if content == OLD:
        return "old"
    if file == "report.html":  # has the time that it took
        return "new" if content.rstrip().endswith(b"</html>") else "half"
    if file == "contents.json":  # has a hash of the report
        return "new" if json.loads(content).keys() == json.loads(new).keys() else "half"
    return "new" if content == new else "half"


# --- a full disk ---------------------------------------------------------------------------------------------------


def fill_disk(versions: dict[str, tuple[bytes, bytes]]) -> int:
    """Write everything to a full disk in a child that alone sees it; return the number of faults."""
    print("\na full disk of 1 MB\n")
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        print("skipped: this system allows no mount")
        return 0
    with new_folder() as folder:
        make_inputs(0)
        Path("contents").mkdir()
        for number, (name, contents) in enumerate(versions.items()):
            Path("contents", f"{number} {name.replace('/', ' ')}").write_bytes(contents[1])
        script = f'mount -t tmpfs -o size={FILL} tmpfs out && exec "$0" "$1" --on-full-disk'
        command = ["unshare", "-rm", "sh", "-c", script, sys.executable, __file__]
        return subprocess.run(command, cwd=folder).returncode


def on_full_disk() -> int:
    """Write every content, then run every command; return the number of faults."""
    faults = 0
    for source in sorted(Path("contents").iterdir()):
        target = Path("out", source.name)
        write_atomically(target, OLD)
        with full():
            faults += not fails(target, source.read_bytes()) or target.read_bytes() != OLD
        target.unlink()
    print(f"{len(list(Path('contents').iterdir()))} contents, {faults} faults")
    for name, command in COMMANDS.items():
        start(command).communicate()
        make_old()
        before = outputs()
        with full():
            process = start(command)
            _, said = process.communicate()
        is_right = process.returncode == 1 and said.count("\n") == 1 and outputs() == before
        print(f"{name:28}{'old files whole' if is_right else 'FAULT':18}{said.strip()}", flush=True)
        faults += not is_right
    return faults


@contextlib.contextmanager
def full() -> Iterator[None]:
    """Leave no room on the disk."""
    filler = Path("out", "filler")
    with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(512))
    yield
    filler.unlink()


def fails(target: Path, content: bytes) -> bool:
    """Return whether writing fails, and leaves nothing beside the target."""
    try:
        write_atomically(target, content)
    except OSError:
        return {path.name for path in target.parent.iterdir()} == {target.name, "filler"}
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="of each kind of output")
    parser.add_argument("--commands", type=int, default=10, help="kills of each whole command")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--on-full-disk", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.on_full_disk:
        return on_full_disk()
    first, second = written_by_commands(0), written_by_commands(1)
    versions = {name: (first[name], second[name]) for name in first}
    halves = kill_loops(versions, options.kills)
    halves += kill_commands(options.commands, random.Random(options.seed))
    faults = fill_disk(versions)
    print(f"\n{halves} half files, {faults} faults on the full disk")
    return int(halves + faults > 0)


if __name__ == "__main__":
    sys.exit(main())
