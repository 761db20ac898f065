"""Exposure that is not whole: likelihood, predictions and fits against brute force."""

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import bayesregret as br
from bayesregret.priors.calibration import check_fit
from bayesregret.priors.families.family import PriorPoint
from bayesregret.priors.families.poisson import PoissonArms
from bayesregret.priors.history import read_history

LOCATION, SPREAD, LEVEL_SPREAD = 0.4, 0.15, 0.5
EXPOSURE = (0.013, 0.5, 2.75, 40.2, 7.0, 1e-6)
EVENTS = (0, 2, 3, 61, 12, 1)


@pytest.fixture(scope="module")
def family():
    history = {"experiment": [1, 1, 1, 2, 2, 2], "arm": range(6), "exposure": EXPOSURE, "events": EVENTS}
    return PoissonArms(read_history(history, "poisson"))


def simulated(seed, experiments=60, arms=4):
    """Exposures between 1/20 and 20."""
    rng = np.random.default_rng(seed)
    experiment = np.repeat(np.arange(experiments), arms)
    level = np.exp(LOCATION + LEVEL_SPREAD * rng.normal(size=experiments))[experiment]
    exposure = np.exp(rng.uniform(-3.0, 3.0, len(experiment)))
    events = rng.poisson(exposure * level * rng.gamma(1.0 / SPREAD, SPREAD, len(experiment)))
    return {"experiment": experiment, "arm": np.arange(len(experiment)), "exposure": exposure, "events": events}


def integral(exposure, events, location, spread):
    """Probability of the events: the mean of Poisson probabilities over the prior of the rate, with 30 digits."""
    with mpmath.workdps(30):
        shape, rate = 1 / mpmath.mpf(spread), 1 / (mpmath.mpf(spread) * mpmath.exp(location))

        def density(theta):
            prior = rate**shape * theta ** (shape - 1) * mpmath.exp(-rate * theta) / mpmath.gamma(shape)
            return prior * mpmath.exp(-exposure * theta) * (exposure * theta) ** events / mpmath.factorial(events)

        return mpmath.quad(density, [0, 0.5, 1, 2, 4, 8, 16, mpmath.inf])


@pytest.mark.parametrize("spread", [2.0, 0.15])
def test_the_likelihood_is_an_integral_over_rates(family, spread):
    found = family.log_marginals(np.asarray(LOCATION), spread)
    alone = [float(mpmath.log(integral(*arm, LOCATION, spread))) for arm in zip(EXPOSURE, EVENTS, strict=True)]
    assert found == pytest.approx(alone, rel=1e-10, abs=1e-10)


def closed_form(exposure, events, location, spread):
    """The integral in closed form, the negative binomial probability, with 40 digits."""
    with mpmath.workdps(40):
        shape, more = 1 / mpmath.mpf(spread), mpmath.mpf(spread) * exposure * mpmath.exp(location)
        return mpmath.rf(shape, events) / mpmath.factorial(events) * (more / (1 + more)) ** events / (1 + more) ** shape


@pytest.mark.parametrize("spread", [2.0, 0.15, 1e-3, 1e-8])
def test_narrow_priors_of_rates_keep_their_digits(family, spread):
    found = family.log_marginals(np.asarray(LOCATION), spread)
    less, at_most = family.observed_cdf(np.full(6, LOCATION), spread)
    for arm, (exposure, events) in enumerate(zip(EXPOSURE, EVENTS, strict=True)):
        probabilities = [closed_form(exposure, count, LOCATION, spread) for count in range(events + 1)]
        assert found[arm] == pytest.approx(float(mpmath.log(probabilities[-1])), rel=1e-10, abs=1e-10)
        assert less[arm] == pytest.approx(float(mpmath.fsum(probabilities[:-1])), abs=1e-12)
        assert at_most[arm] == pytest.approx(float(mpmath.fsum(probabilities)), abs=1e-12)


def test_levels_are_integrated_out(family):
    point = PriorPoint(LOCATION, SPREAD, LEVEL_SPREAD)
    places, step = np.linspace(-10.0, 10.0, 20_001, retstep=True)
    of_arms = family.log_marginals((LOCATION + LEVEL_SPREAD * places)[:, None], SPREAD)
    by_force = [
        logsumexp(of_arms[:, arms].sum(axis=1) + stats.norm.logpdf(places)) + np.log(step)
        for arms in (slice(0, 3), slice(3, 6))
    ]
    assert family.log_likelihood(point) == pytest.approx(sum(by_force), abs=1e-7)


