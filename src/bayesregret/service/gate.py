"""Who may do what: each route has a right, and a request needs a token that gives it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from bayesregret.service.errors import refusal
from bayesregret.service.tokens import TokenEntry, Tokens, includes, right_of

RIGHT = "x-right"  # of a route, in the OpenAPI documentation
REALM = 'realm="bayesregret"'


class Gate:
    """What stands before all routes: it reads the tokens now and then, and checks each request."""

    def __init__(self, tokens: Tokens, required: bool) -> None:
        self.required = required
        self._tokens = tokens
        self._entries: list[TokenEntry] = []

    def refresh(self) -> None:
        """Read the tokens anew: one that was removed is refused from now on."""
        if self.required:
            self._entries = self._tokens.entries()

    def check(self, request: Request, needed: str) -> None:
        """Raise an error unless the request has a token with this right."""
        if not self.required:
            return
        token = _token(request.headers.get("authorization", ""))
        right = None if token is None else right_of(token, self._entries)
        if right is None:
            told = "a token is needed: send the header authorization: Bearer TOKEN"
            raise refusal(401, told if token is None else "the token is not valid", _challenge(request))
        if not includes(right, needed):
            raise refusal(403, f"this needs a token with the right {needed}, and this one has the right {right}")


def _token(authorization: str) -> str | None:
    """Return the token of a request; a browser, which asks its user, sends it as a password."""
    scheme, _, value = authorization.strip().partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2] or None
        except (binascii.Error, UnicodeDecodeError):
            return None
    return None


def _challenge(request: Request) -> dict[str, str]:
    """Return the header by which a browser asks for a password, and a program knows that it needs a token."""
    is_browser = "text/html" in request.headers.get("accept", "")
    return {"www-authenticate": f"{'Basic' if is_browser else 'Bearer'} {REALM}"}


class GuardedRoute(APIRoute):
    """Route that checks the token before it reads the body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        needed = (self.openapi_extra or {})[RIGHT]

        async def guarded(request: Request) -> Response:
            request.app.state.gate.check(request, needed)
            return await handle(request)

        return guarded


def right(name: str) -> dict[str, Any]:
    """Return what gives a route its right: `openapi_extra=right("read")`."""
    return {RIGHT: name}
