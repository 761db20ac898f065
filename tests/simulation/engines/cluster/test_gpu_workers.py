"""Workers that play on GPUs: in NVIDIA's simulator, which plays one lane at a time, and with stand-ins for GPUs."""

import logging
import pathlib
import re
import runpy
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import bayesregret as br
from bayesregret import cli
from bayesregret.reproduction import run_experiments
from bayesregret.reproduction.cluster_points import run_points
from bayesregret.reproduction.sweep import sweep_experiments
from bayesregret.simulation.engines.cluster import connection, worker
from bayesregret.simulation.engines.cluster.engine import Sizes
from bayesregret.study import Study

SIMULATOR = pathlib.Path(__file__).parents[1] / "gpu" / "on_simulator.py"
BANDIT = br.GaussianBandit([0.5, 0.0], 1.0, 1.5)
SWEEP = {
    "horizon": 3,
    "runs": 65,
    "policies": ["greedy"],
    "problem": {"common": "gaussian", "arms": 2},
    "vary": {"prior_width": [1, 2, 3]},
}


@contextmanager
def client_of(number, environment):
    """A client of a cluster of this machine, whose processes have this environment."""
    import distributed

    settings = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    cluster = distributed.LocalCluster(n_workers=number, env=environment, **settings)
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def simulated_gpus():
    with client_of(2, {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}) as client:
        client.run(runpy.run_path, str(SIMULATOR))  # a warp has one lane
        yield br.ClusterEngine(client, engine="gpu")


def bits(found):
    return [np.ascontiguousarray(array).tobytes() for array in (*found.kept, found.mean_pulls, *found.curve)]


@pytest.mark.parametrize("policy", ["bayes-ucb", "thompson"])
def test_bits_are_those_of_threads(simulated_gpus, policy):
    asked = {"horizon": 5, "runs": 150, "seed": 3, "progress": False}
    here = br.simulate(BANDIT, policy, threads=1, **asked)[policy]
    there = br.simulate(BANDIT, policy, engine=simulated_gpus, **asked)[policy]
    assert bits(there) == bits(here)
    assert bits(br.simulate(BANDIT, policy, engine=simulated_gpus, **asked | {"seed": 4})[policy]) != bits(here)


@contextmanager
def workers_set(engine, **settings):
    """Let the workers' jobs have these settings for a while."""
    from bayesregret.simulation.engines.gpu import job

    for values in (settings, {name: getattr(job, name) for name in settings}):
        lines = [f"import {job.__name__} as job", *(f"job.{name} = {value}" for name, value in values.items())]
        engine.client.run(exec, "\n".join(lines))
        if values is settings:
            yield


def test_a_task_of_several_chunks(simulated_gpus, monkeypatch):
    monkeypatch.setattr(Sizes, "runs", lambda sizes, left, at_once: left)
    asked = {"horizon": 3, "runs": 200, "seed": 3, "progress": False}
    with workers_set(simulated_gpus, CHUNK_ROUNDS=64):
        there = br.simulate(BANDIT, "greedy", engine=simulated_gpus, **asked)["greedy"]
    assert bits(there) == bits(br.simulate(BANDIT, "greedy", threads=1, **asked)["greedy"])


@pytest.mark.parametrize("large", [0.0, 10.0], ids=["split", "in groups"])
def test_points_of_a_sweep(simulated_gpus, tmp_path, monkeypatch, large):
    monkeypatch.setattr("bayesregret.reproduction.cluster_points.LARGE_SECONDS", large)
    found = []
    for name, engine in (("here", "threads"), ("there", simulated_gpus)):
        with Study.open(tmp_path / f"{name}.sqlite") as study:
            found.append([done.table for done in run_experiments(sweep_experiments(SWEEP), study, engine=engine)])
    assert found[0] == found[1]


