"""What an agent has learned about each arm: against draws of the posterior, for every model, and as people see it."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import ndtr

import bayesregret as br
from agent.test_remaining import BANDITS, played
from models.test_mixture import MIXTURES

DRAWS = 8_000


@pytest.fixture(scope="module", params=BANDITS)
def agent(request):
    return played(br.Thompson(), BANDITS[request.param], rounds=30)[0]


def test_the_table_is_that_of_draws(agent):
    """Instances of the posterior bandit, which test_after.py compares with Bayes' rule."""
    found, bandit = agent.posterior(level=0.9), agent.bandit()
    draws = bandit.draw_means(DRAWS, seed=3)
    wins = np.bincount(draws.argmax(axis=1), minlength=bandit.arms) / DRAWS
    shares = found.best_probability
    errors = np.sqrt(np.maximum(shares * (1 - shares), 1 / DRAWS) / DRAWS + found.best_stderr**2)
    assert (np.abs(wins - shares) / errors).max() < 4.0
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    tail_error = np.sqrt(0.05 * 0.95 / DRAWS)
    assert np.abs((draws < found.low).mean(axis=0) - 0.05).max() < 4 * tail_error
    assert np.abs((draws > found.high).mean(axis=0) - 0.05).max() < 4 * tail_error
    deviations = draws.std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(draws.mean(axis=0) - found.mean) / deviations).max() < 4.0
    # The control: the prior's arms.
    before = type(agent.policy)().start(agent.problem).posterior(level=0.9)
    assert (np.abs(wins - before.best_probability) / errors).max() > 4.0
    assert np.abs((draws < before.low).mean(axis=0) - 0.05).max() > 4 * tail_error


def test_pulls_level_and_names(agent):
    found = agent.posterior()
    assert found.pulls.tolist() == agent.pulls.tolist()
    assert (found.level, found.kind, found.arms) == (0.95, agent.problem.kind, agent.arms)
    assert (found.low < found.high).all()
    wider = agent.posterior(level=0.99)
    assert (wider.low < found.low).all()
    assert (wider.high > found.high).all()
    assert wider.best_probability.tolist() == found.best_probability.tolist()


@pytest.mark.parametrize("level", [0, 1, 1.5, "0.9", None, np.nan])
def test_a_bad_level_is_refused(level):
    with pytest.raises(ValueError, match=r"^level must be a number strictly between 0 and 1, got [^\n]*$"):
        br.Thompson().start(BANDITS["bernoulli"]).posterior(level=level)


def test_the_prior_is_that_of_the_problem():
    prior = br.BernoulliBandit([50, 1, 1], [1, 50, 50])
    agents = [policy.start(BANDITS["bernoulli"]) for policy in (br.Thompson(), br.Thompson(prior=prior), br.KLUCB())]
    for agent in agents:
        agent.update_many([0, 1, 2, 2], [1, 0, 0, 1])
    first, *others = [agent.posterior().to_dict() for agent in agents]
    assert all(other == first for other in others)


def test_pending_pulls_do_not_count():
    agent = br.BayesUCB(delta=0.1).start(BANDITS["bernoulli"])
    before = agent.posterior().to_dict()
    agent.select()
    assert agent.posterior().to_dict() == before


