"""The picture of a fitted prior."""

import functools

import numpy as np
import pytest

import bayesregret as br
from bayesregret.plotting import draw_prior_fit, save_prior_fit


@functools.cache
def fitted(experiments=6, spread=2.0, name="study {}"):
    rng = np.random.default_rng(1)
    experiment = np.repeat([name.format(i) for i in range(experiments)], 3)
    means = np.repeat(rng.normal(0.0, spread, experiments), 3) + rng.normal(size=3 * experiments)
    means[0] += 9.0
    columns = {"experiment": experiment, "arm": [1, 2, 3] * experiments, "pulls": [10] * len(means)}
    return br.fit_prior({**columns, "mean": means, "variance": [1.0] * len(means)}, model="gaussian")


def test_every_arm_and_every_bar_is_drawn():
    left, right = draw_prior_fit(fitted()).axes
    dots = [line for line in left.lines if line.get_marker() == "o"]
    assert sum(len(line.get_xdata()) for line in dots) == 18
    assert [line.get_label() for line in dots] == ["observed", "observed outside of it"]
    assert len(right.patches) >= 5
    assert left.get_ylabel() == "mean reward"
    assert left.get_xticklabels()[0].get_text() == "study 0"


def test_a_large_history_has_room():
    left, _ = draw_prior_fit(fitted(experiments=60)).axes
    dots = [line for line in left.lines if line.get_marker() == "o"]
    assert 20 <= sum(len(line.get_xdata()) for line in dots) <= 60
    assert len(left.get_xticklabels()) <= 12
    assert left.get_xlabel() == "experiment (20 of 60)"


@pytest.mark.parametrize("name", ["{} costs $5 or $x^2$", "{}_a very long name that goes on", "{}\n\t<b>&%"])
def test_experiments_may_have_any_names(tmp_path, name):
    save_prior_fit(fitted(name=name), tmp_path / "fit.png")
    left, _ = draw_prior_fit(fitted(name=name)).axes
    assert left.get_xlabel() == "experiment"
    assert len(left.get_xticklabels()[0].get_text()) <= 20


@pytest.mark.parametrize("form", ["png", "pdf", "svg"])
def test_files_have_the_same_bytes_every_time(tmp_path, form):
    prior = fitted()
    first, second = tmp_path / f"a.{form}", tmp_path / f"b.{form}"
    save_prior_fit(prior, first)
    save_prior_fit(prior, second)
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 5_000


def test_other_forms_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"figure must be the name of a \.png, a \.pdf or a \.svg file, got"):
        save_prior_fit(fitted(), tmp_path / "fit.gif")
