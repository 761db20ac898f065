"""Decisions and rewards of an experiment: durable, idempotent, and those of one agent."""

import datetime
import itertools
import random
import re
import threading

import numpy as np
import pytest

import bayesregret as br
from bayesregret.policy_data import as_policy
from bayesregret.store import ClosedError, ConflictError, UnknownError
from bayesregret.store.events import decision_id

ARMS = ["blue", "green"]


def start(store, bandit, policy="bayes-ucb", **settings):
    return store.start("checkout", bandit, policy, **({"horizon": 1000, "arms": ARMS} | settings))


def test_a_key_has_one_decision_and_a_decision_one_reward(store, two_arms):
    experiment = start(store, two_arms)
    first, other = experiment.decide("a"), experiment.decide("b")
    assert first == experiment.decide("a") != other
    assert (first.arm, first.name) == (0, "blue")
    assert experiment.decide() != experiment.decide()
    for _ in range(3):
        experiment.reward(first.id, 1)
    assert experiment.agent().pulls.tolist() == [1, 0]
    assert [event.kind for event in experiment.log()] == ["decide"] * 4 + ["reward"]


def test_another_reward_is_refused_and_changes_nothing(store, two_arms):
    experiment = start(store, two_arms)
    decision = experiment.decide()
    experiment.reward(decision.id, 1.0)
    before = experiment.state()
    with pytest.raises(ConflictError, match=re.escape(f"decision {decision.id} has the reward 1 already, got 0")):
        experiment.reward(decision.id, 0.0)
    assert experiment.state() == before


REQUESTS = [("decide", "a"), ("decide", "b"), ("reward", "a"), ("reward", "b"), ("reward", "a"), ("decide", "a")]


def test_any_order_of_decisions_and_rewards_gives_the_agent_of_that_order(sqlite, two_arms):
    """Every order in which no reward comes before its decision, repetitions included."""
    orders = sorted(set(itertools.permutations(REQUESTS)))
    possible = [order for order in orders if all(order.index(("decide", k)) < order.index(("reward", k)) for k in "ab")]
    assert len(possible) == 45
    for number, order in enumerate(possible[::5]):
        experiment = sqlite.start(f"order-{number}", two_arms, "thompson", horizon=100, seed=3)
        agent = br.Thompson().start(two_arms, horizon=100, seed=3, arms=["arm-0", "arm-1"])
        arms, rewarded = {}, set()
        for what, key in order:
            if what == "decide":
                arms.setdefault(key, None)
                decision = experiment.decide(key)
                if arms[key] is None:
                    arms[key] = agent.select()
                assert decision.arm == arms[key]
            else:
                experiment.reward(experiment.decide(key).id, 1.0)
                if key not in rewarded:
                    agent.update(arms[key], 1.0)
                rewarded.add(key)
        assert experiment.agent().to_json() == agent.to_json()


BANDITS = {
    "bernoulli": br.BernoulliBandit([1, 1, 2], [1, 3, 1]),
    "gaussian": br.GaussianBandit([0, 0.5, 0], 1, 1),
    "heteroscedastic": br.GaussianBandit([0, 0.5, 0], [1, 2, 1], 1),
    "poisson": br.PoissonBandit([1, 2, 3], [1, 1, 1]),
    "exponential": br.ExponentialBandit([3, 3, 4], [1, 2, 1]),
    "normal-gamma": br.NormalGammaBandit([0, 0, 1], 1, 3, 2),
    "linear": br.LinearBandit([[1, 0], [0.6, 0.8], [0, 1]], [0, 0], prior_width=1, reward_noise=1),
    "mixture": br.MixtureBandit(
        [0.5, 0.5], [br.BernoulliBandit([2] * 3, [8] * 3), br.BernoulliBandit([6] * 3, [4] * 3)]
    ),
}
# Of each kind of agent some; those that compute long in plain Python are left to the compiled pass.
POLICIES = {
    "bernoulli": ["bayes-ucb", "thompson", "explore-commit"],
    "gaussian": ["ucb1", "kl-ucb", "thompson"],
    "heteroscedastic": ["bayes-ucb", "epsilon-greedy"],
    "poisson": ["thompson", "greedy"],
    "exponential": ["bayes-ucb", "thompson"],
    "normal-gamma": ["thompson", "greedy"],
    "linear": ["bayes-ucb", "lin-ucb", "thompson"],
    "mixture": ["bayes-ucb", "thompson"],
}


