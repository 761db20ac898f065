"""The Gittins index with a discount as a policy: its index, late rewards, agents, exact regret, and what is refused."""

import json

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import arm_index, empty_stats
from bayesregret.contracts.fast import mean_plus_width, width_after
from bayesregret.policies.gittins import DiscountedIndices, DiscountedWidths, index_at_mean
from bayesregret.policies.pending import pending_index
from bayesregret.simulation.kernels.select import Kernel, select
from sealing import sealed

G, B = br.GaussianBandit, br.BernoulliBandit
GAUSSIAN = G([0.3, 0.0, -0.2], prior_width=[0.5, 2.0, 1.0], reward_noise=[1.5, 0.7, 2.0])
BERNOULLI = B([1.0, 0.5, 4.0], [1.0, 3.0, 2.0])
DISCOUNT, STANDARD_ERRORS = 0.25, 4.0  # a short lifetime: tables take long in plain Python
POLICY = br.Gittins(discount=DISCOUNT)
both = pytest.mark.parametrize("bandit", [GAUSSIAN, BERNOULLI], ids=["gaussian", "bernoulli"])


def index(policy, bandit, arm, count, total, horizon=None):
    settings = policy.settings(bandit, horizon)
    kind = mean_plus_width if isinstance(settings, DiscountedWidths) else arm_index
    return kind(settings, policy.belief(bandit), arm, count, float(total))


@both
@pytest.mark.parametrize(("pulls", "total"), [(0, 0), (1, 1), (5, 2)])
def test_the_index_is_that_of_gittins_index(bandit, pulls, total):
    for arm in range(3):
        expected = br.gittins_index(bandit, arm, pulls=pulls, total=total, discount=DISCOUNT)
        assert index(POLICY, bandit, arm, pulls, total, horizon=9) == pytest.approx(expected, abs=2e-6)
        other = br.gittins_index(bandit, arm, pulls=pulls, total=total, discount=0.2)  # the control
        assert index(POLICY, bandit, arm, pulls, total, horizon=9) != pytest.approx(other, abs=2e-5)


@both
def test_a_horizon_changes_nothing(bandit):
    for arm in range(3):
        assert index(POLICY, bandit, arm, 2, 1, 3) == pytest.approx(index(POLICY, bandit, arm, 2, 1), abs=2e-6)


@both
def test_beyond_the_table_the_distance_to_the_mean_falls_as_one_over_the_pulls(bandit):
    settings, model = POLICY.settings(bandit, 3), bandit.model
    assert select(POLICY, bandit, 3).kernel is Kernel.INDEX_LEADER
    end = 4  # the table has 0 to 4 pulls
    for arm in range(3):
        pseudo_count = model.alpha[arm] + model.beta[arm] if bandit is BERNOULLI else model.pseudo_count[arm]
        start = model.alpha[arm] if bandit is BERNOULLI else pseudo_count * bandit.prior_mean[arm]
        above = []
        for pulls in (end, 3 * end, 10**6, 2**53):
            total = 0.5 * (pseudo_count + pulls) - start
            if bandit is BERNOULLI:
                found = index_at_mean(settings, model, arm, pulls, total) - 0.5
            else:
                found = width_after(settings, model, arm, pulls)
            above.append(found * (pseudo_count + pulls))
        assert above[0] > 0.0
        assert above[:3] == pytest.approx([above[0]] * 3, rel=1e-8)
        assert above[3] == pytest.approx(above[0], abs=1.0 if bandit is BERNOULLI else 1e-8)  # 0.5 has 1e-16


