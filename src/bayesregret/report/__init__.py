"""Reports in one HTML file: claims with verdicts, figures and numbers. Needs the extra `report`."""

from bayesregret.report.reproduction_page import write_report

__all__ = ["write_report"]
