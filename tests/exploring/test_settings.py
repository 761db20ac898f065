"""The state of a page: to an address and back, and everything else refused in one line."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesregret as br
from bayesregret.exploring.limits import MOST_EDITED_ARMS
from bayesregret.exploring.presets import FIGURES, PRESETS
from bayesregret.exploring.settings import PageState, checked, decode, encode, state_of, sweepable

MIXTURE = br.MixtureBandit([0.5, 0.5], [br.BernoulliBandit([1, 1], [1, 1]), br.BernoulliBandit([2, 2], [1, 1])])
STATES = {
    "default": PageState(),
    "options": PageState(problem="bernoulli", values=(("arms", 3), ("alpha", 0.125), ("beta", 7))),
    "fields": PageState(problem="gaussian", values=(("prior_mean", (1.0, 0.1, -3e-7)), ("prior_width", 0.5))),
    "rest": PageState(
        horizon=77,
        delta=0.1,
        policies=("bayes-ucb:delta=0.5", "thompson"),
        runs=123,
        seed=9,
        view="run",
        sweep="horizon",
        hidden=("thompson", "a & b=c"),
        watched="thompson",
        instance=4,
        round=12,
    ),
}
STATES["fields"] = STATES["fields"].with_value("reward_noise", 2.0)
STATES |= {f"preset {name}": preset.state for name, preset in (PRESETS | FIGURES).items()}


@pytest.mark.parametrize("name", STATES)
def test_an_address_has_the_whole_state(name):
    assert decode(encode(STATES[name]), {}) == checked(STATES[name], {})


def test_the_default_state_needs_no_address():
    assert encode(PageState()) == ""
    assert encode(PageState(horizon=12, values=(("arms", 3),))) == "arms=3&horizon=12"


BAD = {
    "foo=1": "'foo' in the address is not a setting",
    "horizn=9": "did you mean horizon",
    "horizon=abc": "horizon must be a whole number",
    "horizon=1000000000": "horizon must be a whole number, at least 1 and at most 100000",
    "horizon=1.5": "horizon must be a whole number",
    "runs=100000000": "runs must be",
    "arms=99999999": "arms must be",
    "arms=10000&horizon=100000": "horizon must be at most 10,000 on the page with 10,000 arms",
    "policy=zzz": "policy must be one of",
    "policy=ucb1&policy=ucb1": "policy and hide must be given once",
    "alpha=1": "'alpha' is not a setting of gaussian problems",
    "view=x": "view must be",
    "prior_mean=1,2": "prior_width is missing",
    "prior_gap=nan": "prior_gap must be a finite number",
    "prior_width=-1": "prior_width must be a positive number",
    "prior_width=1,x": "prior_width must be a number",
    "horizon=1&horizon=2": "'horizon' is in the address twice",
    "seed=-1": "seed must be",
    "delta=0": "delta must be",
    "delta=2": "delta must be at most 1",
    "problem=%00%ff": "problem must be",
    "prior_mean=" + "1," * 60: f"'prior_mean' must have at most {MOST_EDITED_ARMS} numbers",
    "x" * 9_000: "the address must have at most",
    "&".join(f"policy=bayes-ucb:delta=0.{i}" for i in range(1, 10)): "policy must be given once to 8 times",
    "problem=shop.toml&arms=3": "'arms' does not go with the problem 'shop.toml'",
}


@pytest.mark.parametrize("query", BAD)
def test_anything_else_is_one_line(query):
    with pytest.raises(ValueError, match=re.escape(BAD[query])) as caught:
        decode(query, {"shop.toml": MIXTURE})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@given(
    st.text(max_size=60), st.sampled_from(["", "horizon=", "arms=", "prior_mean=1,", "policy=", "problem=", "delta="])
)
@settings(max_examples=300, deadline=None)
def test_garbage_is_refused_or_understood(text, start):
    found = message = None
    try:
        found = decode(start + text, {})
    except ValueError as error:
        message = str(error)
    assert found is None or decode(encode(found), {}) == found
    assert message is None or (len(message) < 1_000 and "\n" not in message)


def test_a_given_bandit_can_be_edited_where_it_is_small_and_plain():
    bandit = br.GaussianBandit([1, 0, 0], [1, 2, 3], 1)
    state = state_of(bandit, "own.toml")
    assert state.problem == "gaussian"
    assert state.bandit({}) == bandit
    assert sweepable(state) == ["reward_noise", "horizon", "delta"]
    for large in (MIXTURE, br.GaussianBandit([0.0] * 51, 1, 1), br.GaussianBandit([0, 1], 1, 1, "rademacher")):
        state = state_of(large, "own.toml")
        assert state.problem == "own.toml"
        assert state.bandit({"own.toml": large}) == large


def test_a_bandit_that_is_too_large_is_refused():
    large = br.LinearBandit([[1.0, 0.0]] * 300, [0, 0], prior_width=1, reward_noise=1)
    with pytest.raises(ValueError, match="arms must be at most 200 on the page, got 300"):
        checked(state_of(large, "large"), {"large": large})


def test_delta_is_for_policies_that_leave_it_open():
    state = PageState(delta=0.25, policies=("bayes-ucb", "bayes-ucb:delta=0.5", "thompson"))
    assert [getattr(policy, "delta", None) for policy in state.play().values()] == [0.25, 0.5, None]
