"""Exact regret on mixtures: weighted means of the components' regrets."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret import UCB1, BayesUCB, BernoulliBandit, GaussianBandit, MixtureBandit, PoissonBandit, exact_regret
from bayesregret.exact import ExactRegret
from bayesregret.exact.availability import why_simulated
from bayesregret.exact.mixture import weighted_regret

WEIGHTS = [0.3, 0.7]
LOW, HIGH = BernoulliBandit([1, 2], [5, 4]), BernoulliBandit([3, 3], [3, 2])
LEVELS = MixtureBandit(WEIGHTS, [LOW, HIGH])
CALM, WILD = GaussianBandit([0.0, 0.5], 1.0, 0.5), GaussianBandit([1.0, 0.0], 0.5, 2.0)
NOISES = MixtureBandit(WEIGHTS, [CALM, WILD])
FIXED = {
    "levels, conjugate": (LEVELS, BayesUCB(prior=LEVELS.conjugate())),
    "levels, one component": (LEVELS, BayesUCB(0.1, prior=LOW)),
    "noises, one component": (NOISES, BayesUCB(prior=WILD)),
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", FIXED)
def test_every_number_is_the_weighted_mean_of_the_components(name):
    mixture, policy = FIXED[name]
    found = exact_regret(mixture, policy, horizon=8)
    parts = [exact_regret(bandit, policy, horizon=8) for bandit in mixture.bandits]
    assert found.bandit is mixture
    assert found.policy == policy.name
    assert found.delta == parts[0].delta
    for field in ("curve", "curve_error", "pulls", "imbalance", "regret", "error", "best_chance", "best_share"):
        expected = sum(w * np.asarray(getattr(part, field)) for w, part in zip(WEIGHTS, parts, strict=True))
        assert getattr(found, field) == pytest.approx(expected, rel=1e-12), field
    assert found.regret != pytest.approx(np.mean([part.regret for part in parts]), rel=1e-3)  # weights matter
    assert found.to_dict()["problem"] == mixture.to_dict()
    assert "mixture bandit, 8 rounds" in str(found)


def made_up(bandit, scale, chance):
    """A result whose numbers are multiples of each other."""
    curve = scale * np.arange(1.0, 4.0)
    return ExactRegret(bandit, "ucb1", 3, None, curve, 1e-9 * curve, curve[:2], 1e-8 * scale, lambda: chance)


def test_numbers_are_weighted_one_by_one():
    parts = [made_up(LOW, 1.0, np.full(3, 0.5)), made_up(HIGH, 2.0, np.full(3, 0.9))]
    found = weighted_regret(LEVELS, parts)
    assert found.curve.tolist() == pytest.approx([1.7, 3.4, 5.1])
    assert (found.regret, found.error, found.imbalance) == pytest.approx((5.1, 5.1e-9, 1.7e-8))
    assert found.pulls.tolist() == pytest.approx([1.7, 3.4])
    assert found.best_chance.tolist() == pytest.approx([0.3 * 0.5 + 0.7 * 0.9] * 3)
    assert weighted_regret(LEVELS, [parts[0], made_up(HIGH, 2.0, None)]).best_chance is None


@pytest.mark.compiled
def test_ucb1_uses_the_largest_noise_in_every_component():
    """Its regret in the calm component is that of a policy that believes in the noise of the other."""
    found = exact_regret(NOISES, UCB1(), horizon=6)
    own = [exact_regret(bandit, UCB1(), horizon=6).regret for bandit in NOISES.bandits]
    assert found.regret != pytest.approx(np.dot(WEIGHTS, own), rel=1e-3)
    simulated = br.simulate(NOISES, UCB1(), horizon=6, runs=1_500, seed=1, progress=False)["ucb1"]
    assert abs(simulated.mean - found.regret) < 4 * simulated.stderr
    assert abs(simulated.mean - 1.25 * found.regret) > 4 * simulated.stderr  # the control


@pytest.mark.compiled
@pytest.mark.parametrize("name", FIXED)
def test_simulations_agree(name):
    mixture, policy = FIXED[name]
    found = exact_regret(mixture, policy, horizon=30)
    simulated = br.simulate(mixture, policy, horizon=30, runs=40_000, seed=2, progress=False)
    comparison = simulated.against_exact({policy.name: found})
    assert abs(comparison[policy.name].z) < 4
    swapped = exact_regret(MixtureBandit(WEIGHTS[::-1], mixture.bandits), policy, horizon=30)
    assert abs(simulated[policy.name].mean - swapped.regret) > 4 * simulated[policy.name].stderr  # the control


@pytest.mark.parametrize(
    ("bandit", "policy", "message"),
    [
        (LEVELS, BayesUCB(), "prior must be a single bandit .* believes in a mixture is simulated"),
        (LOW, BayesUCB(prior=LEVELS), "prior must be a single bandit .* believes in a mixture is simulated"),
        (NOISES, BayesUCB(prior=NOISES.conjugate()), "prior must have independent arms"),
        (LEVELS, br.Thompson(prior=LOW), "policy must have an index that changes only"),
        (
            MixtureBandit([0.5, 0.5], [PoissonBandit([1, 1], [1, 1]), PoissonBandit([1, 2], [1, 1])]),
            br.Greedy(),
            "bandit must be gaussian or bernoulli for an exact regret, got a poisson one",
        ),
    ],
)
def test_what_is_simulated_is_one_line(bandit, policy, message):
    with pytest.raises(ValueError, match=message) as caught:
        exact_regret(bandit, policy, horizon=3)
    assert "\n" not in str(caught.value)


def test_components_take_their_times_one_after_the_other():
    assert why_simulated(LEVELS, 150, None) is None
    assert "more than a second" in why_simulated(LEVELS, 151, None)
    assert why_simulated(LEVELS, 10**6, True) is None
    assert why_simulated(LEVELS, 1, False) == "a simulation was requested"
    counts = MixtureBandit([1.0], [PoissonBandit([1, 1], [1, 1])])
    assert why_simulated(counts, 1, None) == "the exact regret of a poisson bandit cannot be computed"