EQUAL = {
    "gaussian": br.GaussianBandit([1.0] * 5, 1, 1),
    "bernoulli": br.BernoulliBandit([2.0] * 5, [3.0] * 5),
    "poisson": br.PoissonBandit([2.0] * 5, [3.0] * 5),
    "exponential": br.ExponentialBandit([2.0] * 5, [3.0] * 5),
    "normal-gamma": br.NormalGammaBandit([2.0] * 5, 1, 2, 3),
    "one for all": br.LinearBandit([[1.0]] * 5, [0.0], prior_width=1, reward_noise=1),
    "a shared level": br.LinearBandit(np.eye(5), np.zeros(5), np.eye(5) + 2.0, reward_noise=1),
    "mixture": br.MixtureBandit(
        [0.5, 0.5], [br.BernoulliBandit([2.0] * 5, [3.0] * 5), br.BernoulliBandit([1.0] * 5, [1.0] * 5)]
    ),
    "mixture of shared levels": br.MixtureBandit(
        [0.5, 0.5],
        [br.LinearBandit(np.eye(5), np.full(5, level), np.eye(5) + 2.0, reward_noise=1) for level in (0.0, 1.0)],
    ),
    "known": br.LinearBandit(np.eye(5), np.zeros(5), np.zeros((5, 5)), reward_noise=1),
}


@pytest.mark.parametrize("bandit", EQUAL.values(), ids=EQUAL)
def test_equal_arms_have_equal_rows(bandit):
    policy = br.Thompson() if bandit.kind != "mixture" else br.Thompson(prior=bandit.bandits[0])
    found = policy.start(bandit).posterior()
    for numbers in (found.mean, found.low, found.high):
        assert np.ptp(numbers) <= 1e-14 * np.abs(numbers).max()
    assert len(set(found.best_probability.tolist())) == 1
    assert found.best_probability == pytest.approx(0.2, rel=1e-12)


EXTREME = {
    "huge pseudo-counts": br.BernoulliBandit([1e30, 1e30 * (1 + 1e-15)], [1e30, 1e30]),
    "one known arm": br.BernoulliBandit([1e30, 1], [1e30, 1]),
    "tiny pseudo-counts": br.BernoulliBandit([1e-50, 1e-3], [1e-3, 1e-50]),
    "narrow": br.GaussianBandit([1, 1 + 1e-12], 1e-12, 1),
    "different widths": br.GaussianBandit([1, 2, 3], [1e-50, 1e50, 1e-12], 1),
    "huge": br.GaussianBandit([1e50, -1e50], 1e50, 1e50),
    "no variance": br.ExponentialBandit([1.0000001, 1.5], [1, 2]),
    "large shapes": br.ExponentialBandit([1e30, 2e30], [1e30, 2e30]),
    "tiny shapes": br.PoissonBandit([1e-50, 1e-3], [1, 1e30]),
    "almost no mean": br.NormalGammaBandit([0, 1], [1, 1e30], [0.5 + 1e-12, 1e30], [1, 1e-30]),
    "one arm": br.BernoulliBandit([1], [1]),
    "known": br.LinearBandit(np.eye(2), [0, 1], np.zeros((2, 2)), reward_noise=1),
    "two correlated arms": br.LinearBandit([[1e20, 0], [1e20, 1]], [0, 0], prior_width=1, reward_noise=1),
}


@pytest.mark.parametrize("bandit", EXTREME.values(), ids=EXTREME)
def test_extreme_posteriors_have_finite_tables(bandit):
    agent = br.Greedy().start(bandit)
    for level in (0.5, 0.95, 1 - 1e-9):
        found = agent.posterior(level=level)
        numbers = np.column_stack([found.mean, found.low, found.high, found.best_probability, found.best_stderr])
        assert np.isfinite(numbers).all()
        assert (found.low <= found.high).all()
        assert found.best_probability.sum() == pytest.approx(1.0, abs=1e-12)
        assert "nan" not in f"{found}{found._repr_html_()}"
        assert max(map(len, str(found).splitlines())) < 100


def test_some_extreme_probabilities():
    def best(bandit):
        return br.Greedy().start(bandit).posterior().best_probability

    assert best(EXTREME["one known arm"]) == pytest.approx(0.5, abs=1e-9)
    assert best(EXTREME["known"]).tolist() == [0.0, 1.0]
    assert best(EXTREME["two correlated arms"]) == pytest.approx(0.5, abs=1e-12)
    assert best(EXTREME["huge"]) == pytest.approx([0.9213503964748575, 0.0786496035251425], abs=1e-9)


