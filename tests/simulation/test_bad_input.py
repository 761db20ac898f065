"""Bad input to every constructor and to `simulate`: one clear line that names the field."""

from functools import partial

import numpy as np
import pytest

import bayesregret as br

NAN, INF = float("nan"), float("inf")
HUGE = 10**400

gaussian = partial(br.GaussianBandit, prior_mean=[1.0, 0.0], prior_width=1.0, reward_noise=1.0)
bernoulli = partial(br.BernoulliBandit, alpha=[1.0, 2.0], beta=[1.0, 1.0])
linear = partial(br.LinearBandit, features=[[1.0, 0.0], [0.0, 1.0]], prior_mean=[0.0, 0.0], reward_noise=1.0)
linear_by_width = partial(linear, prior_width=1.0)
simulate = partial(br.simulate, gaussian(), br.BayesUCB(), horizon=5, runs=2, seed=0)

VECTORS = [
    [],
    [[1.0, 0.0]],
    [[1.0], [1.0, 2.0]],
    [1.0, NAN],
    [INF, 0.0],
    [1.0, -1e60],
    [1.0, HUGE],
    ["1", "2"],
    [None, 1.0],
    [True, False],
    [1j, 0.0],
    "12",
    b"12",
    {"a": 1.0},
    {1.0, 2.0},
    1.0,
    None,
]
POSITIVE = [0, 0.0, -1, -1e-9, NAN, INF, -INF, 1e60, 1e-60, HUGE, "1", None, True, [1.0], 1j]
POSITIVE_VECTORS = [*VECTORS, [0.0, 1.0], [1.0, -2.0], [1.0, 1e-60]]
WHOLE = [0, -1, 1.0, 2.5, NAN, INF, "3", None, True, [3], np.float64(3.0)]
SHARE = [0, 1, 0.0, 1.0, -0.1, 1.5, NAN, INF, HUGE, "0.1", True, [0.1]]
COVARIANCES = [
    [[1.0, 0.5], [0.4, 1.0]],
    [[1.0, 2.0], [2.0, 1.0]],
    [[-1.0, 0.0], [0.0, 1.0]],
    [[1.0, 0.0]],
    [[1.0]],
    np.eye(3),
    [1.0, 1.0],
    [[1.0, NAN], [NAN, 1.0]],
    [[INF, 0.0], [0.0, 1.0]],
    [["1", "0"], ["0", "1"]],
    [[True, False], [False, True]],
    [],
    "eye",
    1.0,
]


def cases(call, field, values):
    return [pytest.param(call, field, value, id=f"{field}-{number}") for number, value in enumerate(values)]


