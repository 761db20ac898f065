"""Command line: each command parses its options, calls one function and prints a table or strict JSON.

Errors are one line on standard error. Exit status: 0 success, 2 bad input, 130 interrupted, 1 any other error.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from typing import Annotated, Any

import typer

from bayesregret import __version__, interrupts
from bayesregret.cli import (
    audit,
    bounds,
    exact,
    experiment,
    explore,
    optimal,
    plan,
    prior,
    reproduce,
    serve,
    simulate,
    study,
    token,
)
from bayesregret.cli.complaints import InputError, complain
from bayesregret.cli.help import SectionedCommand, SectionedGroup
from bayesregret.cli.options import ProblemCommand
from bayesregret.interrupts import PROGRAM

# Newer versions of Typer contain a copy of Click; in both cases this is the base class of all usage errors.
UsageError: Any = typer.BadParameter.__base__


class Workflow(SectionedGroup):
    """All commands, in the order in which a person uses them."""

    workflow = {  # noqa: RUF012
        "From past experiments to a decision": ("prior", "plan"),
        "Run an experiment": ("experiment", "serve", "token"),
        "Simulate, compute, bound": ("simulate", "exact", "optimal", "bounds", "audit", "explore"),
        "Reproduce the paper and your own experiments": ("reproduce", "sweep", "study"),
    }


# Plain help loads twice as fast as Rich's, and is the same in a terminal and in a pipe.
app = typer.Typer(
    name=PROGRAM,
    cls=Workflow,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(prior.app, name="prior")
app.command(cls=ProblemCommand)(plan.plan)
app.add_typer(experiment.app, name="experiment")
app.command(cls=SectionedCommand)(serve.serve)
app.add_typer(token.app, name="token")
app.command(cls=ProblemCommand)(simulate.simulate)
app.command(cls=ProblemCommand)(exact.exact)
app.command(cls=ProblemCommand)(optimal.optimal)
app.command(cls=ProblemCommand)(bounds.bounds)
app.command(cls=ProblemCommand)(audit.audit)
app.command(cls=SectionedCommand)(explore.explore)
app.command(cls=SectionedCommand)(reproduce.reproduce)
app.command(cls=SectionedCommand)(reproduce.sweep)
app.add_typer(study.app, name="study")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Bayes regret of bandit policies: plan experiments, simulate, compute and bound regret, reproduce the paper.

    \b
    Examples:
      bayesregret prior fit history.csv --model bernoulli --output problem.toml
      bayesregret plan problem.toml --horizon 5000 --output plan.html
      bayesregret plan bernoulli --arms 10 --horizon 50000
      bayesregret experiment start checkout problem.toml --policy bayes-ucb \\
        --horizon 5000
      bayesregret experiment status checkout
      bayesregret serve --require-tokens
      bayesregret token add shop --right decide
      bayesregret simulate gaussian
      bayesregret simulate linear --policy bayes-ucb --prior-width 0.5 --runs 1000
      bayesregret simulate problem.toml --horizon 1000 --seed 7 --json
      bayesregret exact gaussian --horizon 100
      bayesregret optimal gaussian --horizon 1000
      bayesregret bounds gaussian --against
      bayesregret audit gaussian --prior-width 0.1
      bayesregret explore problem.toml
      bayesregret reproduce
      bayesregret sweep widths.toml
      bayesregret study list sweep/study.sqlite

    For more about a command: bayesregret plan --help; about its options for one model: bayesregret plan bernoulli
    --help.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line of this process and exit."""
    interrupts.end_on_interrupts()
    # A stream that was closed before the start is None, and `print(file=None)` would write to standard output.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    interrupts.leave(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command line and return the exit status."""
    try:
        with interrupts.interrupts_raised():
            status = typer.main.get_command(app).main(arguments, prog_name=PROGRAM, standalone_mode=False) or 0
            sys.stdout.flush()
    except UsageError as error:
        return complain(_usage_message(error), 2)
    except InputError as error:
        return complain(str(error), 2)
    except BrokenPipeError:  # the reader has closed the pipe
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        return complain(str(error), 1)
    except MemoryError as error:
        return complain(str(error) or "not enough memory", 1)
    except KeyboardInterrupt:
        status = interrupts.STATUS
    return complain(interrupts.MESSAGE, status) if status == interrupts.STATUS else int(status)


def _drop_output() -> None:
    """Discard further output: Python flushes standard output at exit, and would report the same error again."""
    with contextlib.suppress(io.UnsupportedOperation):  # a stream in memory has no file descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage_message(error: Any) -> str:
    command = f" (see {error.ctx.command_path} --help)" if error.ctx is not None else ""
    message, meaning = error.format_message().rstrip("."), getattr(getattr(error, "param", None), "help", None)
    if message.startswith("Missing option") and meaning:
        message = f"{message}: {meaning.rstrip('.')}"
    if re.match(r"No such command '.*\.csv'", message):
        message = f"{message}; bayesregret prior fit reads histories"
    return f"{message}{command}"
