"""Plain-text help with options in named sections."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class SectionedCommand(TyperCommand):
    """Command whose help groups options by `rich_help_panel`, which Typer does only with Rich."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [str(p.metavar) for p in self.get_params(ctx) if p.param_type_name == "argument"]
        return [*arguments, "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and parameter.param_type_name == "option":
                section = getattr(parameter, "rich_help_panel", None) or "Options"
                sections.setdefault(section, []).append(record)
        width = max(len(name) for records in sections.values() for name, _ in records)
        for title, records in sections.items():
            with formatter.section(title):
                # Align the columns of all sections.
                formatter.write_dl([(name.ljust(width), text) for name, text in records])
