"""Formulas in plain letters."""

import pytest

from bayesregret.report.words import in_letters


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        (r"prior width $\sigma_0$", "prior width σ₀"),
        (r"$\sigma_0 \to 0$ or $\Delta_0 \to \infty$", "σ₀ → 0 or Δ₀ → ∞"),
        (r"$\tilde{O}(\sqrt{n})$ bound", "O\N{COMBINING TILDE}(√n) bound"),
        (r"$10^{-3}$", "10⁻³"),
        (r"$n^2 - 1$", "n² − 1"),
        (r"$\mathrm{max}\,x$", "max x"),
        (r"$\frac{a}{b}$", r"\frac{a}{b}"),
        ("width σ₀", "width σ₀"),
        ("x₁ \\ σ", "x₁ \\ σ"),
        ("costs $5", "costs $5"),
        ("a_b <c>", "a_b <c>"),
    ],
)
def test_letters(label, shown):
    assert in_letters(label) == shown
