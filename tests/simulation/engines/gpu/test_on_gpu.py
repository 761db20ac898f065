"""On a GPU every simulation has the bits of the processor; `make test-gpu` runs these tests."""

import json

import numpy as np
import pytest

import bayesregret as br
from golden import simulations

pytestmark = pytest.mark.gpu
GOLDEN = json.loads(simulations.FILE.read_text())
# Their formulas call SciPy, or make arrays as they go.
IMPOSSIBLE = (
    *(f"quantile-ucb on {model}" for model in ("bernoulli", "poisson", "exponential", "normal-gamma")),
    *(f"bayes-ucb on {model}" for model in ("poisson", "exponential", "normal-gamma")),
    *(f"information-directed on {model}" for model in ("gaussian", "bernoulli")),
)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_simulations_keep_their_bits(name):
    golden = GOLDEN[name]
    if name.startswith(IMPOSSIBLE):
        with pytest.raises(ValueError, match=r"^engine gpu cannot play"):
            simulations.simulated(*golden["case"], engine="gpu")
    else:
        now = simulations.simulated(*golden["case"], engine="gpu")
        assert now == {key: golden[key] for key in now}


@pytest.mark.parametrize("bandit", [br.GaussianBandit([1.0] + [0.0] * 9, 1, 1), br.BernoulliBandit([1] * 10, [1] * 10)])
def test_many_runs_in_several_chunks(bandit, monkeypatch):
    monkeypatch.setattr("bayesregret.simulation.engines.gpu.job.CHUNK_ROUNDS", 2**22)
    asked = {"horizon": 300, "runs": 100_003, "seed": 5, "progress": False}
    here, there = br.simulate(bandit, "bayes-ucb", **asked), br.simulate(bandit, "bayes-ucb", engine="gpu", **asked)
    first, second = here["bayes-ucb"], there["bayes-ucb"]
    for one, other in zip(
        (*first.kept, first.mean_pulls, *first.curve), (*second.kept, second.mean_pulls, *second.curve), strict=True
    ):
        assert np.array_equal(one, other)
    assert first.estimate == second.estimate


def test_two_jobs_on_one_gpu_share_the_runs():
    asked = {"horizon": 100, "runs": 5_000, "seed": 5, "progress": False}
    bandit = br.GaussianBandit([1.0, 0.0], 1, 1)
    twice = br.simulate(bandit, "ucb1", engine=br.GpuEngine(devices=[0, 0]), **asked)["ucb1"]
    assert np.array_equal(twice.final_regret, br.simulate(bandit, "ucb1", **asked)["ucb1"].final_regret)


def test_plans_track_the_best_arm_there_too():
    bandit = br.BernoulliBandit([1, 1], [1, 1])
    here, there = (br.plan(bandit, "thompson", horizon=50, runs=200, engine=engine) for engine in ("threads", "gpu"))
    assert here.to_dict() == there.to_dict()
