"""Figures for papers: a table of an experiment, drawn and saved. Needs matplotlib, the extra `plot`."""

from bayesregret.figures.drawing import draw
from bayesregret.figures.saving import save
from bayesregret.figures.style import COLUMN, PAGE, Size

__all__ = ["COLUMN", "PAGE", "Size", "draw", "save"]
