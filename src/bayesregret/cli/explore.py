"""`bayesregret explore`: the live page, served on this machine."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated

import typer

from bayesregret import checks
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.options import PROBLEM_OPTIONS, complete_problem, make_problem, number_option, option
from bayesregret.extras import require
from bayesregret.models import Bandit
from bayesregret.problem import COMMON_PROBLEMS

LOCAL = "127.0.0.1"
LARGEST_PORT = 65_535
SERVING = "Where it is served"

Problems = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PROBLEM]...", autocompletion=complete_problem, show_default=False),
]
Port = Annotated[int, number_option("Port to listen on; 0 takes a free one.", 0, SERVING)]
Address = Annotated[
    str,
    option(
        help="Address to listen on; any other one lets other machines in.",
        default=LOCAL,
        section=SERVING,
        metavar="ADDRESS",
    ),
]
AllowOrigin = Annotated[
    list[str] | None,
    option(
        help="HOST:PORT of a page that may connect; repeat for several.",
        default="those of this machine",
        section=SERVING,
        metavar="HOST:PORT",
    ),
]
Browser = Annotated[bool, option("--browser/--no-browser", help="Open the page in the browser.", default="--browser")]


def explore(
    problem: Problems = None,
    port: Port = 0,
    address: Address = LOCAL,
    allow_origin: AllowOrigin = None,
    browser: Browser = True,
) -> None:
    """A live page in the browser: move a slider, see the regret.

    PROBLEM is a TOML or JSON file, as bayesregret prior fit writes it and bayesregret simulate --help describes it, or
    gaussian, bernoulli, linear, poisson, exponential or normal-gamma. The page begins with the first one, and has all
    of them to choose from. It shows the regret of policies as they are simulated and computed, regret between its
    bounds as a parameter sweeps, and a single run to play. Ctrl-C ends it.

    \b
    Examples:
      bayesregret explore
      bayesregret explore problem.toml
      bayesregret explore bernoulli --port 5006 --no-browser
    """
    with bad_input():
        require("explore", "explore")
        port = checks.whole("port", port, 0, LARGEST_PORT)
        given = {PurePath(name).name: _read(name) for name in problem or () if name not in COMMON_PROBLEMS}
        from bayesregret.exploring.server import serve
        from bayesregret.exploring.settings import PageState, checked, state_of

        first = problem[0] if problem else "gaussian"
        name = PurePath(first).name
        state = PageState(problem=first) if first in COMMON_PROBLEMS else state_of(given[name], name)
        state = checked(state, given)
        serve(state, given, address=address, port=port, origins=tuple(allow_origin or ()), browser=browser)


def _read(name: str) -> Bandit:
    return make_problem(name, dict.fromkeys(PROBLEM_OPTIONS))
