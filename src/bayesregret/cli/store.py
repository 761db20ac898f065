"""Options of commands that use a store of experiments, and what they print of an experiment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from bayesregret.cli.complaints import bad_input
from bayesregret.cli.options import option
from bayesregret.cli.show import show_json, show_tables
from bayesregret.extras import require
from bayesregret.policy_data import with_settings

if TYPE_CHECKING:
    from bayesregret.store import Experiment, ExperimentStore

STORE = "sqlite:///experiments.db"

StoreUrl = Annotated[
    str, option("--store", help="URL of the store, of SQLite or PostgreSQL.", default=STORE, metavar="URL")
]


@contextmanager
def opened_store(store: str) -> Iterator[ExperimentStore]:
    """Open a store; whatever is wrong is one line."""
    with bad_input():
        require("store", "bayesregret experiment")
        from bayesregret.store import experiments  # needs SQLAlchemy, which help does not

        with experiments(store) as opened:
            yield opened


@contextmanager
def opened_experiment(store: str, name: str) -> Iterator[Experiment]:
    with opened_store(store) as opened:
        yield opened.experiment(name)


def facts(found: Experiment) -> dict[str, Any]:
    """What an experiment is, in brief."""
    at = found.progress()
    state = "stopped" if at.stopped else "over" if at.left == 0 else "running"
    return {
        "name": found.name,
        "policy": with_settings(found.policy),
        "arms": list(at.arms),
        "decisions": at.done,
        "horizon": at.horizon,
        "unit": at.unit,
        "seed": found.seed,
        "state": state,
    }


def show_done(facts: dict[str, Any], line: str, json: bool) -> None:
    if json:
        show_json(facts)
    else:
        show_tables([], line)
