"""Each trend has a look of its own, the same in every figure."""

from bayesregret.plotting.style import FIXED_LOOKS, looks
from bayesregret.reproduction.table import Trend
from plotting.samples import width_table


def trend(name, kind):
    return Trend(name, name, kind, (1.0,))


def test_known_trends_look_the_same_in_any_company():
    alone = looks([trend("bayes-ucb", "regret")])
    others = [trend(f"policy-{i}", "regret") for i in range(5)]
    assert looks([*others, trend("bayes-ucb", "regret")])[-1] == alone[0]


def test_known_looks_differ():
    # A difference stands alone in its figure, and looks like the regret.
    looks_by_kind = [look for (kind, _), look in FIXED_LOOKS.items() if kind != "difference"]
    assert len(set(looks_by_kind)) == len(looks_by_kind)


def test_no_two_trends_look_alike():
    for kind in ("regret", "printed", "certified"):
        many = [trend(f"name-{i}", kind) for i in range(60)]
        assert len(set(looks(many))) == 60


def test_the_same_name_twice_looks_different():
    first, second = looks([trend("ucb1", "regret"), trend("ucb1", "regret")])
    assert first != second


def test_new_trends_take_colours_that_are_free():
    chosen = looks([*width_table().trends, trend("new", "regret"), trend("newer", "regret")])
    assert len({look.colour for look in chosen[-2:]} | {look.colour for look in chosen[:4]}) == 5


def test_regret_is_solid_with_markers_and_bounds_are_dashed():
    kinds = [(kind, looks([trend("anything", kind)])[0]) for kind in ("regret", "difference", "printed", "certified")]
    for kind, look in kinds:
        assert bool(look.marker) == (kind in ("regret", "difference"))
        assert bool(look.dashes) == (kind in ("printed", "certified"))
