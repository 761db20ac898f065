"""HTML with native inputs whose events reach Python, on a page and in a notebook alike.

Panel's own sliders have no names that a screen reader could say; a browser's own do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import param
from panel.custom import JSComponent

from bayesregret.report.reproduction_page import part

Listen = Callable[[Mapping[str, Any], int], None]  # moves by name, and the number of the message


class LiveHtml(JSComponent):  # type: ignore[misc]
    """Shows `html`, keeps the inputs named in `values` at these values, and hands each change to `listen`."""

    html = param.String()
    values = param.Dict(default={})
    seen = param.Integer(default=0, doc="Number of the last message that the values are an answer to.")
    file = param.Dict(default={}, doc="A file for the reader to save: name, kind and content in base 64.")
    address = param.String(doc="The query of the address, without the question mark.")
    address_bar = param.Boolean(default=False, doc="Whether the page has the browser's address for itself.")
    leads = param.Boolean(default=False, doc="Whether this one reports the width and the theme.")

    _esm = files(__package__).joinpath("live.js").read_text(encoding="utf-8")

    def __init__(self, listen: Listen | None = None, **settings: Any) -> None:
        self._listen = listen
        super().__init__(stylesheets=[style()], **settings)

    def _handle_msg(self, data: Any) -> None:
        if self._listen is not None and isinstance(data, dict) and isinstance(data.get("values"), dict):
            count = data.get("count")
            self._listen(data["values"], count if isinstance(count, int) else 0)

    def refresh(self, **settings: Any) -> None:
        """Send what has changed, and nothing else."""
        changed = {name: value for name, value in settings.items() if getattr(self, name) != value}
        if changed:
            self.param.update(**changed)


@cache
def style() -> str:
    """The style of all parts, with the colours of the report's pages."""
    light, dark = themes()
    own = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return f":host {{ {_variables(light)} }}\n:host(.dark) {{ {_variables(dark)} }}\n{own}"


def _variables(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


@cache
def themes() -> tuple[dict[str, str], dict[str, str]]:
    """Names and values of the report's colours, in light and in dark."""
    blocks = re.findall(r":root \{(.*?)\}", part("style.css"), re.DOTALL)[:2]
    light, dark = (dict(re.findall(r"--([\w-]+): ([^;]+);", block)) for block in blocks)
    return light, light | dark
