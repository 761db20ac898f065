"""HTTP connections with a limit for headers, and errors in one line of JSON."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from bayesregret.service.errors import JSON_TYPE, error_body
from bayesregret.service.limits import Limits


class LimitedProtocol(HttpToolsProtocol):
    """A connection that closes when the first line and the headers of a request are too long.

    The parser has no limit of its own: headers without end would take all memory.
    """

    limit = Limits.headers
    _in_headers = True  # the next bytes belong to the first line or the headers
    _went_on = False  # headers or a body ended within the last bytes
    _unparsed = 0  # bytes since then, of headers that have no end yet
    _parsed = 0  # bytes of the headers of this request that have ended

    def data_received(self, data: bytes) -> None:
        self._went_on = False
        super().data_received(data)
        self._unparsed = self._unparsed + len(data) if self._in_headers and not self._went_on else 0
        if self._unparsed > self.limit and not self.transport.is_closing():
            self.send_400_response("")

    def on_message_begin(self) -> None:
        self._parsed = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(name + value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_headers, self._went_on = False, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_headers, self._went_on = True, True

    def _count(self, parsed: bytes) -> None:
        self._parsed += len(parsed)
        if self._parsed > self.limit:
            raise ValueError("too long")  # the parser makes it an error of its own

    def send_400_response(self, msg: str) -> None:
        is_long = max(self._parsed, self._unparsed) > self.limit
        line = f"the headers must have at most {self.limit:,} bytes" if is_long else "this is not HTTP"
        body = error_body(line)
        headers = f"content-type: {JSON_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[431 if is_long else 400] + headers.encode() + body)
        self.transport.close()
