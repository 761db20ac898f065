"""Priors are found again in histories that were drawn from them."""

import math

import numpy as np
import pytest
from scipy.special import logit

import bayesregret as br
from bayesregret.priors.optimiser import maximise
from priors.histories import one_experiment, simulated

MANY = 40  # histories
TRUTHS = {
    "bernoulli": {"location": -2.0, "spread": 0.02},
    "poisson": {"location": 0.5, "spread": 0.05},
    "gaussian": {"location": 100.0, "spread": 0.25},
}


def true_parameters(fitted, location, spread, level_spread=None):
    point = fitted.point._replace(location=location, spread=spread)
    named = fitted.family.parameters(point) | ({} if level_spread is None else {"level_spread": level_spread})
    return {name: value for name, value in named.items() if name != "reward_noise"}


def scores(fitted, truth):
    return np.array([(fitted.parameters[name] - truth[name]) / fitted.standard_errors[name] for name in truth])


@pytest.mark.parametrize("model", TRUTHS)
def test_levels_and_arms_are_distinguished(model):
    history = simulated(model, seed=11, experiments=60, arms=4, pulls=150, level_spread=1.0, **TRUTHS[model])
    fitted = br.fit_prior(history, model=model)
    truth = true_parameters(fitted, **TRUTHS[model], level_spread=1.0)
    assert fitted.grouped
    assert np.abs(scores(fitted, truth)).max() < 3.5
    assert fitted.comparison.p_value < 1e-6
    assert not fitted.warnings
    assert fitted.level_quantile(0.05) < fitted.level < fitted.level_quantile(0.95)
    # The control: what one level for all says of the width is far from the truth.
    alone = br.fit_prior(history, model=model, grouped=False)
    width = alone.family.width_name
    assert alone.parameters[width] > truth[width] + 5.0 * alone.standard_errors[width]
    assert any("count as differences of arms" in warning for warning in alone.warnings)
    assert alone.log_likelihood < fitted.log_likelihood
    assert alone.comparison == fitted.comparison


def test_means_far_from_0_are_fitted_like_those_near_it():
    near = simulated("gaussian", seed=5, experiments=6, arms=5, pulls=50, location=0.0, spread=4.0, level_spread=3.0)
    far = near | {"mean": near["mean"] + 1e12}
    first, second = (br.fit_prior(history, model="gaussian") for history in (near, far))
    assert second.parameters["prior_mean"] == pytest.approx(1e12 + first.parameters["prior_mean"], rel=1e-15)
    for name, error in first.standard_errors.items():
        assert second.standard_errors[name] == pytest.approx(error, rel=1e-3)
    assert second.parameters["prior_width"] == pytest.approx(first.parameters["prior_width"], rel=1e-3)
    assert second.log_likelihood == pytest.approx(first.log_likelihood, abs=0.01)


@pytest.mark.parametrize("model", TRUTHS)
def test_standard_errors_are_those_of_many_histories(model):
    """Scores have deviation 1; were errors three times as large or as small, it would be noticed."""
    found = []
    for seed in range(MANY):
        fitted = br.fit_prior(one_experiment(model, seed, **TRUTHS[model]), model=model)
        found.append(scores(fitted, true_parameters(fitted, **TRUTHS[model])))
    deviations = np.sqrt(np.mean(np.square(found), axis=0))
    error = 1.0 / math.sqrt(2.0 * MANY)
    assert np.abs(deviations - 1.0).max() < 4.0 * error
    assert np.abs(3.0 * deviations - 1.0).min() > 4.0 * error
    assert np.abs(deviations / 3.0 - 1.0).min() > 4.0 * error
    assert fitted.comparison is None


def test_standard_errors_with_levels_are_those_of_many_histories():
    truth = TRUTHS["gaussian"]
    found = []
    for seed in range(MANY):
        history = simulated("gaussian", seed=seed, experiments=30, arms=3, pulls=60, level_spread=0.8, **truth)
        fitted = br.fit_prior(history, model="gaussian")
        found.append(scores(fitted, true_parameters(fitted, **truth, level_spread=0.8)))
    deviations = np.sqrt(np.mean(np.square(found), axis=0))
    assert np.abs(deviations - 1.0).max() < 4.0 / math.sqrt(2.0 * MANY)


def test_the_comparison_has_its_distribution_under_one_level():
    values = np.array(
        [
            br.fit_prior(
                simulated("gaussian", seed=seed, experiments=20, arms=3, pulls=60, **TRUTHS["gaussian"]),
                model="gaussian",
            ).comparison.p_value
            for seed in range(MANY)
        ]
    )
    error = math.sqrt(0.25 / MANY)
    assert abs(np.mean(values == 1.0) - 0.5) < 4.0 * error
    assert abs(np.mean(values < 0.25) - 0.25) < 4.0 * error