@pytest.mark.parametrize("kind", BANDITS)
def test_a_replay_and_a_reopened_store_have_the_bits_of_the_live_state(sqlite_url, kind, monkeypatch):
    """For every model, with a snapshot in the middle."""
    monkeypatch.setattr("bayesregret.store.live.SNAPSHOT_EVERY", 7)
    for policy in POLICIES[kind]:
        compare_with_replays(sqlite_url, policy, BANDITS[kind], 8)


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("kind", BANDITS)
def test_the_same_for_every_policy(sqlite_url, kind, monkeypatch):
    monkeypatch.setattr("bayesregret.store.live.SNAPSHOT_EVERY", 17)
    played = [policy for policy in br.Policy.classes if runs(as_policy(policy), BANDITS[kind])]
    assert len(played) >= 5
    for policy in played:
        compare_with_replays(sqlite_url, policy, BANDITS[kind], 25)


def runs(policy, bandit):
    try:
        policy.start(bandit, horizon=60)
    except ValueError:
        return False
    return True


def compare_with_replays(url, policy, bandit, rounds):
    with br.experiments(url) as store:
        experiment = store.start(policy, bandit, policy, horizon=60, seed=5)
        play(experiment, bandit, rounds, random.Random(1))
        live = experiment.state()
        experiment.replay()
    with br.experiments(url) as store:
        experiment = store.experiment(policy)
        assert experiment.state() == live
        play(experiment, bandit, rounds, random.Random(2))
        experiment.replay()
        assert experiment.agent().to_json() == fed(experiment, bandit).to_json()


def play(experiment, bandit, rounds, draw):
    """Decide, and give rewards late and in another order."""
    waiting = []
    for _ in range(rounds):
        waiting.append(experiment.decide())
        draw.shuffle(waiting)
        while len(waiting) > 3:
            experiment.reward(waiting.pop().id, reward_for(bandit, draw))


def reward_for(bandit, draw):
    return draw.choice([0.0, 1.0]) if bandit.kind in ("bernoulli", "mixture", "poisson") else draw.uniform(0.0, 2.0)


def fed(experiment, bandit):
    agent = experiment.policy.start(bandit, horizon=experiment.horizon, seed=experiment.seed, arms=experiment.arms)
    for event in experiment.log():
        if event.kind == "decide":
            assert agent.select() == event.arm
        else:
            agent.update(event.arm, event.reward)
    return agent


def test_the_horizon_ends_decisions_but_not_rewards(store, two_arms):
    experiment = start(store, two_arms, horizon=3)
    decisions = experiment.decide_many(["a", "b"])
    with pytest.raises(ClosedError, match="the experiment has 1 of its 3 rounds left, not 2"):
        experiment.decide_many(2)
    experiment.decide("c")
    assert not experiment.running
    with pytest.raises(ClosedError, match="the experiment's 3 rounds are over"):
        experiment.decide("d")
    assert experiment.decide("b") == decisions[1]
    experiment.reward(decisions[0].id, 1)


def test_a_stopped_experiment_takes_late_rewards(store, two_arms):
    experiment = start(store, two_arms)
    decision = experiment.decide("a")
    experiment.stop()
    experiment.stop()
    assert not experiment.running
    with pytest.raises(ClosedError, match="the experiment was stopped"):
        experiment.decide("b")
    with pytest.raises(ClosedError, match="the experiment was stopped"):
        experiment.pause("blue")
    assert experiment.decide("a") == decision
    experiment.reward(decision.id, 1)
    assert [event.kind for event in experiment.log()] == ["decide", "stop", "reward"]
    experiment.replay()


def test_many_rewards_are_recorded_together_or_not_at_all(store, two_arms):
    experiment = start(store, two_arms)
    first, second = experiment.decide_many(2)
    with pytest.raises(ConflictError):
        experiment.reward_many([(first.id, 1), (second.id, 0), (first.id, 0)])
    assert experiment.agent().pulls.sum() == 0
    experiment.reward_many([(first.id, 1), (second.id, 0), (first.id, 1)])
    assert experiment.agent().pulls.sum() == 2


