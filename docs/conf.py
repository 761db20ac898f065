"""The book: `make docs` builds it into build/docs. Nothing in it is loaded from the network."""

import inspect
import re
import sys
from pathlib import Path

import bayesregret

sys.path.insert(0, str(Path(__file__).parent))

project = "bayesregret"
author = "the bayesregret developers"
release = bayesregret.__version__

# Types in signatures without a place in the reference: nobody makes them.
INTERNAL = r"\w+Model|Selection|Kept|Family|PriorPoint|TrackedRuns|Parts|BestDelta|MakesBandit|\w+Counts|Live|Database"

extensions = [
    "myst_nb",
    "sphinx-mathjax-offline",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "book.backgrounds",
    "book.command_help",
    "book.notebooks",
    "book.schema_tables",
]
exclude_patterns = ["_build"]
nitpicky = True
# Types of other libraries have no index here; ours must all be found.
nitpick_ignore_regex = [("py:.*", r"(?!bayesregret\.).*"), ("py:class", rf"bayesregret\..*\.({INTERNAL})")]

nb_execution_mode = "off"  # book.notebooks has run them
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "BanditLike", "PolicyOrName", "Policies")}
python_maximum_signature_line_length = 88
napoleon_google_docstring = False
default_role = "code"  # as docstrings mean `name`

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
myst_dmath_allow_digits = False  # "$8" is money, not mathematics

html_theme = "furo"
html_title = f"bayesregret {release}"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}

# The offline copy is MathJax 3.
mathjax3_config = {
    "tex": {
        "macros": {
            "E": r"\mathbb{E}",
            "Pr": r"\mathbb{P}",
            "R": r"\mathbb{R}",
            "ind": [r"\mathbf{1}\{#1\}", 1],
            "norm": [r"\lVert #1 \rVert", 1],
            "floor": [r"\lfloor #1 \rfloor", 1],
            "eps": r"\varepsilon",
            "d": r"\mathrm{d}",
            "tr": r"\operatorname{tr}",
        },
    },
}

# A formula and the brackets or punctuation that touch it: browsers would break the line between them.
FORMULA = re.compile(r'\(?<span class="math notranslate nohighlight">[^<]*</span>[,.;:)?]+')


def keep_punctuation(app, page, template, context, doctree):
    if "body" in context:
        context["body"] = FORMULA.sub(r'<span class="unbroken">\g<0></span>', context["body"])


# Shapes such as (arms,) are no types, but Sphinx would link them to whatever has that name.
SHAPE = re.compile(r"^(\s*:(?:type|vartype)\b[^(]*\()([\w, ]+)(\).*)$")


def keep_shapes(app, what, name, obj, options, lines):
    for number, line in enumerate(lines):
        if found := SHAPE.match(line):
            lines[number] = found[1] + re.sub(r"\b(arms|rounds|runs)\b", r"n_\1", found[2]) + found[3]


def keep_sentences(app, what, name, obj, options, lines):
    """Napoleon takes for a type what a formula or property has before a colon: only shapes such as (arms,) are."""
    if what in ("data", "property") and ":" in (obj.__doc__ or "").partition("\n")[0] and obj.__doc__[0] != "(":
        lines[:] = [*inspect.cleandoc(obj.__doc__).splitlines(), ""]


def name_aliases(app, what, name, obj, options, signature, returned):
    """In `ArrayLike | None`, Sphinx shows how it has kept the alias."""
    return tuple(text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (signature, returned))


def setup(app):
    app.connect("autodoc-process-signature", name_aliases)
    app.connect("autodoc-process-docstring", keep_sentences, priority=600)  # after napoleon
    app.connect("autodoc-process-docstring", keep_shapes, priority=700)
    app.connect("html-page-context", keep_punctuation)
