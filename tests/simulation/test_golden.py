"""Simulations keep their bits: the golden file holds what every policy did on every model before.

Plain Python gives the same bits as compiled code, and saves minutes of compilation; only what takes long in plain
Python runs compiled.
"""

import json

import pytest

from golden import simulations

GOLDEN = json.loads(simulations.FILE.read_text())
SLOW_IN_PLAIN_PYTHON = {"bayes-optimal", "gittins", "information-directed"}


@pytest.mark.compiled
def test_every_policy_that_runs_on_a_model_is_in_the_file():
    cases = {name: list(case) for name, case in simulations.cases().items()}
    assert cases == {name: golden["case"] for name, golden in GOLDEN.items()}
    assert len(GOLDEN) >= 60
    assert {policy for _, policy, _ in cases.values()} == simulations.POLICIES.keys()


def golden_cases():
    for name, golden in GOLDEN.items():
        marks = pytest.mark.compiled if golden["case"][1] in SLOW_IN_PLAIN_PYTHON else ()
        yield pytest.param(golden, id=name, marks=marks)


@pytest.mark.parametrize("golden", list(golden_cases()))
def test_bits(golden):
    now = simulations.simulated(*golden["case"])
    assert now["pulls"] == golden["pulls"]
    assert now["regret"] == pytest.approx(golden["regret"], rel=1e-12)
    assert now["bits"] == golden["bits"], "the same pulls and regrets, but for rounding: is this another C library?"
