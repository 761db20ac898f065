"""The FastAPI application."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bayesregret import __version__
from bayesregret.service import decisions, experiments, health, pages
from bayesregret.service.desk import Desk
from bayesregret.service.documentation import openapi
from bayesregret.service.errors import add_handlers
from bayesregret.service.gate import Gate
from bayesregret.service.limits import LimitRequests, Limits
from bayesregret.service.metrics import MeasureRequests
from bayesregret.service.statuses import Statuses
from bayesregret.service.tokens import Tokens

if TYPE_CHECKING:
    from bayesregret.store import ExperimentStore

TICK = 1.0  # seconds between looks at the tokens and the clock
DESCRIPTION = "Experiments that decide, learn, and say what is left to lose."


def create_app(store: ExperimentStore, *, require_tokens: bool = False, limits: Limits | None = None) -> FastAPI:
    """Return the application that serves a store; whoever runs it closes the store.

    Parameters
    ----------
    store : ExperimentStore
        The store to serve.
    require_tokens : bool
        Whether requests need a token. Without, only requests under the names of this machine are answered.
    limits : Limits, optional
        What a request may take.
    """
    limits = Limits() if limits is None else limits
    app = FastAPI(
        title="bayesregret",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # these pages of FastAPI load scripts from the network
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.openapi = lambda: openapi(app)  # type: ignore[method-assign]
    app.state.limits = limits
    app.state.desk = desk = Desk(store)
    app.state.metrics = desk.metrics
    app.state.gate = Gate(Tokens(store.database), require_tokens)
    add_handlers(app)
    # Decisions first: FastAPI looks at one after the other.
    for router in (decisions.router, experiments.router, *health.routers, *pages.routers):
        app.include_router(router)
    app.add_middleware(LimitRequests, limits=limits, only_local=not require_tokens)
    app.add_middleware(MeasureRequests, metrics=desk.metrics)  # the outermost
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    desk: Desk = app.state.desk
    app.state.statuses = Statuses()
    await desk.run(app.state.gate.refresh)
    clock = asyncio.create_task(_tick(app, desk))
    try:
        yield
    finally:
        clock.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await clock
        app.state.statuses.close()
        desk.close()


async def _tick(app: FastAPI, desk: Desk) -> None:
    """Look at the tokens and the clock now and then. What fails is tried again: the store may be away for a moment."""
    while True:
        await asyncio.sleep(TICK)
        with contextlib.suppress(ValueError, OSError):
            await desk.run(app.state.gate.refresh)
        await desk.expire()
