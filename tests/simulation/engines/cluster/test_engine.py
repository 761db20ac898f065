"""Runs on a cluster: the bits of threads, whatever happens to workers; and bounded memory."""

import importlib.util
import os
import pathlib
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import closing

import numpy as np
import pytest

import bayesregret as br
from bayesregret.simulation.engines.choose import as_engine
from bayesregret.simulation.engines.cluster import engine as engines
from bayesregret.simulation.engines.cluster import worker
from bayesregret.simulation.engines.cluster.connection import ClusterError
from bayesregret.simulation.engines.cluster.engine import Sizes
from bayesregret.simulation.engines.cluster.same_bits import difference
from problems import BANDITS

LARGE = "linear of many arms"
BANDITS = {**BANDITS, LARGE: br.LinearBandit(np.eye(2).repeat(2_000, axis=0), [0, 0], prior_width=1, reward_noise=1)}
CASES = {
    "index": ("gaussian", ["bayes-ucb", "ucb1"], {}),
    "draws": ("bernoulli", "thompson", {}),
    "linear": ("linear", "bayes-ucb", {}),
    "late": ("gaussian", "thompson", {"delay": 3, "batch": 4}),
    "checkpoints": ("gaussian arms", "bayes-ucb", {"checkpoints": [1, 5]}),
    "a large problem": (LARGE, "greedy", {"horizon": 2, "runs": 64}),
    "precision": ("bernoulli", "greedy", {"precision": 0.03, "max_runs": 1_000}),
}


def bits(result, keep="runs"):
    """All that a simulation found, as bytes."""
    parts = [result.runs]
    for found in result.policies.values():
        arrays = [found.mean_pulls, found.curve.rounds, found.curve.mean, found.curve.stderr, np.array(found.mean)]
        arrays += [found.final_regret, found.best_pulls] if keep == "runs" else []
        parts += [np.ascontiguousarray(array).tobytes() for array in arrays]
    return parts


def kill_a_worker(engine):
    """Kill one worker process of this machine, as a lack of memory would."""
    pids = engine.client.run(os.getpid, on_error="ignore").values()
    if pids:
        os.kill(random.choice(sorted(pids)), signal.SIGKILL)


@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.both] * (case == "index")) for case in CASES])
def test_bits_are_those_of_threads(cluster, case):
    bandit, policies, options = CASES[case]
    settings = {"horizon": 20, "runs": 200, "seed": 3} | options
    alone = br.simulate(BANDITS[bandit], policies, threads=1, **settings)
    assert bits(br.simulate(BANDITS[bandit], policies, engine=cluster, **settings)) == bits(alone)
    assert bits(br.simulate(BANDITS[bandit], policies, engine=cluster, **settings | {"seed": 4})) != bits(alone)


def test_a_client_is_an_engine_and_a_summary_needs_no_runs(cluster):
    settings = {"horizon": 10, "runs": 300, "keep": "summary"}
    here = br.simulate(BANDITS["bernoulli"], "greedy", threads=1, **settings)
    there = br.simulate(BANDITS["bernoulli"], "greedy", engine=cluster.client, **settings)
    assert bits(there, "summary") == bits(here, "summary")


def test_plans_and_targets_take_it(cluster):
    settings = {"horizon": 20, "runs": 100, "seed": 1}
    bandit = br.BernoulliBandit([1, 1], [1, 1])
    assert (
        br.plan(bandit, "greedy", engine=cluster, **settings).to_dict()
        == br.plan(bandit, "greedy", threads=1, **settings).to_dict()
    )


@pytest.mark.compiled
def test_killed_workers_cost_their_tasks_only(cluster, monkeypatch):
    monkeypatch.setattr(engines, "TASK_SECONDS", 0.1)
    settings = {"horizon": 2_000, "runs": 150_000, "seed": 5, "checkpoints": [2_000]}
    alone = br.simulate(BANDITS["gaussian"], "bayes-ucb", **settings)
    random.seed(1)
    killed, tasks = [], []

    def watch(done, total):
        tasks.append(done)
        if len(tasks) in (2, 9, 16):
            killed.append(kill_a_worker(cluster))

    monkeypatch.setattr(engines, "FIRST_SECONDS", 0.1)
    there = br.simulate(BANDITS["gaussian"], "bayes-ucb", engine=cluster, progress=watch, **settings)
    assert len(killed) == 3
    assert bits(there) == bits(alone)