def test_two_correlated_arms_are_computed():
    bandit = br.LinearBandit([[1, 0], [0.6, 0.8]], [0.5, 0.0], prior_width=1.0, reward_noise=1.0)
    found = br.Greedy().start(bandit).posterior()
    assert found.best_stderr.tolist() == [0.0, 0.0]
    assert found.best_probability[0] == pytest.approx(ndtr(0.2 / math.hypot(0.4, 0.8)), rel=1e-12)


@pytest.mark.parametrize("kind", ["bernoulli", "gaussian", "poisson", "normal-gamma", "linear"])
def test_a_thousand_arms(kind):
    rng = np.random.default_rng(1)
    one, other = rng.uniform(1.0, 9.0, (2, 1000))
    bandit = {
        "bernoulli": lambda: br.BernoulliBandit(one, other),
        "gaussian": lambda: br.GaussianBandit(one, other, 1.0),
        "poisson": lambda: br.PoissonBandit(one, other),
        "normal-gamma": lambda: br.NormalGammaBandit(one, 1.0, other, 1.0),
        "linear": lambda: br.LinearBandit(rng.normal(size=(1000, 5)), np.zeros(5), prior_width=1, reward_noise=1),
    }[kind]()
    found = br.Greedy().start(bandit).posterior()
    assert found.best_probability.sum() == pytest.approx(1.0, abs=1e-12)
    assert (found.best_stderr.max() > 0.0) == (kind == "linear")
    lines = str(found).splitlines()
    assert len(lines) < 30
    assert "and 980 more arms, less likely to be the best" in lines
    assert len(found.records()) == 1000
    assert len(found.table()) == 21
    shown = {int(line.split()[0]) for line in lines[2:22]}
    assert shown == set(np.argsort(-found.best_probability)[:20].tolist())


def test_a_posterior_that_is_unknown_is_one_line():
    agent = br.Greedy().start(BANDITS["normal-gamma"])
    agent.update_many([0, 0], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"^agent of greedy has no posterior that is a bandit: squares must[^\n]*$"):
        agent.posterior()

    class Ours(br.GaussianBandit):
        def after(self, counts, totals, squares=None):
            return br.Bandit.__new__(type("Other", (br.Bandit,), {"kind": "other", "arms": 2}))

    line = r"^bandit must be of a kind whose mean rewards have a known distribution, got an other one$"
    with pytest.raises(ValueError, match=line):
        br.Thompson().start(Ours([0, 1], 1, 1)).posterior()


# --- as people see it ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two():
    agent = br.Thompson().start(br.BernoulliBandit([1, 1], [1, 1]), arms=["blue <b>", "g" * 60])
    agent.update_many([0] * 20 + [1] * 20, [1] * 12 + [0] * 8 + [1] * 7 + [0] * 13)
    return agent.posterior()


def test_what_is_printed(two):
    assert repr(two).splitlines() == str(two).splitlines()
    assert str(two).splitlines() == [
        "arm                                       pulls  mean  95% interval  P(best)",
        "----------------------------------------------------------------------------",
        "blue <b>                                     20  0.59  0.38 to 0.78    93.9%",
        "ggggggggggggggggggggggggggggggggggggggg…     20  0.36  0.18 to 0.57     6.1%",
        "bernoulli bandit, after 40 rewards",
    ]


def test_the_html_is_escaped(two):
    page = two._repr_html_()
    assert page.startswith("<table>")
    assert ">blue &lt;b&gt;</td>" in page
    assert "<b>" not in page
    assert page.count("<tr>") == 3


def test_plain_data_and_a_frame(two):
    data = json.loads(json.dumps(two.to_dict(), allow_nan=False))
    assert [row["arm"] for row in data["arms"]] == ["blue <b>", "g" * 60]
    assert data["level"] == 0.95
    frame = two.to_frame()
    assert list(frame.columns) == ["arm", "pulls", "mean", "low", "high", "best_probability", "best_stderr"]
    assert frame.best_probability.tolist() == two.best_probability.tolist()


