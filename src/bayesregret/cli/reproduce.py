"""`bayesregret reproduce`: the paper's figures and claims, into one report; `bayesregret sweep`: the user's own."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesregret import checks
from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.options import EFFORT, OUTPUT, number_option, option
from bayesregret.cli.show import show_json, show_tables
from bayesregret.digits import counted

if TYPE_CHECKING:
    from bayesregret.experiments.experiment import Experiment
    from bayesregret.experiments.runner import Finished

FOLDER = "reproduction"
SWEEP_FOLDER = "sweep"
STUDY = "study.sqlite"
TITLE = "Finite-Time Logarithmic Bayes Regret Upper Bounds, reproduced"
SEED = 7
NEEDED = ("matplotlib", "jinja2")

Folder = Annotated[
    str, option("--output", help="Folder for the report and the figures.", section=OUTPUT, metavar="DIR")
]
StudyFile = Annotated[
    str | None,
    option(
        "--study", help="File that keeps every finished point.", default=f"DIR/{STUDY}", section=OUTPUT, metavar="FILE"
    ),
]


def reproduce(
    figure: Annotated[
        list[str] | None, typer.Argument(metavar="[FIGURE]...", show_default=False, autocompletion=lambda: _names())
    ] = None,
    beyond: Annotated[bool, option("--beyond", help="The figures beyond the paper, too.")] = False,
    runs: Annotated[
        int | None, number_option("Runs of each point.", "the paper's: 10,000, in figure 3 1,000", EFFORT)
    ] = None,
    seed: Annotated[int, number_option("Same seed, same result.", SEED)] = SEED,
    threads: options.Threads = None,
    output: Folder = FOLDER,
    study: StudyFile = None,
    json: options.Json = False,
    progress: options.Progress = None,
) -> None:
    """The paper's experiments and claims, into one report.

    FIGURE is figure-1a, figure-1b, figure-2a, figure-2b, figure-3a or figure-3b, all of them if none is named; beyond
    the paper there are figure-4a, figure-4b, figure-5, figure-6a, figure-6b, figure-7, figure-8 and figure-9.

    Every finished point is kept in a study, so an interrupted run goes on where it stopped, and nothing is done twice.

    \b
    Examples:
      bayesregret reproduce
      bayesregret reproduce --beyond
      bayesregret reproduce figure-1a --runs 1000 --output quick
    """
    from bayesregret.experiments import BEYOND, EXPERIMENTS, PAPER

    with bad_input():
        names = [*PAPER] if not figure else [name for given in figure for name in _panels(given)]
        names += BEYOND if beyond else []
        wanted = None if runs is None else checks.whole("runs", runs, 2)
        experiments = [EXPERIMENTS[name](wanted, checks.whole("seed", seed, 0)) for name in dict.fromkeys(names)]
        _run(experiments, TITLE, output, study, threads, bounds=_paper_bounds(), json=json, progress=progress)


def sweep(
    file: Annotated[str, typer.Argument(metavar="FILE", show_default=False)],
    threads: options.Threads = None,
    output: Folder = SWEEP_FOLDER,
    study: StudyFile = None,
    json: options.Json = False,
    progress: options.Progress = None,
) -> None:
    """Run a sweep over fields of a problem, with the same report.

    FILE is TOML:

    \b
      title = "How much a wide prior costs"
      policies = ["bayes-ucb", "ucb1"]
      bounds = ["certified"]                    # optional: names of bounds, or "all"
      exact = true                              # optional: exact regrets, too
      horizon = 1000
      runs = 1000
      [problem]                                 # a problem's fields, or common = "gaussian" and its options
      common = "gaussian"
      arms = 10
      [vary]                                    # the first field is the x axis, others give more figures;
                                                # horizon, delay and batch may be some
      prior_width = [0.1, 0.3, 1, 3, 10]
      reward_noise = [0.5, 1]
    """
    from bayesregret.experiments.sweep import load_sweep

    with bad_input():
        experiments = load_sweep(file)
        title = experiments[0].title.split(":")[0]
        _run(experiments, title, output, study, threads, bounds=[], json=json, progress=progress)


def _panels(figure: str) -> list[str]:
    """figure-1a itself; for figure-1 both its panels."""
    from bayesregret.experiments import EXPERIMENTS

    panels = [name for name in EXPERIMENTS if name[:-1] == figure]
    return panels or [checks.one_of("FIGURE", figure, EXPERIMENTS)]


def _paper_bounds() -> list[tuple[str, list[list[str]]]]:
    """All bounds on the problem that figures 1a and 1b have in common."""
    from bayesregret.bounds.table import table
    from bayesregret.problem import common_gaussian

    return [("Gaussian bandit, K = 10, width 1, gap 1, n = 1,000", table(common_gaussian(), horizon=1_000).table())]


def _names() -> list[str]:
    from bayesregret.experiments import EXPERIMENTS

    return list(EXPERIMENTS)


def _run(
    experiments: Sequence[Experiment],
    title: str,
    folder: str,
    study_file: str | None,
    threads: int | None,
    *,
    bounds: list[tuple[str, list[list[str]]]],
    json: bool,
    progress: bool | None,
) -> None:
    from bayesregret.experiments.runner import run_experiments
    from bayesregret.report.publish import publish
    from bayesregret.study import Study

    check_libraries()
    begin = time.perf_counter()
    os.makedirs(folder, exist_ok=True)
    path = study_file or os.path.join(folder, STUDY)
    threads = None if threads is None else checks.whole("threads", threads, 1)
    wanted = sys.stderr.isatty() if progress is None else progress
    with Study.open(path) as study, _bar(wanted) as listener:
        finished = run_experiments(experiments, study, threads=threads, listener=listener)
    took = {"points run": sum(done.run for done in finished), "seconds": round(time.perf_counter() - begin, 1)}
    about = {"This run": took, **{done.table.figure: dict(done.table.settings) for done in finished}}
    report, written = publish(finished, folder, title=title, bounds=bounds, about=about)
    if json:
        show_json(_told(finished, os.fspath(report)))
    else:
        _show(finished, os.fspath(report), written, time.perf_counter() - begin)


def check_libraries() -> None:
    """Said before anything is run, not when the report is to be drawn."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(f"a report needs {' and '.join(missing)}: pip install 'bayesregret[report]'")


@contextmanager
def _bar(wanted: bool) -> Iterator[Any]:
    """A bar that names the figure, the point and the time left."""
    if not wanted:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda figure, point, done, total: bar.update(
            task, description=f"{figure}  {point}", completed=done, total=total
        )


def _show(finished: Sequence[Finished], report: str, written: bool, seconds: float) -> None:
    rows = [["figure", "verdict", "whose", "claim", "evidence"]]
    exceptions = []
    for done in finished:
        for claim in done.claims:
            rows.append([claim.figure, claim.verdict, claim.whose, claim.statement, claim.evidence])
            exceptions += [f"{claim.figure}: {claim.statement} Not so at {told}" for told in claim.exceptions]
    fresh = sum(done.run for done in finished)
    points = sum(len(done.table.points) for done in finished)
    state = "written" if written else "still good"
    summary = f"{counted(points, 'point')}, {fresh} run now; {report} {state}; {seconds:.1f} s"
    show_tables([rows] if len(rows) > 1 else [], "\n".join([*exceptions, summary]), text=rows[0])


def _told(finished: Sequence[Finished], report: str) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "report": report,
        "figures": [done.table.to_dict() for done in finished],
        "claims": [asdict(claim) for done in finished for claim in done.claims],
    }
