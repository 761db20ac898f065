"""The OpenAPI documentation, and a plain page of it that loads nothing from the network."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from bayesregret.service.gate import RIGHT

SCHEME = {"token": {"type": "http", "scheme": "bearer"}}


def openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI documentation, with the token that each route needs."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        for _, _, operation in _operations(made):
            if RIGHT in operation:
                operation["security"] = [{"token": []}]
        made["components"]["securitySchemes"] = SCHEME
        app.openapi_schema = made
    return app.openapi_schema


def _operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method.upper(), path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


def requests(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the page shows of each request."""
    return [
        {
            "title": f"{method} {path}",
            "meaning": operation.get("description") or operation.get("summary", ""),
            "right": operation.get(RIGHT),
            "fields": [*_parameters(operation), *_body_fields(schema, operation)],
        }
        for method, path, operation in _operations(schema)
    ]


def _parameters(operation: dict[str, Any]) -> list[list[str]]:
    return [
        [f"{each['name']} (in the {each['in']})", _kind(each["schema"]), each.get("description", "")]
        for each in operation.get("parameters", [])
        if each["in"] != "path"
    ]


def _body_fields(schema: dict[str, Any], operation: dict[str, Any]) -> list[list[str]]:
    body = operation.get("requestBody")
    if body is None:
        return []
    made = _resolved(schema, body["content"]["application/json"]["schema"])
    needed = made.get("required", [])
    return [
        [name if name in needed else f"{name} (optional)", _kind(field), field.get("description", "")]
        for name, field in made.get("properties", {}).items()
    ]


def _resolved(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    name = part.get("$ref", "").rpartition("/")[2]
    return schema["components"]["schemas"][name] if name else part


def _kind(field: dict[str, Any]) -> str:
    """Return the type of a field in words."""
    if "anyOf" in field:
        return " or ".join(_kind(each) for each in field["anyOf"] if each.get("type") != "null")
    if "$ref" in field:
        return "object"
    if field.get("type") == "array":
        return f"list of {_kind(field['items'])}"
    return str(field.get("type", "any"))
