"""Without a GPU: kernels run in NVIDIA's simulator, and compile to PTX; what is missing is one line."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import bayesregret as br
from bayesregret.extras import MissingExtraError
from bayesregret.problem import common_bernoulli, common_gaussian, common_linear
from bayesregret.simulation.engines.gpu import engine
from bayesregret.simulation.simulation import Simulation

SIMULATOR = pathlib.Path(__file__).with_name("on_simulator.py")
IN_SIMULATOR = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}


def test_the_simulator_has_the_bits_of_the_processor():
    environment = os.environ | IN_SIMULATOR
    done = subprocess.run(
        [sys.executable, str(SIMULATOR)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *lines, refused = done.stdout.splitlines()
    assert len(lines) == 11
    assert all(line.endswith(" []") for line in lines), done.stdout
    assert refused == "bad_index must return a number, the index, as arm_index does, got nan"


def ptx_of(bandit, policy):
    """PTX of the kernel that would play this."""
    from numba import cuda
    from numba.cuda.typing.typeof import typeof

    from bayesregret.simulation.engines.gpu import compiler, kernels
    from bayesregret.simulation.engines.gpu.lanes import Separate, Shared, mapped
    from bayesregret.simulation.kernels.index_leader import IndexLeaderState

    def for_lanes(nested):
        return mapped(lambda array: np.zeros((*array.shape, 4), array.dtype), nested)

    compiler.register_formulas()
    played = Simulation(bandit, policy, horizon=1000, seed=1, checkpoints=np.array([10, 1000]))
    state, world = played.make_state(), played.make_world()
    worlds = Shared(world) if world is bandit.model else Separate(for_lanes(world))
    common = (worlds, played.policy, played.belief, played.key, 0, played.plan)
    results = (np.zeros((64, 2)), np.zeros(64), np.zeros(64, np.int64), np.zeros(bandit.arms, np.int64))
    if isinstance(state, IndexLeaderState):
        kernel, arguments = kernels.make_leader_kernel(bandit.arms), (*common, *results)
    else:
        pulls = np.zeros((bandit.arms, 4), np.int64)
        kernel, arguments = kernels.make_lane_kernel(True), (for_lanes(state), *common, *results[:3], pulls, results[3])
    with compiler.without_fusion():
        return cuda.compile(kernel, tuple(map(typeof, arguments)), device=False, cc=(9, 0), abi="numba")[0]


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("bandit", "policy"),
    [
        (common_gaussian(), br.BayesUCB()),
        (common_gaussian(arms=3), br.MOSS()),
        (common_bernoulli(), br.UCB1()),
        (common_gaussian(), br.Thompson()),
        (common_linear(), br.BayesUCB()),
        (br.PoissonBandit([2.0, 1.0], [1.0, 1.0]), br.Greedy()),
        (br.NormalGammaBandit([0, 1], [1, 1], [2, 2], [1, 1]), br.Thompson()),
    ],
    ids=lambda value: value.name if isinstance(value, br.Policy) else value.kind,
)
def test_kernels_compile_without_fused_operations(bandit, policy, monkeypatch):
    """A product and a sum that are rounded once have other bits than on the processor."""
    device = type("Device", (), {"compute_capability": (9, 0)})
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)
    ptx = ptx_of(bandit, policy)
    assert "mul.rn.f64" in ptx
    assert "fma." not in ptx


def test_without_a_gpu_there_is_one_line(monkeypatch):
    engine.found_devices.cache_clear()
    monkeypatch.setattr("bayesregret.simulation.engines.gpu.engine.found_devices", engine.found_devices.__wrapped__)
    with pytest.raises(ValueError, match=r'^engine must be "threads" on this machine, got gpu: [^\n]*$'):
        br.simulate(common_gaussian(), "ucb1", horizon=10, runs=10, engine="gpu")


def test_without_the_library_there_is_one_line(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'^engine="gpu" needs numba_cuda: pip install "bayesregret\[gpu\]"$'):
        engine.GpuEngine()
