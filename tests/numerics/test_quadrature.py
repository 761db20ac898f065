"""Rules of order p converge as declared: each test measures the rate, and the next degree is a control."""

from fractions import Fraction

import numpy as np
import pytest

from bayesregret.numerics import quadrature
from bayesregret.numerics.quadrature import (
    CubicTable,
    PanelFunction,
    block_sum_rule,
    even_edges,
    gauss_rule,
    graded_edges,
    merge_edges,
    sum_rule,
)

ORDERS = [1, 2, 3, 5, 9, 12]


def measured_rate(errors: list[float]) -> float:
    """The power of h that the error falls with, when every step halves h."""
    return float(np.mean(np.log2(np.array(errors[:-1]) / np.array(errors[1:]))))


# --- Gauss's rule for integrals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
def test_gauss_rule_is_exact_up_to_its_degree(order):
    x, weights = gauss_rule(np.array([-1.0, 0.5, 2.0]), order)
    assert len(x) == 2 * order
    assert (np.diff(x) > 0.0).all()
    for degree in range(2 * order):
        truth = (2.0 ** (degree + 1) - (-1.0) ** (degree + 1)) / (degree + 1)
        assert weights @ x**degree == pytest.approx(truth, rel=1e-13)
    if order <= 3:
        beyond = 2 * order
        assert weights @ x**beyond != pytest.approx((2.0 ** (beyond + 1) + 1.0) / (beyond + 1), rel=1e-4)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_gauss_rule_converges_with_twice_its_order(order):
    def error(panels):
        x, weights = gauss_rule(np.linspace(0.0, 1.0, panels + 1), order)
        return abs(weights @ np.exp(3.0 * x) - np.expm1(3.0) / 3.0)

    errors = [error(panels) for panels in (1, 2, 4, 8)]
    assert min(errors) > 1e-14, "or rounding is what is measured"
    assert measured_rate(errors) == pytest.approx(2 * order, abs=0.2)


# --- Gauss's rule for sums -----------------------------------------------------------------------------------------


def plain_sum(first: int, last: int, degree: int, centre: Fraction) -> float:
    return float(sum((Fraction(k) - centre) ** degree for k in range(first, last)))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("terms", [1, 4, 30, 301])
def test_sum_rule_is_exact_up_to_its_degree(order, terms):
    first = 7
    centre, scale = Fraction(2 * first + terms - 1, 2), max(terms, 2) / 2.0
    k, weights = block_sum_rule([first, first + terms], order)
    assert len(k) == min(terms, order)
    for degree in range(2 * order):
        truth = plain_sum(first, first + terms, degree, centre) / scale**degree
        ours = weights @ ((k - float(centre)) / scale) ** degree
        assert ours == pytest.approx(truth, rel=1e-11, abs=1e-11 * terms)
    if order <= 5 and terms > order:
        truth = plain_sum(first, first + terms, 2 * order, centre) / scale ** (2 * order)
        assert weights @ ((k - float(centre)) / scale) ** (2 * order) != pytest.approx(truth, rel=1e-4)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_sum_rule_converges_with_twice_its_order(order):
    terms = 4096

    def error(blocks):
        k, weights = block_sum_rule(np.linspace(0, terms, blocks + 1).astype(int).tolist(), order)
        return abs(weights @ np.exp(3.0 * k / terms) - np.exp(3.0 * np.arange(terms) / terms).sum()) / terms

    errors = [error(blocks) for blocks in (1, 2, 4, 8)]
    assert min(errors) > 1e-14, "or rounding is what is measured"
    assert measured_rate(errors) == pytest.approx(2 * order, abs=0.2)


@pytest.mark.parametrize("last", [0, 1, 2, 11, 12, 13, 37, 1_000, 100_000])
@pytest.mark.parametrize("strength", [1e-3, 1.0, 300.0])
def test_long_sums_are_the_plain_ones(last, strength):
    every = np.arange(0.0, last)
    for function in (lambda k: np.sqrt(strength / (k + strength)), lambda k: strength / (k + strength)):
        k, weights = sum_rule(0, last, 12)
        assert weights @ function(k) == pytest.approx(float(function(every).sum()), rel=1e-11, abs=0.0)
        assert weights.sum() == pytest.approx(last, rel=1e-12, abs=0.0)