def test_an_error_of_one_request_spoils_no_other(store, two_arms):
    experiment = start(store, two_arms)
    decision = experiment.decide("a")
    results = experiment.apply(
        [("reward", decision.id, 1), ("reward", decision.id, 0), ("decide", "a"), ("reward", "1-", 0), ("decide", None)]
    )
    assert [type(result).__name__ for result in results] == [
        "NoneType",
        "ConflictError",
        "Decision",
        "UnknownError",
        "Decision",
    ]
    assert experiment.agent().pulls.tolist() == [1, 0]


# --- expiry ----------------------------------------------------------------------------------------------------------


def test_a_missing_reward_counts_as_zero_after_the_window(store, two_arms, clock):
    experiment = start(store, two_arms, reward_after=60)
    first = experiment.decide()
    clock.now += 30
    second = experiment.decide()
    clock.now += 29.9
    experiment.expire()
    assert experiment.agent().pending.sum() == 2
    clock.now += 0.1
    experiment.reward(second.id, 1)
    assert experiment.agent().pulls.sum() == 2
    assert experiment.agent().pending.sum() == 0
    experiment.reward(first.id, 0)  # what it counts as
    with pytest.raises(ConflictError, match=f"decision {first.id} had no reward within 60 s, so it counts as 0"):
        experiment.reward(first.id, 1)
    assert [(e.kind, e.decision, e.reward) for e in experiment.log()][2:] == [("expire", 1, 0.0), ("reward", 2, 1.0)]
    experiment.replay()


def test_a_lost_reward_is_forgotten(store, two_arms, clock):
    experiment = start(store, two_arms, reward_after=60, missing="lost")
    decisions = experiment.decide_many(5)
    experiment.reward(decisions[3].id, 1)
    clock.now += 60
    experiment.expire()
    agent = experiment.agent()
    assert (agent.pulls.sum(), agent.pending.sum()) == (1, 0)
    with pytest.raises(ConflictError, match="had no reward within 60 s, so its reward is lost"):
        experiment.reward(decisions[0].id, 0)
    experiment.replay()


def test_expiry_goes_on_in_another_process_and_finds_each_decision_once(sqlite_url, two_arms, clock):
    for _ in range(3):
        with br.experiments(sqlite_url, clock=clock) as store:
            known = store.names()
            experiment = store.experiment("checkout") if known else start(store, two_arms, reward_after=10)
            for _ in range(4):
                experiment.decide()
                clock.now += 3
    with br.experiments(sqlite_url, clock=clock) as store:
        experiment = store.experiment("checkout")
        clock.now += 100
        experiment.expire()
        expired = [event.decision for event in experiment.log() if event.kind == "expire"]
        decided = [event.number for event in experiment.log() if event.kind == "decide"]
        assert expired == decided
        experiment.replay()


def test_a_reward_of_zero_must_be_one_that_the_model_gives(sqlite, monkeypatch):
    def refuse(self, reward):
        raise ValueError("reward must be positive")

    bandit = br.ExponentialBandit([2, 2], [1, 1])
    monkeypatch.setattr(br.ExponentialBandit, "check_reward", refuse)
    with pytest.raises(ValueError, match='missing must be "lost" for an exponential bandit, which gives no reward'):
        sqlite.start("x", bandit, "greedy", horizon=9, reward_after=60)
    sqlite.start("x", bandit, "greedy", horizon=9, reward_after=60, missing="lost")


def test_the_window_may_be_a_timedelta(sqlite, two_arms, clock):
    experiment = start(sqlite, two_arms, reward_after=datetime.timedelta(minutes=1))
    experiment.decide()
    clock.now += 59
    experiment.expire()
    assert experiment.agent().pulls.sum() == 0
    clock.now += 1
    experiment.expire()
    assert experiment.agent().pulls.sum() == 1


def test_progress_of_a_window_is_in_the_order_of_decisions(sqlite, two_arms, clock):
    """The test of the prior takes only rewards before the first decision that waits: zeros come later than ones."""
    experiment = start(sqlite, two_arms, reward_after=60)
    decisions = experiment.decide_many(4)
    clock.now += 1
    experiment.reward(decisions[3].id, 1)
    experiment.reward(decisions[0].id, 1)
    progress = experiment.progress()
    assert (progress.reward_arms.tolist(), progress.tested) == ([decisions[0].arm, decisions[3].arm], 1)
    clock.now += 60
    experiment.expire()
    progress = experiment.progress()
    assert (progress.rewards.tolist(), progress.tested) == ([1, 0, 0, 1], 4)
    assert progress.reward_arms.tolist() == [decision.arm for decision in decisions]


