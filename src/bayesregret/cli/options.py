"""The options that several commands share, and those that say what problem is meant."""

from __future__ import annotations

import functools
import glob
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_type_hints

import typer

from bayesregret.checks import shown
from bayesregret.models import Bandit
from bayesregret.models.gaussian import NOISE_KINDS
from bayesregret.problem import COMMON_PROBLEMS, load_problem

OUTPUT = "Output"
EFFORT = "Precision and speed"

LARGEST_WHOLE = 2.0**63  # beyond, digits that nobody typed would be told
# Defaults.
HORIZON = 1_000
RUNS = 10_000
SEED = 0
COMMON = "Common problems (PROBLEM is a word)"


def number(text: str) -> int | float | str:
    """A number as people type it, 1e6 and 10_000 included; what is none stays text, for the checks to refuse."""
    text = str(text)  # Typer hands over defaults, too
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) < LARGEST_WHOLE else value


def option(*names: str, help: str, default: object = None, section: str | None = None, **settings: Any) -> Any:
    """An option whose default is told in its help."""
    told = help if default is None else f"{help} [default: {default}]"
    return typer.Option(*names, help=told, show_default=False, rich_help_panel=section, **settings)


def number_option(help: str, default: object = None, section: str | None = None) -> Any:
    return option(help=help, default=default, section=section, parser=number, metavar="N")


def complete_problem(incomplete: str) -> list[str]:
    words = [word for word in COMMON_PROBLEMS if word.startswith(incomplete)]
    begun = glob.escape(incomplete)
    return [*words, *sorted(glob.glob(f"{begun}*.toml") + glob.glob(f"{begun}*.json"))]


def complete_noise_kind(incomplete: str) -> list[str]:
    return [kind for kind in NOISE_KINDS if kind.startswith(incomplete)]


Delta = Annotated[float | None, number_option("Failure probability of the policies' confidence bounds.", "1/horizon")]
Epsilon = Annotated[
    float | None,
    number_option("Gaps below it are not told apart in the paper's bounds.", "1/horizon; certified ones use the best"),
]
Threads = Annotated[int | None, number_option("They change the speed, never the result.", "all processors", EFFORT)]
Progress = Annotated[
    bool | None,
    option(
        "--progress/--no-progress", help="A progress bar on standard error.", default="in a terminal", section=OUTPUT
    ),
]
Json = Annotated[bool, option("--json", help="One JSON object in place of the table.", section=OUTPUT)]
Problem = Annotated[str, typer.Argument(metavar="PROBLEM", autocompletion=complete_problem, show_default=False)]

PROBLEM_OPTIONS: dict[str, Any] = {
    "arms": number_option("Number of arms.", "10, for linear 30", COMMON),
    "dimension": number_option("linear: number of features.", 10, COMMON),
    "prior_gap": number_option(
        "gaussian, linear, normal-gamma: how far the first arm is ahead under the prior.", 1, COMMON
    ),
    "prior_width": number_option("gaussian, linear: standard deviation of the prior.", 1, COMMON),
    "reward_noise": number_option("gaussian, linear: standard deviation of a reward.", 1, COMMON),
    "noise_kind": option(
        help=f"gaussian: noise that is {' or '.join(NOISE_KINDS)}.",
        default=NOISE_KINDS[0],
        section=COMMON,
        metavar="KIND",
        autocompletion=complete_noise_kind,
    ),
    "alpha": number_option("bernoulli: every arm's pseudo-count of ones.", 1, COMMON),
    "beta": number_option("bernoulli: every arm's pseudo-count of zeros.", 1, COMMON),
    "shape": number_option("poisson, exponential, normal-gamma: shape of the prior.", "1, 3 and 3", COMMON),
    "rate": number_option("poisson, exponential: rate of the prior.", 1, COMMON),
    "scale": number_option("normal-gamma: scale of the variances' prior.", 2, COMMON),
    "prior_pulls": number_option("normal-gamma: pulls that the prior is worth.", 1, COMMON),
    "features_seed": number_option("linear: seed of the arms' random features.", 0, COMMON),
}

MakeProblem = Callable[[], Bandit]


def takes_problem(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command PROBLEM and the options of common problems; its own first parameter makes the bandit they name."""

    @functools.wraps(command)
    def with_problem(problem: str, **given: Any) -> None:
        options = {name: given.pop(name) for name in PROBLEM_OPTIONS}
        command(lambda: make_problem(problem, options), **given)

    hints = get_type_hints(command, include_extras=True)
    own = [p.replace(annotation=hints[p.name]) for p in inspect.signature(command).parameters.values()][1:]
    by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD
    common = [
        inspect.Parameter(name, by_name, default=None, annotation=Annotated[str | None, shown_as])
        for name, shown_as in PROBLEM_OPTIONS.items()
    ]
    # Help has its sections in this order.
    first = [p for p in own if p.annotation.__metadata__[0].rich_help_panel is None]
    last = [p for p in own if p not in first]
    everything = [inspect.Parameter("problem", by_name, annotation=Problem), *first, *common, *last]
    with_problem.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    with_problem.__annotations__ = {p.name: p.annotation for p in everything}
    return with_problem


def make_problem(problem: str, options: Mapping[str, Any]) -> Bandit:
    """The bandit that PROBLEM and a command's options name; options that were not given are None."""
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
            f"PROBLEM must be a TOML or JSON file or one of {words}, got {shown(problem)}, which is no file"
        )
    for name in given:
        raise ValueError(f"{_dashed(name)} does not go with a problem file, only with one of {words}")
    return load_problem(problem)


def _dashed(name: str) -> str:
    return "--" + name.replace("_", "-")