@pytest.fixture
def quiet(monkeypatch):
    """Put back the loggers that the command line silences."""
    for name in ("distributed", "tornado", "asyncio"):
        monkeypatch.setattr(logging.getLogger(name), "level", logging.getLogger(name).level)


def test_the_command_line_prints_what_threads_print(simulated_gpus, capsys, quiet):
    address = simulated_gpus.client.scheduler.address
    command = ["simulate", "bernoulli", "--arms", "2", "--horizon", "3", "--runs", "70", "--policy", "ucb1", "--json"]
    printed = []
    try:
        for options in (["--threads", "1"], ["--engine", "gpu", "--cluster", address]):
            assert cli.run([*command, *options]) == 0
            printed.append(capsys.readouterr())
    finally:
        connection._open_clients.pop(address).close()
    assert printed[0] == printed[1]


def test_an_error_on_a_gpu_is_the_error_here(simulated_gpus):
    said = r"^arms must be fewer on this GPU: a lane needs "
    with workers_set(simulated_gpus, MEMORY_FRACTION=1e-12), pytest.raises(ValueError, match=said):
        br.simulate(BANDIT, "ucb1", horizon=3, runs=64, engine=simulated_gpus, progress=False)


CANNOT = "engine must be a cluster whose workers have GPUs, but {} cannot use one: "


def test_workers_without_a_gpu_are_one_line(cluster, capsys, quiet):
    status = cli.run(["simulate", "gaussian", "--horizon", "5", "--engine", "gpu", "--cluster", "local:2"])
    output = capsys.readouterr()
    assert (status, output.out, output.err.count("\n")) == (2, "", 1)
    said = CANNOT.format(r"the worker tcp://127\.0\.0\.1:\d+")
    assert re.match(f"bayesregret: --{said}Error at driver init: .*[^:. ]$", output.err)


def test_a_worker_that_comes_later_without_a_gpu_is_one_line(stand_in, no_gpu):
    parcel = worker.pack(stand_in("quick").recipe)
    said = f"^{CANNOT.format('a worker')}no GPU$"
    with pytest.raises(ValueError, match=said):
        worker.play("late", parcel, 0, 64, "gpu")
    outcome = run_points([point.settings for point in sweep_experiments(SWEEP)[0].points], "gpu")
    assert (outcome.finished, bool(re.match(said, str(outcome.error)))) == ([], True)


@pytest.fixture
def no_gpu(monkeypatch):
    def none():
        raise ValueError("no GPU")

    monkeypatch.setattr(worker, "found_devices", none)