def test_drawn_probabilities_show_their_errors():
    found = br.Greedy().start(BANDITS["linear"]).posterior()
    assert "±" in str(found)
    assert found.summary().endswith("probabilities of being best by draws, ± one standard error")


ROWS = [
    ((0.5, 0.4, 0.6), ["0.50", "0.40 to 0.60"]),
    ((10_000.0, 0.27, 39.5), ["10,000", "0 to 40"]),
    ((1.0, 1 - 2e-12, 1 + 2e-12), ["1", "± 2e-12"]),
    ((3.0, 3.0, 3.0), ["3.000", "3.000 to 3.000"]),
    ((1e30, 9e29, 1.1e30), ["1e+30", "9e+29 to 1.1e+30"]),
    ((3e-20, 1e-20, 5e-20), ["3e-20", "1e-20 to 5e-20"]),
    ((np.inf, 1.0, np.inf), ["infinite", "1.000 to infinite"]),
    ((0.0, -np.inf, 2.0), ["0", "minus infinite to 2.000"]),
]


@pytest.mark.parametrize(("numbers", "texts"), ROWS, ids=str)
def test_numbers_have_the_digits_that_the_interval_justifies(numbers, texts):
    one = [np.array([number]) for number in (*numbers, 1.0, 0.0)]
    assert br.Posterior(("0",), np.array([3]), *one, 0.95, "gaussian").table()[1][2:4] == texts


@pytest.mark.parametrize(
    ("share", "stderr", "text"),
    [
        (1.0, 0.0, "100.0%"),
        (0.0, 0.0, "0.0%"),
        (1e-6, 0.0, "<0.1%"),
        (1 - 1e-6, 0.0, ">99.9%"),
        (0.123, 0.0, "12.3%"),
        (0.123, 0.0007, "12.300 ± 0.070%"),
    ],
)
def test_probabilities_as_percentages(share, stderr, text):
    one = [np.array([number]) for number in (1.0, 0.0, 2.0, share, stderr)]
    assert br.Posterior(("0",), np.array([3]), *one, 0.95, "gaussian").table()[1][4] == text


def test_the_figure_has_an_interval_for_each_arm(two):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, given = plt.subplots()
    axes = two.plot(given)
    assert axes is given
    (points,), (intervals,) = axes.lines, axes.collections
    assert points.get_xdata().tolist() == two.mean.tolist()
    assert [path.vertices[:, 0].tolist() for path in intervals.get_paths()] == np.column_stack(
        [two.low, two.high]
    ).tolist()
    assert axes.get_ylim() == (1.5, -0.5)
    assert axes.get_xlabel() == "mean reward and its 95% interval"
    many = br.Greedy().start(br.BernoulliBandit([1] * 50, [1] * 50)).posterior().plot()
    assert many.get_ylabel() == "arm"
    plt.close("all")


def test_an_agent_needs_no_scipy_until_it_is_asked():
    code = (
        "import sys, bayesregret as br; br.BayesUCB(delta=0.1).start(br.BernoulliBandit([1], [1])).select(); "
        "br.Posterior; assert not {'scipy', 'pandas', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_mixtures_are_averages_of_their_components():
    weights, bandits = MIXTURES["bernoulli"]
    found = br.Thompson().start(br.MixtureBandit(weights, bandits)).posterior()
    parts = [br.Thompson().start(bandit).posterior() for bandit in bandits]
    for name in ("mean", "best_probability"):
        expected = weights @ np.array([getattr(part, name) for part in parts])
        assert getattr(found, name) == pytest.approx(expected, rel=1e-12)
    assert (found.low >= np.min([part.low for part in parts], axis=0)).all()
    assert (found.high <= np.max([part.high for part in parts], axis=0)).all()
