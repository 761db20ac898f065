"""Problems and figures of which each is one click."""

from __future__ import annotations

from typing import Any, NamedTuple

from bayesregret.exploring.settings import BOUNDS, PageState


class Preset(NamedTuple):
    """A state with a name for people."""

    label: str
    state: PageState


def _preset(label: str, problem: str, **settings: Any) -> Preset:
    values = tuple(settings.pop("values", {}).items())
    return Preset(label, PageState(problem=problem, values=values, **settings))


LINEAR_POLICIES = ("bayes-ucb", "thompson")
PRESETS = {
    "paper-gaussian": _preset("The paper's Gaussian problem", "gaussian"),
    "paper-linear": _preset("The paper's linear problem", "linear", policies=LINEAR_POLICIES),
    "bernoulli": _preset("Ten Bernoulli arms", "bernoulli", horizon=300),
    "ab-test": _preset(
        "An A/B test: two pages, about one conversion in twenty",
        "bernoulli",
        values={"arms": 2, "alpha": 2.0, "beta": 38.0},
        horizon=10_000,
        policies=("thompson", "bayes-ucb:delta=0.5", "ucb1"),
    ),
    # What `bayesregret prior fit docs/data/smoking.csv --model bernoulli` finds in 24 trials of four treatments.
    "smoking": _preset(
        "The smoking trials: four treatments",
        "bernoulli",
        values={"arms": 4, "alpha": 1.94, "beta": 11.9},
        horizon=1_000,
    ),
    "ten-thousand": _preset(
        "Ten thousand arms",
        "gaussian",
        values={"arms": 10_000, "prior_gap": 0.0},
        horizon=2_000,
        policies=("bayes-ucb", "ucb1"),
    ),
}

_GAUSSIAN = {"values": {"arms": 10, "prior_gap": 1.0, "prior_width": 1.0}, "policies": ("bayes-ucb", "ucb1")}
_LINEAR = {"values": {"prior_gap": 1.0, "prior_width": 1.0}, "policies": ("bayes-ucb",)}
FIGURES = {
    "1a": _preset("Figure 1a: Gaussian, prior width", "gaussian", view=BOUNDS, sweep="prior_width", **_GAUSSIAN),
    "1b": _preset("Figure 1b: Gaussian, prior gap", "gaussian", view=BOUNDS, sweep="prior_gap", **_GAUSSIAN),
    "2a": _preset("Figure 2a: linear, prior width", "linear", view=BOUNDS, sweep="prior_width", **_LINEAR),
    "2b": _preset("Figure 2b: linear, prior gap", "linear", view=BOUNDS, sweep="prior_gap", **_LINEAR),
}
