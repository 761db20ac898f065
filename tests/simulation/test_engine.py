"""The same bits for any threads, any chunks, any company and with JIT off; and an end when it is interrupted."""

import gc
import hashlib
import os
import signal
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from bayesregret import UCB1, BayesUCB, GaussianBandit, LinearBandit, simulate
from bayesregret.simulation import simulation as runs_of
from bayesregret.simulation.engines.threads import ThreadsEngine, available_threads
from bayesregret.simulation.kernels import index_leader, width_table
from bayesregret.simulation.kernels import linear_index as linear
from bayesregret.simulation.simulation import Simulation
from problems import BANDITS, POLICIES


def bits(result):
    """All that a simulation found, as bytes."""
    parts = []
    for policy in result.policies.values():
        curve = policy.curve
        arrays = (policy.final_regret, policy.best_pulls, policy.mean_pulls, curve.rounds, curve.mean, curve.stderr)
        parts.extend(np.ascontiguousarray(array).tobytes() for array in arrays)
    return b"".join(parts)


def run(bandit, *policies, **arguments):
    settings = {"horizon": 30, "runs": 130, "seed": 12, "threads": 1} | arguments
    return simulate(bandit, policies or list(POLICIES.values()), **settings)


@pytest.mark.compiled
@pytest.mark.parametrize("world", BANDITS)
def test_threads_do_not_matter(world):
    bandit = BANDITS[world]
    alone = bits(run(bandit))
    assert bits(run(bandit, threads=2)) == alone
    assert bits(run(bandit, threads=3)) == alone
    assert bits(run(bandit, threads=None)) == alone
    assert bits(run(bandit, seed=13)) != alone


@pytest.mark.compiled
@pytest.mark.parametrize("world", BANDITS)
@pytest.mark.parametrize("task_rounds", [1, 30 * 64 * 2, 10**9])
def test_chunks_do_not_matter(world, task_rounds, monkeypatch):
    expected = bits(run(BANDITS[world]))
    monkeypatch.setattr(runs_of, "TASK_ROUNDS", task_rounds)
    assert bits(run(BANDITS[world])) == expected
    assert bits(run(BANDITS[world], threads=2)) == expected


@pytest.mark.compiled
def test_threads_do_not_matter_in_many_tasks(monkeypatch):
    monkeypatch.setattr(runs_of, "TASK_ROUNDS", 1)
    first = bits(run(BANDITS["gaussian"], runs=20_000, threads=1))
    assert bits(run(BANDITS["gaussian"], runs=20_000, threads=7)) == first


@pytest.mark.compiled
@pytest.mark.parametrize("world", BANDITS)
def test_fewer_runs_are_the_first_of_many(world):
    many = run(BANDITS[world])
    few = run(BANDITS[world], runs=7)
    for name in POLICIES:
        assert np.array_equal(few[name].final_regret, many[name].final_regret[:7])
        assert np.array_equal(few[name].best_pulls, many[name].best_pulls[:7])


@pytest.mark.compiled
@pytest.mark.parametrize("world", BANDITS)
def test_company_does_not_matter(world):
    """Another policy in the list changes nothing for the others, nor does their order."""
    bandit = BANDITS[world]
    together = run(bandit, BayesUCB(), UCB1(), BayesUCB(delta=0.5))
    assert list(together) == ["bayes-ucb", "ucb1", "bayes-ucb(delta=0.5)"]
    for policy, name in [(BayesUCB(), "bayes-ucb"), (UCB1(), "ucb1"), (BayesUCB(delta=0.5), "bayes-ucb(delta=0.5)")]:
        alone = run(bandit, policy)[policy.name]
        assert np.array_equal(alone.final_regret, together[name].final_regret)
        assert np.array_equal(alone.mean_pulls, together[name].mean_pulls)
    swapped = run(bandit, UCB1(), BayesUCB())
    assert np.array_equal(swapped["ucb1"].final_regret, together["ucb1"].final_regret)


@pytest.mark.parametrize("world", ["gaussian", "rademacher", "bernoulli"])
@pytest.mark.parametrize("entries", [0, 8, 40])
def test_tables_do_not_matter(world, entries, monkeypatch):
    """Beyond its table an index is computed, to the same bits."""
    expected = bits(run(BANDITS[world]))
    monkeypatch.setattr(width_table, "TABLE_ENTRIES", entries)
    assert bits(run(BANDITS[world])) == expected