def test_a_long_sum_has_few_points():
    assert len(sum_rule(0, 10**15, 12)[0]) < 500
    k, weights = sum_rule(0, 2**53, 12)
    assert weights.sum() == pytest.approx(2.0**53, rel=1e-12)
    assert (weights > 0.0).all()
    assert (np.diff(k) > 0.0).all()


def test_a_sum_may_begin_late_or_be_empty():
    k, weights = sum_rule(5, 100, 9)
    assert weights @ (1.0 / k) == pytest.approx((1.0 / np.arange(5.0, 100.0)).sum(), rel=1e-9)
    assert all(len(part) == 0 for part in sum_rule(3, 3, 9))
    assert all(len(part) == 0 for part in block_sum_rule([4, 4, 4], 9))


def test_the_coarse_rule_is_coarser():
    """The control of every error estimate: the two rules differ where neither is exact."""
    every = np.arange(0.0, 100_000)
    truth = (0.01 / (every + 0.01)).sum()
    errors = [
        abs(weights @ (0.01 / (k + 0.01)) / truth - 1.0) for k, weights in (sum_rule(0, 100_000, p) for p in (3, 5))
    ]
    assert errors[0] > 10.0 * errors[1] > 1e-12


# --- edges ---------------------------------------------------------------------------------------------------------


def test_even_edges():
    assert even_edges(0.0, 1.0, 0.25).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert len(even_edges(0.0, 1.01, 0.25)) == 6
    assert even_edges(2.0, 1.0, 0.1).tolist() == [2.0, 2.0]
    assert gauss_rule(even_edges(2.0, 2.0, 0.1), 4)[1].sum() == 0.0


def test_graded_edges():
    edges = graded_edges(1e-9, 1.0, 2.5)
    assert (edges[0], edges[-1]) == (1e-9, 1.0)
    growth = edges[1:] / edges[:-1]
    assert growth.max() <= 2.5 * (1.0 + 1e-9)
    assert growth.max() == pytest.approx(growth.min())
    assert graded_edges(1.0, 1.0).tolist() == [1.0, 1.0]
    x, weights = gauss_rule(edges, 12)
    assert weights @ (1.0 / x) == pytest.approx(9.0 * np.log(10.0), rel=1e-12)


def test_merged_edges_are_in_order_and_within():
    merged = merge_edges(np.array([0.5, -3.0]), np.array([0.5, 0.1, 9.0]), low=0.0, high=1.0)
    assert merged.tolist() == [0.0, 0.1, 0.5, 1.0]


# --- functions on panels -------------------------------------------------------------------------------------------


def bell(x):
    return np.exp(-0.5 * x * x)


FAR_AND_WIDE = np.linspace(-1.0, 3.0, 1001)


@pytest.mark.parametrize("order", [2, 3, 5, 6])
def test_interpolants_converge_with_their_order(order):
    def error(panels):
        fitted = PanelFunction.fit(np.exp, np.linspace(-1.0, 3.0, panels + 1), order)
        return np.abs(fitted(FAR_AND_WIDE) - np.exp(FAR_AND_WIDE)).max()

    assert measured_rate([error(panels) for panels in (4, 8, 16, 32)]) == pytest.approx(order, abs=0.25)


def test_interpolants_are_exact_for_polynomials_and_no_more():
    edges = np.array([-1.0, 0.3, 3.0])
    assert np.allclose(
        PanelFunction.fit(lambda x: x**3 - x, edges, 4)(FAR_AND_WIDE),
        FAR_AND_WIDE**3 - FAR_AND_WIDE,
        rtol=0,
        atol=1e-13,
    )
    assert np.abs(PanelFunction.fit(lambda x: x**4, edges, 4)(FAR_AND_WIDE) - FAR_AND_WIDE**4).max() > 0.01


def test_a_panel_function_is_zero_outside_and_whole_at_its_ends():
    fitted = PanelFunction.fit(np.exp, np.array([0.0, 1.0, 2.0]), 14)
    assert fitted(np.array([-1e-9, 2.0 + 1e-9, -1e300, 1e300])).tolist() == [0.0] * 4
    assert fitted(np.array([0.0, 1.0, 2.0])) == pytest.approx([1.0, np.e, np.e**2], rel=1e-12)