def test_predictions_of_counts(family):
    """Distribution function, mean and variance from sums over all counts."""
    counts = np.arange(3_000)
    mean, variance = family.observed_moments(np.full(6, LOCATION), SPREAD)
    less, at_most = family.observed_cdf(np.full(6, LOCATION), SPREAD)
    for arm, (exposure, events) in enumerate(zip(EXPOSURE, EVENTS, strict=True)):
        probability = stats.nbinom(1.0 / SPREAD, 1.0 / (1.0 + SPREAD * exposure * np.exp(LOCATION))).pmf(counts)
        assert float(integral(exposure, events, LOCATION, SPREAD)) == pytest.approx(probability[events], rel=1e-10)
        assert mean[arm] == pytest.approx((probability * counts / exposure).sum(), rel=1e-9)
        assert variance[arm] == pytest.approx((probability * (counts / exposure - mean[arm]) ** 2).sum(), rel=1e-9)
        assert less[arm] == pytest.approx(probability[:events].sum(), abs=1e-12)
        assert at_most[arm] == pytest.approx(probability[: events + 1].sum(), rel=1e-12)


@pytest.mark.parametrize("probability", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("excess", [1e-12, 0.01, 0.7, 30.0])
def test_ends_of_predictions(family, probability, excess):
    """The smallest total with enough probability, against SciPy's."""
    mean = np.array([0.02, 0.3, 1.5, 4.0, 100.0, 1e6])  # rates
    expected = np.array(EXPOSURE) * mean
    found = family.observed_quantile(probability, mean, mean * (1.0 + excess) / EXPOSURE)
    other = stats.nbinom(expected / excess, 1.0 / (1.0 + excess)) if excess > 1e-9 else stats.poisson(expected)
    assert found == pytest.approx(other.ppf(probability) / EXPOSURE, rel=1e-12)


def test_predictions_of_huge_totals_end(family):
    mean = np.full(6, 1e40)
    found = family.observed_quantile(0.95, mean, 0.01 * mean**2)
    assert found == pytest.approx(mean * 0.1**2 * stats.gamma(100.0).ppf(0.95), rel=1e-6)


def test_the_unit_of_exposure_does_not_matter():
    hours = simulated(2)
    days = hours | {"exposure": hours["exposure"] / 24.0}
    per_hour, per_day = (br.fit_prior(history, model="poisson") for history in (hours, days))
    assert per_day.parameters["shape"] == pytest.approx(per_hour.parameters["shape"], rel=1e-4)
    assert per_day.parameters["mean"] == pytest.approx(24.0 * per_hour.parameters["mean"], rel=1e-4)
    assert per_day.parameters["rate"] == pytest.approx(per_hour.parameters["rate"] / 24.0, rel=1e-4)
    assert per_day.log_likelihood == pytest.approx(per_hour.log_likelihood, abs=1e-6)
    assert check_fit(per_day).p_value == pytest.approx(check_fit(per_hour).p_value, rel=1e-3)


def test_the_prior_is_found_again():
    history = simulated(5)
    fitted = br.fit_prior(history, model="poisson")
    truth = fitted.family.parameters(PriorPoint(LOCATION, SPREAD)) | {"level_spread": LEVEL_SPREAD}
    scores = [(fitted.parameters[name] - value) / fitted.standard_errors[name] for name, value in truth.items()]
    assert np.abs(scores).max() < 3.5
    check = check_fit(fitted)
    assert check.p_value > 0.01
    assert check.outside.mean() < 0.1 + 4.0 * np.sqrt(0.09 / 240)
    assert (check.low[check.history.totals == 0] == 0.0).mean() > 0.9, "few events: an arm without any is no surprise"
    # The control: the same events with exposures rounded up to whole numbers.
    rounded = br.fit_prior(history | {"exposure": np.ceil(history["exposure"])}, model="poisson")
    error = rounded.standard_errors["mean"]
    assert rounded.parameters["mean"] < truth["mean"] - 3.5 * error


def test_the_picture_of_exposures(tmp_path):
    pytest.importorskip("matplotlib")
    from bayesregret.plotting import save_prior_fit

    save_prior_fit(br.fit_prior(simulated(3, experiments=8), model="poisson"), tmp_path / "fit.svg")
    assert (tmp_path / "fit.svg").stat().st_size > 10_000
