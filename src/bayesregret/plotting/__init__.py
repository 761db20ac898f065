"""Draw and save the tables of experiments as figures for papers. Needs matplotlib (the extra `plot`)."""

# ruff: noqa: E402 (the modules below import matplotlib when they load)

from bayesregret.extras import require

require("plot", "plotting")

from bayesregret.plotting.drawing import draw
from bayesregret.plotting.prior_fit import draw_prior_fit, save_prior_fit
from bayesregret.plotting.saving import save
from bayesregret.plotting.style import COLUMN, PAGE, Size

__all__ = ["COLUMN", "PAGE", "Size", "draw", "draw_prior_fit", "save", "save_prior_fit"]
