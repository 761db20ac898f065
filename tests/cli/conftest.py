"""The command line inside this process, with what it printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from bayesregret.cli import run

SMALL = ["--horizon", "50", "--runs", "20"]


class Outcome(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        assert self.out.endswith("}\n")
        assert self.out.count("\n") == 1
        return json.loads(self.out, parse_constant=refuse)


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not strict JSON")


@pytest.fixture
def bayesregret(capsys, tmp_path, monkeypatch) -> Callable[..., Outcome]:
    """Run a command line, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Outcome:
        status = run(list(arguments))
        printed = capsys.readouterr()
        return Outcome(status, printed.out, printed.err)

    return call


@pytest.fixture
def simulate(bayesregret) -> Callable[..., Outcome]:
    """`bayesregret simulate` of a small size."""
    return lambda *arguments: bayesregret("simulate", *SMALL, *arguments)
