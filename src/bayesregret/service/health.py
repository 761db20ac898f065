"""Routes for machines that watch the service."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from bayesregret.service.errors import refusal
from bayesregret.service.gate import GuardedRoute, right

TEXT = "text/plain; version=0.0.4; charset=utf-8"  # of Prometheus
router = APIRouter()
guarded = APIRouter(route_class=GuardedRoute)


@router.get("/health")
async def health() -> dict[str, str]:
    """Whether the server runs."""
    return {"status": "ok"}


@router.get("/ready")
async def ready(request: Request) -> dict[str, str]:
    """Whether the store answers, too."""
    desk = request.app.state.desk
    try:
        await desk.run(desk.store.names)
    except (ValueError, OSError):
        raise refusal(503, "the store does not answer") from None
    return {"status": "ready"}


@guarded.get("/metrics", openapi_extra=right("read"), response_class=Response)
async def metrics(request: Request) -> Any:
    """Numbers for Prometheus."""
    state = request.app.state
    state.metrics.open.set(await state.desk.run(state.desk.running))
    return Response(state.metrics.text(), media_type=TEXT)


routers = (router, guarded)
