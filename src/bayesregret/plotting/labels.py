"""Escape arbitrary labels for matplotlib and LaTeX; valid $...$ is set as mathematics."""

from __future__ import annotations

import re
import textwrap
from functools import cache

from matplotlib.mathtext import MathTextParser

MATH = re.compile(r"(\$(?=\S)[^$]+(?<=\S)\$(?!\d))")  # $x$, and not "from $5 to $6"
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "−": r"$-$",
    "×": r"$\times$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "²": r"\textsuperscript{2}",
} | {character: "\\" + character for character in "&%$#_{}"}
# A Greek letter and the subscript that follows it are set as mathematics.
GREEK = {
    "α": r"\alpha",
    "β": r"\beta",
    "γ": r"\gamma",
    "δ": r"\delta",
    "Δ": r"\Delta",
    "ε": r"\varepsilon",
    "θ": r"\theta",
    "λ": r"\lambda",
    "μ": r"\mu",
    "σ": r"\sigma",
    "Σ": r"\Sigma",
}
SYMBOL = re.compile(f"([{''.join(GREEK)}])([₀-₉]*)")
LOW_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
SUBSCRIPTS = {character: rf"\textsubscript{{{digit}}}" for digit, character in enumerate("₀₁₂₃₄₅₆₇₈₉")}


def parts(label: str) -> list[tuple[bool, str]]:
    """Split a label into pieces, each with whether it is mathematics; one plain piece if a $ has no partner."""
    label = " ".join(label.split())
    if "$" not in label and "\\" not in label:
        label = SYMBOL.sub(_symbol, label)
    pieces = MATH.split(label)
    if any("$" in text for text in pieces[::2]) or not _can_be_parsed(label):
        return [(False, label)]
    return [(i % 2 == 1, piece) for i, piece in enumerate(pieces) if piece]


def _symbol(found: re.Match[str]) -> str:
    below = f"_{{{found[2].translate(LOW_DIGITS)}}}" if found[2] else ""
    return f"${GREEK[found[1]]}{below}$"


@cache
def _can_be_parsed(label: str) -> bool:
    """Return whether matplotlib knows all the commands."""
    try:
        MathTextParser("path").parse(label)
    except ValueError:
        return False
    return True


def for_figure(label: str) -> str:
    """Return the label for matplotlib, with dollar signs outside mathematics escaped."""
    return "".join(piece if is_math else piece.replace("$", r"\$") for is_math, piece in parts(label))


def for_latex(label: str) -> str:
    """Return the label for LaTeX, with special characters outside mathematics escaped."""
    return "".join(piece if is_math else _escaped(piece) for is_math, piece in parts(label))


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(character, SUBSCRIPTS.get(character, character)) for character in text)


def wrapped(label: str, width: int) -> list[str]:
    """Break a label into lines of at most `width` characters, without breaking formulas."""
    formulas: dict[str, str] = {}  # by placeholders of about their width, which have no spaces

    def replace(match: re.Match[str]) -> str:
        placeholder = chr(0xE000 + len(formulas)) * max(1, len(match[0]) // 2)
        formulas[placeholder] = match[0]
        return placeholder

    text = "".join(MATH.sub(replace, piece) if is_math else piece for is_math, piece in parts(label))
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
    for placeholder, formula in formulas.items():
        lines = [line.replace(placeholder, formula) for line in lines]
    return lines
