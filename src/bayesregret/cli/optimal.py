"""`bayesregret optimal`: the least Bayes regret that any policy can have, exactly or between two ends."""

from __future__ import annotations

from typing import Annotated

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.help import columns
from bayesregret.cli.options import HORIZON, RUNS, SEED, number_option, option
from bayesregret.cli.policies import complete_policy, make_policies
from bayesregret.cli.show import show_json, show_tables
from bayesregret.policies import Policy
from bayesregret.spinner import spinning

COLUMNS = {
    "no policy below": "No policy has less Bayes regret: proved, or computed.",
    "a policy has": "Bayes regret of the best policy known.",
    "ratio": "The second number divided by the first.",
    "which policy": "The policy that has it.",
    "how": "Where its regret is from: simulated, for example.",
}


@columns(COLUMNS)
@options.takes_problem
def optimal(
    bandit: options.ProblemArgument,
    policy: Annotated[
        list[str] | None,
        option(
            help=f"{', '.join(Policy.classes)}; repeat for several, of which the best one counts.",
            default="the best ones known for the problem",
            metavar="NAME",
            autocompletion=complete_policy,
        ),
    ] = None,
    horizon: Annotated[int, number_option("Rounds.", HORIZON)] = HORIZON,
    exact: Annotated[
        bool,
        option("--exact", help="Compute the regret of policies, however long it takes, and do not simulate it."),
    ] = False,
    runs: Annotated[int, number_option("Runs to average over, where policies are simulated.", RUNS)] = RUNS,
    seed: Annotated[int, number_option("The same seed gives the same result.", SEED)] = SEED,
    threads: options.Threads = None,
    json: options.Json = False,
    wide: options.Wide = False,
    progress: options.Progress = None,
) -> None:
    """The least Bayes regret that any policy can have.

    PROBLEM is a TOML or JSON file, as bayesregret simulate --help describes it, or gaussian, bernoulli, linear,
    poisson, exponential or normal-gamma for a common problem; bayesregret optimal bernoulli --help has the options of
    bernoulli problems only.

    For two Bernoulli arms up to 500 rounds, and three up to 60, it is computed by dynamic programming. Elsewhere it is
    between two ends: a lower bound that is proved for every policy, and the regret of the best policy known, computed
    where that takes less than a minute and otherwise simulated.

    \b
    Examples:
      bayesregret optimal gaussian --arms 10 --horizon 1000
      bayesregret optimal bernoulli --arms 2 --horizon 100 --json
      bayesregret optimal exponential --horizon 200 --policy thompson --runs 1000
    """
    from bayesregret.enclosure import optimal_regret  # needs SciPy, which help does not

    with bad_input(), spinning("optimal regret", progress):
        found = optimal_regret(
            bandit(),
            horizon=horizon,
            policies=None if not policy else make_policies(policy, None),
            exact=True if exact else None,
            runs=runs,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    if json:
        show_json(found.to_dict())
    else:
        show_tables([found.table()], found.summary(), text=found.words, wide=wide)