@pytest.mark.compiled
@both
def test_longer_horizons_than_tables_by_remaining_rounds_have_a_discount(bandit, monkeypatch):
    """With small limits."""
    monkeypatch.setattr("bayesregret.optimal.gittins.LARGEST_HORIZON", {"bernoulli": 3, "gaussian": 3})
    wanted = DiscountedIndices if bandit is BERNOULLI else DiscountedWidths
    assert not isinstance(br.Gittins().settings(bandit, 3), wanted)
    made, expected = br.Gittins().settings(bandit, 4), br.Gittins(discount=0.75).settings(bandit, 4)
    assert isinstance(made, wanted)
    assert np.array_equal(made[0], expected[0])
    agent = br.Gittins().start(bandit, horizon=4)
    agent.update(0, 1.0)
    assert agent.remaining().policy == br.Gittins(discount=0.75)
    assert br.Gittins().start(bandit, horizon=3).remaining().policy == br.Gittins()


@pytest.mark.parametrize("pending", [1, 4])
def test_pending_pulls_count_as_their_expectation(pending):
    """A Gaussian width is the one that rewards will leave; one Bernoulli reward to come gives its expected index."""
    stats = empty_stats(3)
    stats.counts[:], stats.totals[:] = [2, 0, 1], [1.0, 0.0, 1.0]
    settings = POLICY.settings(GAUSSIAN, 20)
    for arm in range(3):
        mean = index(POLICY, GAUSSIAN, arm, stats.counts[arm], stats.totals[arm], 20) - width_after(
            settings, GAUSSIAN.model, arm, stats.counts[arm]
        )
        found = pending_index(settings, GAUSSIAN.model, stats, arm, pending)
        assert found == pytest.approx(mean + width_after(settings, GAUSSIAN.model, arm, stats.counts[arm] + pending))
    settings = POLICY.settings(BERNOULLI, 20)
    for arm in range(3):
        count, total = stats.counts[arm], stats.totals[arm]
        now = pending_index(settings, BERNOULLI.model, stats, arm, 0)
        assert now == arm_index(settings, BERNOULLI.model, arm, count, total)
        mean = (BERNOULLI.alpha[arm] + total) / (BERNOULLI.alpha[arm] + BERNOULLI.beta[arm] + count)
        found = pending_index(settings, BERNOULLI.model, stats, arm, pending)
        assert mean < found < now
        if pending == 1:
            won, lost = (arm_index(settings, BERNOULLI.model, arm, count + 1, total + reward) for reward in (1.0, 0.0))
            assert found == pytest.approx(mean * won + (1.0 - mean) * lost, rel=1e-12)


@both
def test_agents_spread_their_choices_and_can_be_saved(bandit):
    agent = POLICY.start(bandit)
    alike = POLICY.start(br.BernoulliBandit([4.0] * 3, [2.0] * 3) if bandit is BERNOULLI else G([0.0] * 3, 1.0, 1.0))
    assert [alike.select() for _ in range(6)] == [0, 1, 2] * 2
    agent.update_many([0, 1, 2, 0], [1.0, 0.0, 1.0, 1.0])
    again = br.Agent.from_json(agent.to_json())
    assert again.index.tolist() == agent.index.tolist()
    assert [again.select() for _ in range(5)] == [agent.select() for _ in range(5)]
    data = json.loads(agent.to_json())
    data["state"]["counts"][0] = 10**9  # far beyond the table
    data["state"]["totals"][0] = 3.0
    elsewhere = br.Agent.from_json(sealed(data))
    assert np.isfinite(elsewhere.index).all()
    elsewhere.update(elsewhere.select(), 1.0)


@both
def test_what_remains_of_an_agent(bandit):
    agent = POLICY.start(bandit, horizon=30)
    rng = np.random.default_rng(4)
    for _ in range(12):
        agent.update(agent.select(), float(rng.random() < 0.5))
    new_bandit, policy, horizon = agent.remaining()
    assert (policy, horizon) == (POLICY, 18)
    new = policy.start(new_bandit, horizon=horizon)
    assert new.index == pytest.approx(agent.index, abs=1e-5)