def test_time_never_goes_back(store, two_arms, clock):
    experiment = start(store, two_arms)
    experiment.decide()
    clock.now -= 1000
    experiment.decide()
    times = [event.time for event in experiment.log()]
    assert times[0] == times[1]


# --- threads ---------------------------------------------------------------------------------------------------------


def test_threads_share_transactions_and_get_their_own_results(sqlite, two_arms):
    experiment = start(sqlite, two_arms)
    errors, decided = [], {}

    def work(place):
        try:
            for number in range(5):
                key = f"{place}-{number}"
                decided[key] = experiment.decide(key)
                assert experiment.decide(key) == decided[key]
                experiment.reward(decided[key].id, 1.0)
                with pytest.raises(ConflictError):
                    experiment.reward(decided[key].id, 0.0)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len({decision.id for decision in decided.values()}) == 60
    by_key = {event.key: event.arm for event in experiment.log() if event.kind == "decide"}
    assert by_key == {key: decision.arm for key, decision in decided.items()}
    experiment.replay()


# --- what it reports -------------------------------------------------------------------------------------------------


def test_progress_has_the_facts_of_the_log(store, two_arms, clock):
    experiment = start(store, two_arms, unit="visitor", reward_after=60, missing="lost")
    decisions = experiment.decide_many(6)
    for decision in decisions[:3]:
        experiment.reward(decision.id, decision.arm)
    clock.now += 60
    experiment.decide()
    experiment.pause("green")
    progress = experiment.progress()
    assert (progress.name, progress.arms, progress.unit, progress.paused) == ("checkout", tuple(ARMS), "visitor", (1,))
    assert progress.decisions.sum() == 7
    assert progress.pending.sum() == 1
    assert progress.equal_split.tolist() == [3.5, 3.5]
    assert progress.reward_arms.tolist() == [decision.arm for decision in decisions[:3]]
    assert np.array_equal(progress.rewards, progress.reward_arms)
    assert (progress.started, progress.last) == (1_000_000.0, 1_000_060.0)
    experiment.reward(experiment.decide().id, 1)
    assert len(experiment.progress().rewards) == 4


def test_the_status_is_that_of_the_log(sqlite, two_arms):
    experiment = start(sqlite, two_arms, policy="thompson", seed=1)
    for _ in range(40):
        decision = experiment.decide()
        experiment.reward(decision.id, decision.arm)
    status = experiment.status(exact=False)
    assert status.progress.sums.counts.tolist() == experiment.agent().pulls.tolist()
    assert re.search(rf"green +{experiment.agent().pulls[1]} ", str(status))


# --- bad input -------------------------------------------------------------------------------------------------------


def test_rewards_that_the_model_cannot_give_are_refused(sqlite, two_arms):
    experiment = start(sqlite, two_arms)
    decision = experiment.decide()
    for value, message in [(0.5, "reward must be 0 or 1, got 0.5"), ("1", "reward must be 0 or 1, got '1'")]:
        with pytest.raises(ValueError, match=re.escape(message)):
            experiment.reward(decision.id, value)
    assert experiment.agent().pulls.sum() == 0


@pytest.mark.parametrize("wrong", ["1-00000000", "x", "1", "", "0-00000000", "99999999999999999999-00000000"])
def test_wrong_ids_reward_no_other_decision(sqlite, two_arms, wrong):
    experiment = start(sqlite, two_arms)
    experiment.decide()
    with pytest.raises(UnknownError, match="decision must be the id of one of checkout, got"):
        experiment.reward(wrong, 1)


def test_ids_of_another_experiment_and_of_rewards_are_refused(sqlite, two_arms):
    experiment, other = start(sqlite, two_arms), sqlite.start("other", two_arms, "ucb1", horizon=10)
    decision = experiment.decide()
    other.decide()
    with pytest.raises(UnknownError):
        other.reward(decision.id, 1)
    experiment.reward(decision.id, 1)
    with pytest.raises(UnknownError, match="decision must be one of this experiment"):
        experiment.reward(decision_id(experiment._uuid, 2), 1)  # the event of a reward


