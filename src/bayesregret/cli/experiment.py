"""`bayesregret experiment`: start, run, watch and stop experiments in a store."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesregret.checks import FEW, fail, in_full, parsed_number
from bayesregret.cli import options
from bayesregret.cli.complaints import check_can_be_written
from bayesregret.cli.help import SectionedCommand, SectionedGroup, columns
from bayesregret.cli.options import SEED, ProblemCommand, number_option, option
from bayesregret.cli.policies import complete_policy
from bayesregret.cli.show import show_json, show_tables
from bayesregret.cli.store import STORE, StoreUrl, facts, opened_experiment, opened_store, show_done
from bayesregret.digits import counted
from bayesregret.policies import Policy
from bayesregret.policy_data import policy_from_text

if TYPE_CHECKING:
    from bayesregret.store import Decision

LEVEL = 0.95

app = typer.Typer(cls=SectionedGroup, rich_markup_mode=None, invoke_without_command=True)

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
Arm = Annotated[str, typer.Argument(metavar="ARM", show_default=False)]
DECISION_COLUMNS = {
    "decision": "Its id, to be given back with the reward.",
    "arm": "Number of the arm to use.",
    "name": "Name of the arm.",
}
STATUS_COLUMNS = {
    "arm": "Its name.",
    "pulls": "Rewards that have arrived.",
    "mean": "Posterior mean of its mean reward.",
    "95% interval": "Credible interval; --level chooses another one.",
    "P(best)": "Probability that no arm has a higher mean reward.",
    "pending": "Decisions whose reward may still arrive.",
}
LIST_COLUMNS = {
    "experiment": "Its name.",
    "policy": "The policy that decides.",
    "arms": "Number of arms.",
    "decisions": "Decisions so far.",
    "horizon": "Decisions in all.",
    "state": "running, over or stopped.",
}


@app.callback()
def experiment(context: typer.Context) -> None:
    """Run an experiment: a durable log of decisions and rewards, and what it says.

    A store, an SQLite file or a PostgreSQL database, keeps every decision and reward before it is acknowledged. Many
    processes may use it at the same time, services and these commands among them.

    \b
    Examples:
      bayesregret experiment start checkout problem.toml --policy bayes-ucb \\
        --horizon 5000 --arm-names blue,green,red
      bayesregret experiment decide checkout --key user-17
      bayesregret experiment list
      bayesregret experiment status checkout
      bayesregret experiment export checkout log.csv
      bayesregret experiment stop checkout

    For more about a command: bayesregret experiment start --help.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# --- start and stop --------------------------------------------------------------------------------------------------


@app.command(cls=ProblemCommand)
@options.takes_problem
def start(
    bandit: options.ProblemArgument,
    name: Name,
    policy: Annotated[
        str,
        option(
            help=f"{', '.join(Policy.classes)}, optionally with settings: bayes-ucb:delta=0.43.",
            metavar="NAME",
            autocompletion=complete_policy,
        ),
    ],
    horizon: Annotated[int, number_option("Rounds, for example the number of users.")],
    arm_names: Annotated[
        str | None, option(help="Names of the arms, with commas between them.", metavar="NAME,...")
    ] = None,
    unit: Annotated[str | None, option(help="What a round is, for example visitor.", metavar="WORD")] = None,
    seed: Annotated[int, number_option("Seed of the policy's random choices.", SEED)] = SEED,
    reward_after: Annotated[
        float | None, number_option("Seconds after which a missing reward is given up.", "never")
    ] = None,
    missing: Annotated[
        str, option(help="What a reward that is given up counts as: zero, or lost.", default="zero", metavar="WORD")
    ] = "zero",
    store: StoreUrl = STORE,
    json: options.Json = False,
) -> None:
    """Start an experiment.

    PROBLEM is a TOML or JSON file, as bayesregret prior fit writes it, or gaussian, bernoulli, linear, poisson,
    exponential or normal-gamma for a common problem. NAME is what you call the experiment: letters, digits, dots,
    hyphens and underscores. On a mixture the policy believes in the prior that matches it, as in a plan.

    \b
    Examples:
      bayesregret experiment start checkout problem.toml --policy bayes-ucb \\
        --horizon 5000 --arm-names blue,green,red --unit visitor
      bayesregret experiment start banner bernoulli --arms 3 --policy thompson \\
        --horizon 20000 --reward-after 86400 --store sqlite:///banner.db --json
    """
    from bayesregret.planning.beliefs import with_belief  # needs SciPy, which help does not

    with opened_store(store) as opened:
        made = bandit()
        started = opened.start(
            name,
            made,
            with_belief(policy_from_text(policy), made),
            horizon=horizon,
            arms=None if arm_names is None else _split(arm_names),
            unit=unit,
            seed=seed,
            reward_after=reward_after,
            missing=missing,
        )
        shown = facts(started)
    if json:
        show_json(shown)
        return
    arms = ", ".join(shown["arms"]) if len(shown["arms"]) <= FEW else counted(len(shown["arms"]), "arm")
    show_tables([], f"{name} has begun: {shown['policy']}, {arms}, {counted(horizon, unit or 'round')}, seed {seed}")


