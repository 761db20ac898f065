"""Options that several commands share, among them the problem and its settings."""

from __future__ import annotations

import functools
import glob
import inspect
import logging
import os
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer
from typer.models import ArgumentInfo

from bayesregret import checks
from bayesregret.checks import parsed_number, shown, suggestion
from bayesregret.cli.help import Row, SectionedCommand
from bayesregret.models import Bandit
from bayesregret.models.gaussian import NOISE_KINDS
from bayesregret.problem import COMMON_PROBLEMS, load_problem
from bayesregret.simulation.engines.choose import as_engine
from bayesregret.simulation.engines.cluster.connection import is_address
from bayesregret.simulation.engines.cluster.engine import ENGINES, ClusterEngine
from bayesregret.simulation.engines.engine import Engine

OUTPUT = "Output"
EFFORT = "Precision and speed"

HORIZON = 1_000
RUNS = 10_000
SEED = 0
COMMON = "Options of common problems"
ARGUMENTS = "bayesregret.arguments"  # of the command line, in the context's notes


def number(text: str) -> int | float | str:
    """Parse an option's number; Typer also passes default values, which are numbers."""
    return parsed_number(str(text))


def option(*names: str, help: str, default: object = None, section: str | None = None, **settings: Any) -> Any:
    """Return an option with its default in the help text."""
    text = help if default is None else f"{help} [default: {default}]"
    return typer.Option(*names, help=text, show_default=False, rich_help_panel=section, **settings)


def number_option(help: str, default: object = None, section: str | None = None) -> Any:
    return option(help=help, default=default, section=section, parser=number, metavar="N")


def chosen_engine(name: str | None, cluster: str | None, threads: int | None) -> Engine:
    """Return the engine of --engine, --cluster and --threads; with --cluster the engine is that of its workers."""
    place = "threads" if name is None else checks.one_of("engine", name, ENGINES)
    if cluster is None:
        return as_engine(place, threads)
    if threads is not None:
        raise ValueError("--threads does not go with --cluster, whose workers do the work")
    if not is_address(cluster):
        raise checks.fail("cluster", "an address such as tcp://host:8786, or local:4", cluster)
    # What Dask has to say of its connections is for those who run the cluster; ours is one line.
    for library in ("distributed", "tornado", "asyncio"):
        logging.getLogger(library).setLevel(logging.CRITICAL + 1)
    return ClusterEngine(cluster, place)


def complete_problem(incomplete: str) -> list[str]:
    words = [word for word in COMMON_PROBLEMS if word.startswith(incomplete)]
    prefix = glob.escape(incomplete)
    return [*words, *sorted(glob.glob(f"{prefix}*.toml") + glob.glob(f"{prefix}*.json"))]


def complete_noise_kind(incomplete: str) -> list[str]:
    return [kind for kind in NOISE_KINDS if kind.startswith(incomplete)]


Delta = Annotated[float | None, number_option("Failure probability of the policies' confidence bounds.", "1/horizon")]
Epsilon = Annotated[
    float | None,
    number_option("Gaps below N count as N in the paper's bounds.", "1/horizon; certified bounds use the best one"),
]
Threads = Annotated[int | None, number_option("Threads, which do not change the result.", "all processors", EFFORT)]
EngineName = Annotated[
    str | None,
    option(
        "--engine",
        help="Where to simulate: threads or gpu, of this machine or of --cluster.",
        default="threads",
        section=EFFORT,
        metavar="NAME",
    ),
]
Cluster = Annotated[
    str | None,
    option(
        "--cluster",
        help="Simulate on a Dask cluster: tcp://host:8786, or local:N for N processes of this machine.",
        section=EFFORT,
        metavar="ADDRESS",
    ),
]
Progress = Annotated[
    bool | None,
    option(
        "--progress/--no-progress",
        help="Show a progress bar on standard error.",
        default="in a terminal",
        section=OUTPUT,
    ),
]
Wide = Annotated[bool, option("--wide", help="Print all columns, however narrow the terminal.", section=OUTPUT)]
Json = Annotated[bool, option("--json", help="Print one JSON object and nothing else.", section=OUTPUT)]
Problem = Annotated[str, typer.Argument(metavar="PROBLEM", autocompletion=complete_problem, show_default=False)]

PROBLEM_OPTIONS = {
    "arms": "Number of arms.",
    "dimension": "Number of features.",
    "prior_gap": "Prior mean of the first arm.",
    "prior_width": "Standard deviation of the prior.",
    "reward_noise": "Standard deviation of the reward noise.",
    "noise_kind": f"Distribution of the noise, {' or '.join(NOISE_KINDS)}.",
    "alpha": "Prior pseudo-count of ones of each arm.",
    "beta": "Prior pseudo-count of zeros of each arm.",
    "shape": "Shape of the prior.",
    "rate": "Rate of the prior.",
    "scale": "Scale of the prior of the variances.",
    "prior_pulls": "Prior pseudo-count of pulls.",
    "features_seed": "Seed of the random features.",
}


def _defaults(name: str) -> dict[str, Any]:
    """Return the default of a problem option for each model that has it."""
    parameters = {model: inspect.signature(make).parameters for model, make in COMMON_PROBLEMS.items()}
    return {model: taken[name].default for model, taken in parameters.items() if name in taken}