def test_numpys_texts_and_numbers_are_stored_as_pythons(sqlite_url, two_arms):
    """Checksums are of Python's, which is what comes back."""
    with br.experiments(sqlite_url, clock=lambda: np.float64(7.5)) as store:
        experiment = start(store, two_arms, arms=np.array(ARMS), horizon=np.int64(9), seed=np.int64(2))
        decision = experiment.decide(np.str_("a"))
        experiment.reward(np.str_(decision.id), np.float64(1))
        experiment.add_arm(np.str_("red"), {"alpha": np.float64(1), "beta": np.int64(2)})
        experiment.pause(np.int64(0))
        experiment.replay()


def test_a_reward_of_minus_zero_is_zero(store):
    experiment = store.start("x", br.GaussianBandit([0, 0], 1, 1), "ucb1", horizon=9)
    experiment.reward(experiment.decide().id, -0.0)
    experiment.replay()
    assert experiment.decide().number == 3


def test_wrong_shapes_are_refused_in_one_line(sqlite, two_arms):
    experiment = start(sqlite, two_arms)
    decision = experiment.decide()
    for rewards in ([decision.id], [(decision.id,)], 7, decision.id):
        with pytest.raises(ValueError, match="rewards must be a list of pairs, the id of a decision and its reward"):
            experiment.reward_many(rewards)
    for request in (7, ("decide",), ("sing", "a"), None, "decide"):
        (error,) = experiment.apply([request])
        assert str(error).startswith('request must be ("decide", key) or ("reward", decision, value), got')
    for keys in ("ab", None, True, -1):
        with pytest.raises(ValueError, match="keys must be a"):
            experiment.decide_many(keys)
    assert len(list(experiment.log())) == 1


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", 7, "\0"])
def test_keys_are_short_printable_texts(sqlite, two_arms, key):
    with pytest.raises(ValueError, match="key must be a printable text of 1 to 200 letters"):
        start(sqlite, two_arms).decide(key)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": 0}, "horizon must be a whole number, at least 1, got 0"),
        ({"arms": ["blue"]}, "arms must be a list of different texts, one for each arm, got 1 for 2 arms"),
        ({"reward_after": 0}, "reward_after must be a positive number of seconds, or a timedelta, got 0"),
        ({"missing": "none"}, 'missing must be "zero" or "lost", got \'none\''),
        ({"unit": ""}, "unit must be a printable text of 1 to 40 letters, got ''"),
        ({"policy": "thomson"}, "did you mean thompson?"),
        ({"seed": -1}, "seed must be a whole number, at least 0, got -1"),
        ({"policy": "gittins:discount=0.5,prior=1"}, "policy gittins has no setting 'prior'"),
    ],
)
def test_bad_settings_are_refused_in_one_line(sqlite, two_arms, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        start(sqlite, two_arms, **settings)
    assert sqlite.names() == []


def test_names_are_new_and_simple(sqlite, two_arms):
    start(sqlite, two_arms)
    with pytest.raises(ConflictError, match="name must be new in this store, got 'checkout'"):
        start(sqlite, two_arms)
    with pytest.raises(UnknownError, match=r"there is no experiment 'chekout'; did you mean checkout\?"):
        sqlite.experiment("chekout")
    for name in ("", "a b", "../x", 7, "x" * 101):
        with pytest.raises(ValueError, match="name must be 1 to 100 letters"):
            sqlite.start(name, two_arms, "ucb1", horizon=10)


def test_a_policy_that_does_not_run_on_the_bandit_is_refused_at_the_start(sqlite, two_arms):
    with pytest.raises(ValueError, match="lin-ucb, which needs features"):
        sqlite.start("x", two_arms, "lin-ucb", horizon=10)
    assert sqlite.names() == []


def test_fitted_priors_and_policies_with_a_prior_come_back(sqlite_url, two_arms):
    policy = br.BayesUCB(delta=0.1, prior=br.BernoulliBandit([2, 1], [1, 2]))
    with br.experiments(sqlite_url) as store:
        start(store, two_arms, policy)
    with br.experiments(sqlite_url) as store:
        experiment = store.experiment("checkout")
        assert (experiment.policy, experiment.problem, experiment.arms) == (policy, two_arms, tuple(ARMS))
