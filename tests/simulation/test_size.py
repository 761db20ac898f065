"""Sizes are checked before a simulation starts; with keep="summary" memory does not grow with runs."""

import tracemalloc

import numpy as np
import pytest

import bayesregret as br
from bayesregret.memory import array_bytes
from bayesregret.simulation import size
from bayesregret.simulation.engines.threads import ThreadsEngine
from bayesregret.simulation.kernels.run import make_record
from bayesregret.simulation.kernels.select import select
from bayesregret.simulation.kernels.setup import make_state
from bayesregret.simulation.regret_counts import RegretCounts
from bayesregret.simulation.simulate import simulate
from bayesregret.simulation.simulation import Simulation
from problems import BANDITS

BANDIT = br.BernoulliBandit([1, 1, 1], [1, 2, 3])
GIGABYTE = 10**9


def run(*policies: br.Policy, runs: int = 500, **options) -> br.SimulationResult:
    return simulate(BANDIT, policies or [br.Greedy(), br.UCB1()], horizon=5, runs=runs, seed=3, threads=2, **options)


@pytest.fixture
def free(monkeypatch):
    """Set the memory that is free, and let no simulation start."""
    monkeypatch.setattr("bayesregret.simulation.simulate.Simulation", lambda *_, **__: pytest.fail("it started"))
    return lambda number: monkeypatch.setattr(size, "free_memory", lambda: number)


@pytest.mark.parametrize(
    ("memory", "options", "said"),
    [
        (
            8 * GIGABYTE,
            {"runs": 10**10},
            r"runs must be at most about 160,000,000 on this machine with 8\.0 GB of free memory, got 10000000000; "
            r'keep="summary" needs no memory per run',
        ),
        (GIGABYTE, {"precision": 0.1, "max_runs": 10**9}, r"runs must be at most about 20,000,000 .*, got 1000000000;"),
        (2 * GIGABYTE, {"horizon": 10**9, "delay": 3 * 10**7}, r"threads must be at most 2, got 16: a thread needs ab"),
        (
            GIGABYTE,
            {"horizon": 10**9, "batch": 10**8, "keep": "summary"},
            r"arms, delay or batch must be smaller: a thread needs about 1\.6 GB for 3 arms, and 1\.0 GB of memory is ",
        ),
        (10 * GIGABYTE, {"horizon": 10**8, "runs": 10**8}, "runs must be at most 90071992 with horizon 100000000"),
        (10 * GIGABYTE, {"keep": "all"}, 'keep must be "runs" or "summary", got \'all\''),
    ],
)
def test_too_much_is_one_line_before_anything_starts(free, memory, options, said):
    free(memory)
    asked = {"horizon": 5, "runs": 100, "seed": 0, "threads": 16} | options
    with pytest.raises(ValueError, match=f"^{said}") as caught:
        simulate(BANDIT, [br.Greedy(), br.UCB1()], **asked)
    assert str(caught.value).isprintable()


def test_where_memory_is_unknown_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(size, "free_memory", lambda: None)
    assert run().runs == 500


def test_precision_stops_where_memory_ends(monkeypatch):
    need = 4 * size._thread_bytes(BANDIT, br.UCB1(), checkpoints=1, late=1)
    monkeypatch.setattr(size, "free_memory", lambda: need + 32 * 640)
    found = run(br.UCB1(), runs=64, precision=1e-6, checkpoints=[5])
    assert (found.runs, found.precision_reached) == (640, False)


@pytest.mark.parametrize("late", [0, 50])
@pytest.mark.parametrize("bandit", BANDITS.values(), ids=BANDITS)
def test_no_kernel_needs_more_than_the_estimate(bandit, late):
    for policy in (br.BayesUCB(), br.Thompson(), br.UCB1(), br.MOSS(), br.Greedy(), br.LinUCB()):
        try:
            chosen = select(policy, bandit, 100, late=late > 0)
        except ValueError:  # it does not go with this bandit
            continue
        made = (make_state(chosen, bandit.arms, late), bandit.world())
        small = 1000  # bytes that do not grow with the problem
        assert array_bytes(made) <= small + size._thread_bytes(bandit, policy, checkpoints=0, late=late)


@pytest.mark.parametrize("precision", [None, 0.05])
def test_a_summary_has_the_same_bits(precision):
    kept, summary = run(precision=precision), run(precision=precision, keep="summary")
    assert summary.runs == kept.runs
    for name in kept:
        one, other = kept[name], summary[name]
        assert (one.mean, one.stderr, one.best_share) == (other.mean, other.stderr, other.best_share)
        for array in ("mean", "stderr", "rounds"):
            assert getattr(one.curve, array).tobytes() == getattr(other.curve, array).tobytes()
        assert one.mean_pulls.tobytes() == other.mean_pulls.tobytes()
        assert one.best_share == pytest.approx(one.best_pulls.mean() / 5)


@pytest.mark.parametrize(
    "use",
    [
        lambda result: result.paired("ucb1", "greedy"),
        lambda result: result["ucb1"].final_regret,
        lambda result: result["ucb1"].best_pulls,
    ],
)
def test_what_needs_each_run_says_so(use):
    with pytest.raises(ValueError, match=r'^keep must be "runs" for paired differences and results of each'):
        use(run(keep="summary"))


def test_a_summary_can_be_shown():
    summary = run(keep="summary")
    assert summary.table()[0] == ["policy", "Bayes regret", "median", "5% to 95%", "best arm"]
    assert [len(row) for row in summary.table()] == [5, 5, 5]
    data = summary.to_dict()
    assert "paired" not in data
    assert list(data["policies"]["ucb1"]["quantiles"]) == ["0.05", "0.25", "0.5", "0.75", "0.95"]
    assert len(summary.against_exact()) == 2


def test_memory_of_a_summary_does_not_grow(monkeypatch):
    monkeypatch.setattr(Simulation, "play", lambda self, first, runs: record_of(runs))
    options = {"horizon": 10**5, "seed": 0, "checkpoints": np.array([10**5])}
    for keep, grows in ((True, True), (False, False)):
        simulation = Simulation(BANDIT, br.Greedy(), **options, keep=keep)
        simulation.run_until(1000, ThreadsEngine(1), lambda _: None)
        tracemalloc.start()
        simulation.run_until(50_000, ThreadsEngine(1), lambda _: None)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert (held > 16 * 40_000) is grows


def record_of(runs: int):
    record = make_record(runs, 3, 1)
    for array in record:
        array.fill(1)
    return record


@pytest.mark.parametrize("runs", [1, 2, 500, 5000])
def test_quantiles_of_a_summary_are_right_to_a_thousandth(runs):
    exact, summary = run(runs=runs), run(runs=runs, keep="summary")
    for share in (0.0, 0.05, 0.5, 0.95, 1.0):
        value = np.quantile(exact["ucb1"].final_regret, share, method="inverted_cdf")
        assert summary["ucb1"].quantile(share) == pytest.approx(value, rel=1e-3, abs=1e-300)


def test_counts_of_regrets_do_not_depend_on_order_or_number():
    rng = np.random.default_rng(3)
    regrets = np.abs(rng.standard_cauchy(10_000))
    regrets[:100] = 0.0
    few, many = RegretCounts(), RegretCounts()
    many.add(regrets)
    for part in np.array_split(rng.permutation(regrets), 50):
        few.add(part)
    assert np.array_equal(few.counts, many.counts)
    assert few.quantile(0.005) == 0.0
    assert few.quantile(0.5) == pytest.approx(np.quantile(regrets, 0.5), rel=2e-3)
