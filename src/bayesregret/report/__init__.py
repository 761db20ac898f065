"""Reports in one HTML file: claims with verdicts, figures and numbers. Needs the extra `report`."""

# ruff: noqa: E402 (the modules below import jinja2 and matplotlib when they load)

from bayesregret.extras import require

require("report", "a report")

from bayesregret.report.publication import publish
from bayesregret.report.reproduction_page import write_report

__all__ = ["publish", "write_report"]
