"""Options that several commands share, among them the problem and its settings."""

from __future__ import annotations

import functools
import glob
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

from bayesregret.checks import parsed_number, shown
from bayesregret.models import Bandit
from bayesregret.models.gaussian import NOISE_KINDS
from bayesregret.problem import COMMON_PROBLEMS, load_problem

OUTPUT = "Output"
EFFORT = "Precision and speed"

HORIZON = 1_000
RUNS = 10_000
SEED = 0
COMMON = "Options of common problems"


def number(text: str) -> int | float | str:
    """Parse an option's number; Typer also passes default values, which are numbers."""
    return parsed_number(str(text))


def option(*names: str, help: str, default: object = None, section: str | None = None, **settings: Any) -> Any:
    """Return an option with its default in the help text."""
    text = help if default is None else f"{help} [default: {default}]"
    return typer.Option(*names, help=text, show_default=False, rich_help_panel=section, **settings)


def number_option(help: str, default: object = None, section: str | None = None) -> Any:
    return option(help=help, default=default, section=section, parser=number, metavar="N")


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
Json = Annotated[bool, option("--json", help="Print one JSON object instead of the table.", section=OUTPUT)]
Problem = Annotated[str, typer.Argument(metavar="PROBLEM", autocompletion=complete_problem, show_default=False)]

PROBLEM_OPTIONS: dict[str, Any] = {
    "arms": number_option("Number of arms.", "10, for linear 30", COMMON),
    "dimension": number_option("linear: number of features.", 10, COMMON),
    "prior_gap": number_option("gaussian, linear, normal-gamma: prior mean of the first arm.", 1, COMMON),
    "prior_width": number_option("gaussian, linear: standard deviation of the prior.", 1, COMMON),
    "reward_noise": number_option("gaussian, linear: standard deviation of the reward noise.", 1, COMMON),
    "noise_kind": option(
        help=f"gaussian: distribution of the noise, {' or '.join(NOISE_KINDS)}.",
        default=NOISE_KINDS[0],
        section=COMMON,
        metavar="KIND",
        autocompletion=complete_noise_kind,
    ),
    "alpha": number_option("bernoulli: prior pseudo-count of ones of each arm.", 1, COMMON),
    "beta": number_option("bernoulli: prior pseudo-count of zeros of each arm.", 1, COMMON),
    "shape": number_option("poisson, exponential, normal-gamma: shape of the prior.", "1, 3 and 3", COMMON),
    "rate": number_option("poisson, exponential: rate of the prior.", 1, COMMON),
    "scale": number_option("normal-gamma: scale of the prior of the variances.", 2, COMMON),
    "prior_pulls": number_option("normal-gamma: prior pseudo-count of pulls.", 1, COMMON),
    "features_seed": number_option("linear: seed of the random features.", 0, COMMON),
}


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
    the bandit."""

    @functools.wraps(command)
    def with_problem(problem: str, **given: Any) -> None:
        options = {name: given.pop(name) for name in PROBLEM_OPTIONS}
        command(ProblemArgument(problem, options), **given)

    hints = get_type_hints(command, include_extras=True)
    own = [p.replace(annotation=hints[p.name]) for p in inspect.signature(command).parameters.values()][1:]
    by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD
    common = [
        inspect.Parameter(name, by_name, default=None, annotation=Annotated[str | None, shown_as])
        for name, shown_as in PROBLEM_OPTIONS.items()
    ]
    # The order of the sections of the help.
    first = [p for p in own if p.annotation.__metadata__[0].rich_help_panel is None]
    last = [p for p in own if p not in first]
    everything = [inspect.Parameter("problem", by_name, annotation=Problem), *first, *common, *last]
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
        )
    for name in given:
        raise ValueError(f"{_dashed(name)} does not go with a problem file, only with one of {words}")
    return load_problem(problem)


def _dashed(name: str) -> str:
    return "--" + name.replace("_", "-")
