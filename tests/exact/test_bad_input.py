"""Bad input to `exact_regret`: one clear line that names the field."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import arm_index, posterior_mean

NAN, INF = float("nan"), float("inf")
G, B = br.GaussianBandit, br.BernoulliBandit
gaussian = partial(br.exact_regret, G([1.0, 0.0], 1.0, 1.0), br.BayesUCB(), horizon=2)
bernoulli = partial(br.exact_regret, B([1.0, 2.0], [1.0, 1.0]), br.BayesUCB(), horizon=2)
linear_bandit = br.LinearBandit([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], prior_width=1.0, reward_noise=1.0)
compiled = pytest.mark.compiled


class ByCount(NamedTuple):
    bonus: float


@arm_index.implement(ByCount)
def by_count(policy, model, arm, count, total):
    return posterior_mean(model, arm, count, total) + policy.bonus / (1 + count)


class Falling(NamedTuple):
    bonus: float


@arm_index.implement(Falling)
def falls_with_wins(policy, model, arm, count, total):
    return policy.bonus - total


class Nameless(NamedTuple):
    """Implements nothing."""


@dataclass(frozen=True)
class Own(br.Policy):
    name = "test-own-index"
    made: object = ByCount(0.3)

    def settings(self, bandit, horizon):
        return self.made


def one_line(caught):
    message = str(caught.value)
    assert "\n" not in message
    assert 0 < len(message) < 240


HORIZONS = [0, -1, 1.0, 1.5, NAN, INF, "a", "3", None, True, [3], np.float64(3.0), 10**9, 10**400]
DELTAS = [0, 1, 2, 0.0, 1.0, -0.1, 1.5, NAN, INF, 10**400, "0.1", True, [0.1]]


@pytest.mark.parametrize("horizon", HORIZONS, ids=str)
@pytest.mark.parametrize("call", [gaussian, bernoulli], ids=["gaussian", "bernoulli"])
def test_horizon(call, horizon):
    with pytest.raises(
        ValueError, match=r"^horizon must be a whole number, at least 1 and at most \d+, got "
    ) as caught:
        call(horizon=horizon)
    one_line(caught)


@pytest.mark.parametrize("delta", DELTAS, ids=str)
@pytest.mark.parametrize("call", [gaussian, bernoulli], ids=["gaussian", "bernoulli"])
def test_delta(call, delta):
    with pytest.raises(ValueError, match=r"^delta must be a number strictly between 0 and 1, got ") as caught:
        call(delta=delta)
    one_line(caught)


@pytest.mark.parametrize("accuracy", [0, -1, NAN, INF, "0.1", True, [0.1], 1e60], ids=str)
@pytest.mark.parametrize("call", [gaussian, bernoulli], ids=["gaussian", "bernoulli"])
def test_accuracy(call, accuracy):
    with pytest.raises(ValueError, match=r"^accuracy must be ") as caught:
        call(accuracy=accuracy)
    one_line(caught)


@pytest.mark.parametrize("policy", [br.BayesUCB(delta=0.1), br.UCB1(delta=0.1)], ids=["bayes-ucb", "ucb1"])
def test_delta_twice(policy):
    with pytest.raises(ValueError, match=r"^delta must be given once, got 0\.1 for the policy and 0\.2$"):
        br.exact_regret(G([1.0, 0.0], 1.0, 1.0), policy, horizon=2, delta=0.2)


def test_a_policy_without_delta():
    with pytest.raises(ValueError, match=r"^delta does not go with test-own-index, which has no delta$"):
        br.exact_regret(B([1.0], [1.0]), Own(), horizon=2, delta=0.1)


@pytest.mark.parametrize("bandit", [None, "gaussian", {"model": "gaussian"}, [1.0], G, br.BayesUCB()], ids=repr)
def test_not_a_bandit(bandit):
    with pytest.raises(ValueError, match=r"^bandit must be a bandit such as GaussianBandit, got ") as caught:
        br.exact_regret(bandit, br.BayesUCB(), horizon=2)
    one_line(caught)


@pytest.mark.parametrize("policy", [None, "bayes", br.UCB1, [br.UCB1()], linear_bandit], ids=repr)
def test_not_a_policy(policy):
    with pytest.raises(ValueError, match=r"^policy must be .*, got ") as caught:
        br.exact_regret(G([1.0, 0.0], 1.0, 1.0), policy, horizon=2)
    one_line(caught)


@pytest.mark.parametrize("policy", [br.BayesUCB(), br.UCB1()], ids=["bayes-ucb", "ucb1"])
def test_a_linear_bandit(policy):
    with pytest.raises(ValueError, match=r"^bandit must be gaussian or bernoulli .* got a linear one: ") as caught:
        br.exact_regret(linear_bandit, policy, horizon=2)
    one_line(caught)


def test_another_kind_of_bandit():
    class Other(br.Bandit):
        kind = "test-other"
        arms = 2

    with pytest.raises(ValueError, match=r"^bandit must be gaussian or bernoulli .* got a test-other one$"):
        br.exact_regret(Other(), br.BayesUCB(), horizon=2)


def test_rademacher_noise():
    with pytest.raises(ValueError, match=r"^noise_kind must be gaussian .* got rademacher") as caught:
        br.exact_regret(G([1.0, 0.0], 1.0, 1.0, noise_kind="rademacher"), br.BayesUCB(), horizon=2)
    one_line(caught)


@pytest.mark.parametrize(
    ("bandit", "prior"),
    [
        (G([1.0, 0.0], 1.0, 1.0), G([1.0, 0.0, 0.0], 1.0, 1.0)),
        (G([1.0, 0.0], 1.0, 1.0), G([1.0], 1.0, 1.0)),
        (B([1.0, 1.0], [1.0, 1.0]), B([1.0], [1.0])),
        (B([1.0, 1.0], [1.0, 1.0]), G([1.0, 0.0, 0.0], 1.0, 1.0)),
    ],
    ids=["three", "one", "bernoulli", "gaussian belief"],
)
def test_a_prior_of_other_arms(bandit, prior):
    with pytest.raises(ValueError, match=r"^prior must have the bandit's 2 arms, got "):
        br.exact_regret(bandit, br.BayesUCB(prior=prior), horizon=2)


def test_a_bernoulli_prior_for_gaussian_rewards():
    with pytest.raises(ValueError, match=r"^prior must be one that can learn from gaussian rewards"):
        br.exact_regret(G([1.0, 0.0], 1.0, 1.0), br.BayesUCB(prior=B([1.0, 1.0], [1.0, 1.0])), horizon=2)


@pytest.mark.parametrize("bandit", [G([1.0, 0.0], 1.0, 1.0), B([1.0, 2.0], [1.0, 1.0])], ids=["gaussian", "bernoulli"])
def test_a_linear_prior(bandit):
    """Under it an arm's rewards carry information about the other arms."""
    with pytest.raises(ValueError, match="prior") as caught:
        br.exact_regret(bandit, br.BayesUCB(prior=linear_bandit), horizon=2)
    one_line(caught)


