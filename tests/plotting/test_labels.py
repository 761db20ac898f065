"""Labels that anyone may write."""

import pytest

from bayesregret.plotting.labels import for_figure, for_latex, wrapped


def test_mathematics_stays():
    assert for_figure(r"width $\sigma_0$") == r"width $\sigma_0$"
    assert for_latex(r"50% of $\sigma_0$") == r"50\% of $\sigma_0$"


@pytest.mark.parametrize("label", ["costs $5", "from $5 to $6_", r"$\nosuchcommand$", r"\$5 and $x$"])
def test_other_dollars_are_dollars(label):
    assert for_figure(label).count(r"\$") >= label.count("$")
    assert r"\$" in for_latex(label)


def test_latex_escapes_what_is_special():
    assert for_latex(r"a_b & 5% #1 {x} ~ ^ \ < > |") == (
        r"a\_b \& 5\% \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} "
        r"\textless{} \textgreater{} \textbar{}"
    )
    assert for_latex("σ₀ ± −1") == r"$\sigma_{0}$ $\pm$ $-$1"
    assert for_latex("x₁") == r"x\textsubscript{1}"


def test_greek_letters_are_mathematics():
    assert for_figure("prior width σ₀") == r"prior width $\sigma_{0}$"
    assert for_figure("costs $5, σ") == r"costs \$5, σ"


def test_lines_are_broken_between_words_and_never_in_formulas():
    assert wrapped("a bound of some length", 9) == ["a bound", "of some", "length"]
    assert wrapped(r"the bound $a + b + c + d$ here", 9)[1] == r"$a + b + c + d$"
    assert wrapped("", 9) == [""]