def test_the_noise_is_pooled():
    history = {
        "experiment": [1, 1, 2],
        "arm": [1, 2, 1],
        "pulls": [3, 2, 1],
        "mean": [0, 3, 9],
        "variance": [2, 5, None],
    }
    fitted = br.fit_prior(history, model="gaussian")
    assert fitted.parameters["reward_noise"] == pytest.approx(math.sqrt((2 * 2 + 1 * 5) / 3))
    assert fitted.standard_errors["reward_noise"] == pytest.approx(math.sqrt(3.0) / math.sqrt(6.0))
    given = br.fit_prior(history, model="gaussian", reward_noise=2.0)
    assert (given.parameters["reward_noise"], given.standard_errors["reward_noise"]) == (2.0, 0.0)


@pytest.mark.parametrize("seed", [3, 41])
def test_the_top_is_reached_where_levels_hardly_differ(seed):
    """Steep in the location and flat in the level spread: the climb stopped at its start, without standard errors."""
    history = simulated("poisson", seed=seed, experiments=24, arms=2, pulls=100, location=0.5, spread=0.05)
    fitted = br.fit_prior(history, model="poisson")
    assert all(math.isfinite(error) for error in fitted.standard_errors.values())
    for factor in (0.9, 1.1):
        beside = fitted.point._replace(level_spread=factor * fitted.point.level_spread)
        assert fitted.family.log_likelihood(beside) < fitted.log_likelihood


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_units_do_not_matter(factor):
    history = simulated(
        "gaussian", seed=1, experiments=10, arms=3, pulls=20, location=3.0, spread=1.0, level_spread=1.0
    )
    scaled = history | {"mean": factor * history["mean"], "variance": factor**2 * history["variance"]}
    fitted, other = (br.fit_prior(each, model="gaussian") for each in (history, scaled))
    for name, value in fitted.parameters.items():
        assert other.parameters[name] == pytest.approx(factor * value, rel=1e-4)
        assert other.standard_errors[name] == pytest.approx(factor * fitted.standard_errors[name], rel=1e-3)


# --- what a fit gives -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    history = simulated("bernoulli", seed=5, experiments=20, arms=3, pulls=300, level_spread=0.6, **TRUTHS["bernoulli"])
    return br.fit_prior(history, model="bernoulli")


def moments(bandit):
    precision = bandit.alpha + bandit.beta
    mean = bandit.alpha / precision
    return mean, np.sqrt(mean * (1.0 - mean) / (precision + 1.0))


def test_a_new_experiment_may_have_a_known_level(fitted):
    typical = fitted.bandit(4, level=fitted.level, uncertainty=False)
    assert typical.arms == 4
    assert typical.alpha == pytest.approx(fitted.parameters["alpha"])
    assert typical.beta == pytest.approx(fitted.parameters["beta"])
    assert moments(typical)[1] == pytest.approx(fitted.width)
    higher = fitted.bandit(2, level=0.4, uncertainty=False)
    assert higher.alpha + higher.beta == pytest.approx((typical.alpha + typical.beta)[:2])
    assert moments(higher)[0] == pytest.approx(0.4)
    wider = fitted.bandit(2, level=0.4, width=0.2)
    assert moments(wider)[1] == pytest.approx(0.2)
    assert isinstance(fitted.bandit(2, level=0.4), br.MixtureBandit)  # over widths
    with pytest.raises(ValueError, match="uncertainty must be True or False, got 1"):
        fitted.bandit(2, uncertainty=1)


@pytest.mark.parametrize("model", ["poisson", "gaussian"])
def test_bandits_have_the_fitted_parameters(model):
    fitted = br.fit_prior(one_experiment(model, 3, **TRUTHS[model]), model=model)
    data = fitted.bandit(2, level=fitted.level, uncertainty=False).to_dict()
    names = ("shape", "rate") if model == "poisson" else ("prior_mean", "prior_width", "reward_noise")
    for name in names:
        assert np.ravel(data[name])[0] == pytest.approx(fitted.parameters[name])
    assert fitted.bandit(1, level=7.0, width=0.5).arms == 1


def test_the_problem_file_is_read_by_others(fitted, tmp_path):
    made = fitted.save(tmp_path / "problem.toml", 3, level=0.2)
    assert br.load_problem(tmp_path / "problem.toml") == made == fitted.bandit(3, level=0.2)