def test_several_functions_on_common_panels():
    first, second = PanelFunction.fit_rows(lambda x: np.stack([np.sin(x), np.cos(x)]), np.linspace(0.0, 3.0, 7), 12)
    x = np.linspace(0.0, 3.0, 101)
    assert np.allclose(first(x), np.sin(x), rtol=0, atol=1e-13)
    assert np.allclose(second(x), np.cos(x), rtol=0, atol=1e-13)


def test_panels_are_halved_where_it_is_needed():
    def functions(x):
        return np.stack([bell(x / 0.01), 1.0 / (1.0 + x * x)])

    edges = np.linspace(-5.0, 5.0, 5)
    x = np.linspace(-5.0, 5.0, 10_001)
    needle, hill = PanelFunction.fit_halving(functions, edges, 12)
    assert np.abs(needle(x) - functions(x)[0]).max() < 1e-10
    assert np.abs(hill(x) - functions(x)[1]).max() < 1e-10
    lengths = np.diff(needle.edges)
    assert lengths.max() > 50.0 * lengths.min(), "fine panels only near the needle"
    assert np.abs(PanelFunction.fit_rows(functions, edges, 12)[0](x) - functions(x)[0]).max() > 0.1, "the control"


def test_small_panels_can_be_resolved_to_their_own_size():
    edges = np.array([0.0, 30.0])
    x = np.linspace(0.0, 30.0, 301)
    (alone,) = PanelFunction.fit_halving(lambda y: np.exp(-y)[None, :], edges, 12, each_alone=True)
    (together,) = PanelFunction.fit_halving(lambda y: np.exp(-y)[None, :], edges, 12)
    (floored,) = PanelFunction.fit_halving(lambda y: np.exp(-y)[None, :], edges, 12, each_alone=True, floor=1.0)
    assert np.abs(alone(x) * np.exp(x) - 1.0).max() < 1e-10
    assert np.abs(together(x) * np.exp(x) - 1.0).max() > 1e-6
    assert np.abs(together(x) - np.exp(-x)).max() < 1e-11
    assert len(floored.edges) <= len(together.edges) < len(alone.edges)


def test_halving_ends_where_nothing_would_resolve(monkeypatch):
    monkeypatch.setattr(quadrature, "MOST_PANELS", 40)
    (step,) = PanelFunction.fit_halving(lambda x: (x > 1.0 / 3.0)[None, :].astype(float), np.array([0.0, 1.0]), 6)
    assert 15 <= len(step.coefficients) <= 40
    assert step(np.array([0.1, 0.9])) == pytest.approx([0.0, 1.0])


def test_joined_functions_follow_each_other():
    left = PanelFunction.fit(np.exp, np.array([0.0, 1.0]), 14)
    right = PanelFunction.fit(np.exp, np.array([1.0, 2.0, 3.0]), 14)
    joined = PanelFunction.join([left, right])
    x = np.linspace(0.0, 3.0, 31)
    assert joined.edges.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert np.allclose(joined(x), np.exp(x), rtol=1e-12)


def test_the_integral_to_the_end():
    fitted = PanelFunction.fit(np.cos, np.linspace(0.0, 3.0, 5), 14)
    x = np.linspace(0.0, 3.0, 31)
    assert np.allclose(fitted.integral_to_end()(x), np.sin(3.0) - np.sin(x), rtol=0, atol=1e-13)


def test_cubic_tables_converge_with_order_four():
    def error(cells):
        grid = np.linspace(-1.0, 3.0, cells + 1)
        (table,) = CubicTable(-1.0, 4.0 / cells, np.exp(grid)[None, :], np.exp(grid)[None, :])(FAR_AND_WIDE)
        return np.abs(table - np.exp(FAR_AND_WIDE)).max()

    assert measured_rate([error(cells) for cells in (8, 16, 32, 64)]) == pytest.approx(4.0, abs=0.15)


def test_cubic_tables_are_exact_for_cubics_and_constant_beyond():
    grid = np.array([0.0, 0.5, 1.0])
    table = CubicTable(0.0, 0.5, np.stack([grid**3, 1.0 - grid]), np.stack([3.0 * grid**2, -np.ones(3)]))
    x = np.linspace(0.0, 1.0, 21)
    cube, line = table(x)
    assert np.allclose(cube, x**3, rtol=0, atol=1e-15)
    assert np.allclose(line, 1.0 - x, rtol=0, atol=1e-15)
    cube, line = table(np.array([-7.0, 0.0, 1.0, 7.0]))
    assert (cube.tolist(), line.tolist()) == ([0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0])
