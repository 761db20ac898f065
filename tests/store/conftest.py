"""Stores for tests: an SQLite file, and a PostgreSQL server where its binaries are installed."""

import itertools

import pytest

import bayesregret as br
import postgres

NUMBERS = itertools.count()


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(scope="session")
def server():
    if postgres.binaries() is None:
        pytest.skip("the binaries of PostgreSQL are not installed")
    with postgres.running_server() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/runs.db"
    return request.getfixturevalue("server").new_database(f"runs_{next(NUMBERS)}")


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path}/runs.db"


@pytest.fixture
def store(url, clock):
    with br.experiments(url, clock=clock) as opened:
        yield opened


@pytest.fixture
def sqlite(sqlite_url, clock):
    with br.experiments(sqlite_url, clock=clock) as opened:
        yield opened


@pytest.fixture
def two_arms():
    return br.BernoulliBandit(alpha=[1, 1], beta=[1, 1])
