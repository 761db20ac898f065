"""The page: controls, pictures and numbers around one state. The same code makes a page and a notebook's output."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import panel as pn

from bayesregret import checks
from bayesregret.exploring import controls, readout, take_away
from bayesregret.exploring.bounds_view import sweep_steps
from bayesregret.exploring.drawn import Drawn, Frame, Screen, structure
from bayesregret.exploring.jobs import Latest
from bayesregret.exploring.limits import MOST_PLAYED_ROUNDS
from bayesregret.exploring.live import LiveHtml
from bayesregret.exploring.moves import moved
from bayesregret.exploring.prior_figure import PriorFigure
from bayesregret.exploring.regret_view import regret_steps
from bayesregret.exploring.run_figures import RunView
from bayesregret.exploring.run_frames import RunFrame, run_steps
from bayesregret.exploring.settings import BOUNDS, ONE_RUN, PageState, encode
from bayesregret.exploring.snapshot import IsAbandoned, Snapshot
from bayesregret.models import Bandit

HEAD = (
    "<header class=head><h1>Bayes regret, live</h1>"
    "<p class=soft>Move a slider: every number is computed while you look.</p>"
    '<button type=button data-theme="1" aria-label="Light or dark page">Light / dark</button></header>'
)
# On wide screens the controls are beside the picture. On narrow ones they are below it, and it stays in view.
GRID = """
:host {
  display: grid !important; grid-template-columns: 310px minmax(0, 1fr); gap: 0 34px; align-items: start;
  grid-template-rows: repeat(7, auto) 1fr; max-width: 1280px; width: 100% !important; box-sizing: border-box;
  margin: 0 auto !important; padding: 0 20px 60px;
}
@media (max-width: 900px) { :host { display: flex !important; flex-direction: column; padding: 0 14px 40px; } }
"""
HEADER = ":host { grid-column: 1 / -1; width: 100%; margin: 0 !important; }"
SIDE = ":host { grid-column: 1; grid-row: 2 / span 7; width: 100% !important; margin: 0 !important; }"
MAIN = ":host { grid-column: 2; width: 100% !important; min-width: 0; margin: 0 !important; }"
PICTURE = f"""{MAIN}
@media (max-width: 900px) and (min-height: 600px) {{
  :host {{ position: sticky; top: 0; z-index: 4; background: light-dark(#ffffff, #15181c); }}
}}
"""
WIDE: dict[str, Any] = {"sizing_mode": "stretch_width"}
MOST_MOVES = 100  # of one message
FRAMES, PAUSE = 200, 0.1  # of a run that is played, and seconds between two of them

Step = Snapshot | RunFrame


class LivePage:
    """One visitor's page.

    Parameters
    ----------
    state : PageState
        What it shows at first.
    given : mapping of str to Bandit
        Problems by name, beside the common ones.
    message : str
        A line about a bad address.
    has_address : bool
        Whether the address in the browser is this page's.
    """

    def __init__(
        self, state: PageState, given: Mapping[str, Bandit], message: str = "", *, has_address: bool = True
    ) -> None:
        self.state, self.given = state, given
        self.has_address = has_address
        self.screen = Screen()
        self.snapshot: Snapshot | None = None
        self.latest, self.saving = Latest(), Latest()
        self.document: Any = None
        self.moves: dict[str, int] = {}  # number of the last message about each control
        self.seen = 0  # number of the last message from the browser
        self.version = 0  # of the work that pictures belong to
        self._drawn: Drawn | None = None
        self._structure: Any = None
        self._playing: asyncio.Task[None] | None = None
        self._make_parts(message)

    def _make_parts(self, message: str) -> None:
        listen, wide = self._listen, WIDE
        self.head = LiveHtml(listen, html=HEAD, leads=True, address_bar=self.has_address, **wide)
        self.form, self.views, self.readout, self.taken = (LiveHtml(listen, **wide) for _ in range(4))
        self.status = LiveHtml(html=readout.status(None), **wide)
        self.notice = LiveHtml(html=readout.alert(message), **wide)
        self.prior_title = LiveHtml(html="<h2 class=apart>The prior</h2>", **wide)
        self.prior, self.picture = PriorFigure(), Frame()
        self.run = RunView(listen)

    def layout(self) -> pn.Column:
        """Return everything, for a server or a notebook."""
        wide = WIDE
        self.document = pn.state.curdoc
        return pn.Column(
            pn.Column(self.head, self.notice, stylesheets=[HEADER], **wide),
            pn.Column(self.views, stylesheets=[MAIN], **wide),
            pn.Column(self.status, stylesheets=[MAIN], **wide),
            pn.Column(self.picture.pane, stylesheets=[PICTURE], **wide),
            pn.Column(self.run.layout, stylesheets=[MAIN], **wide),
            pn.Column(self.readout, stylesheets=[MAIN], **wide),
            pn.Column(self.prior_title, self.prior.frame.pane, self.form, stylesheets=[SIDE], **wide),
            pn.Column(self.taken, stylesheets=[MAIN], **wide),
            stylesheets=[GRID],
            **wide,
        )

    # --- from the browser ----------------------------------------------------------------------------------------

    def _listen(self, values: Mapping[str, Any], count: int) -> None:
        """Take the moves of some controls, as soon as the document may be changed."""
        self._in_document(lambda: self._take(values, count))

    def _take(self, values: Mapping[str, Any], count: int) -> None:
        """Take the moves of some controls; a bad one changes nothing but the message."""
        self.seen = max(self.seen, count)
        before, message = self.state, None
        for name, value in list(values.items())[:MOST_MOVES]:
            if count < self.moves.get(name, 0):  # messages may overtake each other on their way
                continue
            self.moves[name] = count
            try:
                self._act(name, value)
            except ValueError as error:
                message = str(error)
        if message is not None or values.keys() != {"screen"}:  # what is said of a bad address stays until a move
            self.notice.refresh(html=readout.alert(message or ""))
        if self.state != before:
            self._show(before)
        elif message is not None:
            self.form.seen = self.seen
            self.form.param.trigger("values")  # inputs show again what they are

    def _act(self, name: str, value: Any) -> None:
        if name == "screen":
            self._dress(Screen(bool(value.get("dark")), bool(value.get("narrow"))))
        elif name == "save":
            self._save(checks.one_of("file", value, take_away.KINDS))
        elif name == "play":
            self._play()
        elif name == "step":
            self._to_round(self.state.round + (1 if value == "1" else -1))
        elif name == "again":
            self.state = self.state.changed(instance=self.state.instance + 1, round=0)
        else:
            self.state = moved(self.state, name, value, self.given)

    def _dress(self, screen: Screen) -> None:
        """Draw for a theme and a width; the first time is when the browser is ready."""
        self.screen = screen
        self._structure = None
        self._show(None)

    def _to_round(self, rounds: int) -> None:
        last = min(self.state.horizon, MOST_PLAYED_ROUNDS)
        self.state = self.state.changed(round=min(max(0, rounds), last))

    # --- to the browser ------------------------------------------------------------------------------------------

    def _show(self, before: PageState | None) -> None:
        """Show the present state; numbers that it needs are computed off the event loop, meanwhile."""
        state = self.state
        self.bandit = state.bandit(self.given)
        if before is None or self.snapshot is None or not _same_numbers(before, state):
            self._compute()
        else:
            self._deliver(self.snapshot)
        self.prior.show(self.bandit, self.screen)
        form, values = controls.form(state, self.given, self.bandit.arms), controls.form_values(state)
        self.form.refresh(html=form, seen=self.seen, values=values)
        chosen = {"sweep": state.sweep, "watched": self._watched()}
        self.views.refresh(html=controls.views(state), seen=self.seen, values=chosen)
        self.head.refresh(address=encode(state))
        self.taken.refresh(html=take_away.panel(state, self.bandit, has_address=self.has_address))
        self.run.layout.visible = state.view == ONE_RUN
        self.picture.pane.visible = state.view != ONE_RUN

    def _compute(self) -> None:
        """Begin the work for the present state, in place of all other; until its numbers come the old ones look old."""
        version = self.version = self.version + 1

        def later(step: Step) -> None:
            self._in_document(lambda: self._deliver(step) if version == self.version else None)

        self.latest.start(self._steps, later, self._fail)
        self.status.refresh(html=readout.status(None))
        if self.snapshot is not None:
            self.readout.refresh(html=readout.readout(self.snapshot, self.state.hidden, is_old=True))

    def _watched(self) -> str:
        return self.state.watched or next(iter(self.state.play()))

    def _steps(self, is_abandoned: IsAbandoned) -> Iterator[Step]:
        """The work for the present state."""
        state, bandit = self.state, self.bandit
        if state.view == BOUNDS:
            return sweep_steps(state, bandit, lambda there: there.bandit(self.given), is_abandoned)
        if state.view == ONE_RUN:
            return run_steps(state, bandit, is_abandoned)
        return regret_steps(state, bandit, is_abandoned)

    def _fail(self, message: str) -> None:
        self._in_document(lambda: self.notice.refresh(html=readout.alert(message)))

    def _in_document(self, change: Callable[[], None]) -> None:
        """Change what a browser shows: a server's document has a lock, a notebook's has to be sent."""
        if self.document is not None and self.document.session_context is not None:
            self.document.add_next_tick_callback(change)
            return
        change()
        pn.io.push_notebook(*self._figures())

    def _figures(self) -> list[pn.pane.Bokeh]:
        return [frame.pane for frame in (self.picture, self.prior.frame, *self.run.frames)]

    def _deliver(self, step: Step) -> None:
        if isinstance(step, RunFrame):
            self.snapshot = step.snapshot()
            self.run.show(step, self.screen, self.seen)
        else:
            self.snapshot = step
            self._draw(step)
        self.readout.refresh(html=readout.readout(self.snapshot, self.state.hidden))
        self.status.refresh(html=readout.status(self.snapshot))

    def _draw(self, snapshot: Snapshot) -> None:
        if not snapshot.table.trends or not snapshot.table.points:
            return
        key = structure(snapshot.table, self.screen)
        if self._drawn is None or key != self._structure:
            self._drawn, self._structure = Drawn(snapshot.table, self.screen), key
        self._drawn.update(snapshot.table, self.state.hidden, snapshot.at)
        self.picture.show(self._drawn.figure)

    # --- playing and saving --------------------------------------------------------------------------------------

    def _play(self) -> None:
        """Start or stop playing."""
        if self._playing is not None and not self._playing.done():
            self._playing.cancel()
            return
        self._playing = asyncio.get_running_loop().create_task(self._advance())

    async def _advance(self) -> None:
        last = min(self.state.horizon, MOST_PLAYED_ROUNDS)
        if self.state.round >= last:
            self.state = self.state.changed(round=0)
        step = max(1, last // FRAMES)
        while self.state.view == ONE_RUN and self.state.round < last:
            before = self.state
            self._to_round(self.state.round + step)
            self._in_document(lambda before=before: self._show(before))  # type: ignore[misc]
            await asyncio.sleep(PAUSE)

    def _save(self, form: str) -> None:
        """Make a file off the event loop and hand it to the browser."""
        if self.snapshot is None:
            raise ValueError("file must be saved after the first picture")
        state, snapshot, bandit = self.state, self.snapshot, self.bandit

        def steps(is_abandoned: IsAbandoned) -> Iterator[dict[str, str]]:
            yield take_away.saved(form, snapshot, state, bandit)

        if form == "html":
            self.notice.refresh(html=readout.alert("The plan takes some seconds; the page stays alive."))
        self.saving.start(steps, lambda file: self._in_document(lambda: self._hand_over(file)), self._fail)

    def _hand_over(self, file: dict[str, str]) -> None:
        self.taken.file = file
        self.taken.file = {}
        self.notice.refresh(html="")

    def close(self) -> None:
        """Drop all work; the visitor is gone."""
        self.latest.stop()
        self.saving.stop()
        if self._playing is not None:
            self._playing.cancel()


def _same_numbers(before: PageState, after: PageState) -> bool:
    """Whether the pictures' numbers are the same in two states."""
    if after.view == ONE_RUN:
        return False  # cheap, and it depends on the round
    return before.changed(hidden=after.hidden, round=after.round) == after
