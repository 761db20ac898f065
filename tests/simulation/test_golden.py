"""Simulations keep their bits: the golden file holds what every policy did on every model before.

They run in plain Python, without waiting for the compiler. That compiled code gives the same bits is tested for every
kernel in test_engine.py, kernels/test_delayed.py, kernels/test_linear_every_round.py and
kernels/test_conjugate_decisions.py.
"""

import json

import pytest

from golden import simulations

GOLDEN = json.loads(simulations.FILE.read_text())


@pytest.mark.compiled
def test_every_policy_that_runs_on_a_model_is_in_the_file():
    cases = {name: list(case) for name, case in simulations.cases().items()}
    assert cases == {name: golden["case"] for name, golden in GOLDEN.items()}
    assert len(GOLDEN) >= 60
    assert {policy for _, policy, _ in cases.values()} == simulations.POLICIES.keys()


@pytest.mark.parametrize("name", GOLDEN)
def test_bits(name):
    golden = GOLDEN[name]
    now = simulations.simulated(*golden["case"])
    assert now["pulls"] == golden["pulls"]
    assert now["regret"] == pytest.approx(golden["regret"], rel=1e-12)
    assert now["bits"] == golden["bits"], "the same pulls and regrets, but for rounding: is this another C library?"
