"""What a request may take: bytes of its body and headers, and how many run at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bayesregret.service.errors import answer, refusal

LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Limits:
    """What a request may take.

    Attributes
    ----------
    body : int
        Bytes of a body.
    headers : int
        Bytes of the first line and all headers.
    batch : int
        Decisions or rewards in one request.
    concurrent : int
        Requests that are answered at the same time.
    arms : int
        Arms of an experiment that is started over HTTP.
    """

    body: int = 1_000_000
    headers: int = 16_384
    batch: int = 1_000
    concurrent: int = 1_000
    arms: int = 1_000


class LimitRequests:
    """Middleware that refuses what is too large or too much, before anything reads it.

    Without tokens it also refuses requests for other hosts: a page on the web can make a browser send requests to this
    machine under a name of its own (DNS rebinding), and a proxy would open the service to everybody.
    """

    def __init__(self, app: ASGIApp, limits: Limits, only_local: bool) -> None:
        self.app = app
        self.limits = limits
        self.only_local = only_local
        self.running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self._refused(dict(scope["headers"]))
        if refused is not None:
            status, line = refused
            await answer(status, line, {"connection": "close"})(scope, receive, send)
            return
        self.running += 1
        try:
            await self.app(scope, self._counted(receive), send)
        finally:
            self.running -= 1

    def _refused(self, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        """Return the status and the line of the answer to a request that is refused."""
        if self.running >= self.limits.concurrent:
            return 503, f"{self.limits.concurrent:,} requests are being answered; try again"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18 or int(length) > self.limits.body:
            return 413, self._too_large
        if self.only_local and not _is_local(headers.get(b"host", b"")):
            return 403, "without tokens only this machine is served, under the names 127.0.0.1 and localhost"
        return None

    @property
    def _too_large(self) -> str:
        return f"the body must have at most {self.limits.body:,} bytes"

    def _counted(self, receive: Receive) -> Receive:
        """Count the bytes of a body whose length no header says."""
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self.limits.body:
                raise refusal(413, self._too_large)
            return message

        return counted


def _is_local(host: bytes) -> bool:
    name, _, port = host.decode("latin-1").rpartition(":")
    return (name if port.isdigit() else host.decode("latin-1")).lower() in LOCAL_HOSTS


def allowed_batch(limits: Limits, field: str, batch: list[Any]) -> list[Any]:
    """Return a batch that is not too long."""
    if len(batch) > limits.batch:
        raise refusal(413, f"{field} must have at most {limits.batch:,} entries, got {len(batch):,}")
    return batch
