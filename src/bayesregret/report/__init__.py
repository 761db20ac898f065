"""Reports in one HTML file: claims with verdicts, figures and numbers. Needs the extra `report`."""

# ruff: noqa: E402 (the module below imports jinja2 and matplotlib when it loads)

from bayesregret.extras import require

require("report", "a report")

from bayesregret.report.reproduction_page import write_report

__all__ = ["write_report"]