def test_a_worker_without_the_library_is_one_line(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert worker.gpu_lanes() == 'a GPU needs numba_cuda: pip install "bayesregret[gpu]"'


class Gpus:
    """Takes the place of a GpuEngine: a chunk is a block."""

    devices = ()

    def __init__(self, devices=None):
        Gpus.devices = devices

    def play(self, simulation, begin, end):
        for first in range(begin, end, 64):
            record = simulation.play(first, min(64, end - first))
            record.pulls[:] = record.on_best[:] = 1
            yield record


@pytest.fixture
def gpus(monkeypatch):
    monkeypatch.setattr(worker, "found_devices", lambda: (0, 1))
    monkeypatch.setattr(worker, "GpuEngine", Gpus)
    return Gpus


def test_chunks_of_a_task_are_one_record(gpus, stand_in):
    parcel = worker.pack(stand_in("quick").recipe)
    record, seconds = worker.play("chunks", parcel, 64, 200, "gpu")
    assert seconds is None, "a kernel may have been compiled meanwhile"
    assert record.final_regret.tolist() == list(range(64, 264))
    assert (record.pulls.tolist(), record.on_best.tolist(), record.near_best.tolist()) == ([4, 4], [4], [0])
    assert record.block_mean.shape == record.block_squares.shape == (4, 1)
    assert worker.play("chunks", parcel, 264, 64, "gpu")[1] >= 0.0


def test_a_task_ends_after_the_chunk_in_which_it_was_stopped(gpus, stand_in, monkeypatch):
    played = []

    def play(engine, simulation, begin, end):
        for first in range(begin, end, 64):
            yield simulation.play(first, 64)
            played.append(first)
            worker.stop("stopped on GPUs")

    monkeypatch.setattr(gpus, "play", play)
    with pytest.raises(RuntimeError, match=r"^these runs were stopped$"):
        worker.play("stopped on GPUs", worker.pack(stand_in("quick").recipe), 0, 640, "gpu")
    assert played == [0]


def test_what_the_driver_says_is_one_line(gpus, stand_in, monkeypatch):
    class CudaAPIError(Exception):
        __module__ = "numba.cuda.cudadrv.driver"

    def play(engine, simulation, begin, end):
        yield simulation.play(begin, 64)
        raise CudaAPIError("[2] Call to cuMemAlloc\n results in CUDA_ERROR_OUT_OF_MEMORY")

    monkeypatch.setattr(gpus, "play", play)
    said = r"^the GPU of a worker failed: \[2\] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY$"
    with pytest.raises(OSError, match=said):
        worker.play("failed", worker.pack(stand_in("quick").recipe), 0, 640, "gpu")


def test_tasks_of_a_worker_play_one_after_the_other(gpus, stand_in, monkeypatch):
    under_way, most = [], []

    def play(engine, simulation, begin, end):
        under_way.append(begin)
        most.append(len(under_way))
        time.sleep(0.05)
        yield simulation.play(begin, 64)
        under_way.remove(begin)

    monkeypatch.setattr(gpus, "play", play)
    parcel = worker.pack(stand_in("quick").recipe)
    threads = [
        threading.Thread(target=worker.play, args=("in turn", parcel, first, 64, "gpu")) for first in (0, 64, 128)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1]


def test_a_worker_of_dask_cuda_uses_its_own_gpu(gpus, monkeypatch):
    worker.own_gpus()
    assert gpus.devices is None, "all that it sees"
    monkeypatch.setitem(sys.modules, "dask_cuda", sys)
    worker.own_gpus()
    assert gpus.devices == [0]


def test_tasks_fill_a_gpu(stand_in):
    lanes = 132 * 384
    sizes = Sizes(stand_in("", nanoseconds=3 * 10**8), lanes, processors=300)  # a millisecond of a GPU
    assert sizes.runs(10**8, 8) == lanes, "at least one turn of all lanes"
    sizes.measured(lanes, None)
    sizes.measured(lanes, 0.1)
    assert sizes.runs(10**8, 8) == 10 * lanes, "a second"
    assert sizes.runs(10**6, 8) == lanes, "half of what is left, in whole turns"
    assert sizes.runs(lanes + 1000, 8) == lanes + 1000, "the rest would not fill it"
    assert sizes.runs(1000, 8) == 1000
    sizes.measured(10**9, 1.0)
    assert sizes.runs(10**8, 8) == 19 * lanes, "16 MB of results"
    many = stand_in("")
    many.checkpoints = list(range(10_000))
    assert Sizes(many, lanes).runs(10**8, 8) == 64 * 99, "results that fit into memory, if not all lanes"


def test_a_gpu_stands_for_many_processors(cluster):
    on_gpus = br.ClusterEngine("local:2", engine="gpu")
    assert (on_gpus.tasks_at_once, on_gpus.processors) == (2, 600)
    assert (cluster.tasks_at_once, cluster.processors) == (2, 2)
    assert (on_gpus._connection.lanes, cluster._connection.lanes) == (2**16, 0), "before any worker was asked"
    assert repr(on_gpus.twin()) == 'ClusterEngine("local:2", engine="gpu")'
    with pytest.raises(ValueError, match=r'^engine must be "threads" or "gpu", got \'cpu\'$'):
        br.ClusterEngine("local:2", engine="cpu")