@pytest.mark.parametrize("world", BANDITS)
@pytest.mark.parametrize("longest", [1, 3])
def test_cutting_streaks_does_not_matter(world, longest, monkeypatch):
    """A streak is cut now and then to hear an interrupt. In plain Python, where the length can be set."""
    expected = run(BANDITS[world], runs=20)
    monkeypatch.setattr(runs_of, "compile_kernel", lambda body, *classes: body)
    monkeypatch.setattr(index_leader, "LONGEST_STREAK", np.uint64(longest))
    monkeypatch.setattr(linear, "LONGEST_STREAK", longest)
    cut = run(BANDITS[world], runs=20)
    for name in POLICIES:
        assert cut[name].mean_pulls.tolist() == expected[name].mean_pulls.tolist()
        assert np.allclose(cut[name].final_regret, expected[name].final_regret, rtol=1e-12, atol=1e-14)
        assert np.allclose(cut[name].curve.mean, expected[name].curve.mean, rtol=1e-12, atol=1e-14)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["gaussian", "linear"])
def test_a_streak_of_ten_million(kind):
    """Longer than a streak may be: it is cut and goes on."""
    bandit = GaussianBandit([5.0, 0.0], 0.1, 1.0)
    if kind == "linear":
        bandit = LinearBandit(np.eye(2), [5.0, 0.0], prior_width=0.1, reward_noise=1.0)
    result = simulate(bandit, BayesUCB(), horizon=10_000_000, runs=1, seed=1)["bayes-ucb"]
    assert result.mean_pulls.tolist() == [10_000_000, 0]
    assert result.mean == 0.0


@pytest.mark.compiled
@pytest.mark.parametrize("world", BANDITS)
@pytest.mark.parametrize("name", POLICIES)
def test_the_curve_is_the_mean_over_runs(world, name):
    """With a fixed delta the regret of each run at a checkpoint is its final regret at that horizon."""
    policy = type(POLICIES[name])(delta=0.05)
    checkpoints = [1, 2, 7, 16, 30]
    result = run(BANDITS[world], policy, checkpoints=checkpoints, runs=150)[name]
    curves = np.stack(
        [run(BANDITS[world], policy, horizon=t, runs=150)[name].final_regret for t in checkpoints], axis=1
    )
    assert result.curve.rounds.tolist() == checkpoints
    assert np.allclose(result.curve.mean, curves.mean(axis=0), rtol=1e-13)
    assert np.allclose(result.curve.stderr, curves.std(axis=0, ddof=1) / np.sqrt(150), rtol=1e-11)
    assert np.array_equal(result.final_regret, curves[:, -1])
    assert not np.allclose(result.curve.stderr, curves.std(axis=0, ddof=0) / np.sqrt(150), rtol=1e-11)


@pytest.mark.parametrize("world", BANDITS)
@pytest.mark.parametrize("name", POLICIES)
def test_pulls_add_up(world, name):
    result = run(BANDITS[world])[name]
    assert result.mean_pulls.sum() == pytest.approx(30.0, rel=1e-14)
    assert result.mean_pulls.min() >= (1.0 if name == "ucb1" else 0.0)
    assert ((result.best_pulls >= 0) & (result.best_pulls <= 30)).all()
    assert (result.final_regret >= 0.0).all()
    assert ((result.final_regret == 0.0) == (result.best_pulls == 30)).all()
    assert (np.diff(result.curve.mean) >= 0.0).all()


BITS_OF_ALL = """
import gc
import hashlib
from problems import BANDITS
from simulation.test_engine import bits, run
for name, bandit in BANDITS.items():
    print(name, hashlib.sha256(bits(run(bandit, runs=66))).hexdigest(), sep=": ")
"""


@pytest.mark.compiled
def test_plain_python_gives_the_same_bits(pytestconfig):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(pytestconfig.rootpath / "tests")}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", BITS_OF_ALL], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    ours = {name: hashlib.sha256(bits(run(bandit, runs=66))).hexdigest() for name, bandit in BANDITS.items()}
    assert dict(line.split(": ") for line in ran.stdout.splitlines()) == ours


