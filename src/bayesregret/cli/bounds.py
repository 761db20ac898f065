"""`bayesregret bounds`: all bounds on the Bayes regret of a problem."""

from __future__ import annotations

from typing import Annotated

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.help import columns
from bayesregret.cli.options import HORIZON, RUNS, SEED, number_option, option
from bayesregret.cli.policies import DEFAULT_POLICIES, make_policies
from bayesregret.cli.show import show_json, show_tables
from bayesregret.policies import Thompson
from bayesregret.simulation.simulate import simulate as run_simulation

COMPARISON = "Comparison"
# Columns that a narrow terminal does without, the first one first.
LEAST = ("remainder", "leading", "error", "form", "source", "times regret", "policy")
KEPT = ("value",)


COLUMNS = {
    "bound": "Name of the bound, as in --json and in Python.",
    "form": "paper: as printed; certified: repaired and proved.",
    "source": "The statement that it is or that it comes from.",
    "policy": "The policy whose regret it bounds; any for all.",
    "value": "The bound: leading and remainder together.",
    "leading": "Its leading term.",
    "remainder": "Its other terms.",
    "error": "Estimated numerical error; certified values include it.",
    "times regret": "--against: upper bound over regret (any: largest).",
    "applies": "Whether its assumptions hold here; (1): see the note.",
}


@columns(COLUMNS)
@options.takes_problem
def bounds(
    bandit: options.ProblemArgument,
    horizon: Annotated[int, number_option("Rounds.", HORIZON)] = HORIZON,
    delta: options.Delta = None,
    epsilon: options.Epsilon = None,
    against: Annotated[
        bool,
        option("--against", help="Also simulate, and show the ratio of each bound to the regret.", section=COMPARISON),
    ] = False,
    runs: Annotated[int | None, number_option("--against: runs to average over.", RUNS, COMPARISON)] = None,
    seed: Annotated[
        int | None, number_option("--against: the same seed gives the same result.", SEED, COMPARISON)
    ] = None,
    json: options.Json = False,
    wide: options.Wide = False,
) -> None:
    """All bounds on the Bayes regret of a problem, sorted.

    PROBLEM is a TOML or JSON file, as bayesregret simulate --help describes it, or gaussian, bernoulli, linear,
    poisson, exponential or normal-gamma for a common problem; bayesregret bounds bernoulli --help has the options of
    bernoulli problems only. For the last three models only the trivial bound and the lower bound for all policies are
    proved.

    Values are integrals over the prior and not simulated.

    \b
    Examples:
      bayesregret bounds gaussian --prior-width 0.5
      bayesregret bounds problem.toml --horizon 1000 --against
      bayesregret bounds bernoulli --arms 3 --delta 0.01 --json
    """
    from bayesregret.bounds.table import WORDS, table  # needs SciPy, which help does not

    with bad_input():
        for name, value in (("--runs", runs), ("--seed", seed)):
            if value is not None and not against:
                raise ValueError(f"{name} requires --against")
        made = bandit()
        found = table(made, horizon=horizon, delta=delta, epsilon=epsilon)  # reports bad input before the simulation
        if against:
            simulation = run_simulation(
                made,
                make_policies(DEFAULT_POLICIES, delta) | {Thompson.name: Thompson()},  # all that bounds are about
                horizon=horizon,
                runs=RUNS if runs is None else runs,
                seed=SEED if seed is None else seed,
            )
            found = table(made, horizon=horizon, delta=delta, epsilon=epsilon, against=simulation)
    if json:
        show_json(found.to_dict())
    else:
        show_tables([found.table()], found.summary(), text=WORDS, least=LEAST, kept=KEPT, wide=wide)
