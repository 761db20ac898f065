"""The book's reference has every public name, and no other."""

import pathlib
import re

import bayesregret as br

REFERENCE = pathlib.Path(__file__).parents[1] / "docs" / "reference"
PAGES = [page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md")]
PUBLIC = re.compile(r"^\.\. auto(?:class|function|data):: bayesregret\.((?:bounds\.)?\w+)$", re.MULTILINE)


def test_every_public_name_is_in_the_reference():
    listed = [name for page in PAGES for name in PUBLIC.findall(page)]
    public = [name for name in br.__all__ if name != "bounds"] + [f"bounds.{name}" for name in br.bounds.__all__]
    assert sorted(listed) == sorted(public)