@pytest.mark.parametrize(
    ("call", "field", "value"),
    [
        *cases(gaussian, "prior_mean", VECTORS),
        *cases(gaussian, "prior_width", POSITIVE),
        *cases(gaussian, "reward_noise", POSITIVE),
        *cases(gaussian, "noise_kind", ["laplace", "", None, 1, ["gaussian"], "Gaussian"]),
        *cases(bernoulli, "alpha", [*POSITIVE_VECTORS, [1.0], [1.0, 1.0, 1.0]]),
        *cases(bernoulli, "beta", [*POSITIVE_VECTORS, [1.0], [1.0, 1.0, 1.0]]),
        *cases(
            linear_by_width, "features", [*(v for v in VECTORS if v != [[1.0, 0.0]]), [[]], [[1.0]], np.ones((2, 3))]
        ),
        *cases(linear_by_width, "features", [np.ones((1, 2, 2)), [[NAN, 0.0]], np.zeros((0, 2)), np.zeros((2, 0))]),
        *cases(linear_by_width, "prior_mean", [*VECTORS, [1.0], [1.0, 2.0, 3.0]]),
        *cases(linear, "prior_width", POSITIVE),
        *cases(linear, "prior_cov", COVARIANCES),
        *cases(linear_by_width, "prior_cov", [np.eye(2)]),
        *cases(linear_by_width, "reward_noise", POSITIVE),
        *cases(br.BayesUCB, "delta", SHARE),
        *cases(br.UCB1, "delta", SHARE),
        *cases(br.BayesUCB, "prior", [1.0, "gaussian", [1.0, 0.0], {"model": "gaussian"}, br.GaussianBandit]),
        *cases(simulate, "horizon", [*WHOLE, HUGE, 10**13]),
        *cases(simulate, "runs", [*WHOLE, HUGE]),
        *cases(simulate, "seed", [-1, 1.0, NAN, "0", None, True, [1]]),
        *cases(simulate, "threads", [0, -1, 1.5, "2", True]),
        *cases(partial(simulate, max_runs=10), "precision", SHARE),
        *cases(partial(simulate, precision=0.1), "max_runs", [1, 0, -1, 2.5, "5", True, NAN]),
        *cases(
            simulate,
            "checkpoints",
            [
                [],
                0,
                [0],
                [6],
                [-1, 2],
                [1.0, 2.0],
                ["1"],
                "12",
                [True],
                True,
                [NAN],
                [[1, 2]],
                [[1], [1, 2]],
                {1, 2},
                2.5,
            ],
        ),
    ],
)
def test_one_line_that_names_the_field(call, field, value):
    with pytest.raises(ValueError, match=field) as caught:
        call(**{field: value})
    message = str(caught.value)
    assert "must" in message
    assert "\n" not in message
    assert len(message) < 200
    assert message[0] != " "


@pytest.mark.parametrize("call", [gaussian, bernoulli, linear_by_width, simulate])
def test_the_same_calls_with_good_input(call):
    """The control: what is tried above fails for the field alone."""
    assert call() is not None


def test_neither_covariance_nor_width():
    with pytest.raises(ValueError, match=r"^one of prior_cov and prior_width must be given, and not both$"):
        linear()


@pytest.mark.parametrize("bandit", [None, "gaussian", {"model": "gaussian"}, [1.0], br.GaussianBandit, br.BayesUCB()])
def test_not_a_bandit(bandit):
    with pytest.raises(ValueError, match=r"^bandit must be a bandit such as GaussianBandit, got "):
        br.simulate(bandit, br.BayesUCB(), horizon=5, runs=2, seed=0)


@pytest.mark.parametrize(
    "policies", [None, "bayes", "", 3, [], ["ucb"], [br.UCB1], br.UCB1, [br.UCB1(), None], [[br.UCB1()]], gaussian()]
)
def test_not_policies(policies):
    with pytest.raises(ValueError, match=r"^polic(y|ies) must be .*, got .+$"):
        br.simulate(gaussian(), policies, horizon=5, runs=2, seed=0)


def test_which_covariance_is_wrong_and_why():
    with pytest.raises(ValueError, match=r"^prior_cov must be .* 2 by 2, but is not symmetric$"):
        linear(prior_cov=[[1.0, 0.5], [0.4, 1.0]])
    with pytest.raises(ValueError, match=r"^prior_cov must be .* 2 by 2, but has the eigenvalue -1$"):
        linear(prior_cov=[[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"^prior_cov must be .* 2 by 2, got 3 by 3$"):
        linear(prior_cov=np.eye(3))


def test_a_small_negative_eigenvalue_beside_a_large_one():
    """What is small beside the rest may still be more than rounding."""
    with pytest.raises(ValueError, match=r"^prior_cov must be .* but has the eigenvalue -1e-06$"):
        linear(prior_cov=np.diag([1.0, -1e-6]))


def test_the_number_of_rounds_must_be_given():
    with pytest.raises(TypeError, match="horizon"):
        br.simulate(gaussian(), br.BayesUCB(), runs=1, seed=0)
    with pytest.raises(TypeError):
        br.simulate(gaussian(), br.BayesUCB(), 5, 1, 0)  # keyword-only


def test_a_quantile_outside_its_range():
    with pytest.raises(ValueError, match=r"^share must be a number between 0 and 1, got 1.5$"):
        simulate()["bayes-ucb"].quantile(1.5)