def test_results_wait_for_a_slow_first_task_without_filling_memory(cluster, stand_in, monkeypatch):
    """The first task takes a second; the others nothing. No more than `most_tasks` may be ahead of it."""
    monkeypatch.setattr(engines, "MOST_BYTES", 16 * 65)  # a task has one block
    started = []
    tasks_of = cluster.tasks

    def watched_tasks():
        tasks = tasks_of()
        start = tasks.start
        monkeypatch.setattr(tasks, "start", lambda *a, **k: started.append(time.monotonic()) or start(*a, **k))
        return tasks

    monkeypatch.setattr(cluster, "tasks", watched_tasks)
    seen = []
    with closing(cluster.play(stand_in("slow first"), 0, 64 * 60)) as records:
        for record in records:
            seen.append((record.final_regret[0], len(started)))
            assert record.final_regret.base is None, "a copy, which does not hold on to the message"
    assert [first for first, _ in seen] == [64.0 * number for number in range(60)]
    assert seen[0][1] == cluster.most_tasks < 60


def test_an_iterator_that_is_closed_ends_the_tasks(cluster, stand_in, tmp_path):
    records = cluster.play(stand_in("endless"), 0, 6400)
    thread = threading.Timer(1.5, cluster.close)
    thread.start()
    with pytest.raises(ClusterError, match=r"^these tasks were cancelled$"):
        next(records)
    for _ in range(100):
        if (tmp_path / "stopped").exists():
            break
        time.sleep(0.1)
    assert (tmp_path / "stopped").exists()


def test_an_error_on_a_worker_is_the_error_here(cluster, stand_in):
    with pytest.raises(ValueError, match=r"^run 64 must be right$"):
        for _ in cluster.play(stand_in("wrong", nanoseconds=10**9), 0, 640):
            pass


def test_workers_that_die_of_a_task_are_one_line(cluster, stand_in, monkeypatch):
    monkeypatch.setattr("bayesregret.simulation.engines.cluster.tasks.MOST_DEATHS", 1)
    with pytest.raises(ClusterError, match=r"^all workers that had the task deadly runs 0 to 64 died: they may need m"):
        next(cluster.play(stand_in("deadly"), 0, 64))


def test_tasks_have_about_a_second(stand_in):
    sizes = Sizes(stand_in("", nanoseconds=10**6))
    assert sizes.runs(10**6, 1) == 192, "a quarter of a second at first"
    sizes.measured(192, 0.0192)
    assert sizes.runs(10**6, 1) == 64 * 156
    assert sizes.runs(10**4, 1) == 64 * 78, "half of what is left"
    assert sizes.runs(10**4, 50) == 64 * 7, "but not too little"
    assert sizes.runs(100, 1) == 100
    assert sizes.runs(10**8, 200) == 64 * 156
    assert sizes.runs(10**8, 1000) == 64 * 781, "five seconds, so that not more than 200 tasks end in a second"
    assert sizes.fetched_at_once() == 64 * 10**6 // (781 * 16 * 65)
    sizes.measured(10**9, 10.0)
    assert sizes.runs(10**10, 1) == 64 * int(16e6 / 16 / 65), "results that fit into memory"
    assert Sizes(stand_in("", nanoseconds=10**12)).runs(10**6, 1) == 64, "a block, however slow"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "local",
            'engine must be "threads", "gpu", a Dask client, or a cluster such as "tcp://host:8786" or "local:4", got ',
        ),
        ("local:0", 'engine must be "threads", "gpu", a Dask'),
        (3, 'engine must be "threads", "gpu", a Dask'),
    ],
)
def test_other_engines_are_one_line(given, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        as_engine(given)
    with pytest.raises(
        ValueError, match=r'^engine must be a Dask client, an address such as "tcp://host:8786", or "loc'
    ):
        br.ClusterEngine(given)


def test_workers_without_the_package_are_one_line(cluster, monkeypatch):
    monkeypatch.setattr("bayesregret.simulation.engines.cluster.connection.PACKAGE", pathlib.Path("nobody_has_this"))
    with pytest.raises(
        ValueError, match=r"^engine must be a cluster whose workers have the module nobody_has_this, whi"
    ):
        br.simulate(BANDITS["bernoulli"], "greedy", horizon=2, runs=2, engine=br.ClusterEngine("local:2"))


def test_cut_connections_cost_what_was_under_way(cluster, stand_in):
    """A proxy between this process and the scheduler breaks its connections now and then."""
    source = pathlib.Path(__file__).parents[4] / "benchmarks" / "attack_cluster.py"
    attack = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("attack_cluster", source))
    spec.loader.exec_module(attack)
    proxy = attack.Proxy(cluster.client.cluster.scheduler_address)
    engine = br.ClusterEngine(proxy.address)
    try:
        seen = []
        for number, record in enumerate(engine.play(stand_in("slow first", nanoseconds=10**7), 0, 64 * 40)):
            seen += record.final_regret.tolist()
            if number in (0, 2, 4):
                proxy.cut()
        assert seen == list(range(64 * 40))
    finally:
        engine.client.close(timeout=5)
        proxy.close()


