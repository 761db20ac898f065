"""The directive `schema NAME`: tables of the fields that a JSON Schema of the package describes, and a link to it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

Schema = dict[str, Any]
WORDS = {"object": "table", "string": "text", "boolean": "true or false", "integer": "whole number"}


def load(name: str) -> Schema:
    text = (files("bayesregret") / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    found: Schema = json.loads(text)
    return found


def tables(schema: Schema) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """(title, description, rows of field, type and description) for the schema and each of its definitions."""
    found = []
    named = {"": schema, **schema.get("$defs", {})}
    for name, each in named.items():
        fields = each.get("properties", {})
        needed = each.get("required", [])
        rows = [(field, kind(value), _text(value, field in needed)) for field, value in fields.items()]
        others = each.get("additionalProperties")
        if isinstance(others, dict):
            rows.append(("any other", kind(others), others.get("description", "")))
        found.append((each.get("title", name), each.get("description", ""), rows))
    return found


def _text(value: Schema, is_needed: bool) -> str:
    text = str(value.get("description", ""))
    if is_needed:
        return text
    default = f"default {json.dumps(value['default'])}" if "default" in value else "optional"
    return f"{text} ({default})" if text else default


def kind(value: Schema) -> str:
    """The type of a field in a few words: of `{"type": "array", "items": {"type": "number"}}`, "list of number"."""
    if "$ref" in value:
        target = value["$ref"]
        return target.rpartition("/")[2].removesuffix(".json") if "$defs" in target else target.removesuffix(".json")
    if "const" in value:
        return json.dumps(value["const"])
    if "enum" in value:
        return " or ".join(map(json.dumps, value["enum"]))
    for choice in ("anyOf", "oneOf"):
        if choice in value:
            return " or ".join(dict.fromkeys(kind(each) for each in value[choice]))
    given = value.get("type", "anything")
    if isinstance(given, list):
        return " or ".join(kind({**value, "type": each}) for each in given)
    if given == "array":
        items = value.get("items") or value.get("prefixItems", [{}])[0]
        return f"list of {_several(items)}"
    if given == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"table of {_several(value['additionalProperties'])}"
    return WORDS.get(given, given)


def _several(value: Schema) -> str:
    one = kind(value)
    return f"{one}s" if one in ("number", "whole number", "text") else one


class SchemaTables(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        lines = []
        for title, description, rows in tables(load(name)):
            lines += [f"**{title}.** {description}".rstrip(), ""]
            if rows:
                lines += ["| field | type | meaning |", "| --- | --- | --- |"]
                lines += [f"| `{field}` | {_cell(type_)} | {_cell(text)} |" for field, type_, text in rows]
                lines.append("")
        lines.append(f"Schema: {{download}}`{name}.json </../src/bayesregret/schemas/{name}.json>`")
        return self.parse_text_to_nodes("\n".join(lines))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def setup(sphinx: Sphinx) -> dict[str, bool]:
    sphinx.add_directive("schema", SchemaTables)
    return {"parallel_read_safe": True}
