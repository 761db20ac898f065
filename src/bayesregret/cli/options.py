"""The options that several commands share: those that say what problem is meant."""

from __future__ import annotations

import glob
import inspect
import os
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from bayesregret.checks import shown
from bayesregret.models import Bandit
from bayesregret.models.gaussian import NOISE_KINDS
from bayesregret.problem import COMMON_PROBLEMS, load_problem

OUTPUT = "Output"
COMMON = "Common problems (PROBLEM is gaussian, bernoulli or linear)"


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
    return int(value) if value.is_integer() else value


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
Json = Annotated[bool, option("--json", help="One JSON object in place of the table.", section=OUTPUT)]
Problem = Annotated[str, typer.Argument(metavar="PROBLEM", autocompletion=complete_problem, show_default=False)]
Arms = Annotated[int | None, number_option("Number of arms.", "10, for linear 30", COMMON)]
Dimension = Annotated[int | None, number_option("linear: number of features.", 10, COMMON)]
PriorGap = Annotated[
    float | None, number_option("gaussian, linear: how far the first arm is ahead under the prior.", 1, COMMON)
]
PriorWidth = Annotated[float | None, number_option("gaussian, linear: standard deviation of the prior.", 1, COMMON)]
RewardNoise = Annotated[float | None, number_option("gaussian, linear: standard deviation of a reward.", 1, COMMON)]
NoiseKind = Annotated[
    str | None,
    option(
        help=f"gaussian: noise that is {' or '.join(NOISE_KINDS)}.",
        default=NOISE_KINDS[0],
        section=COMMON,
        metavar="KIND",
        autocompletion=complete_noise_kind,
    ),
]
Alpha = Annotated[float | None, number_option("bernoulli: every arm's pseudo-count of ones.", 1, COMMON)]
Beta = Annotated[float | None, number_option("bernoulli: every arm's pseudo-count of zeros.", 1, COMMON)]
FeaturesSeed = Annotated[int | None, number_option("linear: seed of the arms' random features.", 0, COMMON)]


PROBLEM_OPTIONS = (
    "arms",
    "dimension",
    "prior_gap",
    "prior_width",
    "reward_noise",
    "noise_kind",
    "alpha",
    "beta",
    "features_seed",
)


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