def test_an_index_that_is_no_mean_plus_width():
    with pytest.raises(ValueError, match=r"^policy must have a confidence width .* gaussian bandit, got ") as caught:
        br.exact_regret(G([1.0, 0.0], 1.0, 1.0), Own(), horizon=2)
    one_line(caught)


@pytest.mark.parametrize("made", [Falling(0.3), ByCount(NAN)], ids=["falling", "nan"])
def test_an_index_that_falls_with_wins(made):
    with pytest.raises(ValueError, match=r"^policy must have an index that never falls") as caught:
        br.exact_regret(B([1.0, 1.0], [1.0, 1.0]), Own(made), horizon=3)
    one_line(caught)


@pytest.mark.parametrize("bandit", [G([1.0, 0.0], 1.0, 1.0), B([1.0, 2.0], [1.0, 1.0])], ids=["gaussian", "bernoulli"])
def test_settings_without_a_formula(bandit):
    with pytest.raises(TypeError, match="must implement confidence_width, arm_index, rising_index or choose_arm"):
        br.exact_regret(bandit, Own(Nameless()), horizon=2)


def test_horizon_must_be_given_by_name():
    with pytest.raises(TypeError, match="horizon"):
        br.exact_regret(G([1.0], 1.0, 1.0), br.BayesUCB())
    with pytest.raises(TypeError):
        br.exact_regret(G([1.0], 1.0, 1.0), br.BayesUCB(), 5)


@pytest.mark.parametrize("call", [gaussian, bernoulli], ids=["gaussian", "bernoulli"])
def test_the_same_calls_with_good_input(call):
    """The control: what is tried above fails for the field alone."""
    assert call().regret > 0.0
    assert call(delta=0.3).delta == 0.3


# --- priors that are wildly wrong ----------------------------------------------------------------------------------

WILD = {
    "far too high": (G([0.0, 0.0], 1.0, 1.0), G([1e3, 1e3], 1.0, 1.0)),
    "far too low": (G([0.0, 0.0], 1.0, 1.0), G([-1e3, 0.0], 1.0, 1.0)),
    "both far too low": (G([0.0, 0.0], 1.0, 1.0), G([-1e3, -1e3], 1.0, 1.0)),
    "far too high, narrow": (G([0.0, 0.0], 1e-3, 1.0), G([1.0, 0.0], 1e-3, 1.0)),
    "absurdly high": (G([0.0, 0.0], 1.0, 1.0), G([1e50, 0.0], 1.0, 1.0)),
    "absurdly low": (G([0.0, 0.0], 1.0, 1.0), G([-1e50, 0.0], 1.0, 1.0)),
    "too sure": (G([0.0, 0.0], 1.0, 1.0), G([0.0, 0.0], 1e-2, 1.0)),
    "absurdly sure": (G([0.0, 0.0], 1.0, 1.0), G([0.0, 0.0], 1e-50, 1.0)),
    "too unsure": (G([0.0, 0.0], 1e-3, 1.0), G([0.0, 0.0], 1.0, 1.0)),
    "absurdly unsure": (G([0.0, 0.0], 1.0, 1.0), G([0.0, 0.0], 1e50, 1.0)),
    "noise believed absurd": (G([0.0, 0.0], 1.0, 1.0), G([0.0, 0.0], 1.0, 1e50)),
    "no noise believed": (G([0.0, 0.0], 1.0, 1.0), G([0.0, 0.0], 1.0, 1e-50)),
}
EXTREME = {
    "narrow": G([0.0, 1e-10], 1e-10, 1.0),
    "absurdly narrow": G([0.0, 1e-50], 1e-50, 1.0),
    "wide": G([0.0, 1.0], 1e10, 1.0),
    "absurdly wide": G([0.0, 1.0], 1e50, 1.0),
    "large units": G([0.0, 1e50], 1e50, 1e50),
    "small units": G([0.0, 1e-50], 1e-50, 1e-50),
    "absurdly far apart": G([0.0, 1e50], 1.0, 1.0),
}


