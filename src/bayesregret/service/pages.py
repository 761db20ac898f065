"""Routes for people: the page of an experiment, the list of all, and the documentation."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from bayesregret.service.gate import GuardedRoute, right
from bayesregret.service.page import HEADERS, documentation_page, experiment_page, list_page

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
guarded = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=GuardedRoute)


@router.get("/docs")
async def documentation(request: Request) -> HTMLResponse:
    """All requests, from the OpenAPI documentation."""
    return HTMLResponse(documentation_page(request.app.openapi()), headers=HEADERS)


@guarded.get("/", openapi_extra=right("read"))
async def index(request: Request) -> HTMLResponse:
    """The list of all experiments."""
    desk = request.app.state.desk
    return HTMLResponse(list_page(await desk.run(desk.store.names)), headers=HEADERS)


@guarded.get("/experiments/{name}/page", openapi_extra=right("read"))
async def page(name: str, request: Request, exact: Annotated[bool, Query()] = False) -> HTMLResponse:
    """The live page of an experiment."""
    state = request.app.state
    status = await state.statuses.status(await state.desk.experiment(name), exact=exact)
    return HTMLResponse(await state.desk.run(experiment_page, status, exact=exact), headers=HEADERS)


routers = (router, guarded)
