"""Labels, which anyone may write, made safe for matplotlib and LaTeX; $...$ is mathematics where it can be."""

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
# A Greek letter is mathematics, with the subscript that follows it.
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
    """The label in pieces, each with whether it is mathematics; only where every $ has its partner."""
    label = " ".join(label.split())
    if "$" not in label and "\\" not in label:
        label = SYMBOL.sub(_symbol, label)
    pieces = MATH.split(label)
    if any("$" in text for text in pieces[::2]) or not _can_be_set(label):
        return [(False, label)]
    return [(i % 2 == 1, piece) for i, piece in enumerate(pieces) if piece]


def _symbol(found: re.Match[str]) -> str:
    below = f"_{{{found[2].translate(LOW_DIGITS)}}}" if found[2] else ""
    return f"${GREEK[found[1]]}{below}$"


@cache
def _can_be_set(label: str) -> bool:
    """Whether matplotlib knows all the commands."""
    try:
        MathTextParser("path").parse(label)
    except ValueError:
        return False
    return True


def for_figure(label: str) -> str:
    """With dollar signs that are not mathematics shown as they are."""
    return "".join(piece if is_math else piece.replace("$", r"\$") for is_math, piece in parts(label))


def for_latex(label: str) -> str:
    return "".join(piece if is_math else _escaped(piece) for is_math, piece in parts(label))


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(character, SUBSCRIPTS.get(character, character)) for character in text)


def wrapped(label: str, width: int) -> list[str]:
    """Lines of at most so many characters, formulas unbroken."""
    held: dict[str, str] = {}  # formulas wait under a name of about their width, which has no space in it

    def hold(match: re.Match[str]) -> str:
        name = chr(0xE000 + len(held)) * max(1, len(match[0]) // 2)
        held[name] = match[0]
        return name

    whole = "".join(MATH.sub(hold, piece) if is_math else piece for is_math, piece in parts(label))
    lines = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False) or [""]
    for name, formula in held.items():
        lines = [line.replace(name, formula) for line in lines]
    return lines
