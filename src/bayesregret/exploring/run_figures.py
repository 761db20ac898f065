"""Figures of a single run: which arm was taken when, the posterior of each, and the regret."""

from __future__ import annotations

from typing import Any

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, HoverTool, Range1d

from bayesregret.exploring.drawn import Frame, Screen, empty_figure, on_screen, theme_colour
from bayesregret.exploring.live import Listen, LiveHtml
from bayesregret.exploring.run_frames import RunFrame
from bayesregret.plotting.scales import axis_limits
from bayesregret.plotting.style import BLUE, GREEN, RED
from bayesregret.reproduction.table import Axis

BAR = (
    '<div class=play role=group aria-label="Playback">'
    '<button type=button name=step value="-1" aria-label="One round back">\N{LEFTWARDS ARROW}</button>'
    '<button type=button name=play value="1" data-key=play>Play / pause</button>'
    '<button type=button name=step value="1" aria-label="One round on">\N{RIGHTWARDS ARROW}</button>'
    '<input type=range name=round min=0 max={} step=1 aria-label="Round" id=round>'
    '<button type=button name=again value="1" data-key=again>Another instance</button></div>'
)
SMALL = 210  # height in pixels


class RunView:
    """The figures and the buttons of the view; invisible in the others."""

    def __init__(self, listen: Listen) -> None:
        self.bar = LiveHtml(listen, sizing_mode="stretch_width")
        self.frames = [Frame() for _ in range(3)]
        panes = [frame.pane for frame in self.frames]
        self.layout = pn.Column(self.bar, *panes, visible=False, sizing_mode="stretch_width", margin=0)
        self._key: Any = None
        self._run: Any = None

    def show(self, frame: RunFrame, screen: Screen, seen: int) -> None:
        arms = frame.run.bandit.arms
        key = (screen, arms, frame.posterior is None)
        if key != self._key:
            self._make(frame, screen)
            self._key = key
        rounds = frame.rounds
        total = len(frame.run.taken)
        self.bar.refresh(html=BAR.format(total), seen=seen, values={"round": rounds})
        self._update(frame, rounds)
        if self._run is not frame.run:
            self._limits(frame, total)
            self._run = frame.run
        for place, made in zip(self.frames, (self.taken, self.known, self.regret), strict=True):
            place.show(made)
        self.frames[1].pane.visible = frame.posterior is not None

    def _make(self, frame: RunFrame, screen: Screen) -> None:
        height = {"height": SMALL}
        self.taken = empty_figure(Axis("round"), Axis("arm taken"), screen)
        self.known = empty_figure(Axis("mean reward: posterior and truth"), Axis("arm"), screen)
        self.regret = empty_figure(Axis("round"), Axis("regret so far"), screen)
        for each in (self.taken, self.known, self.regret):
            each.update(**height)
        self.sources = [ColumnDataSource(_nothing(names)) for names in COLUMNS]
        taken, known, regret = self.sources
        size = 4 if len(frame.run.taken) > 300 else 6
        self.taken.scatter("round", "arm", source=taken, size=size, color=on_screen(BLUE, screen), alpha=0.7)
        green, red = on_screen(GREEN, screen), on_screen(RED, screen)
        self.known.segment("low", "arm", "high", "arm", source=known, line_width=5, line_color=green, line_alpha=0.55)
        dots = self.known.scatter("mean", "arm", source=known, size=8, color=green, legend_label="posterior, 90%")
        self.known.scatter(
            "truth", "arm", source=known, size=10, marker="x", line_width=2, color=red, legend_label="true mean"
        )
        legend = self.known.legend
        legend.background_fill_alpha, legend.border_line_color, legend.location = 0.0, None, "bottom_right"
        legend.label_text_color = theme_colour("ink", screen)
        line = self.regret.line("round", "regret", source=regret, line_width=2.5, color=on_screen(BLUE, screen))
        tips = "arm @arm: mean @mean, from @low to @high; truth @truth; @pulls pulls"
        self.known.add_tools(HoverTool(renderers=[dots], tooltips=tips))
        self.regret.add_tools(HoverTool(renderers=[line], tooltips="round @round: regret @regret", mode="vline"))
        self._run = None

    def _limits(self, frame: RunFrame, total: int) -> None:
        margin = 0.02 * total
        for each in (self.taken, self.regret):
            each.x_range.update(start=-margin, end=total + margin)
        arms = frame.run.bandit.arms
        for each in (self.taken, self.known):
            each.y_range.update(start=arms - 0.5, end=-0.5)
        low, high = axis_limits(frame.run.regret.tolist(), "linear", zero=True)
        self.regret.y_range.update(start=low, end=high)
        spread = _spread(frame)
        self.known.x_range.update(start=spread.start, end=spread.end)

    def _update(self, frame: RunFrame, rounds: int) -> None:
        run = frame.run
        at = np.arange(1, rounds + 1)
        self.sources[0].data = {"round": at, "arm": run.taken[:rounds]}
        if frame.posterior is not None:
            known = frame.posterior
            self.sources[1].data = {
                "arm": np.arange(len(known.mean)),
                "mean": known.mean,
                "low": known.low,
                "high": known.high,
                "truth": run.means,
                "pulls": run.pulls(rounds),
            }
        self.sources[2].data = {"round": np.append(0, at), "regret": np.append(0.0, run.regret[:rounds])}


COLUMNS = (("round", "arm"), ("arm", "mean", "low", "high", "truth", "pulls"), ("round", "regret"))


def _nothing(names: tuple[str, ...]) -> dict[str, list[float]]:
    return {name: [] for name in names}


def _spread(frame: RunFrame) -> Range1d:
    """Limits for the posteriors, wide enough for the prior's."""
    prior = frame.run.posterior(0)
    values = frame.run.means.tolist()
    if prior is not None:
        values += [*prior.low.tolist(), *prior.high.tolist()]
    low, high = axis_limits(values, "linear")
    return Range1d(low, high)
