"""`bayesregret prior`: the prior that past experiments give."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Annotated

import typer

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input, check_can_be_written
from bayesregret.cli.help import SectionedCommand
from bayesregret.cli.options import OUTPUT, number_option, option
from bayesregret.cli.show import at_work, show_json, show_tables

if TYPE_CHECKING:
    from bayesregret.priors import FittedPrior

NEW = "The new experiment"
MODELS = ("bernoulli", "gaussian", "poisson")

app = typer.Typer(rich_markup_mode=None, invoke_without_command=True)


def complete_model(incomplete: str) -> list[str]:
    return [model for model in MODELS if model.startswith(incomplete)]


@app.callback()
def prior(context: typer.Context) -> None:
    """Priors from past experiments.

    \b
    Examples:
      bayesregret prior fit history.csv --model bernoulli
      bayesregret prior fit history.csv --model bernoulli --arms 4 --output problem.toml

    Each command tells more: bayesregret prior fit --help.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(cls=SectionedCommand)
def fit(
    history: Annotated[str, typer.Argument(metavar="HISTORY", show_default=False)],
    model: Annotated[
        str, option(help="bernoulli, gaussian or poisson.", metavar="NAME", autocompletion=complete_model)
    ],
    grouped: Annotated[
        bool | None,
        option(
            help="Whether experiments have levels of their own, around which their arms vary.",
            default="if the history can tell",
        ),
    ] = None,
    reward_noise: Annotated[
        float | None, number_option("gaussian: standard deviation of a reward.", "pooled from the history")
    ] = None,
    arms: Annotated[int | None, number_option("Number of arms.", "those of the largest past experiment", NEW)] = None,
    level: Annotated[
        float | None, number_option("What its arms vary around.", "the typical level of past experiments", NEW)
    ] = None,
    width: Annotated[
        float | None, number_option("Standard deviation of its arms around the level.", "the fitted one", NEW)
    ] = None,
    output: Annotated[
        str | None, option(help="Problem file to write, .toml or .json.", section=OUTPUT, metavar="FILE")
    ] = None,
    figure: Annotated[
        str | None,
        option(help="Picture of history and fit to draw, .png, .pdf or .svg.", section=OUTPUT, metavar="FILE"),
    ] = None,
    json: options.Json = False,
) -> None:
    """The prior that makes past experiments most likely.

    HISTORY is a CSV file with a row for each arm of each experiment, and columns experiment, arm, pulls and successes
    (bernoulli), experiment, arm, pulls, mean and variance (gaussian), or experiment, arm, pulls and total (poisson); or
    with a row for each reward, and columns experiment, arm and reward. Rows of the same arm add up.

    The table has the parameters of the prior of an arm, with standard errors, and warnings say what the history cannot
    tell. --output writes the problem of a new experiment, which every other command takes.

    \b
    Examples:
      bayesregret prior fit history.csv --model bernoulli
      bayesregret prior fit history.csv --model bernoulli --arms 4 --output problem.toml
      bayesregret prior fit history.csv --model bernoulli --figure fit.png --json
    """
    from bayesregret.priors import fit_prior  # needs SciPy, which help does not

    with bad_input():
        _check_options(output, figure, arms=arms, level=level, width=width)
        with at_work("prior"):
            fitted = fit_prior(history, model=model, grouped=grouped, reward_noise=reward_noise)
        count = int(fitted.family.history.arms_of_experiments.max()) if arms is None else arms
        bandit = None if output is None else fitted.save(output, count, level=level, width=width)
        if figure is not None:
            _draw(fitted, figure)
    if json:
        show_json(fitted.to_dict() | ({} if bandit is None else {"problem": bandit.to_dict()}))
        return
    written = [f"written: {file}" for file in (output, figure) if file is not None]
    show_tables([fitted.table()], "\n".join([fitted.summary(), *written]))


def _check_options(output: str | None, figure: str | None, **new: float | None) -> None:
    """What would fail after the fit is told before."""
    for name, value in new.items():
        if value is not None and output is None:
            raise ValueError(f"--{name} goes with --output only")
    if output is not None and not output.lower().endswith((".toml", ".json")):
        raise ValueError(f"output must be the name of a .toml or a .json file, got {output!r}")
    if figure is not None:
        if importlib.util.find_spec("matplotlib") is None:
            raise ValueError('--figure needs matplotlib: pip install "bayesregret[plot]"')
        from bayesregret.plotting.prior_fit import figure_form

        figure_form(figure)
    for name, file in (("--output", output), ("--figure", figure)):
        if file is not None:
            check_can_be_written(name, file)


@at_work("figure")
def _draw(fitted: FittedPrior, figure: str) -> None:
    from bayesregret.plotting import save_prior_fit

    save_prior_fit(fitted, figure)
