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
from bayesregret.simulation.kernels.select import Kernel, select
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
    assert len(lines) == 16
    assert all(line.endswith(" []") for line in lines), done.stdout
    assert refused == "bad_index must return a number, the index, as arm_index does, got nan"


def ptx_of(bandit, policy, delay):
    """PTX of the kernel that would play this."""
    from bayesregret.simulation.engines.gpu import compiler, kernels
    from bayesregret.simulation.engines.gpu.lanes import Separate, Shared, mapped
    from bayesregret.simulation.kernels.index_leader import IndexLeaderState

    def for_lanes(nested):
        return mapped(lambda array: np.zeros((*array.shape, 4), array.dtype), nested)

    compiler.register_formulas()
    played = Simulation(bandit, policy, horizon=1000, seed=1, checkpoints=np.array([10, 1000]), delay=delay)
    state, world = played.make_state(), played.make_world()
    worlds = Shared(world) if world is bandit.model else Separate(for_lanes(world))
    common = (worlds, played.policy, played.belief, played.key, 0, played.plan)
    results = (np.zeros((64, 2)), np.zeros(64), np.zeros(64, np.int64), np.zeros(bandit.arms, np.int64))
    if isinstance(state, IndexLeaderState):
        kernel, arguments = kernels.make_leader_kernel(bandit.arms), (*common, *results)
    else:
        pulls = np.zeros((bandit.arms, 4), np.int64)
        kernel, arguments = kernels.make_lane_kernel(True), (for_lanes(state), *common, *results[:3], pulls, results[3])
    return compiled_to_ptx(kernel, arguments)


def compiled_to_ptx(kernel, arguments):
    from numba import cuda
    from numba.cuda.typing.typeof import typeof

    from bayesregret.simulation.engines.gpu import compiler

    with compiler.without_fusion():
        return cuda.compile(kernel, tuple(map(typeof, arguments)), device=False, cc=(9, 0), abi="numba")[0]


@pytest.fixture
def a_device(monkeypatch):
    device = type("Device", (), {"compute_capability": (9, 0)})
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)


NORMAL_GAMMA = br.NormalGammaBandit([0, 1], [1, 1], [2, 2], [1, 1])
# Each of the processor's kernels, and the one that is shaped for a GPU, which plays INDEX_LEADER.
PLAYED = [
    (Kernel.INDEX_LEADER, common_gaussian(), br.BayesUCB(), 0),
    (Kernel.INDEX_LEADER, common_gaussian(arms=3), br.MOSS(), 0),
    (Kernel.INDEX_LEADER, common_bernoulli(), br.UCB1(), 0),
    (Kernel.INDEX_LEADER, br.PoissonBandit([2.0, 1.0], [1.0, 1.0]), br.Greedy(), 0),
    (Kernel.GUARANTEED_LEADER, common_gaussian(), br.Thompson(), 0),
    (Kernel.EVERY_ROUND, NORMAL_GAMMA, br.Thompson(), 0),
    (Kernel.DELAYED, common_gaussian(), br.EpsilonGreedy(), 3),
    (Kernel.PENDING, common_gaussian(), br.BayesUCB(), 3),
    (Kernel.LINEAR_INDEX, common_linear(), br.BayesUCB(), 0),
    (Kernel.LINEAR_EVERY_ROUND, common_linear(), br.Thompson(), 0),
    (Kernel.LINEAR_PENDING, common_linear(), br.BayesUCB(), 3),
]


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("kernel", "bandit", "policy", "delay"),
    PLAYED,
    ids=[f"{kernel.name}-{policy.name}-{bandit.kind}" for kernel, bandit, policy, _ in PLAYED],
)
def test_kernels_compile_without_fused_operations(kernel, bandit, policy, delay, a_device):
    """A product and a sum that are rounded once have other bits than on the processor."""
    assert select(policy, bandit, 1000, late=delay > 0).kernel is kernel
    ptx = ptx_of(bandit, policy, delay)
    assert "mul.rn.f64" in ptx
    assert "fma." not in ptx


def test_every_kernel_is_compiled():
    assert {kernel for kernel, *_ in PLAYED} == set(Kernel)


@pytest.mark.compiled
def test_sums_of_blocks_compile_without_fused_operations(a_device):
    from bayesregret.simulation.engines.gpu import compiler, kernels

    compiler.register_formulas()
    rows, blocks, counts = np.zeros((128, 3)), np.zeros((2, 3)), np.zeros((2, 3), np.int64)
    ptx = compiled_to_ptx(kernels.reduce_blocks, (rows, blocks, blocks))
    assert "mul.rn.f64" in ptx
    assert "fma." not in ptx
    assert ".entry" in compiled_to_ptx(kernels.count_blocks, (rows, 0.1, counts, counts))


def test_without_a_gpu_there_is_one_line(monkeypatch):
    engine.found_devices.cache_clear()
    monkeypatch.setattr("bayesregret.simulation.engines.gpu.engine.found_devices", engine.found_devices.__wrapped__)
    with pytest.raises(ValueError, match=r'^engine must be "threads" on this machine, got gpu: [^\n]*$'):
        br.simulate(common_gaussian(), "ucb1", horizon=10, runs=10, engine="gpu")


def test_without_the_library_there_is_one_line(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'^engine="gpu" needs numba_cuda: pip install "bayesregret\[gpu\]"$'):
        engine.GpuEngine()