def problem_option_text(name: str, model: str | None = None) -> str:
    """Return the explanation of a problem option for one model, or for all models that have it."""
    text, defaults = PROBLEM_OPTIONS[name], _defaults(name)
    if model is not None:
        return f"{text} [default: {_brief(defaults[model])}]"
    if len(defaults) < len(COMMON_PROBLEMS):
        text = f"{', '.join(defaults)}: {text[0].lower()}{text[1:]}"
    usual = max(defaults.values(), key=list(defaults.values()).count)
    others = [f"{_brief(value)} for {model}" for model, value in defaults.items() if value != usual]
    return f"{text} [default: {', '.join([_brief(usual), *others])}]"


def _brief(default: Any) -> str:
    return default if isinstance(default, str) else f"{default:g}"


def _problem_option(name: str) -> Any:
    kind: dict[str, Any] = {"parser": number, "metavar": "N"}
    if name == "noise_kind":
        kind = {"metavar": "KIND", "autocompletion": complete_noise_kind}
    return option(help=problem_option_text(name), section=COMMON, **kind)


class ProblemCommand(SectionedCommand):
    """Command with PROBLEM: the help for a common problem has only the options of that model, for a file none."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = list(args)  # Click parses --help before it knows PROBLEM
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def typed_parameters(self, ctx: Any) -> list[Any]:
        """Of a problem file, alpha is a field and not the option --alpha."""
        parameters = super().typed_parameters(ctx)
        if ctx.params.get("problem") in COMMON_PROBLEMS:
            return parameters
        return [parameter for parameter in parameters if parameter.name not in PROBLEM_OPTIONS]

    def option_rows(self, ctx: Any) -> dict[str, list[Row]]:
        problem = self._problem(ctx)
        titles = {COMMON: f"Options of {problem} problems"} if problem in COMMON_PROBLEMS else {}
        return {titles.get(title, title): rows for title, rows in super().option_rows(ctx).items()}

    def option_row(self, ctx: Any, parameter: Any) -> Row | None:
        row, problem = super().option_row(ctx, parameter), self._problem(ctx)
        if row is None or problem is None or parameter.name not in PROBLEM_OPTIONS:
            return row
        if problem not in _defaults(parameter.name):
            return None
        return row[0], problem_option_text(parameter.name, problem)

    def _problem(self, ctx: Any) -> str | None:
        """Return PROBLEM if it was given together with --help."""
        values, *_ = self.make_parser(ctx).parse_args(list(ctx.meta.get(ARGUMENTS, [])))
        given = values.get("problem")
        return given if isinstance(given, str) else None


class ProblemArgument(NamedTuple):
    """PROBLEM with its options; a call makes the bandit."""

    name: str
    options: Mapping[str, Any]

    def __call__(self) -> Bandit:
        return make_problem(self.name, self.options)

    @property
    def file(self) -> str | None:
        """The problem file, None if PROBLEM is a common problem."""
        return None if self.name in COMMON_PROBLEMS else self.name


def takes_problem(command: Callable[..., None]) -> Callable[..., None]:
    """Add PROBLEM and the options of common problems to a command, whose first parameter becomes a function that makes
    the bandit. Other arguments come before PROBLEM."""

    @functools.wraps(command)
    def with_problem(problem: str, **given: Any) -> None:
        options = {name: given.pop(name) for name in PROBLEM_OPTIONS}
        command(ProblemArgument(problem, options), **given)

    hints = get_type_hints(command, include_extras=True)
    own = [p.replace(annotation=hints[p.name]) for p in inspect.signature(command).parameters.values()][1:]
    by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD
    common = [
        inspect.Parameter(name, by_name, default=None, annotation=Annotated[str | None, _problem_option(name)])
        for name in PROBLEM_OPTIONS
    ]
    before = [p for p in own if isinstance(p.annotation.__metadata__[0], ArgumentInfo)]
    # The order of the sections of the help.
    first = [p for p in own if p not in before and p.annotation.__metadata__[0].rich_help_panel is None]
    last = [p for p in own if p not in (*before, *first)]
    everything = [*before, inspect.Parameter("problem", by_name, annotation=Problem), *first, *common, *last]
    with_problem.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    with_problem.__annotations__ = {p.name: p.annotation for p in everything}
    return with_problem


def make_problem(problem: str, options: Mapping[str, Any]) -> Bandit:
    """Return the bandit that PROBLEM and the options describe; options that were not given are None."""
    given = {name: options[name] for name in PROBLEM_OPTIONS if options[name] is not None}
    words = ", ".join(COMMON_PROBLEMS)
    if problem in COMMON_PROBLEMS:
        make = COMMON_PROBLEMS[problem]
        allowed = inspect.signature(make).parameters
        for name in given:
            if name not in allowed:
                raise ValueError(
                    f"{_dashed(name)} does not go with {problem}, which takes {', '.join(map(_dashed, allowed))}"
                )
        return make(**given)
    if not os.path.exists(problem):
        raise ValueError(
            f"PROBLEM must be a TOML or JSON file or one of {words}, got {shown(problem)}, which is not a file"
            f"{suggestion(problem, COMMON_PROBLEMS)}"
        )
    for name in given:
        raise ValueError(f"{_dashed(name)} does not go with a problem file, only with one of {words}")
    return load_problem(problem)


def _dashed(name: str) -> str:
    return "--" + name.replace("_", "-")
