"""`bayesregret simulate`: Bayes regret of policies on a problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.options import EFFORT, HORIZON, RUNS, SEED, number, number_option, option
from bayesregret.cli.policies import Policies, default_policies, make_policies
from bayesregret.cli.show import at_work, show_json, show_result
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.simulation.simulate import simulate as run_simulation

if TYPE_CHECKING:
    from bayesregret.exact import ExactRegret
    from bayesregret.optimal import OptimalRegret


@options.takes_problem
def simulate(
    bandit: options.MakeProblem,
    policy: Policies = None,
    horizon: Annotated[int, number_option("Rounds in a run.", HORIZON)] = HORIZON,
    runs: Annotated[int, number_option("Runs to average over.", RUNS)] = RUNS,
    seed: Annotated[int, number_option("Same seed, same result.", SEED)] = SEED,
    delta: options.Delta = None,
    checkpoints: Annotated[
        str | None,
        option(
            help="Rounds at which to tell the regret so far.",
            default="with --json about 100 rounds, otherwise none",
            metavar="N,N,...",
        ),
    ] = None,
    delay: Annotated[int, number_option("Rounds that rewards come late.", 0)] = 0,
    batch: Annotated[int, number_option("Rewards come at ends of batches of so many rounds.", 1)] = 1,
    exact_check: Annotated[
        bool,
        option(
            "--exact-check",
            help="Compute the exact regret, too, and tell how many standard errors the simulation is off"
            " (gaussian, bernoulli).",
        ),
    ] = False,
    optimal: Annotated[
        bool,
        option(
            "--optimal",
            help="Compute the least regret that any policy can have, too, and tell every policy's regret over it"
            " (bernoulli, two or three arms).",
        ),
    ] = False,
    precision: Annotated[
        float | None,
        number_option("Add runs until every standard error is at most this share of its regret.", section=EFFORT),
    ] = None,
    max_runs: Annotated[
        int | None, number_option("Runs at which --precision gives up.", "100 times --runs", EFFORT)
    ] = None,
    threads: options.Threads = None,
    json: options.Json = False,
    progress: options.Progress = None,
) -> None:
    """Bayes regret of policies on a problem, by simulation.

    PROBLEM is a TOML or JSON file, or one of the words gaussian, bernoulli, linear, poisson, exponential and
    normal-gamma for a common problem, which the options below set. (A file of such a name is ./gaussian.) A problem
    file has the fields of the model:

    \b
      model = "gaussian"
      prior_mean = [1, 0, 0]
      prior_width = 1.0
      reward_noise = 1.0

    A bernoulli problem has alpha and beta, lists of pseudo-counts; a linear one has features, a list of rows, with
    prior_mean, prior_cov or prior_width, and reward_noise; a poisson or exponential one has shape and rate, lists; a
    normal-gamma one has prior_mean, prior_pulls, shape and scale.

    \b
    Examples:
      bayesregret simulate gaussian --arms 10 --prior-gap 1 --horizon 1000 --runs 10000 --seed 7
      bayesregret simulate bernoulli --alpha 1 --beta 3 --policy bayes-ucb --delta 0.01
      bayesregret simulate linear --arms 30 --dimension 10 --checkpoints 10,100,1000
      bayesregret simulate problem.toml --precision 0.01 --json
      bayesregret simulate bernoulli --policy thompson --delay 10 --batch 50
      bayesregret simulate gaussian --horizon 200 --exact-check
      bayesregret simulate bernoulli --arms 2 --horizon 100 --policy gittins --policy greedy --optimal
    """
    with bad_input():
        if max_runs is not None and precision is None:
            raise ValueError("--max-runs goes with --precision only")
        if exact_check and (delay != 0 or batch != 1):
            raise ValueError("--exact-check does not go with --delay or --batch: exact regret is of rewards in time")
        made = bandit()
        policies = make_policies(policy or default_policies(made), delta)
        # What has no exact regret is told before the simulation runs.
        exact = compute_exact(made, policies, horizon, progress) if exact_check else None
        least = compute_optimal(made, horizon, progress) if optimal else None
        result = run_simulation(
            made,
            policies,
            horizon=horizon,
            runs=runs,
            seed=seed,
            checkpoints=given_rounds(checkpoints),
            threads=threads,
            precision=precision,
            max_runs=max_runs,
            delay=delay,
            batch=batch,
            progress=progress,
        )
        ratios = None if least is None else result.over_optimal(least)
    against = None if exact is None else result.against_exact(exact)
    if not json:
        show_result(result, curve=checkpoints is not None, against=against, least=least, ratios=ratios)
        return
    data = result.to_dict()
    if against is not None:
        data["exact_check"] = against.to_dict()
    if least is not None and ratios is not None:
        over = {name: {"ratio": ratio.mean, "stderr": ratio.stderr} for name, ratio in ratios.items()}
        data["optimal"] = {"regret": least.regret, "error": least.error, "over": over}
    show_json(data)


def given_rounds(checkpoints: str | None) -> list[Any] | None:
    """The rounds in --checkpoints, for the checks to refuse."""
    return None if checkpoints is None else [number(entry) for entry in checkpoints.split(",")]


def compute_exact(
    bandit: Bandit, policies: Mapping[str, Policy], horizon: int, progress: bool | None = None
) -> dict[str, ExactRegret]:
    """The exact regret of every policy; a terminal sees that there is something going on."""
    from bayesregret.exact import exact_regret  # needs SciPy, which help does not

    found = {}
    for name, policy in policies.items():
        with at_work(f"exact regret of {name}", progress):
            found[name] = exact_regret(bandit, policy, horizon=horizon)
    return found


def compute_optimal(bandit: Bandit, horizon: int, progress: bool | None) -> OptimalRegret:
    from bayesregret.optimal import bayes_optimal_regret

    with at_work("the least regret that any policy can have", progress):
        least = bayes_optimal_regret(bandit, horizon)
    least.check_positive()  # before the simulation runs
    return least
