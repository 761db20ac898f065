"""`bayesregret prior`: fit priors to past experiments."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Annotated

import typer

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input, check_can_be_written
from bayesregret.cli.help import SectionedCommand
from bayesregret.cli.options import OUTPUT, number_option, option
from bayesregret.cli.show import show_json, show_tables, spinner

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

    For more about a command: bayesregret prior fit --help.
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
            help="Whether each experiment has its own level, a mean around which its arms vary.",
            default="if the history can decide it",
        ),
    ] = None,
    reward_noise: Annotated[
        float | None, number_option("gaussian: standard deviation of the reward noise.", "pooled from the history")
    ] = None,
    arms: Annotated[int | None, number_option("Number of arms.", "that of the largest past experiment", NEW)] = None,
    level: Annotated[
        float | None, number_option("Mean around which its arms vary.", "typical level of past experiments", NEW)
    ] = None,
    width: Annotated[
        float | None, number_option("Standard deviation of its arms around the level.", "as fitted", NEW)
    ] = None,
    output: Annotated[
        str | None, option(help="Write a problem file, .toml or .json.", section=OUTPUT, metavar="FILE")
    ] = None,
    figure: Annotated[
        str | None,
        option(help="Draw history and fit, .png, .pdf or .svg.", section=OUTPUT, metavar="FILE"),
    ] = None,
    json: options.Json = False,
) -> None:
    """Fit a prior to past experiments by maximum likelihood.

    HISTORY is a CSV file with one row per arm of each experiment, and columns experiment, arm, pulls and successes
    (bernoulli), experiment, arm, pulls, mean and variance (gaussian), or experiment, arm, pulls and total (poisson); or
    with one row per reward, and columns experiment, arm and reward. Rows of the same arm are added.

    The table shows the parameters of the prior of an arm, with standard errors; warnings list what the history leaves
    undecided. --output writes the problem of a new experiment, for use with every other command.

    \b
    Examples:
      bayesregret prior fit history.csv --model bernoulli
      bayesregret prior fit history.csv --model bernoulli --arms 4 --output problem.toml
      bayesregret prior fit history.csv --model bernoulli --figure fit.png --json
    """
    from bayesregret.priors import fit_prior  # needs SciPy, which help does not

    with bad_input():
        _check_options(output, figure, arms=arms, level=level, width=width)
        with spinner("prior"):
            fitted = fit_prior(history, model=model, grouped=grouped, reward_noise=reward_noise)
        count = int(fitted.family.history.arms_per_experiment.max()) if arms is None else arms
        bandit = None if output is None else fitted.save(output, count, level=level, width=width)
        if figure is not None:
            _draw(fitted, figure)
    if json:
        show_json(fitted.to_dict() | ({} if bandit is None else {"problem": bandit.to_dict()}))
        return
    written = [f"written: {file}" for file in (output, figure) if file is not None]
    show_tables([fitted.table()], "\n".join([fitted.summary(), *written]))


def _check_options(output: str | None, figure: str | None, **new: float | None) -> None:
    """Report bad options before the fit."""
    for name, value in new.items():
        if value is not None and output is None:
            raise ValueError(f"--{name} requires --output")
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


@spinner("figure")
def _draw(fitted: FittedPrior, figure: str) -> None:
    from bayesregret.plotting import save_prior_fit

    save_prior_fit(fitted, figure)