@pytest.fixture
def patience():
    """Interrupt a test after a minute, where the computation would otherwise take forever."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(60)
    yield
    signal.alarm(0)


def check_right_or_refused(bandit, policy):
    """Either numbers that agree with simulation, or one line that names the prior."""
    try:
        found = br.exact_regret(bandit, policy, horizon=4)
    except ValueError as error:
        message = str(error)
        assert message.startswith("prior")
        assert "\n" not in message
        assert len(message) < 240
        return
    simulated = br.simulate(bandit, policy, horizon=4, runs=50_000, seed=9)[policy.name]
    assert np.isfinite(found.curve).all()
    assert np.isfinite(found.curve_error).all()
    assert found.imbalance <= 1e-6
    assert abs(found.regret - simulated.mean) <= 4.5 * simulated.stderr + found.error + 1e-9 * bandit.prior_width


@pytest.mark.parametrize("name", WILD)
@compiled
def test_wildly_wrong_priors(name, patience):
    bandit, prior = WILD[name]
    check_right_or_refused(bandit, br.BayesUCB(delta=0.1, prior=prior))


@pytest.mark.parametrize("policy", [br.BayesUCB(delta=0.1), br.UCB1(delta=0.1)], ids=["bayes-ucb", "ucb1"])
@pytest.mark.parametrize("name", EXTREME)
@compiled
@pytest.mark.slow
@pytest.mark.compiled
def test_extreme_bandits(name, policy, patience):
    check_right_or_refused(EXTREME[name], policy)


@pytest.mark.parametrize(
    "prior", [B([1e6, 1.0], [1.0, 1e6]), G([1e3, -1e3], 1.0, 1.0), G([0.5, 0.5], 1e-50, 1.0), G([1e50, 0.0], 1.0, 1.0)]
)
@compiled
def test_wildly_wrong_priors_of_bernoulli_arms(prior, patience):
    """The first arm is pulled whatever comes: the best of two uniform arms has mean 2/3."""
    found = br.exact_regret(B([1.0, 1.0], [1.0, 1.0]), br.BayesUCB(delta=0.1, prior=prior), horizon=4)
    if prior != G([0.5, 0.5], 1e-50, 1.0):
        assert found.pulls == pytest.approx([4.0, 0.0], abs=1e-10)
    assert found.regret == pytest.approx(4 * (2 / 3 - 1 / 2), rel=1e-10)


# --- a process that has compiled nothing yet -----------------------------------------------------------------------

FIRST_CALLS = {
    "right": "br.BayesUCB()",
    "wrong": "br.BayesUCB(prior=br.GaussianBandit([0.0, 0.0], 1.5, 1.0))",
}


@pytest.mark.parametrize("name", FIRST_CALLS)
@compiled
@pytest.mark.slow
@pytest.mark.compiled
def test_the_first_call_of_a_process(name, tmp_path):
    """Threads may ask for a kernel that nobody compiled before; nothing is kept on disk here."""
    code = (
        "import bayesregret as br\n"
        f"print(br.exact_regret(br.GaussianBandit([1.0, 0.0], 1.0, 1.0), {FIRST_CALLS[name]}, horizon=2).regret)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-600:]
    assert float(done.stdout) > 0.0


MOVING = [br.Thompson(), br.QuantileUCB(), br.KLUCB(), br.ExploreCommit(), br.Gittins(), br.InformationDirected()]


@pytest.mark.parametrize("call", [gaussian, bernoulli], ids=["gaussian", "bernoulli"])
@pytest.mark.parametrize("policy", MOVING, ids=lambda policy: policy.name)
def test_policies_that_move_with_time_are_refused(call, policy):
    bandit, _ = call.args
    said = (
        "policy must have an index that changes only with the arm's own rewards for an exact regret, "
        f"got {policy.name} on a "
    )
    with pytest.raises(ValueError, match=said + bandit.kind):
        br.exact_regret(bandit, policy, horizon=5)


def test_a_prior_without_a_width_is_refused():
    unknown_noise = br.NormalGammaBandit([1.0, 0.0], prior_pulls=1.0, shape=2.0, scale=1.0)
    with pytest.raises(ValueError, match="policy must have an index that changes only with the arm's own rewards"):
        br.exact_regret(G([1.0, 0.0], 1.0, 1.0), br.BayesUCB(prior=unknown_noise), horizon=5)
