"""`bayesregret audit`: the paper's inequalities, one by one, on simulated runs of a problem and its exact regret."""

from __future__ import annotations

from typing import Annotated

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.options import HORIZON, SEED, number_option, option
from bayesregret.cli.show import at_work, show_json, show_tables

RUNS = 1_000


@options.takes_problem
def audit(
    bandit: options.MakeProblem,
    horizon: Annotated[int, number_option("Rounds in a run.", HORIZON)] = HORIZON,
    runs: Annotated[int, number_option("Runs to look at.", RUNS)] = RUNS,
    seed: Annotated[int, number_option("Same seed, same result.", SEED)] = SEED,
    delta: options.Delta = None,
    epsilon: options.Epsilon = None,
    exact: Annotated[
        bool | None,
        option(
            help="Hold bounds against the exact regret, or the simulated one.",
            default="exact where that takes about a second",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Check the paper's inequalities one by one.

    PROBLEM is a TOML or JSON file, or one of the words gaussian, bernoulli and linear for a common problem, which the
    options below set; see bayesregret simulate --help. Nothing is stated for other kinds of rewards.

    Each inequality is told with the worst that was observed, what it allows there, their ratio and a verdict: holds,
    fails, not decided (within four standard errors, or numerical errors), not applicable, or exceeded (not applicable,
    and the number does not hold either). Forms: paper, as it is printed; certified, as it is proved. Evidence: runs
    that are watched round by round, and for bounds on the regret the exact regret or a simulated one. That a printed
    statement fails is a result and no error: the exit status is 0.

    \b
    Examples:
      bayesregret audit gaussian
      bayesregret audit gaussian --prior-width 0.1 --runs 500
      bayesregret audit bernoulli --horizon 200 --delta 0.01 --json
    """
    from bayesregret.audit import audit as run_audit  # bounds need SciPy, which help does not
    from bayesregret.audit.result import WORDS

    with bad_input(), at_work("audit"):
        result = run_audit(
            bandit(),
            horizon=horizon,
            runs=runs,
            seed=seed,
            delta=delta,
            epsilon=epsilon,
            exact=exact,
        )
    if json:
        show_json(result.to_dict())
    else:
        show_tables([result.table()], result.summary(), text=WORDS)
