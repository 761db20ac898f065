"""The live page of an experiment, and the plain pages beside it: the style and frame of the reports."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from bayesregret import __version__
from bayesregret.digits import PLUS_MINUS
from bayesregret.service.documentation import requests

if TYPE_CHECKING:
    from bayesregret.agent import Posterior
    from bayesregret.status import Status

NO_BREAK = "\N{NO-BREAK SPACE}"
SCALE = 100.0  # width of an interval's picture, in its own units
EDGE = 2.0  # of them at each side
INTERVAL = '<svg class="interval" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
REFRESH = 5  # seconds between looks of an open page
# What a page may load and do: nothing but itself.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


def experiment_page(status: Status, *, exact: bool) -> str:
    """Return the page of an experiment as HTML, complete without a script."""
    at = status.progress
    return _render(
        "page.html",
        title=at.name,
        subtitle=status.title().removeprefix(f"{at.name}: "),
        done=100.0 * at.done / at.horizon,
        advice=status.advice.sentence,
        why=_typeset(status.advice.why),
        is_bad=status.advice.action == "doubt the prior",
        headings=status.table()[0],
        rows=_rows(status),
        leader=status.leader,
        facts=_facts(status),
        exact=exact,
        made=time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        script=_part("live.js"),
    )


def list_page(names: Sequence[str]) -> str:
    """Return the page that links to all experiments."""
    return _render("list.html", title="Experiments", names=names)


def documentation_page(schema: dict[str, Any]) -> str:
    """Return the OpenAPI documentation as a plain page."""
    return _render("requests.html", title="Requests", requests=requests(schema), version=__version__)


def _rows(status: Status) -> list[tuple[list[str], Markup]]:
    """Return the cells of each arm with the picture of its interval."""
    pictures = intervals(status.posterior)
    arms = status.posterior.shown_arms()
    return [(cells, pictures[arm]) for cells, arm in zip(status.table()[1:], arms, strict=True)]


def _facts(status: Status) -> list[list[str]]:
    """Return the numbers about the whole experiment, with real signs, and a number on one line with its error."""
    return [[_typeset(cell) for cell in row] for row in status.facts()[1:]]


def _typeset(cell: str) -> str:
    for typed, real in {"<=": "≤", ">=": "≥", f" {PLUS_MINUS} ": f"{NO_BREAK}{PLUS_MINUS}{NO_BREAK}"}.items():
        cell = cell.replace(typed, real)
    return cell.removesuffix(": exact=False")


def intervals(posterior: Posterior) -> list[Markup]:
    """Return the interval and the mean of each arm as SVG, all on the same scale."""
    ends = [end for end in [*posterior.low.tolist(), *posterior.high.tolist()] if math.isfinite(end)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    size = (high - low) or 1.0

    def place(value: float) -> float:
        share = min(max((value - low) / size, 0.0), 1.0) if not math.isnan(value) else 0.0
        return EDGE + (SCALE - 2.0 * EDGE) * share

    return [
        Markup(
            f'{INTERVAL}<path d="M{place(left):.2f} 5H{place(right):.2f}"/>'
            f'<path class="mean" d="M{place(mean):.2f} 1V9"/></svg>'
        )
        for left, mean, right in zip(
            *(each.tolist() for each in (posterior.low, posterior.mean, posterior.high)), strict=True
        )
    ]


def _render(template: str, script: str = "", **contents: Any) -> str:
    style = Markup(_part("style.css") + _part("plan.css") + _part("page.css"))
    return _environment().get_template(template).render(contents, style=style, script=Markup(script), refresh=REFRESH)


@cache
def _environment() -> jinja2.Environment:
    # The folder of the reports is read by its name: the package there needs matplotlib.
    folders = [jinja2.PackageLoader("bayesregret", folder) for folder in ("service", "report")]
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(folders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _part(name: str) -> str:
    """Return the content of a style sheet or script."""
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
