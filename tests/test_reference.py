"""The book's reference has every public name, and no other."""

import pathlib
import re

import bayesregret as br

REFERENCE = (pathlib.Path(__file__).parents[1] / "docs" / "reference.md").read_text()


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r"^\.\. auto(?:class|function|data):: bayesregret\.(\S+)$", REFERENCE, re.MULTILINE)
    public = [name for name in br.__all__ if name != "bounds"] + [f"bounds.{name}" for name in br.bounds.__all__]
    assert sorted(listed) == sorted(public)