def test_it_is_printed_with_its_errors(fitted):
    lines = repr(fitted).splitlines()
    assert [line.split()[0] for line in lines[2:7]] == ["alpha", "beta", "mean", "width", "level_spread"]
    assert all(" ± " in line for line in lines[2:7])
    assert lines[7] == (
        "bernoulli prior from 60 arms of 20 experiments, one level per experiment, "
        "mean and width at the typical level; ± one standard error"
    )
    assert lines[8].startswith("one level per experiment against one for all: likelihood ratio ")
    data = fitted.to_dict()
    assert (data["arms"], data["experiments"], data["pulls"], data["grouped"]) == (60, 20, 18_000, True)
    assert data["comparison"] == {
        "likelihood_ratio": fitted.comparison.likelihood_ratio,
        "p_value": fitted.comparison.p_value,
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"arms": 0}, "arms must be a whole number, at least 1"),
        ({"arms": 2, "level": 1.0}, "level must be a number strictly between 0 and 1, got 1.0"),
        ({"arms": 2, "width": 0.0}, "width must be a positive number, got 0.0"),
        ({"arms": 2, "level": 0.5, "width": 0.6}, "width must be below 0.5 for arms around the level 0.5, got 0.6"),
    ],
)
def test_no_such_experiment(fitted, arguments, said):
    with pytest.raises(ValueError, match=said):
        fitted.bandit(**arguments)
    with pytest.raises(ValueError, match="share must be a number strictly between 0 and 1, got 1"):
        fitted.level_quantile(1)


# --- what the data cannot determine ---------------------------------------------------------------------------------


def rows(*arms):
    """(experiment, pulls, successes)."""
    experiments, pulls, successes = zip(*arms, strict=True)
    return {"experiment": experiments, "arm": range(len(arms)), "pulls": pulls, "successes": successes}


def test_arms_that_do_not_differ():
    fitted = br.fit_prior(rows((1, 500, 20), (1, 500, 22), (1, 500, 21), (1, 500, 20)), model="bernoulli")
    assert fitted.parameters["width"] == 0.0
    assert math.isinf(fitted.parameters["alpha"])
    assert math.isinf(fitted.standard_errors["width"])
    assert math.isfinite(fitted.standard_errors["mean"])
    assert "arms differ by no more than chance explains" in fitted.warnings[0]
    assert fitted.warnings[1:] == (
        "there is only one experiment, and its level is used for all",
        "only 4 arms: standard errors are rough themselves",
    )
    assert "0, up to" in repr(fitted)
    assert "alpha infinite" in " ".join(repr(fitted).split())
    with pytest.raises(ValueError, match="width must be given: the history's arms differ by no more than chance"):
        fitted.bandit(3)
    assert fitted.bandit(3, width=0.01).arms == 3


def test_the_largest_likely_width_is_where_the_likelihood_falls():
    fitted = br.fit_prior(rows((1, 500, 20), (1, 500, 22), (1, 500, 21), (1, 500, 20)), model="bernoulli")
    limit = fitted.upper_limits["width"]

    def best(width):
        def likelihood(x):
            mean = fitted.level + 0.01 * x[0]
            share = width**2 / (mean * (1.0 - mean))
            return fitted.family.log_likelihood(
                fitted.point._replace(location=logit(mean), spread=share / (1.0 - share))
            )

        start, limits = np.zeros(1), np.array([[-2.0, 2.0]])
        return maximise(likelihood, likelihood, [start], limits, 0).value

    assert best(limit) == pytest.approx(fitted.log_likelihood - 1.3528, abs=0.05)
    assert best(1.5 * limit) < fitted.log_likelihood - 2.0, "the control"


def test_levels_that_do_not_differ():
    fitted = br.fit_prior(
        rows((1, 99, 10), (1, 99, 40), (2, 99, 12), (2, 99, 41), (3, 99, 39), (3, 99, 9)), model="bernoulli"
    )
    assert fitted.parameters["level_spread"] == 0.0
    assert fitted.comparison.p_value == 1.0
    assert "one level for all" in fitted.summary()
    assert any("levels of experiments differ by no more than chance" in warning for warning in fitted.warnings)
    assert fitted.level == fitted.level_quantile(0.9)


@pytest.mark.parametrize(
    ("history", "model", "said"),
    [
        (rows((1, 99, 10), (2, 99, 40), (3, 99, 30)), "bernoulli", "every experiment has only one arm, so levels and"),
        (rows((1, 99, 10), (1, 99, 11), (2, 99, 40), (2, 99, 44)), "bernoulli", "only 2 experiments: level_spread is"),
        (rows((1, 9, 0), (1, 9, 9), (1, 9, 0)), "bernoulli", "the likelihood is flat or highest at a limit"),
        (rows((1, 60, 12), (1, 60, 24), (1, 60, 17)), "bernoulli", "width is known only roughly: "),
        (
            {
                "experiment": [1] * 5,
                "arm": range(5),
                "pulls": [4] * 5,
                "mean": [0, 4.5, 2, 3.5, 1],
                "variance": [9] * 5,
            },
            "gaussian",
            "100% of the arms have fewer pulls than the prior pseudo-count, about ",
        ),
        (
            {"experiment": [1] * 4, "arm": range(4), "pulls": [2] * 4, "events": [1, 9, 4, 2]},
            "poisson",
            "only 4 arms: standard errors are rough themselves",
        ),
    ],
)
def test_warnings(history, model, said):
    fitted = br.fit_prior(history, model=model)
    assert any(warning.startswith(said) for warning in fitted.warnings)
    assert not any(math.isnan(value) for value in (*fitted.parameters.values(), *fitted.standard_errors.values()))


