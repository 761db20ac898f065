"""Answers that are JSON."""

from __future__ import annotations

from typing import Any

from fastapi.responses import Response

from bayesregret.agent.saved import encode
from bayesregret.service.errors import JSON_TYPE


def json_answer(data: Any) -> Response:
    """Return data as JSON, as a whole: FastAPI would check it field by field, which takes longer than all the rest."""
    return Response(encode(data), media_type=JSON_TYPE)
