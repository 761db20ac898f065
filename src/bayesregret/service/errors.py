"""Errors of the service: a status, and {"error": "one line"} with nothing of the file system or the database in it."""

from __future__ import annotations

import json
import logging
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException

from bayesregret import checks
from bayesregret.extras import MissingExtraError
from bayesregret.store.errors import ClosedError, ConflictError, StoreError, UnknownError

BUSY = "the store cannot be used now; nothing was changed, try again"
OURS = "this is a mistake of the server, which has written about it to its log"
UNREADABLE = "the body must be JSON in UTF-8, not nested deeply, and with no number of thousands of digits"
LONGEST = 500  # characters of a message
JSON_TYPE = "application/json"
log = logging.getLogger("bayesregret.service")


class ErrorAnswer(BaseModel):
    """The body of every answer that is not a success."""

    error: str


# Of each route, for the documentation.
ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": description}
    for status, description in {
        400: "Not JSON",
        401: "No token, or a wrong one",
        403: "A token for less",
        404: "No such experiment or decision",
        409: "Contradicts the log",
        413: "Too large",
        415: "Not sent as application/json",
        422: "A field has a bad value",
        503: "Too busy, or the store is not there",
    }.items()
}


def refusal(status: int, line: str, headers: dict[str, str] | None = None) -> HTTPException:
    """Return the exception of an answer that is an error."""
    return HTTPException(status, line, headers)


def add_handlers(app: FastAPI) -> None:
    """Make every error of an application one line."""
    app.add_exception_handler(StarletteHTTPException, _http)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(ValueError, _bad_value)
    app.add_exception_handler(MissingExtraError, _bad_value)
    app.add_exception_handler(StoreError, _store)  # both name the database, which is for the log
    app.add_exception_handler(OSError, _store)
    app.add_exception_handler(Exception, _unexpected)


def answer(status: int, line: str, headers: Any = None) -> Response:
    """Return an answer that is an error."""
    return Response(error_body(line), status, headers, JSON_TYPE)


def error_body(line: str) -> bytes:
    """Return {"error": line} as JSON; a long line is cut."""
    line = " ".join(line.split())
    shown = line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."
    return json.dumps({"error": shown}, separators=(",", ":")).encode()


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    # What FastAPI and Starlette say themselves.
    ours = {
        "Not Found": "there is no such page",
        "Method Not Allowed": f"{request.method} is not possible here",
        "There was an error parsing the body": UNREADABLE,
    }
    return answer(error.status_code, ours.get(error.detail, error.detail), error.headers)


async def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return answer(400, f"the body must be JSON, but {first['ctx']['error'][:1].lower()}{first['ctx']['error'][1:]}")
    if first["loc"] == ("body",) and not _is_json(request):
        return answer(415, f"the body must be JSON, sent with the header content-type: {JSON_TYPE}")
    return answer(422, _field_line(first))


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON_TYPE


def _field_line(error: dict[str, Any]) -> str:
    """Return `reward must be a finite number, got "a"` for what Pydantic says of a field."""
    place = [part for part in error["loc"][1:] if isinstance(part, int | str)]
    field = checks.one_line(".".join(map(str, place))) if place else "the body"
    if len(field) > 60:
        field = f"{field[:57]}..."
    match error["type"]:
        case "missing":
            return f"{field} is missing"
        case "extra_forbidden":
            return f"{field} is not a field of this request"
    may_be = error["msg"].replace("Input should be", "must be").replace("String should have", "must have")
    may_be = may_be.replace("List should have", "must have").removeprefix("Value error, ")
    if not may_be.startswith("must"):
        may_be = f"is bad: {may_be}"
    return f"{field} {may_be}, got {checks.shown(error.get('input'))}"


async def _bad_value(request: Request, error: Exception) -> Response:
    if isinstance(error, ConflictError | ClosedError):
        request.app.state.metrics.conflicts.inc()
        return answer(409, str(error))
    return answer(404 if isinstance(error, UnknownError) else 422, str(error))


async def _store(request: Request, error: Exception) -> Response:
    log.error("%s %s: %s", request.method, request.url.path, error)
    return answer(503, BUSY, {"retry-after": "1"})


async def _unexpected(request: Request, error: Exception) -> Response:
    return answer(500, OURS)
