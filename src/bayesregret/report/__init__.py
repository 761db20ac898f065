"""The report: claims with their verdicts, figures and numbers in one HTML file. Needs the extra `report`."""

from bayesregret.report.reproduction_page import write_report

__all__ = ["write_report"]