@app.command(cls=SectionedCommand)
def stop(name: Name, store: StoreUrl = STORE, json: options.Json = False) -> None:
    """Stop an experiment: it decides no more, and takes late rewards.

    \b
    Examples:
      bayesregret experiment stop checkout
      bayesregret experiment stop banner --store sqlite:///banner.db --json
    """
    with opened_experiment(store, name) as found:
        found.stop()
    show_done({"experiment": name, "stopped": True}, f"{name} is stopped", json)


# --- decisions and rewards -------------------------------------------------------------------------------------------


@app.command(cls=SectionedCommand)
@columns(DECISION_COLUMNS)
def decide(
    name: Name,
    key: Annotated[
        list[str] | None,
        option(help="Of a user, for example: the same key gets the same decision. Repeat for several.", metavar="TEXT"),
    ] = None,
    store: StoreUrl = STORE,
    json: options.Json = False,
    wide: options.Wide = False,
) -> None:
    """Decide which arm to use now. The decision is on the disk before it is printed.

    \b
    Examples:
      bayesregret experiment decide checkout
      bayesregret experiment decide checkout --key user-17 --json
    """
    with opened_experiment(store, name) as found:
        made = found.decide_many(key or 1)
    if json:
        show_json({"decisions": [_decision(each) for each in made]})
        return
    rows = [[each.id, str(each.arm), each.name] for each in made]
    show_tables(
        [[list(DECISION_COLUMNS), *rows]], f"{counted(len(rows), 'decision')} of {name}", text=["name"], wide=wide
    )


# A reward may be negative, and must not be taken for an option.
@app.command(cls=SectionedCommand, context_settings={"ignore_unknown_options": True})
def reward(
    name: Name,
    decision: Annotated[str, typer.Argument(metavar="DECISION", show_default=False)],
    value: Annotated[str, typer.Argument(metavar="REWARD", show_default=False)],
    store: StoreUrl = STORE,
    json: options.Json = False,
) -> None:
    """Give the reward of a decision: once or several times is the same.

    DECISION is what bayesregret experiment decide printed, and REWARD a number. Another reward than before is refused.

    \b
    Examples:
      bayesregret experiment reward checkout 1-5f0c9f3e 1
      bayesregret experiment reward checkout 1-5f0c9f3e 1 --json
    """
    given: Any = parsed_number(value)
    with opened_experiment(store, name) as found:
        found.reward(decision, given)
    show_done({"decision": decision, "reward": given}, f"{decision} has the reward {in_full(given)}", json)


# --- arms ------------------------------------------------------------------------------------------------------------


@app.command(cls=SectionedCommand)
def pause(name: Name, arm: Arm, store: StoreUrl = STORE, json: options.Json = False) -> None:
    """Pause an arm: no decision uses it until it is resumed.

    ARM is its name or its number.

    \b
    Examples:
      bayesregret experiment pause checkout blue
      bayesregret experiment pause checkout 0 --json
    """
    with opened_experiment(store, name) as found:
        found.pause(_arm(arm))
    show_done({"experiment": name, "arm": arm, "paused": True}, f"{arm} is paused", json)


@app.command(cls=SectionedCommand)
def resume(name: Name, arm: Arm, store: StoreUrl = STORE, json: options.Json = False) -> None:
    """Resume an arm that is paused.

    ARM is its name or its number.

    \b
    Examples:
      bayesregret experiment resume checkout blue
      bayesregret experiment resume checkout 0 --json
    """
    with opened_experiment(store, name) as found:
        found.resume(_arm(arm))
    show_done({"experiment": name, "arm": arm, "paused": False}, f"{arm} goes on", json)


@app.command(cls=SectionedCommand)
def add(
    name: Name,
    arm: Arm,
    prior: Annotated[
        str,
        option(help="Its prior as FIELD=N pairs with commas between them: alpha=1,beta=30.", metavar="FIELD=N,..."),
    ],
    store: StoreUrl = STORE,
    json: options.Json = False,
) -> None:
    """Add an arm with a prior of its own, whose fields are those of the problem for one arm.

    ARM is the name of the new arm.

    \b
    Examples:
      bayesregret experiment add checkout white --prior alpha=1,beta=30
      bayesregret experiment add checkout white --prior alpha=1,beta=30 --json
    """
    with opened_experiment(store, name) as found:
        found.add_arm(arm, _fields(prior))
    show_done({"experiment": name, "arm": arm, "added": True}, f"{name} has the arm {arm}", json)


