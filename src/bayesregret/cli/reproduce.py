"""`bayesregret reproduce` and `bayesregret sweep`: run experiments of the paper or of the user, and write a report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesregret import checks
from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.help import columns
from bayesregret.cli.options import EFFORT, OUTPUT, number_option, option
from bayesregret.cli.show import show_json, show_tables
from bayesregret.digits import counted
from bayesregret.extras import require
from bayesregret.progress import WorkProgress, open_progress
from bayesregret.simulation.engines.engine import Engine

if TYPE_CHECKING:
    from bayesregret.report.reproduction_page import TextTable
    from bayesregret.reproduction.experiment import Experiment
    from bayesregret.reproduction.runner import Finished

FOLDER = "reproduction"
SWEEP_FOLDER = "sweep"
STUDY = "study.sqlite"
TITLE = "Finite-Time Logarithmic Bayes Regret Upper Bounds, reproduced"
SEED = 7

Folder = Annotated[str, option("--output", help="Folder for report and figures.", section=OUTPUT, metavar="DIR")]
StudyFile = Annotated[
    str | None,
    option(
        "--study", help="File that stores every finished point.", default=f"DIR/{STUDY}", section=OUTPUT, metavar="FILE"
    ),
]


# Of the table of claims.
COLUMNS = {
    "figure": "The figure that the claim is about.",
    "verdict": "holds or fails, as the numbers decide.",
    "whose": "Who claims it: the paper, or this package.",
    "claim": "The claim.",
    "evidence": "The numbers that decide.",
}


@columns(COLUMNS)
def reproduce(
    figure: Annotated[
        list[str] | None, typer.Argument(metavar="[FIGURE]...", show_default=False, autocompletion=lambda: _names())
    ] = None,
    beyond: Annotated[bool, option("--beyond", help="Add the figures beyond the paper.")] = False,
    runs: Annotated[
        int | None, number_option("Runs of each point.", "as in the paper: 10,000, and 1,000 in figure 3", EFFORT)
    ] = None,
    seed: Annotated[int, number_option("The same seed gives the same result.", SEED)] = SEED,
    threads: options.Threads = None,
    engine: options.EngineName = None,
    cluster: options.Cluster = None,
    output: Folder = FOLDER,
    study: StudyFile = None,
    json: options.Json = False,
    wide: options.Wide = False,
    progress: options.Progress = None,
) -> None:
    """Run the paper's experiments, check its claims, write a report.

    FIGURE is figure-1a, figure-1b, figure-2a, figure-2b, figure-3a or figure-3b, by default all of them; beyond the
    paper there are figure-4a, figure-4b, figure-5, figure-6a, figure-6b, figure-7, figure-8, figure-9, figure-10a,
    figure-10b and figure-11.

    A study stores every finished point, so an interrupted run continues where it stopped.

    \b
    Examples:
      bayesregret reproduce
      bayesregret reproduce --beyond
      bayesregret reproduce figure-1a --runs 1000 --output quick
    """
    from bayesregret.reproduction import BEYOND, EXPERIMENTS, PAPER

    with bad_input():
        names = [*PAPER] if not figure else [name for given in figure for name in _panels(given)]
        names += BEYOND if beyond else []
        wanted = None if runs is None else checks.whole("runs", runs, 2)
        experiments = [EXPERIMENTS[name](wanted, checks.whole("seed", seed, 0)) for name in dict.fromkeys(names)]
        place = options.chosen_engine(engine, cluster, threads)
        _run(experiments, TITLE, output, study, place, bounds=_paper_bounds, json=json, wide=wide, progress=progress)


@columns(COLUMNS)
def sweep(
    file: Annotated[str, typer.Argument(metavar="FILE", show_default=False)],
    threads: options.Threads = None,
    engine: options.EngineName = None,
    cluster: options.Cluster = None,
    output: Folder = SWEEP_FOLDER,
    study: StudyFile = None,
    json: options.Json = False,
    wide: options.Wide = False,
    progress: options.Progress = None,
) -> None:
    """Run a sweep over fields of a problem, and write a report.

    FILE is TOML:

    \b
      title = "How much a wide prior costs"
      policies = ["bayes-ucb", "ucb1"]
      bounds = ["certified"]             # optional: names of bounds, or "all"
      exact = true                       # optional: also exact regret
      horizon = 1000
      runs = 1000
      [problem]                          # the fields of a problem, or
      common = "gaussian"                # a common one and its options
      arms = 10
      [vary]                             # the first field is the x axis,
      prior_width = [0.1, 0.3, 1, 3, 10] # others add figures;
      reward_noise = [0.5, 1]            # may have horizon, delay and batch

    With bounds or exact, a table shows whether the numbers of each figure agree with each other. A study stores every
    finished point, so an interrupted sweep continues where it stopped.

    \b
    Examples:
      bayesregret sweep widths.toml
      bayesregret sweep widths.toml --output widths --json
    """
    from bayesregret.reproduction.sweep import load_sweep

    with bad_input():
        experiments = load_sweep(file)
        title = experiments[0].title.split(":")[0]
        place = options.chosen_engine(engine, cluster, threads)
        _run(experiments, title, output, study, place, bounds=list, json=json, wide=wide, progress=progress)


def _panels(figure: str) -> list[str]:
    """Return the names of all panels of a figure: of figure-1, figure-1a and figure-1b."""
    from bayesregret.reproduction import EXPERIMENTS

    panels = [name for name in EXPERIMENTS if name[:-1] == figure and name[-1].isalpha()]
    return panels or [checks.one_of("FIGURE", figure, EXPERIMENTS)]


def _paper_bounds() -> list[TextTable]:
    """Return the table of bounds for the problem that figures 1a and 1b share, with its title and remarks."""
    from bayesregret.bounds.table import table
    from bayesregret.problem import common_gaussian

    found = table(common_gaussian(), horizon=1_000)
    return [("Gaussian bandit, K = 10, width 1, gap 1, n = 1,000", found.table(), found.summary().splitlines())]


def _names() -> list[str]:
    from bayesregret.reproduction import EXPERIMENTS

    return list(EXPERIMENTS)


def _run(
    experiments: Sequence[Experiment],
    title: str,
    folder: str,
    study_file: str | None,
    engine: Engine,
    *,
    bounds: Callable[[], list[TextTable]],
    json: bool,
    wide: bool,
    progress: bool | None,
) -> None:
    from bayesregret.report.publication import make_folder, publish
    from bayesregret.reproduction.runner import run_experiments
    from bayesregret.study import Study

    require("report", "a report")  # before long work begins
    begin = time.perf_counter()
    make_folder(folder, [experiment.figure for experiment in experiments])
    path = study_file or os.path.join(folder, STUDY)
    points = sum(len(experiment.points) for experiment in experiments)
    with Study.open(path) as study, open_progress(progress, total=points, countable=True) as bar:
        finished = run_experiments(experiments, study, engine=engine, listener=_listener(bar))
    took = {"points run": sum(done.run for done in finished), "seconds": round(time.perf_counter() - begin, 1)}
    about = {"This run": took, **{done.table.figure: dict(done.table.settings) for done in finished}}
    report, written = publish(finished, folder, title=title, bounds=bounds(), about=about)
    if json:
        show_json(_data(finished, os.fspath(report)))
    else:
        _show(finished, os.fspath(report), written, time.perf_counter() - begin, wide)


def _listener(bar: WorkProgress) -> Callable[[str, str, int, int], None]:
    """Return a listener that shows the figure and the point on the bar before each point."""

    def listen(figure: str, point: str, done: int, total: int) -> None:
        bar.advance(done - bar.done)
        bar.describe(f"{figure}  {point}")

    return listen


def _show(finished: Sequence[Finished], report: str, written: bool, seconds: float, wide: bool) -> None:
    rows = [["figure", "verdict", "whose", "claim", "evidence"]]
    exceptions = []
    for done in finished:
        for claim in done.claims:
            rows.append([claim.figure, claim.verdict, claim.whose, claim.statement, claim.evidence])
            exceptions += [f"{claim.figure}: {claim.statement} Not so at {exception}" for exception in claim.exceptions]
    fresh = sum(done.run for done in finished)
    points = sum(len(done.table.points) for done in finished)
    state = "written" if written else "up to date"
    summary = f"{counted(points, 'point')}, {fresh} run now; {report} {state}; {seconds:.1f} s"
    show_tables([rows] if len(rows) > 1 else [], "\n".join([*exceptions, summary]), text=rows[0], wide=wide)


def _data(finished: Sequence[Finished], report: str) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "report": report,
        "figures": [done.table.to_dict() for done in finished],
        "claims": [asdict(claim) for done in finished for claim in done.claims],
    }
