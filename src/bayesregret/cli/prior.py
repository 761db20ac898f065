"""`bayesregret prior`: fit priors to past experiments."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from bayesregret.checks import fail
from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input, check_can_be_written, complain, print_error
from bayesregret.cli.help import SectionedCommand, SectionedGroup
from bayesregret.cli.help import columns as define_columns
from bayesregret.cli.options import OUTPUT, number_option, option
from bayesregret.cli.show import show_json, show_tables
from bayesregret.digits import counted
from bayesregret.extras import require
from bayesregret.spinner import spinning

if TYPE_CHECKING:
    from bayesregret.models import Bandit
    from bayesregret.priors import FittedPrior

NEW = "The new experiment"
MODELS = ("bernoulli", "gaussian", "poisson")
PAIRS = "NAME=COLUMN pairs with commas between them, such as arm=Variant,pulls=visitors"
BAD_INPUT = 2  # exit status

app = typer.Typer(cls=SectionedGroup, rich_markup_mode=None, invoke_without_command=True)


def complete_model(incomplete: str) -> list[str]:
    return [model for model in MODELS if model.startswith(incomplete)]


@app.callback()
def prior(context: typer.Context) -> None:
    """Priors from past experiments.

    \b
    Examples:
      bayesregret prior fit history.csv --model bernoulli
      bayesregret prior fit history.csv --model bernoulli --output problem.toml

    For more about a command: bayesregret prior fit --help.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COLUMNS = {
    "parameter": "Name of a parameter of the prior of an arm.",
    "estimate": "Its most likely value, ± one standard error.",
}


@app.command(cls=SectionedCommand)
@define_columns(COLUMNS)
def fit(
    history: Annotated[str, typer.Argument(metavar="HISTORY", show_default=False)],
    model: Annotated[
        str, option(help="bernoulli, gaussian or poisson.", metavar="NAME", autocompletion=complete_model)
    ],
    columns: Annotated[
        str | None,
        option(
            help="Columns of yours that have other names, such as arm=Variant,pulls=visitors. Capitals do not matter; "
            "a pair with a comma in it goes into double quotes: 'arm=Variant,\"pulls=visitors, all\"'.",
            metavar="NAME=COLUMN,...",
        ),
    ] = None,
    skip_missing: Annotated[
        bool,
        option("--skip-missing", help="Leave out rows with a missing cell, rather than report them as errors."),
    ] = False,
    grouped: Annotated[
        bool | None,
        option(
            help="Whether each experiment has its own level, a mean around which its arms vary.",
            default="if the history can decide it",
        ),
    ] = None,
    reward_noise: Annotated[
        float | None, number_option("gaussian: standard deviation of the reward noise.", "pooled from the history")
    ] = None,
    arms: Annotated[int | None, number_option("Number of arms.", "that of the largest past experiment", NEW)] = None,
    level: Annotated[
        float | None, number_option("Mean around which its arms vary.", "unknown, varies as in the history", NEW)
    ] = None,
    width: Annotated[
        float | None, number_option("Standard deviation of its arms around the level.", "as fitted", NEW)
    ] = None,
    uncertainty: Annotated[
        bool,
        option(
            "--uncertainty/--no-uncertainty",
            help="Whether its prior includes the standard errors of the fit.",
            default="included",
            section=NEW,
        ),
    ] = True,
    output: Annotated[
        str | None, option(help="Write a problem file, .toml or .json.", section=OUTPUT, metavar="FILE")
    ] = None,
    figure: Annotated[
        str | None,
        option(help="Draw history and fit, .png, .pdf or .svg.", section=OUTPUT, metavar="FILE"),
    ] = None,
    json: options.Json = False,
    wide: options.Wide = False,
) -> None:
    """Fit a prior to past experiments by maximum likelihood.

    HISTORY is a CSV file with one row per arm of each experiment or one row per reward. Rows of the same arm are added.
    Its columns:

    \b
      bernoulli    experiment, arm, pulls, successes
      gaussian     experiment, arm, pulls, mean, and variance,
                   standard_deviation or standard_error, of which
                   none is needed with --reward-noise
      poisson      experiment, arm, pulls or exposure, total or events;
                   pulls need not be whole, for example hours
      any of them  experiment, arm, reward;
                   a bernoulli reward may be 0 or 1, true or false, yes or no

    Other columns are ignored; --columns takes columns with other names.

    Warnings list what the history leaves undecided. --output writes the problem of a new experiment, for use with every
    other command.

    \b
    Examples:
      bayesregret prior fit history.csv --model bernoulli
      bayesregret prior fit history.csv --model bernoulli --arms 4 \\
        --output problem.toml
      bayesregret prior fit history.csv --model bernoulli --figure fit.png --json
      bayesregret prior fit shop.csv --model bernoulli --skip-missing \\
        --columns experiment=Test,arm=Variant,pulls=visitors,successes=conversions
    """
    from bayesregret.priors import fit_prior  # needs SciPy, which help does not

    with bad_input():
        new = {"level": level, "width": width}
        _check_options(output, figure, arms=arms, **new)
        renames = None if columns is None else _parse_columns(columns)
        with spinning("prior"), _report_of_rows():
            fitted = fit_prior(
                history,
                model=model,
                grouped=grouped,
                reward_noise=reward_noise,
                columns=renames,
                skip_missing=skip_missing,
            )
        bandit = None if output is None else fitted.save(output, arms, **new, uncertainty=uncertainty)
        if figure is not None:
            _draw(fitted, figure)
    if json:
        show_json(fitted.to_dict() | ({} if bandit is None else {"problem": bandit.to_dict()}))
        return
    below = [] if figure is None else [f"{figure} written"]
    if output is None or bandit is None:
        below.append(_next_step(fitted))
    else:
        below.insert(0, _saved_line(output, bandit, **new))
    show_tables([fitted.table()], "\n".join([fitted.summary(), *below]), wide=wide)