def test_gaussian_arms_that_do_not_differ():
    history = {"experiment": [1] * 3, "arm": range(3), "pulls": [9] * 3, "mean": [1, 1.1, 1.2], "variance": [9] * 3}
    fitted = br.fit_prior(history, model="gaussian")
    assert fitted.parameters["prior_width"] == 0.0
    assert not any("pseudo-count" in warning for warning in fitted.warnings)
    assert fitted.bandit(2, width=0.1, uncertainty=False).prior_width == 0.1


@pytest.mark.parametrize(
    ("history", "arguments", "said"),
    [
        (rows((1, 9, 3)), {}, "history must have at least 2 arms with pulls, got 1"),
        (rows((1, 9, 0), (2, 7, 0)), {}, "history must have arms that differ, but every arm has the mean 0; "),
        (rows((1, 9, 3), (2, 6, 2)), {}, "history must have arms that differ, but every arm has the mean 0.3333; "),
        (rows((1, 1, 1), (2, 1, 0)), {}, "pulls must be at least 2 for some arm: single pulls do not show how much"),
        (rows((1, 9, 3), (1, 9, 8)), {"grouped": True}, "grouped=True cannot be: there is only one experiment"),
        (
            rows((1, 9, 3), (2, 9, 8)),
            {"grouped": True},
            "grouped=True cannot be: every experiment has only one arm",
        ),
        (rows((1, 9, 3), (2, 9, 8)), {"grouped": 1}, "grouped must be True, False or None, got 1"),
        (rows((1, 9, 3), (2, 9, 8)), {"reward_noise": 1.0}, "reward_noise goes with gaussian only, not with bernoulli"),
        (rows((1, 9, 3), (2, 9, 8)), {"model": "cauchy"}, 'model must be "bernoulli" or "gaussian" or "poisson", got'),
        (
            {"experiment": [1, 1], "arm": [1, 2], "reward": [1, 2]},
            {"model": "gaussian"},
            "reward_noise must be given: every arm has one pull",
        ),
        (
            {"experiment": [1] * 4, "arm": [1, 2] * 2, "reward": [1, 2] * 2},
            {"model": "gaussian"},
            "reward_noise must be given: the rewards of every arm are all equal",
        ),
        (
            {"experiment": [1] * 4, "arm": [1, 2] * 2, "reward": [1, 2, 3, 5]},
            {"model": "gaussian", "reward_noise": -1},
            "reward_noise must be a positive number, got -1",
        ),
    ],
)
def test_no_fit_without_the_data_for_it(history, arguments, said):
    with pytest.raises(ValueError, match="^" + said.replace("(", r"\(")) as raised:
        br.fit_prior(history, **{"model": "bernoulli", **arguments})
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("seed", range(24))
def test_whatever_a_small_history_holds(seed):
    """Arms that never or always win, huge and tiny counts, experiments of one arm: a prior, or one line."""
    rng = np.random.default_rng(seed)
    arms, model = int(rng.integers(2, 7)), list(TRUTHS)[seed % 3]
    pulls = rng.integers(0, 3 + 10 ** rng.integers(0, 7), arms)
    history = {"experiment": rng.integers(0, 3, arms), "arm": range(arms), "pulls": pulls}
    if model == "bernoulli":
        history["successes"] = rng.binomial(pulls, rng.choice([0.0, 1.0, 0.5, 1e-4], arms))
    elif model == "poisson":
        history["total"] = rng.poisson(pulls * rng.choice([0.0, 1.0, 1e-4, 300.0], arms))
    else:
        history |= {"mean": rng.choice([0.0, 1e6, -1.0], arms) + rng.normal(size=arms), "variance": [1e-8] * arms}
    try:
        fitted = br.fit_prior(history, model=model)
    except ValueError as error:
        said = str(error)
    else:
        assert not any(math.isnan(value) for value in (*fitted.parameters.values(), *fitted.standard_errors.values()))
        assert math.isfinite(fitted.log_likelihood)
        said = repr(fitted).replace("\n", " ")
    assert said.isprintable()
