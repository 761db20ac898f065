"""What a move of a control makes of the state."""

import pytest

import bayesregret as br
from bayesregret.exploring import controls
from bayesregret.exploring.moves import moved
from bayesregret.exploring.presets import FIGURES, PRESETS
from bayesregret.exploring.settings import PageState

OWN = {"own.toml": br.GaussianBandit([1, 0, 0], 1, 1)}


USUAL = PageState()


def after(*moves, state=USUAL):
    for name, value in moves:
        state = moved(state, name, value, OWN)
    return state


def test_a_slider_changes_one_number():
    assert after(("prior_gap", 2.5)).mapping == {"prior_gap": 2.5}
    assert after(("prior_gap", "2.5"), ("arms", 20.0)).bandit({}).prior_mean.tolist() == [2.5] + [0.0] * 19
    assert after(("horizon", 300), ("runs", "1e3"), ("seed", 4)) == PageState(horizon=300, runs=1_000, seed=4)


def test_delta_is_one_over_the_horizon_until_it_is_moved():
    fixed = after(("usual_delta", False))
    assert fixed.delta == 0.001
    assert after(("delta", 0.2), state=fixed).delta == 0.2
    assert after(("usual_delta", True), state=fixed).delta is None


def test_policies_and_trends_come_and_go():
    assert after(("policy:ucb1", False), ("policy:moss", True)).policies == ("bayes-ucb", "thompson", "moss")
    only = after(("policy:ucb1", False), ("policy:thompson", False), ("policy:bayes-ucb", False))
    assert only.policies == ("bayes-ucb",)  # the last one stays
    assert after(("hide:ucb1", "")).hidden == ("ucb1",)
    assert after(("hide:ucb1", ""), ("hide:ucb1", "")).hidden == ()


def test_arms_are_edited_one_by_one():
    state = after(("arms", 3), ("edit_arms", ""), ("arm:prior_mean:2", "0.7"))
    assert state.bandit({}) == br.GaussianBandit([1, 0, 0.7], 1, 1)
    assert after(("arms_in_table", "more"), state=state).bandit({}).prior_mean.tolist() == [1, 0, 0.7, 0.7]
    assert after(("arms_in_table", "less"), state=state).bandit({}).arms == 2
    assert after(("arms_in_table", "less"), ("arms_in_table", "less"), state=state).bandit({}).arms == 2
    assert after(("edit_arms", ""), state=state).values == ()


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_shown(name):
    state = after(("view", "bounds"), ("preset", name))
    assert state.view == "bounds"
    assert state.changed(view="regret", sweep=PRESETS[name].state.sweep) == PRESETS[name].state
    form = controls.form(state, OWN, state.bandit(OWN).arms)
    for shown in controls.form_values(state):
        assert f'name="{shown}"' in form, shown


def test_figures_and_given_problems_are_one_move():
    assert after(("figure", "2b")) == FIGURES["2b"].state
    assert after(("preset", "own.toml")).bandit(OWN) == OWN["own.toml"]


REFUSED = [
    ("preset", "nothing", "preset must be"),
    ("figure", "9", "figure must be"),
    ("problem", "nothing", "problem must be"),
    ("prior_gap", "wide", "prior_gap must be a number"),
    ("prior_gap", None, "prior_gap must be a number"),
    ("prior_width", "0", "prior_width must be a positive number"),
    ("arms", 10**6, "arms must be"),
    ("horizon", 10**6, "horizon must be"),
    ("policy:nothing", True, "policy must be"),
    ("arm:prior_mean:0", 1, "arm must be one of the table"),
    ("own", 1, "control must be one of"),
    ("view", ["regret"], "view must be"),
]


@pytest.mark.parametrize(("name", "value", "message"), REFUSED)
def test_a_bad_move_is_one_line(name, value, message):
    with pytest.raises(ValueError, match=message):
        after((name, value))


def test_only_few_and_plain_arms_can_be_edited():
    for state in (PageState(values=(("arms", 51),)), PageState(problem="linear")):
        with pytest.raises(ValueError, match="arms must be at most 50 to edit each"):
            after(("edit_arms", ""), state=state)


def test_names_of_policies_are_no_markup():
    with pytest.raises(ValueError, match="policy must be"):
        after(("policy:<script>", True))
    assert "<script>" not in controls.form(PageState(), {"<script>": OWN["own.toml"]}, 3)