def _saved_line(output: str, bandit: Bandit, **given: float | None) -> str:
    known = [f"{name} {value:g}" for name, value in given.items() if value is not None]
    return f"{output} written: {', '.join([counted(bandit.arms, 'arm'), *known])}"


def _next_step(fitted: FittedPrior) -> str:
    """What to type for the problem of a new experiment."""
    one_arm, limit = fitted.most_arms < 2, fitted.width_limit
    width = [] if limit is None else ["--width W"]
    options = [f"--arms {'N' if one_arm else fitted.most_arms}", *width, "--output problem.toml"]
    notes = ["N at least 2"] * one_arm + ([] if limit is None else [f"W up to {limit:.2g}"])
    where = f", with {' and '.join(notes)}" if notes else ""
    return f"to go on: add {' '.join(options)}{where}, then bayesregret plan problem.toml"


def _parse_columns(text: str) -> dict[str, str]:
    """Parse NAME=COLUMN pairs; they are quoted like the cells of a CSV file."""
    try:
        pairs = next(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        raise fail("--columns", PAIRS, text) from None
    columns: dict[str, str] = {}
    for pair in pairs or [text]:
        name, equals, column = pair.partition("=")  # our names have no equals sign, but the user's may
        if not equals:
            raise fail("--columns", PAIRS, pair)
        if name in columns:
            raise ValueError(f"columns: {name} is given twice")
        columns[name] = column
    return columns


@contextmanager
def _report_of_rows() -> Iterator[None]:
    """Print a report of several bad rows with a line for each; other errors have one line, and pass."""
    try:
        yield
    except ValueError as error:
        first, *rows = str(error).splitlines()
        if not rows:
            raise
        complain(first, BAD_INPUT)
        for row in rows:
            print_error(f"  {row}", indent="    ")
        raise typer.Exit(BAD_INPUT) from None


def _check_options(output: str | None, figure: str | None, **new: float | None) -> None:
    """Report bad options before the fit."""
    for name, value in new.items():
        if value is not None and output is None:
            raise ValueError(f"--{name} requires --output")
    if output is not None and not output.lower().endswith((".toml", ".json")):
        raise ValueError(f"output must be the name of a .toml or a .json file, got {output!r}")
    if figure is not None:
        require("plot", "--figure")
        from bayesregret.plotting.prior_fit import figure_form

        figure_form(figure)
    for name, file in (("--output", output), ("--figure", figure)):
        if file is not None:
            check_can_be_written(name, file)


@spinning("figure")
def _draw(fitted: FittedPrior, figure: str) -> None:
    from bayesregret.plotting import save_prior_fit

    save_prior_fit(fitted, figure)