# --- what is known ---------------------------------------------------------------------------------------------------


@app.command("list", cls=SectionedCommand)
@columns(LIST_COLUMNS)
def list_experiments(store: StoreUrl = STORE, json: options.Json = False, wide: options.Wide = False) -> None:
    """List the experiments of a store.

    \b
    Examples:
      bayesregret experiment list
      bayesregret experiment list --store sqlite:///banner.db --json
    """
    with opened_store(store) as opened:
        found = [facts(opened.experiment(name)) for name in opened.names()]
    if json:
        show_json({"experiments": found})
        return
    rows = [[each["name"], each["policy"], *_sizes(each), each["state"]] for each in found]
    summary = counted(len(rows), "experiment")
    show_tables([[list(LIST_COLUMNS), *rows]], summary, text=["policy", "state"], least=["arms"], wide=wide)


@app.command(cls=SectionedCommand)
@columns(STATUS_COLUMNS)
def status(
    name: Name,
    exact: Annotated[
        bool,
        option("--exact/--no-exact", help="Find the regret to come, too, which takes seconds.", default="exact"),
    ] = True,
    level: Annotated[float, number_option("Probability of the credible intervals.", LEVEL)] = LEVEL,
    store: StoreUrl = STORE,
    json: options.Json = False,
    wide: options.Wide = False,
) -> None:
    """What an experiment has learned, what it has cost, what it may still cost, and what to do.

    \b
    Examples:
      bayesregret experiment status checkout
      bayesregret experiment status checkout --no-exact --json
    """
    with opened_experiment(store, name) as found:
        known = found.status(exact=exact, level=level)
    if json:
        show_json(known.to_dict())
        return
    show_tables([], f"{known.title()}\n\n", wide=wide)
    show_tables([known.table()], known.summary().removeprefix("\n"), wide=wide)


@app.command(cls=SectionedCommand)
def export(
    name: Name,
    path: Annotated[str, typer.Argument(metavar="TARGET", show_default=False)],
    store: StoreUrl = STORE,
    json: options.Json = False,
) -> None:
    """Write the log of an experiment: CSV, JSON lines or Parquet, by the ending of TARGET.

    One row for each event, .csv, .jsonl or .parquet. An existing TARGET is replaced when the new file is complete.

    \b
    Examples:
      bayesregret experiment export checkout log.csv
      bayesregret experiment export checkout log.parquet
      bayesregret experiment export checkout log.jsonl --json
    """
    with opened_experiment(store, name) as found:
        check_can_be_written("TARGET", path)
        found.export(path)
    show_done({"experiment": name, "target": path}, f"the log of {name} is written to {path}", json)


@app.command(cls=SectionedCommand)
def replay(name: Name, store: StoreUrl = STORE, json: options.Json = False) -> None:
    """Check an experiment: play its whole log again, and compare.

    Every decision must be the one that the policy makes, and the state at the end that of the store, bit for bit.

    \b
    Examples:
      bayesregret experiment replay checkout
      bayesregret experiment replay checkout --json
    """
    with opened_experiment(store, name) as found:
        agent = found.replay()
    facts = {"experiment": name, "rewards": int(agent.pulls.sum())}
    show_done(facts, f"{name} is sound: a replay of its log gives the same state, {agent!r}", json)


# --- helpers ---------------------------------------------------------------------------------------------------------


def _sizes(shown: dict[str, Any]) -> list[str]:
    return [f"{number:,}" for number in (len(shown["arms"]), shown["decisions"], shown["horizon"])]


def _decision(made: Decision) -> dict[str, Any]:
    return {"decision": made.id, "arm": made.arm, "name": made.name}


def _arm(text: str) -> int | str:
    """An arm by its name or its number."""
    return int(text) if text.isdecimal() and len(text) < 10 else text


def _split(text: str) -> Sequence[str]:
    """Texts with commas between them, quoted like the cells of a CSV file."""
    return next(csv.reader([text], skipinitialspace=True), [])


def _fields(text: str) -> dict[str, Any]:
    pairs = [pair.partition("=") for pair in _split(text)]
    if not all(field and equals for field, equals, _ in pairs):
        raise fail("prior", "FIELD=N pairs with commas between them, such as alpha=1,beta=30", text)
    return {field.strip(): parsed_number(value.strip()) for field, _, value in pairs}