class TestExact:
    pytestmark = pytest.mark.compiled

    @pytest.mark.parametrize(
        ("bandit", "horizon"),
        [(G([0.5, 0.0, 0.0], 1.0, 1.0), 60), (GAUSSIAN, 30), (B([1, 1, 2], [1, 1, 3]), 40)],
        ids=["gaussian", "heteroscedastic", "bernoulli"],
    )
    def test_simulated_regret_is_the_exact_one(self, bandit, horizon):
        policy = br.Gittins(discount=1.0 - 1.0 / horizon)
        exact = br.exact_regret(bandit, policy, horizon=horizon)
        ran = br.simulate(
            bandit, {"it": policy, "other": br.Gittins(discount=0.5)}, horizon=horizon, runs=40_000, seed=2
        )
        assert abs(ran["it"].mean - exact.regret) < STANDARD_ERRORS * ran["it"].stderr
        assert abs(ran["other"].mean - exact.regret) > STANDARD_ERRORS * ran["other"].stderr  # the control
        assert exact.imbalance < 1e-8

    def test_near_the_optimum(self):
        """Two uniform arms: 1.7 percent above the dynamic programme's optimum."""
        bandit = B([1, 1], [1, 1])
        exact = br.exact_regret(bandit, "gittins:discount=0.99", horizon=100)
        assert exact.regret == pytest.approx(1.77803, abs=3e-5)
        optimum = br.bayes_optimal_regret(bandit, horizon=100).regret
        assert optimum < exact.regret < 1.02 * optimum

    def test_the_landmark(self):
        """Simulated for the design: 42.26 with a standard error of 0.37."""
        bandit = G([1.0] + [0.0] * 9, 1.0, 1.0)
        exact = br.exact_regret(bandit, br.Gittins(discount=0.999), horizon=1000)
        assert exact.regret == pytest.approx(42.6542, abs=1e-3)
        assert abs(exact.regret - 42.26) < STANDARD_ERRORS * 0.37

    def test_a_wrong_prior(self):
        bandit, believed = G([0.5, 0.0], 1.0, 1.0), G([0.0, 0.4], 0.8, 1.2)
        policy = br.Gittins(believed, discount=0.95)
        exact = br.exact_regret(bandit, policy, horizon=20)
        ran = br.simulate(bandit, policy, horizon=20, runs=40_000, seed=3)["gittins"]
        assert abs(ran.mean - exact.regret) < STANDARD_ERRORS * ran.stderr
        right = br.exact_regret(bandit, br.Gittins(discount=0.95), horizon=20)
        assert abs(ran.mean - right.regret) > STANDARD_ERRORS * ran.stderr  # the control


def test_exact_regret_says_which_discount_works():
    message = r"got gittins on a bernoulli bandit; with a discount it does: gittins:discount=0.8$"
    with pytest.raises(ValueError, match=message):
        br.exact_regret(BERNOULLI, "gittins", horizon=5)


@pytest.mark.parametrize("discount", [0.0, 1.0, -0.5, 2.0, float("nan"), "0.9", True])
def test_discounts_that_are_refused(discount):
    with pytest.raises(ValueError, match=r"^discount must be a number strictly between 0 and 1, got [^\n]*$"):
        br.Gittins(discount=discount)


def test_horizons_that_are_refused():
    for horizon, discount in ((5_001, None), (6_000, 0.9999)):
        with pytest.raises(ValueError, match=r"^horizon must be at most 5000 for gittins on a bernoulli bandit and a"):
            br.Gittins(discount=discount).settings(BERNOULLI, horizon)
    with pytest.raises(ValueError, match=r"^horizon must be at most 10000000 for gittins on a gaussian bandit and a"):
        br.Gittins().settings(GAUSSIAN, 10**8)


def test_names():
    assert br.exact_regret(BERNOULLI, "gittins:discount=0.5", horizon=2).regret > 0.0
    assert br.Gittins(GAUSSIAN) == br.Gittins(prior=GAUSSIAN, discount=None)
