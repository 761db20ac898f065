"""The identity of Thompson sampling: equal to plain simulation, and no longer so if anything in it is changed."""

import numpy as np
import pytest
from scipy.stats import norm

from bayesregret import BernoulliBandit, GaussianBandit, LinearBandit, thompson_identity
from bayesregret.audit.thompson_ties import tied_estimate
from bayesregret.audit.tied_instances import TiedInstances
from bayesregret.simulation.engines.threads import ThreadsEngine

PROBLEMS = {
    "two arms": (GaussianBandit([0.0, 0.0], 1.0, 1.0), 100),
    "one ahead": (GaussianBandit([0.7, 0.0, 0.0, -0.5], 0.8, 1.3), 60),
    "heteroscedastic": (GaussianBandit([0.0, 0.5, 0.2], [1.0, 0.3, 2.0], [1.0, 2.0, 0.5]), 60),
    "uniform": (BernoulliBandit([1, 1], [1, 1]), 100),
    "mixed counts": (BernoulliBandit([1, 2, 0.5], [1, 3, 0.5]), 60),
    "conversions": (BernoulliBandit([2] * 4, [30] * 4), 100),
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", PROBLEMS)
def test_it_agrees_with_plain_runs(name):
    bandit, horizon = PROBLEMS[name]
    found = thompson_identity(bandit, horizon=horizon, runs=6_000, seed=11)
    error = np.hypot(found.stderr, found.plain_stderr)
    assert abs(found.regret - found.plain_regret) < 4.0 * error
    assert found.variance_factor == pytest.approx((found.plain_stderr / found.stderr) ** 2)
    assert found.variance_factor > 2.0
    instances = TiedInstances(bandit)
    instances.pseudo_counts = 1.2 * instances.pseudo_counts + 1.0
    wrong = tied_estimate(bandit, instances, horizon=horizon, runs=6_000, seed=11, engine=ThreadsEngine(1))
    assert abs(wrong.mean - found.plain_regret) > 4.0 * error, "the control: too many imaginary pulls"


def test_the_instances():
    """Two arms are equal and best; the place of the tie and the others have the right distributions."""
    bandit = GaussianBandit([0.5, 0.0, -0.5], 1.0, 1.0)
    instances = TiedInstances(bandit)
    means, pairs = instances.draw((np.uint64(1), np.uint64(2), np.uint64(3)), 0)
    rows = np.arange(len(means))
    tie = means[rows, pairs[:, 0]]
    assert (tie == means[rows, pairs[:, 1]]).all()
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert (means.max(axis=1) == tie).all()
    y = np.linspace(-7.0, 8.0, 4_001)
    h = np.exp(-0.5 * (y - bandit.prior_mean[:, None]) ** 2) / np.sqrt(2.0 * np.pi)
    F = norm.cdf(y - bandit.prior_mean[:, None])
    total = 0.0
    for pair, other in (((0, 1), 2), ((0, 2), 1), ((1, 2), 0)):
        density = h[pair[0]] * h[pair[1]] * F[other]
        drawn = (np.sort(pairs, axis=1) == pair).all(axis=1)
        total += density.sum()
        fraction = density.sum() / np.sum(h[0] * h[1] * F[2] + h[0] * h[2] * F[1] + h[1] * h[2] * F[0])
        error = np.sqrt(fraction * (1.0 - fraction) / len(means))
        assert abs(drawn.mean() - fraction) < 4.0 * error
        place = tie[drawn]
        assert abs(place.mean() - y @ density / density.sum()) < 4.0 * place.std() / np.sqrt(drawn.sum())
        below = np.cumsum(h[other] * y) * (y[1] - y[0]) / F[other]  # mean of the other arm, given that it is below y
        rest = means[drawn, other]
        expected = density @ below / density.sum()
        assert abs(rest.mean() - expected) < 4.0 * rest.std() / np.sqrt(drawn.sum())
        assert abs(rest.mean() - bandit.prior_mean[other]) > 4.0 * rest.std() / np.sqrt(drawn.sum()), "the control"
    step = y[1] - y[0]
    assert instances.weights == pytest.approx([total * step] * 3, rel=1e-4)


@pytest.mark.compiled
def test_bits_depend_on_seed_and_run_alone():
    bandit, horizon = PROBLEMS["mixed counts"]
    instances = TiedInstances(bandit)
    setting = {"horizon": horizon, "seed": 3}
    one = tied_estimate(bandit, instances, runs=600, engine=ThreadsEngine(1), **setting)
    assert tied_estimate(bandit, instances, runs=600, engine=ThreadsEngine(3), **setting) == one
    assert tied_estimate(bandit, instances, runs=600, engine=ThreadsEngine(1), horizon=horizon, seed=4) != one
    first, again = instances.draw((np.uint64(1),) * 3, 0), TiedInstances(bandit).draw((np.uint64(1),) * 3, 0)
    assert (first[0] == again[0]).all()
    later = instances.draw((np.uint64(1),) * 3, instances.rows)
    assert not (first[0] == later[0]).any()


def test_the_result():
    found = thompson_identity(PROBLEMS["uniform"][0], horizon=3, runs=8, seed=1)
    assert found.table()[1][0] == "identity"
    assert "3 rounds, 2 arms, 8 runs each" in found.summary()
    assert found.records()[0]["regret"] == found.to_dict()["regret"] == found.regret
    assert found.to_dict()["problem"] == PROBLEMS["uniform"][0].to_dict()
    assert repr(found) == str(found)
    assert [line.get_label() for line in found.plot().get_lines()] == ["thompson, by its identity"]


def test_one_round_is_known():
    """In the first round nothing is known, and the cost of a tie is the prior variance: no run differs."""
    found = thompson_identity(GaussianBandit([0.0, 0.0], 1.0, 1.0), horizon=1, runs=4)
    assert "variance of plain runs over that of the identity: " in str(found)
    assert found.regret == pytest.approx(1.0 / np.sqrt(np.pi), rel=1e-9)
    assert found.stderr == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("bandit", "message"),
    [
        (GaussianBandit([0.0], 1, 1), "bandit must have at least two arms for a tie, got 1"),
        (GaussianBandit([0.0, 0.0], 1, 1, "rademacher"), "noise_kind must be gaussian, got "),
        (GaussianBandit([0.0, 0.0], [1, 1e-9], 1), "prior widths must be at least"),
        (BernoulliBandit([1e-5, 1], [1, 1]), "alpha must be between"),
        (LinearBandit(np.eye(2), [0, 0], prior_cov=np.eye(2), reward_noise=1), "bandit must be a Gaussian or Bern"),
    ],
)
def test_bad_bandits(bandit, message):
    with pytest.raises(ValueError, match=message):
        thompson_identity(bandit, horizon=5)


def test_bad_settings():
    bandit = PROBLEMS["uniform"][0]
    for field in ("horizon", "runs", "seed", "threads"):
        with pytest.raises(ValueError, match=f"{field} must be"):
            thompson_identity(bandit, **{"horizon": 5, field: -1})
