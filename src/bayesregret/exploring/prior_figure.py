"""The figure of the prior densities."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from bayesregret.exploring.densities import prior_densities
from bayesregret.exploring.drawn import Frame, Screen, empty_figure, on_screen
from bayesregret.models import Bandit
from bayesregret.plotting.style import COLOURS
from bayesregret.reproduction.table import Axis

HEIGHT = 170
VISIBLE = 2e-3  # of the highest density
HIGHEST = 3.0  # times the median height: a density that goes to infinity at an end would flatten all others


class PriorFigure:
    """One figure for all priors: its lines get new numbers."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"x": [], "y": [], "colour": [], "label": []})
        self.figure: figure | None = None
        self.frame = Frame()
        self._screen: Any = None

    def show(self, bandit: Bandit, screen: Screen) -> None:
        """Show the densities."""
        found = prior_densities(bandit)
        if self.figure is None or screen != self._screen:
            self._make(screen)
        assert self.figure is not None
        self.source.data = {
            "x": [curve.x.tolist() for curve in found],
            "y": [curve.y.tolist() for curve in found],
            "colour": [on_screen(COLOURS[i % len(COLOURS)], screen) for i in range(len(found))],
            "label": [curve.label for curve in found],
        }
        if found:
            peaks = [float(np.max(curve.y)) for curve in found]
            top = min(max(peaks), HIGHEST * max(float(np.quantile(curve.y, 0.8)) for curve in found))
            shown = [curve.x[curve.y > VISIBLE * top] for curve in found]
            self.figure.x_range.update(start=min(x.min() for x in shown), end=max(x.max() for x in shown))
            self.figure.y_range.update(start=0.0, end=1.06 * top)
        self.frame.show(self.figure)

    def _make(self, screen: Screen) -> None:
        self._screen = screen
        self.source = ColumnDataSource({"x": [], "y": [], "colour": [], "label": []})
        made = empty_figure(Axis("mean reward of an arm"), Axis(""), screen)
        made.update(height=HEIGHT, min_border_left=8)
        made.yaxis.visible = False
        made.ygrid.visible = False
        lines = made.multi_line("x", "y", source=self.source, line_color="colour", line_width=2.5, line_alpha=0.9)
        made.add_tools(HoverTool(renderers=[lines], tooltips="@label", line_policy="interp"))
        self.figure = made
