"""`bayesregret exact`: Bayes regret of policies on a problem, computed instead of simulated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from bayesregret import checks
from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.help import columns
from bayesregret.cli.options import HORIZON, number_option, option
from bayesregret.cli.policies import Policies, default_policies, make_policies
from bayesregret.cli.show import curve_rows, show_json, show_tables
from bayesregret.cli.simulate import compute_exact, given_rounds
from bayesregret.digits import exact_digits
from bayesregret.simulation.simulate import LARGEST_HORIZON, checkpoint_rounds
from bayesregret.spinner import spinning

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayesregret.exact import ExactRegret

BEST_ARM = "probability of the best arm"  # which a result computes on first access


# NAME stands for the name of a policy.
COLUMNS = {
    "policy": "Name of the policy.",
    "Bayes regret": "Computed, with the digits that its error leaves.",
    "error": "Estimate of the numerical error.",
    "per round": "Bayes regret divided by the number of rounds.",
    "best arm": "--best-arm: percentage of all rounds on the best arm.",
    "best arm at the end": "--best-arm: the same of the last round.",
    "round": "--checkpoints: the round up to which regret counts.",
    "NAME": "--checkpoints: regret of this policy up to the round.",
}


@columns(COLUMNS)
@options.takes_problem
def exact(
    bandit: options.ProblemArgument,
    policy: Policies = None,
    horizon: Annotated[int, number_option("Rounds.", HORIZON)] = HORIZON,
    delta: options.Delta = None,
    checkpoints: Annotated[
        str | None,
        option(help="Rounds at which the table shows the regret so far.", default="none", metavar="N,N,..."),
    ] = None,
    best_arm: Annotated[
        bool,
        option("--best-arm", help="Also compute probabilities of the best arm, to about three digits; much slower."),
    ] = False,
    json: options.Json = False,
    wide: options.Wide = False,
) -> None:
    """Exact Bayes regret of policies, computed instead of simulated.

    PROBLEM is a TOML or JSON file, as bayesregret simulate --help describes it, or gaussian or bernoulli for a common
    problem; bayesregret exact bernoulli --help has the options of bernoulli problems only. A gaussian problem must have
    gaussian noise; linear problems are not supported.

    The regret is an integral over the prior and all rewards. The time grows with the number of rounds and with the
    number of different priors among the arms.

    With one --policy, --json prints its problem, policy, horizon, delta, regret, error, pulls, and curve and
    curve_error after every round; with --best-arm also best_share, the fraction of rounds on the best arm, and
    best_chance, the probability that each round is. With several policies, or none given, it prints problem, horizon
    and policies, which has the rest under each policy's name.

    \b
    Examples:
      bayesregret exact gaussian --arms 10 --prior-gap 1 --horizon 100
      bayesregret exact gaussian --policy ucb1 --horizon 50 --checkpoints 1,10
      bayesregret exact bernoulli --arms 3 --policy ucb1 --horizon 100 --json
    """
    with bad_input():
        if json and checkpoints is not None:
            raise ValueError("--checkpoints does not go with --json, which has the curve after every round")
        made = bandit()
        policies = make_policies(policy or default_policies(made), delta)
        horizon = checks.whole_up_to("horizon", horizon, 1, LARGEST_HORIZON)
        rounds = checkpoint_rounds(given_rounds(checkpoints), horizon)
        found = compute_exact(made, policies, horizon)
    if json:
        show_json(_data(found, best_arm))
        return
    tables = [_regret_rows(found, best_arm)]
    if checkpoints is not None:
        tables.append(
            curve_rows(rounds.tolist(), {name: _curve_cells(result, rounds) for name, result in found.items()})
        )
    show_tables(tables, _summary(found), wide=wide)


@spinning(BEST_ARM)
def _data(found: Mapping[str, ExactRegret], best_arm: bool) -> dict[str, Any]:
    data = {name: result.to_dict(best_arm) for name, result in found.items()}
    if len(data) == 1:
        return next(iter(data.values()))
    shared = {key: next(iter(data.values()))[key] for key in ("problem", "horizon")}
    rest = {name: {key: each[key] for key in each if key not in (*shared, "policy")} for name, each in data.items()}
    return {**shared, "policies": rest}


@spinning(BEST_ARM)
def _regret_rows(found: Mapping[str, ExactRegret], best_arm: bool) -> list[list[str]]:
    tables = [result.table(best_arm) for result in found.values()]
    return [tables[0][0], *(row for _, *rows in tables for row in rows)]


def _curve_cells(result: ExactRegret, rounds: NDArray[np.int64]) -> Iterable[str]:
    return map(exact_digits, result.curve[rounds - 1].tolist(), result.curve_error[rounds - 1].tolist())


def _summary(found: Mapping[str, ExactRegret]) -> str:
    """Return one line if it is the same for all policies, otherwise one line per policy."""
    lines = {name: result.summary() for name, result in found.items()}
    if len(set(lines.values())) == 1:
        return next(iter(lines.values()))
    return "\n".join(f"{name}: {line}" for name, line in lines.items())
