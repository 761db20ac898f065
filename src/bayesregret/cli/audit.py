"""`bayesregret audit`: check the paper's inequalities on simulated runs of a problem and its exact regret."""

from __future__ import annotations

from typing import Annotated

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.help import columns
from bayesregret.cli.options import HORIZON, SEED, number_option, option
from bayesregret.cli.show import show_json, show_tables
from bayesregret.spinner import spinning

RUNS = 1_000

# Columns that a narrow terminal does without, the first one first.
LEAST = ("note", "evidence", "source", "allowed", "observed", "form", "worst ratio")


COLUMNS = {
    "check": "Name of the inequality.",
    "source": "Where the paper states it.",
    "form": "paper: as printed; certified: as proved.",
    "evidence": "Rounds of simulated runs, or a regret.",
    "observed": "The worst value.",
    "allowed": "The value that the inequality allows there.",
    "worst ratio": "observed divided by allowed.",
    "verdict": "holds, fails, not decided, not applicable or exceeded.",
    "note": "The place of the worst value, or why it is so.",
}


@columns(COLUMNS)
@options.takes_problem
def audit(
    bandit: options.ProblemArgument,
    horizon: Annotated[int, number_option("Rounds in a run.", HORIZON)] = HORIZON,
    runs: Annotated[int, number_option("Runs to check.", RUNS)] = RUNS,
    seed: Annotated[int, number_option("The same seed gives the same result.", SEED)] = SEED,
    delta: options.Delta = None,
    epsilon: options.Epsilon = None,
    exact: Annotated[
        bool | None,
        option(
            help="Compare bounds with the exact regret, or with the simulated one.",
            default="exact where it takes about a second",
        ),
    ] = None,
    json: options.Json = False,
    wide: options.Wide = False,
) -> None:
    """Check the paper's inequalities one by one.

    PROBLEM is a TOML or JSON file, as bayesregret simulate --help describes it, or gaussian, bernoulli or linear for a
    common problem; bayesregret audit bernoulli --help has the options of bernoulli problems only. The paper has no
    inequalities for other models.

    Verdicts: holds; fails; not decided, within four standard errors or within numerical errors; not applicable; or
    exceeded, which means not applicable, and the number is exceeded, too. The evidence is every round of the simulated
    runs or, for bounds on the regret, the exact or the simulated regret. A printed statement that fails is a result,
    not an error: the exit status is 0.

    \b
    Examples:
      bayesregret audit gaussian
      bayesregret audit gaussian --prior-width 0.1 --runs 500
      bayesregret audit bernoulli --horizon 200 --delta 0.01 --json
    """
    from bayesregret.audit import audit as run_audit  # needs SciPy, which help does not
    from bayesregret.audit.result import WORDS

    with bad_input(), spinning("audit"):
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
        show_tables([result.table()], result.summary(), text=WORDS, least=LEAST, wide=wide)
