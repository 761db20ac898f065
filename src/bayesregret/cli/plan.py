"""`bayesregret plan`: expected regret of ways to run an experiment, before there are data."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Annotated

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input, check_can_be_written
from bayesregret.cli.help import columns
from bayesregret.cli.options import EFFORT, HORIZON, OUTPUT, SEED, number_option, option
from bayesregret.cli.policies import complete_policy, make_policies
from bayesregret.cli.show import show_json, show_tables
from bayesregret.extras import require
from bayesregret.policies import Policy
from bayesregret.writing import write_atomically

TARGETS = "Targets"
# Columns that a narrow terminal does without, after the last one: the first one first.
LEAST = ("best arm at the end", "per round", "certified")

Compared = Annotated[
    list[str] | None,
    option(
        help=f"{', '.join(Policy.classes)}; repeat for several, optionally with settings. The best A/B test is "
        "always included, and so is bayes-ucb with its best delta if bayes-ucb is.",
        default="those of bayes-ucb, thompson, kl-ucb, moss, ucb1 and gittins that support the problem",
        metavar="NAME",
        autocompletion=complete_policy,
    ),
]
RegretPerRound = Annotated[
    float | None,
    number_option("Report the horizon from which regret per round stays below N.", section=TARGETS),
]
Budget = Annotated[
    float | None,
    number_option("Report how many arms and how wide a prior a regret of N allows.", section=TARGETS),
]
Epsilon = Annotated[
    float | None,
    number_option(
        "From which round on is a policy, 95% sure, on an arm within N of the best?",
        "a tenth of what choosing is worth",
    ),
]
Control = Annotated[float | None, number_option("Known mean reward of what is done today, to compare with keeping it.")]
ControlArm = Annotated[
    int | None, number_option("The same if what is done today is arm N of the problem, counted from 0.")
]
Runs = Annotated[
    int | None,
    number_option("Runs of each policy and each point of a sweep.", "what takes seconds for each policy", EFFORT),
]
Page = Annotated[
    str | None, option("--output", help="Also write a report as an HTML page.", section=OUTPUT, metavar="FILE.html")
]
ArmNames = Annotated[
    str | None,
    option(help="Names of the agent's arms, with commas between them.", section=OUTPUT, metavar="NAME,..."),
]
AgentFile = Annotated[
    str | None,
    option(help="Also write an agent that runs the recommended policy.", section=OUTPUT, metavar="FILE.json"),
]

# Of the table of policies; N stands for the value of --epsilon.
COLUMNS = {
    "policy": "Its name, least regret first; A/B test: the best one.",
    "Bayes regret": "Expected regret, ± one standard error.",
    "5%": "Five percent of experiments have less regret.",
    "50%": "Half of the experiments have less regret.",
    "95%": "All but five percent have less regret.",
    "certified": "The best proved bound; left out if no policy has one.",
    "per round": "Bayes regret divided by the number of rounds.",
    "best arm at the end": "Probability that the last round is on the best arm.",
    "within N from round": "From here on, 95% sure, on an arm within N of the best.",
    "times the least": "Bayes regret over the optimal one, or an upper limit.",
}


@columns(COLUMNS)
@options.takes_problem
def plan(
    bandit: options.ProblemArgument,
    policy: Compared = None,
    horizon: Annotated[int, number_option("Rounds, for example the number of users.", HORIZON)] = HORIZON,
    seed: Annotated[int, number_option("The same seed gives the same result.", SEED)] = SEED,
    regret_per_round: RegretPerRound = None,
    budget: Budget = None,
    delay: Annotated[int, number_option("Rounds that rewards arrive late.", 0)] = 0,
    batch: Annotated[int, number_option("Rewards arrive at ends of batches of N rounds, such as days.", 1)] = 1,
    epsilon: Epsilon = None,
    unit: Annotated[str | None, option(help="What rewards count, for example conversions.", metavar="WORD")] = None,
    minimise: Annotated[bool, option("--minimise", "--minimize", help="Rewards are costs: less is better.")] = False,
    control: Control = None,
    control_arm: ControlArm = None,
    runs: Runs = None,
    threads: options.Threads = None,
    engine: options.EngineName = None,
    cluster: options.Cluster = None,
    output: Page = None,
    agent: AgentFile = None,
    arm_names: ArmNames = None,
    json: options.Json = False,
    wide: options.Wide = False,
    progress: options.Progress = None,
) -> None:
    """Expected regret of each way to run an experiment.

    PROBLEM is a TOML or JSON file, as bayesregret prior fit writes it and bayesregret simulate --help describes it, or
    gaussian, bernoulli, linear, poisson, exponential or normal-gamma for a common problem; bayesregret plan bernoulli
    --help has the options of bernoulli problems only.

    The table compares policies and the best A/B test with an equal split. Below it, for the recommended policy:
    expected reward, the value of the prior and how wrong it may be, what would change the recommendation, and how to
    run it.

    \b
    Examples:
      bayesregret plan problem.toml --horizon 5000 --output plan.html
      bayesregret plan problem.toml --horizon 5000 --batch 100 --control 0.12 \\
        --agent agent.json
      bayesregret plan bernoulli --arms 10 --horizon 50000
      bayesregret plan gaussian --horizon 500 --policy bayes-ucb \\
        --regret-per-round 0.1 --budget 40 --json
    """
    from bayesregret.planning import plan as make_plan  # needs SciPy, which help does not

    with bad_input():
        if output is not None:
            require("report", "--output")
            _check_page(output)
        if agent is not None:
            _check_agent(agent)
        place = options.chosen_engine(engine, cluster, threads)
        made = bandit()
        names = None if arm_names is None else _parse_names(arm_names, agent, made.arms)
        found = make_plan(
            made,
            None if not policy else make_policies(policy, None),
            horizon=horizon,
            regret_per_round=regret_per_round,
            budget=budget,
            delay=delay,
            batch=batch,
            epsilon=epsilon,
            unit=unit,
            minimise=minimise,
            control=control,
            control_arm=control_arm,
            runs=runs,
            seed=seed,
            engine=place,
            progress=progress,
        )
    written = []
    if output is not None:
        found.to_html(output)
        written.append(f"{output} written")
    if agent is not None:
        write_atomically(agent, found.agent(arms=names).to_json() + "\n")
        written.append(f"{agent} written")
    if json:
        show_json(found.to_dict())
    else:
        code = found.snippet(problem=bandit.file, agent=agent)
        summary = "\n".join([found.summary(), *written])
        headings, *rows = found.table()
        least = (headings[-1], *LEAST)
        show_tables([[headings, *rows]], summary, least=least, code=f"\nTo run it:\n\n{code}", wide=wide)


def _check_page(output: str) -> None:
    """Check the file name before the simulation."""
    if not output.endswith((".html", ".htm")):
        raise ValueError(f"--output must be the name of an .html file, got {output}")
    check_can_be_written("--output", output)


def _check_agent(agent: str) -> None:
    if not agent.endswith(".json"):
        raise ValueError(f"--agent must be the name of a .json file, got {agent}")
    check_can_be_written("--agent", agent)


def _parse_names(text: str, agent: str | None, arms: int) -> Sequence[str]:
    """Names of arms, quoted like the cells of a CSV file, checked before the simulation."""
    if agent is None:
        raise ValueError("--arm-names requires --agent")
    from bayesregret.agent.names import checked_names  # needs NumPy, which help does not

    return checked_names(next(csv.reader([text], skipinitialspace=True), []), arms, "arm_names")
