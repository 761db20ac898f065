"""Measurements that need a process of their own: start-up, compilation and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEAVY = ("matplotlib", "pandas", "numba")

# What the kernel notes of this program: ru_maxrss would start at the size of the process that started it.
PRINT_PEAK = """
try:
    with open("/proc/self/status") as status:
        print(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))
except OSError:
    import resource, sys
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(peak / (1024**2 if sys.platform == "darwin" else 1024))
"""

PRINT_HEAVY = f"""
import sys
print(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""


def run(*arguments: str | Path, **environment: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Seconds from start to end of a process, and what it said."""
    environ = os.environ | {"PYTHONPATH": str(HERE)} | environment
    start = time.perf_counter()
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, env=environ, timeout=600)
    elapsed = time.perf_counter() - start
    if done.returncode:
        last_words = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"exit status {done.returncode}: {last_words}")
    return elapsed, done


def seconds(*arguments: str | Path, **environment: str) -> float:
    return run(*arguments, **environment)[0]


def program() -> Path:
    """The installed command line program."""
    return Path(sys.executable).with_name("bayesregret")


def simulation(*, horizon: int, runs: int, threads: int, model: str = "gaussian") -> str:
    """Code that simulates BayesUCB and does nothing else."""
    asked = f"horizon={horizon}, runs={runs}, threads={threads}, seed=7, progress=False"
    return f"import problems, bayesregret as br\nbr.simulate(problems.{model}(), br.BayesUCB(), {asked})\n"


def peak_megabytes(code: str, **environment: str) -> float:
    """Peak memory of a process that runs this code."""
    return float(run(sys.executable, "-c", code + PRINT_PEAK, **environment)[1].stdout.split()[-1])


def peak_of_simulation(horizon: int, runs: int, threads: int) -> float:
    """Peak memory with compiled code from the disk, as in every process but the first."""
    run(sys.executable, "-c", simulation(horizon=1, runs=1, threads=1))
    return peak_megabytes(simulation(horizon=horizon, runs=runs, threads=threads))


def heavy_modules_after(code: str) -> list[str]:
    """Which heavy modules a process has loaded once it has run this code."""
    return run(sys.executable, "-c", code + PRINT_HEAVY)[1].stderr.split()


def heavy_modules_after_help() -> list[str]:
    """The same after the installed program has printed its help."""
    return heavy_modules_after(
        "import runpy, sys\n"
        "sys.argv = ['bayesregret', '--help']\n"
        "try:\n"
        f"    runpy.run_path({str(program())!r}, run_name='__main__')\n"
        "except SystemExit:\n"
        "    pass\n"
    )
