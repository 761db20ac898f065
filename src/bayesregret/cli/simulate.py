"""`bayesregret simulate`: Bayes regret of policies on a problem, by simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.help import columns
from bayesregret.cli.options import EFFORT, HORIZON, RUNS, SEED, number, number_option, option
from bayesregret.cli.policies import Policies, default_policies, make_policies
from bayesregret.cli.show import show_json, show_result
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.simulation.simulate import simulate as run_simulation
from bayesregret.spinner import spinning

if TYPE_CHECKING:
    from bayesregret.bounds.least import Least
    from bayesregret.exact import ExactRegret

Checkpoints = Annotated[
    str | None,
    option(
        help="Rounds at which to show the regret so far.",
        default="with --json about 100 rounds, otherwise none",
        metavar="N,N,...",
    ),
]
ExactCheck = Annotated[
    bool,
    option(
        "--exact-check",
        help="Also compute the exact regret, and show how many standard errors the simulation is off"
        " (gaussian, bernoulli).",
    ),
]
Optimal = Annotated[
    bool,
    option(
        "--optimal",
        help="Also show ratios to the smallest regret that any policy can have, or upper limits of them: ratios to a"
        " certified lower bound.",
    ),
]
Precision = Annotated[
    float | None,
    number_option("Add runs until every standard error is at most this fraction of the regret.", section=EFFORT),
]
Keep = Annotated[
    str,
    option(
        help="runs, or summary for no memory per run: without paired differences, quantiles to 0.1%.",
        default="runs",
        section=EFFORT,
        metavar="WHAT",
    ),
]
MaxRuns = Annotated[int | None, number_option("Largest number of runs for --precision.", "100 times --runs", EFFORT)]


# Of the tables of `simulate`; NAME stands for the name of a policy.
COLUMNS = {
    "policy": "Name of the policy.",
    "Bayes regret": "Mean regret over all runs, ± one standard error.",
    "minus NAME": "Difference to the first policy in the same runs.",
    "over optimal": "--optimal: regret divided by the optimal regret.",
    "over optimal, at most": "--optimal: regret divided by a lower bound on it.",
    "median": "Half of the runs have a smaller regret.",
    "5% to 95%": "Nine of ten runs have a regret in this range.",
    "best arm": "Percentage of all rounds on the best arm.",
    "round": "--checkpoints: the round up to which regret counts.",
    "NAME": "--checkpoints: regret of this policy up to the round.",
    "exact regret": "--exact-check: regret without simulation.",
    "error": "--exact-check: numerical error of the exact regret.",
    "simulated minus exact": "--exact-check: how far the simulation is off.",
    "z": "--exact-check: the same in standard errors.",
}


@columns(COLUMNS)
@options.takes_problem
def simulate(
    bandit: options.ProblemArgument,
    policy: Policies = None,
    horizon: Annotated[int, number_option("Rounds in a run.", HORIZON)] = HORIZON,
    runs: Annotated[int, number_option("Runs to average over.", RUNS)] = RUNS,
    seed: Annotated[int, number_option("The same seed gives the same result.", SEED)] = SEED,
    delta: options.Delta = None,
    checkpoints: Checkpoints = None,
    delay: Annotated[int, number_option("Delay of rewards, in rounds.", 0)] = 0,
    batch: Annotated[int, number_option("Rewards arrive at the ends of batches of N rounds.", 1)] = 1,
    exact_check: ExactCheck = False,
    optimal: Optimal = False,
    precision: Precision = None,
    max_runs: MaxRuns = None,
    keep: Keep = "runs",
    threads: options.Threads = None,
    engine: options.EngineName = None,
    cluster: options.Cluster = None,
    json: options.Json = False,
    wide: options.Wide = False,
    progress: options.Progress = None,
) -> None:
    """Bayes regret of policies on a problem, by simulation.

    PROBLEM is a TOML or JSON file, or gaussian, bernoulli, linear, poisson, exponential or normal-gamma for a common
    problem; bayesregret simulate bernoulli --help has the options of bernoulli problems only. (Write ./gaussian for a
    file named gaussian.) A problem file has the fields of the model:

    \b
      model = "gaussian"
      prior_mean = [1, 0, 0]
      prior_width = 1.0
      reward_noise = 1.0

    A bernoulli problem has alpha and beta, lists of prior pseudo-counts; a linear problem has features, a list of rows,
    prior_mean, prior_cov or prior_width, and reward_noise; a poisson or exponential problem has the lists shape and
    rate; a normal-gamma problem has prior_mean, prior_pulls, shape and scale.

    \b
    Examples:
      bayesregret simulate gaussian --arms 10 --horizon 1000 --runs 10000 --seed 7
      bayesregret simulate bernoulli --beta 3 --policy bayes-ucb --delta 0.01
      bayesregret simulate linear --dimension 10 --checkpoints 10,100,1000
      bayesregret simulate problem.toml --precision 0.01 --json
      bayesregret simulate bernoulli --policy thompson --delay 10 --batch 50
      bayesregret simulate gaussian --horizon 200 --exact-check
      bayesregret simulate gaussian --runs 1e8 --cluster tcp://host:8786
      bayesregret simulate gaussian --horizon 1e5 --runs 1e8 --engine gpu \\
        --cluster tcp://host:8786
      bayesregret simulate bernoulli --arms 2 --horizon 100 --optimal \\
        --policy gittins --policy greedy
    """
    with bad_input():
        if max_runs is not None and precision is None:
            raise ValueError("--max-runs requires --precision")
        if exact_check and (delay != 0 or batch != 1):
            raise ValueError("--exact-check does not go with --delay or --batch: it assumes immediate rewards")
        place = options.chosen_engine(engine, cluster, threads)
        made = bandit()
        policies = make_policies(policy or default_policies(made), delta)
        # Before the simulation, because either may be unavailable for this problem.
        exact = compute_exact(made, policies, horizon, progress) if exact_check else None
        least = compute_least(made, horizon, progress) if optimal else None
        result = run_simulation(
            made,
            policies,
            horizon=horizon,
            runs=runs,
            seed=seed,
            checkpoints=given_rounds(checkpoints),
            engine=place,
            precision=precision,
            max_runs=max_runs,
            delay=delay,
            batch=batch,
            keep=keep,
            progress=progress,
        )
        ratios = None if least is None else result.over_optimal(least)
    against = None if exact is None else result.against_exact(exact)
    if not json:
        show_result(result, curve=checkpoints is not None, against=against, ratios=ratios, wide=wide)
        return
    data = result.to_dict()
    if against is not None:
        data["exact_check"] = against.to_dict()
    if ratios is not None:
        data["optimal"] = ratios.to_dict()
    show_json(data)


def given_rounds(checkpoints: str | None) -> list[Any] | None:
    """Parse --checkpoints; entries that are not numbers stay text, and later checks refuse them."""
    return None if checkpoints is None else [number(entry) for entry in checkpoints.split(",")]


def compute_exact(
    bandit: Bandit, policies: Mapping[str, Policy], horizon: int, progress: bool | None = None
) -> dict[str, ExactRegret]:
    """Return the exact regret of each policy, with a spinner in a terminal."""
    from bayesregret.exact import exact_regret  # needs SciPy, which help does not

    found = {}
    for name, policy in policies.items():
        with spinning(f"exact regret of {name}", progress):
            found[name] = exact_regret(bandit, policy, horizon=horizon)
    return found


def compute_least(bandit: Bandit, horizon: int, progress: bool | None) -> Least:
    """Return the least regret or a lower bound; raise an error if it is 0, so that ratios to it are undefined."""
    from bayesregret.bounds.least import least_regret

    with spinning("optimal regret", progress):
        least = least_regret(bandit, horizon)
    least.check_has_ratios()
    return least
