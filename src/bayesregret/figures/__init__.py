"""Figures for papers: a table of an experiment, drawn and saved. Needs matplotlib, the extra `plot`."""

from bayesregret.figures.drawing import draw
from bayesregret.figures.prior_fit import draw_prior_fit, save_prior_fit
from bayesregret.figures.saving import save
from bayesregret.figures.style import COLUMN, PAGE, Size

__all__ = ["COLUMN", "PAGE", "Size", "draw", "draw_prior_fit", "save", "save_prior_fit"]