def test_a_scheduler_that_says_nothing_more_costs_a_new_connection(cluster, stand_in, monkeypatch):
    """As after a cut in which it takes the end of the old connection for that of the new one."""
    monkeypatch.setattr("bayesregret.simulation.engines.cluster.tasks.HEARTBEAT", 0.5)
    scheduler = cluster.client.cluster.scheduler
    engine = br.ClusterEngine(scheduler.address)
    try:
        seen = []
        for number, record in enumerate(engine.play(stand_in("slow first", nanoseconds=10**7), 0, 64 * 40)):
            seen += record.final_regret.tolist()
            if number == 2:
                del scheduler.client_comms[engine.client.id]
        assert seen == list(range(64 * 40))
    finally:
        engine.client.close(timeout=5)


def test_threads_do_not_go_with_a_cluster(cluster):
    with pytest.raises(ValueError, match=r'^threads must be left out unless engine is "threads", got 2$'):
        as_engine(cluster, threads=2)
    with pytest.raises(ValueError, match=r"^engine: local must be a whole number, at least 1 and at most 4096"):
        as_engine("local:5000")


def test_nobody_answers(monkeypatch):
    monkeypatch.setattr("bayesregret.simulation.engines.cluster.connection.PATIENCE", 0.2)
    with pytest.raises(
        ClusterError, match=r"^engine must be a cluster that answers, got tcp://127\.0\.0\.1:1: no scheduler"
    ):
        br.simulate(BANDITS["bernoulli"], "greedy", horizon=2, runs=2, engine="tcp://127.0.0.1:1")


OTHERS = {
    "NumPy": ("1.0", "has NumPy 1.0, and this process .+"),
    "source": ("", "has another state of the source of bayesregret"),
    "arithmetic": ("", "has a processor or a C library that rounds otherwise"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_workers_with_other_bits_are_refused(cluster, monkeypatch, what):
    other, said = OTHERS[what]
    for module in ("connection", "worker"):
        monkeypatch.setattr(
            f"bayesregret.simulation.engines.cluster.{module}.difference",
            lambda here, there: difference(here, {**there, what: other}),
        )
    compute = "^engine must be a cluster whose workers compute the same bits as this process, but "
    with pytest.raises(ValueError, match=f"{compute}the worker tcp://.* {said}$"):
        br.simulate(BANDITS["bernoulli"], "greedy", horizon=2, runs=2, engine=br.ClusterEngine("local:2"))
    with pytest.raises(ValueError, match=f"{compute}a worker {said}$"):  # one that came later
        worker.unpack(worker.pack(1))


UNGUARDED = """
import bayesregret as br

bandit = br.BernoulliBandit([1, 1], [1, 1])
if __name__ == "__main__":
    print(br.simulate(bandit, "greedy", horizon=5, runs=100, engine="local:1").runs)
"""


@pytest.mark.compiled
def test_a_script_ends_without_a_word_or_a_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr, done.returncode) == ("100\n", "", 0)


INTERRUPTED = """
import sys
from bayesregret import cli
from bayesregret.cli import simulate

original = simulate.run_simulation


def tell(done, in_all):
    print("going", flush=True)


simulate.run_simulation = lambda *a, **k: original(*a, **{**k, "progress": tell})
if __name__ == "__main__":
    command = ["simulate", "gaussian", "--horizon", "200", "--runs", "1e9", "--keep", "summary", "--cluster", "local:2"]
    cli.interrupts.leave(cli.run(command))
"""


@pytest.mark.compiled
def test_an_interrupt_is_one_line_and_leaves_no_process(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(textwrap.dedent(INTERRUPTED))
    process = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "going\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it, too
    _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (130, "bayesregret: interrupted\n")
    for _ in range(100):
        if not group_exists(process.pid):
            break
        time.sleep(0.1)
    assert not group_exists(process.pid)


def group_exists(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_local_processes_that_all_died_for_good_are_replaced(cluster, stand_in, monkeypatch):
    """Dask gives up on a process that dies while it starts; here all of them are closed."""
    for module in ("connection", "tasks"):
        monkeypatch.setattr(f"bayesregret.simulation.engines.cluster.{module}.HEARTBEAT", 0.2)
    local = cluster.client.cluster
    for name in list(local.workers):
        local.sync(local.workers.pop(name).close)
    records = cluster.play(stand_in("quick"), 0, 640)
    assert [regret for record in records for regret in record.final_regret] == list(range(640))
