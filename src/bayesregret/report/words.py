"""Labels for HTML, with mathematics in Unicode where possible."""

from __future__ import annotations

import re

from bayesregret.plotting import labels

LETTERS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "Delta": "Δ",
    "epsilon": "ε",
    "varepsilon": "ε",
    "theta": "θ",
    "lambda": "λ",
    "mu": "μ",
    "sigma": "σ",
    "Sigma": "Σ",
    "infty": "∞",
    "pm": "±",
    "times": "×",
    "cdot": "·",
    "leq": "≤",
    "geq": "≥",
    "log": "log ",
    "to": "→ ",
    "sqrt": "√",
    "max": "max",
    "min": "min",
    "ldots": "…",
}
SMALL = {"_": str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋"), "^": str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")}


def in_letters(label: str) -> str:
    """Return `prior width σ₀` for `prior width $\\sigma_0$`; formulas without a Unicode form stay as written."""
    return "".join(_formula(piece[1:-1]) if is_math else piece for is_math, piece in labels.parts(label))


def _formula(source: str) -> str:
    text = re.sub(r"\\tilde\{?(\w)\}?", "\\1\N{COMBINING TILDE}", source)
    text = re.sub(r"\\(?:mathrm|mathcal|mathbf|text)\{(\w*)\}", r"\1", text)
    text = re.sub(r"\\([a-zA-Z]+)\s*", lambda found: LETTERS.get(found[1], found[0]), text)
    text = re.sub(r"\\[,;: ]", " ", text)
    text = re.sub(
        r"([_^])(?:\{([\d+-]+)\}|(\d))", lambda found: (found[2] or found[3]).translate(SMALL[found[1]]), text
    )
    text = re.sub(r"√\{(\w)\}", r"√\1", text)
    return source if "\\" in text else text.replace("{", "").replace("}", "").replace("-", "\N{MINUS SIGN}")
