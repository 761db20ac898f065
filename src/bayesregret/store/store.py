"""A store of experiments: one database, an SQLite file or one of PostgreSQL."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Self

from sqlalchemy import insert, select
from sqlalchemy.engine import Row

from bayesregret import checks
from bayesregret.models.bandit import BanditLike
from bayesregret.policy_data import PolicyOrName
from bayesregret.store.database import Database
from bayesregret.store.errors import ConflictError, StoreError, UnknownError
from bayesregret.store.experiment import Experiment
from bayesregret.store.live import Live
from bayesregret.store.setup import checked_name, checked_setup
from bayesregret.store.tables import experiments as table

Clock = Callable[[], float]


class ExperimentStore:
    """Experiments in one database; `experiments(url)` opens it.

    Several threads may share a store, and several processes may each open one on the same database. A store belongs to
    the process that opened it: open it after a fork, not before.

    Parameters
    ----------
    url : str
        Of the database.
    clock : callable
        Returns the time in seconds since 1970 (UTC).

    Attributes
    ----------
    name : str
        The URL of the database, without a password.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with experiments(f"sqlite:///{folder.name}/runs.db") as store:
    ...     bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    ...     _ = store.start("checkout", bandit, Thompson(), horizon=1000, seed=7)
    ...     store.names()
    ['checkout']
    >>> folder.cleanup()
    """

    def __init__(self, url: str, clock: Clock = time.time) -> None:
        self._database = Database(url)
        self.name = self._database.name
        self._clock = clock
        self._opened: dict[str, Experiment] = {}
        self._lock = threading.Lock()

    @property
    def database(self) -> Database:
        """The database, for what else is kept in it."""
        return self._database

    def start(
        self,
        name: str,
        bandit: BanditLike,
        policy: PolicyOrName,
        *,
        horizon: int,
        arms: Sequence[str] | None = None,
        unit: str | None = None,
        seed: int = 0,
        reward_after: float | timedelta | None = None,
        missing: str = "zero",
    ) -> Experiment:
        """Start an experiment; its name must be new in this store.

        Parameters
        ----------
        name : str
            Letters, digits, dots, hyphens and underscores.
        bandit : Bandit, FittedPrior or Agent
            The prior and the reward distribution.
        policy : Policy or str
            The policy, or its name.
        horizon : int
            Number of rounds.
        arms : sequence of str, optional
            Names of the arms, by default arm-0, arm-1 and so on.
        unit : str, optional
            What a round is, such as "visitor".
        seed : int
            Seed of the policy's random choices.
        reward_after : float or timedelta, optional
            Seconds after which a missing reward is given up; by default never.
        missing : str
            What a reward that is given up counts as: "zero", or "lost", as if the decision had not been made.
        """
        name = checked_name(name)
        setup = checked_setup(
            bandit, policy, horizon=horizon, seed=seed, arms=arms, unit=unit, reward_after=reward_after, missing=missing
        )
        text = setup.to_text()
        setup.policy.start(setup.problem, horizon=setup.horizon, seed=setup.seed, arms=setup.arms)  # it must run on it
        row = {"name": name, "uuid": uuid.uuid4().hex, "created": self._clock(), "setup": text}
        try:
            with self._database.write() as connection:
                connection.execute(insert(table), [row])
        except StoreError:
            if name in self.names():  # the database lets none be there twice
                raise ConflictError(f"name must be new in this store, got {name!r}") from None
            raise
        return self.experiment(name)

    def experiment(self, name: str) -> Experiment:
        """Return an experiment of this store; UnknownError if there is none of this name.

        Parameters
        ----------
        name : str
            Name of the experiment.
        """
        checked_name(name)
        with self._lock:
            if name not in self._opened:
                self._opened[name] = self._open(name)
            return self._opened[name]

    def names(self) -> list[str]:
        """Return the names of all experiments, in the order in which they were started."""
        with self._database.read() as connection:
            return list(connection.execute(select(table.c.name).order_by(table.c.id)).scalars())

    def close(self) -> None:
        """Save the states of the experiments, and close the database."""
        with self._lock:
            for experiment in self._opened.values():
                experiment._live.close()
            self._opened.clear()
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<store of experiments {self.name}>"

    def _open(self, name: str) -> Experiment:
        with self._database.read() as connection:
            row: Row[Any] | None = connection.execute(select(table).where(table.c.name == name)).first()
        if row is None:
            raise UnknownError(f"there is no experiment {name!r}{checks.suggestion(name, self.names())}")
        try:
            return Experiment(Live(self._database, row.id, row.name, row.uuid, row.setup, self._clock))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self.name}: the experiment {name} cannot be read: {error}") from error


def experiments(url: str = "sqlite:///experiments.db", *, clock: Clock = time.time) -> ExperimentStore:
    """Open a store of experiments; make it if there is none.

    Parameters
    ----------
    url : str
        Of the database: ``sqlite:///experiments.db`` is a file in this folder, ``postgresql://user@host/database`` one
        of a PostgreSQL server.
    clock : callable
        Returns the time in seconds since 1970 (UTC).

    Returns
    -------
    ExperimentStore

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with experiments(f"sqlite:///{folder.name}/runs.db") as store:
    ...     store.names()
    []
    >>> folder.cleanup()
    """
    return ExperimentStore(url, clock)
