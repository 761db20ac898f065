"""Publish finished experiments: figures, tables and one report, rewritten only if something changed."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from bayesregret.experiments.runner import Finished
from bayesregret.writing import write_atomically

REPORT = "report.html"
CONTENTS = "contents.json"  # fingerprint of the folder's content, which shows whether it is up to date
LIBRARIES = ("numpy", "scipy", "numba", "matplotlib")


def publish(
    finished: Sequence[Finished],
    folder: str | os.PathLike[str],
    *,
    title: str,
    bounds: Sequence[tuple[str, list[list[str]]]] = (),
    about: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[Path, bool]:
    """Write the report and every figure as PDF, PNG, CSV and LaTeX.

    Return the report's path, and whether anything was written: nothing is if the folder is up to date.
    """
    target = Path(folder)
    report = target / REPORT
    contents = _contents(finished, title, bounds)
    if _is_up_to_date(target, contents):
        return report, False
    from bayesregret.plotting import save  # loads matplotlib, only if needed
    from bayesregret.report import write_report

    target.mkdir(parents=True, exist_ok=True)
    files = [path for done in finished for path in save(done.table, target / "figures")]
    write_report(
        report,
        title=title,
        tables=[done.table for done in finished],
        claims=[claim for done in finished for claim in done.claims],
        bounds=list(bounds),
        about={**(about or {}), "Versions": _versions()},
    )
    written = {"contents": contents, "files": [os.fspath(path.relative_to(target)) for path in [report, *files]]}
    write_atomically(target / CONTENTS, json.dumps(written, indent=1) + "\n")
    return report, True


def _contents(finished: Sequence[Finished], title: str, bounds: Sequence[Any]) -> str:
    """Return a fingerprint of the content, without the time it took, and of the code that draws it."""
    content: list[Any] = [title, _versions(), _drawing_code(), list(bounds)]
    content += [[done.table.to_dict(), [asdict(claim) for claim in done.claims]] for done in finished]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _drawing_code() -> str:
    """Return a fingerprint of the files that draw figures and lay out pages."""
    digest = hashlib.sha256()
    for folder in ("plotting", "report"):
        for path in sorted((Path(__file__).parents[1] / folder).iterdir()):
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _is_up_to_date(folder: Path, contents: str) -> bool:
    try:
        written = json.loads((folder / CONTENTS).read_text(encoding="utf-8"))
        return written["contents"] == contents and all((folder / name).exists() for name in written["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _versions() -> dict[str, str]:
    versions = {"bayesregret": metadata.version("bayesregret"), "Python": platform.python_version()}
    return versions | {name: metadata.version(name) for name in LIBRARIES}