LONG = """
import bayesregret as br
br.simulate({bandit}, br.BayesUCB(), horizon=1, runs=1, seed=1)  # compiled now
print("begun", flush=True)
br.simulate({bandit}, br.BayesUCB(), horizon={horizon}, runs={runs}, seed=1)
"""
WORK = {
    "many runs": ("br.GaussianBandit([0.0] * 10, 1, 1)", 10**4, 10**7),
    "many linear runs": ("br.LinearBandit([[1, 0], [0, 1]], [0, 0], prior_width=1, reward_noise=1)", 10**4, 10**7),
    "one long streak": ("br.GaussianBandit([0.0], 1, 1)", 10**12, 1),
    "one long linear streak": ("br.LinearBandit([[1.0]], [0.0], prior_width=1, reward_noise=1)", 10**12, 1),
}


@pytest.mark.compiled
@pytest.mark.parametrize("work", WORK)
def test_an_interrupt_ends_it(work):
    """Ctrl-C while the kernel runs: KeyboardInterrupt in the main thread, not a word from the others."""
    bandit, horizon, runs = WORK[work]
    code = LONG.format(bandit=bandit, horizon=horizon, runs=runs)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "begun\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1.0)  # it is at work
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10.0)
    finally:
        process.kill()
        process.communicate()
    assert errors.strip().endswith("KeyboardInterrupt")
    assert errors.count("Traceback") == 1
    assert "Exception in thread" not in errors


def test_an_error_in_a_callback_ends_it_and_leaves_no_threads():
    def fail(done, in_all):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(GaussianBandit([0.0, 0.0], 1, 1), runs=1000, threads=2, progress=fail)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bayesregret")]


def test_a_signal_ends_it_and_the_handler_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run(BANDITS["gaussian"], progress=lambda done, in_all: signal.raise_signal(signal.SIGINT))
    assert signal.getsignal(signal.SIGINT) is before


def test_a_record_cut_short_is_not_counted():
    """The flag alone, without an exception, as when the interrupt came where Python ignores exceptions."""
    simulation = Simulation(BANDITS["gaussian"], BayesUCB(), horizon=10, seed=3, checkpoints=np.array([10], np.int64))

    def set_flag(runs):
        simulation.stop[0] = 1

    with pytest.raises(KeyboardInterrupt):
        simulation.run_until(640, ThreadsEngine(1), set_flag)
    assert simulation.tally.runs == len(simulation.tally.kept().final_regret) < 640


def test_outside_the_main_thread():
    """There no signal can be caught; the result is the same."""
    found = []
    thread = threading.Thread(target=lambda: found.append(bits(run(BANDITS["gaussian"], threads=2))))
    thread.start()
    thread.join()
    assert found == [bits(run(BANDITS["gaussian"]))]


def test_a_simulation_goes_on_after_an_interrupt():
    """What was interrupted leaves the tally after its last whole task; going on gives the same bits."""
    bandit, policy = BANDITS["gaussian"], BayesUCB(delta=0.1)
    checkpoints = np.array([10])

    def made():
        return Simulation(bandit, policy, horizon=10, seed=3, checkpoints=checkpoints)

    whole, broken = made(), made()
    whole.run_until(640, ThreadsEngine(1), lambda runs: None)
    seen = []

    def stop_soon(runs):
        seen.append(runs)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken.run_until(640, ThreadsEngine(1), stop_soon)
    assert 0 < broken.tally.runs < 640
    broken.run_until(640, ThreadsEngine(2), lambda runs: None)
    assert np.array_equal(broken.tally.kept().final_regret, whole.tally.kept().final_regret)
    assert np.array_equal(broken.tally.curve_mean, whole.tally.curve_mean)
    assert np.array_equal(broken.tally.pulls, whole.tally.pulls)


def test_available_threads(monkeypatch):
    assert available_threads() >= 1
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert available_threads() == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_threads() == 1


def test_a_simulation_is_freed_without_the_garbage_collector():
    """Its arrays may be large; and a collection at a bad moment, inside a profiler of a cluster's worker, can hang."""
    gc.disable()
    try:
        simulation = Simulation(
            BANDITS["gaussian"], BayesUCB(), horizon=5, seed=1, checkpoints=np.array([5]), delay=1, keep=False
        )
        simulation.run_until(64, ThreadsEngine(1), lambda done: None)
        gone = weakref.ref(simulation)
        del simulation
        assert gone() is None
    finally:
        gc.enable()
