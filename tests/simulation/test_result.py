"""Results of simulations: tables, plain data, frames and plots."""

import json
import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.digits import with_error
from bayesregret.simulation.estimates import estimate, standard_error

BANDIT = br.GaussianBandit([1.0, 0.0, 0.0], 1.0, 1.0)


@pytest.fixture(scope="module")
def result():
    return br.simulate(BANDIT, [br.BayesUCB(), br.UCB1()], horizon=50, runs=64, seed=7, threads=1)


def test_table(result):
    lines = str(result).splitlines()
    assert lines[0].startswith("policy")
    assert "minus bayes-ucb" in lines[0]
    assert set(lines[1]) == {"-"}
    ucb1, difference = result["ucb1"], result.paired("ucb1", "bayes-ucb")
    assert lines[2].startswith("bayes-ucb ")
    assert lines[3].startswith("ucb1 ")
    assert str(ucb1.estimate) in lines[3]
    assert with_error(difference.mean, difference.stderr, signed=True) in lines[3]
    assert lines[3].endswith(f"{ucb1.best_share:.1%}")
    for part in ("64 runs", "50 rounds", "3 arms", "seed 7"):
        assert part in lines[-1]
    assert len(lines) == 5
    assert repr(ucb1) == f"<ucb1: Bayes regret {ucb1.estimate}>"


def test_an_unknown_policy(result):
    with pytest.raises(KeyError, match="policy must be one of bayes-ucb, ucb1, got 'thompson'"):
        result["thompson"]
    with pytest.raises(KeyError, match="policy must be one of"):
        result.paired("bayes-ucb", "nobody")


def test_plain_data(result):
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["problem"] == BANDIT.to_dict()
    assert (data["horizon"], data["runs"], data["seed"]) == (50, 64, 7)
    assert data["rounds"] == result.rounds.tolist()
    for name, policy in result.policies.items():
        told = data["policies"][name]
        assert told["regret"] == policy.mean
        assert told["stderr"] == policy.stderr
        assert told["delta"] == pytest.approx(0.02)
        assert told["quantiles"]["0.95"] == policy.quantile(0.95)
        assert told["best_share"] == policy.best_share
        assert told["pulls"] == policy.mean_pulls.tolist()
        assert told["curve"]["regret"] == policy.curve.mean.tolist()
    (pair,) = data["paired"].items()
    assert pair[0] == "ucb1 - bayes-ucb"
    assert pair[1]["difference"] == result.paired("ucb1", "bayes-ucb").mean
    assert "precision" not in data


def test_frame(result):
    frame = result.to_frame()
    assert list(frame.columns) == ["policy", "round", "regret", "stderr"]
    assert len(frame) == 2 * len(result.rounds)
    mine = frame[frame.policy == "ucb1"]
    assert mine.regret.tolist() == result["ucb1"].curve.mean.tolist()
    assert mine["round"].tolist() == result.rounds.tolist()
    assert frame.index.tolist() == list(range(len(frame)))


def test_picture(result):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    try:
        axes = result.plot()
        assert [line.get_label() for line in axes.lines] == ["bayes-ucb", "ucb1"]
        assert axes.lines[1].get_ydata().tolist() == result["ucb1"].curve.mean.tolist()
        assert axes.get_xlabel() == "round"
        assert axes.get_ylabel() == "Bayes regret"
        assert result.plot(axes) is axes
        single = br.simulate(BANDIT, br.UCB1(), horizon=5, runs=1, seed=0)
        assert np.isfinite(single.plot().collections[0].get_paths()[0].vertices).all()
    finally:
        plt.close("all")


def test_estimate_is_exactly_rounded():
    """1e16 would swallow the ones in a running sum."""
    values = np.array([1e16, 1.0, -1e16, 1.0, 2.0])
    assert estimate(values).mean == 4.0 / 5.0
    assert str(estimate(np.array([1.0, 3.0]))) == with_error(2.0, 1.0)


def test_standard_error():
    assert standard_error(6.0, 4) == pytest.approx(math.sqrt(6.0 / 3 / 4))
    assert standard_error(np.array([6.0, 0.0]), 4).tolist() == [pytest.approx(math.sqrt(0.5)), 0.0]
    assert standard_error(6.0, 1) == math.inf
    assert np.isposinf(standard_error(np.zeros(2), 1)).all()
