"""Cells of histories: numbers, words for truth, exposure, and variances from standard errors."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.priors.history import read_history
from priors.reading import GOOD, summed


def test_a_standard_error_gives_the_variance():
    rewards = {"a": np.array([1.0, 4.0, 2.0, 9.0]), "b": np.array([3.0, 5.0])}
    table = {
        "experiment": [1, 1, 1, 1],
        "arm": ["a", "b", "c", "d"],
        "pulls": [4, 2, 1, 0],
        "mean": [*(own.mean() for own in rewards.values()), 7.0, None],
        "standard_error": [*(own.std(ddof=1) / np.sqrt(len(own)) for own in rewards.values()), None, "n/a"],
    }
    found = read_history(table, "gaussian")
    assert found.pulls.tolist() == [4.0, 2.0, 1.0]
    assert found.squares == pytest.approx([*(own.var() * len(own) for own in rewards.values()), 0.0], rel=1e-14)
    # A variance is preferred, unless the other column is asked for by its name.
    both = table | {"variance": [1.0, 1.0, 0.0, 0.0]}
    assert read_history(both, "gaussian").squares.tolist() == [3.0, 1.0, 0.0]
    renamed = {"SE": table.pop("standard_error"), **table, "variance": both["variance"]}
    assert read_history(renamed, "gaussian", columns={"standard_error": "se"}).squares == pytest.approx(found.squares)
    with pytest.raises(ValueError, match=r"^row 1: standard_error must be a number, at least 0, got -1$"):
        read_history(table | {"standard_error": [-1, 1, 1, 1]}, "gaussian")


@pytest.mark.parametrize("variance", [{}, {"variance": [1.0, None]}, {"variance": ["", "many"]}])
def test_known_noise_needs_no_variance(variance):
    table = {"experiment": [1, 1], "arm": ["a", "b"], "pulls": [4, 2], "mean": [0.5, 1.5], **variance}
    found = read_history(table, "gaussian", noise_is_known=True)
    assert (found.pulls.tolist(), found.totals.tolist()) == ([4.0, 2.0], [2.0, 3.0])
    given = br.fit_prior(table, model="gaussian", reward_noise=0.1)
    whole = br.fit_prior({**table, "variance": [9.0, 9.0]}, model="gaussian", reward_noise=0.1)
    assert given.parameters == whole.parameters
    with pytest.raises(ValueError, match="variance"):
        read_history(table, "gaussian")
    with pytest.raises(
        ValueError, match="a gaussian history has experiment, arm, pulls, mean; or experiment, arm, rew"
    ):
        read_history({"experiment": [1], "arm": [1], "pulls": [1]}, "gaussian", noise_is_known=True)


def test_truth_is_read_in_words(read):
    body = "".join(f"1,a,{word}\n1,b,{word}\n" for word in ("TRUE", "false", "Yes", "no", " true ", "1", "0.0"))
    assert summed(read("experiment,arm,reward\n" + body)) == {("1", "a"): (7, 4), ("1", "b"): (7, 4)}
    for rewards in ([True, False], np.array([True, False]), [np.True_, np.False_], ["yes", False]):
        table = {"experiment": [1, 1], "arm": ["a", "b"], "reward": rewards}
        assert list(summed(read_history(table, "bernoulli")).values()) == [(1, 1), (1, 0)]
    said = "line 2: reward must be 0 or 1, true or false, or yes or no, got 'maybe'"
    with pytest.raises(ValueError, match=said):
        read("experiment,arm,reward\n1,a,maybe\n")
    with pytest.raises(ValueError, match="line 2: reward must be a number, got 'TRUE'"):
        read("experiment,arm,reward\n1,a,TRUE\n", "gaussian")


def test_exposure_need_not_be_whole(read):
    text = "experiment,arm,exposure,events\n1,a,2.5,3\n1,a,0.25,1\n1,b,1e-3,0\n1,c,0,0\n"
    expected = {("1", "a"): (2.75, 4), ("1", "b"): (1e-3, 0)}
    assert summed(read(text, "poisson")) == expected
    assert summed(read(text.replace("exposure,events", "pulls,total"), "poisson")) == expected
    for bad in ("-1", "inf", "1e-20", "1e+16"):
        with pytest.raises(
            ValueError, match=r"line 2: exposure must be 0 or a number between 1e-15 and 1e\+15"
        ) as raised:
            read(text.replace("2.5", bad), "poisson")
        assert str(raised.value).endswith(f", got {bad}")
    with pytest.raises(ValueError, match="line 2: events must be a whole number"):
        read(text.replace("2.5,3", "2.5,3.5"), "poisson")
    with pytest.raises(ValueError, match="line 5: events must be 0 for an arm without exposure, got 2"):
        read(text.replace("c,0,0", "c,0,2"), "poisson")
    with pytest.raises(ValueError, match="line 2: pulls must be a whole number"):
        read(GOOD.replace("A,10,", "A,10.5,"))
