"""Publish finished experiments: figures, tables and one report, rewritten only if something changed."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from bayesregret.checks import one_line
from bayesregret.plotting.saving import figure_files, save
from bayesregret.report.reproduction_page import TextTable, write_report
from bayesregret.reproduction.runner import Finished
from bayesregret.writing import obstacle, write_atomically

REPORT = "report.html"
FIGURES = "figures"
BOOK = "build/docs"  # where `make docs` puts it
CONTENTS = "contents.json"  # fingerprints of what was asked for and of every file, which show whether all is up to date
LIBRARIES = ("numpy", "scipy", "numba", "matplotlib")


def publish(
    finished: Sequence[Finished],
    folder: str | os.PathLike[str],
    *,
    title: str,
    bounds: Sequence[TextTable] = (),
    about: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[Path, bool]:
    """Write the report and every figure as PDF, PNG, CSV and LaTeX.

    Return the report's path, and whether anything was written: nothing is if the folder is up to date.
    """
    figures = [done.table.figure for done in finished]
    target = make_folder(folder, figures)
    report = target / REPORT
    book = book_seen_from(target)
    contents = _contents(finished, [title, book, *bounds])
    if _is_up_to_date(target, figures, contents):
        return report, False
    for done in finished:
        save(done.table, target / FIGURES)
    write_report(
        report,
        title=title,
        tables=[done.table for done in finished],
        claims=[claim for done in finished for claim in done.claims],
        bounds=list(bounds),
        about={**(about or {}), "Versions": _versions()},
        figures=FIGURES,
        book=book,
    )
    write_atomically(target / CONTENTS, _record(target, figures, contents))
    return report, True


def make_folder(folder: str | os.PathLike[str], figures: Iterable[str]) -> Path:
    """Create the folder of a report; raise an error, before long work begins, if a file of it cannot be written."""
    target = Path(folder)
    try:
        for made in (target, target / FIGURES):
            made.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise ValueError(f"{one_line(os.fspath(made))}: cannot be made a folder: {error.strerror}") from None
    for name in [*_outputs(figures), CONTENTS]:
        found = obstacle(target / name)
        if found is not None:
            raise ValueError(f"{one_line(os.fspath(target / name))}: cannot be written: {found}")
    return target


def _outputs(figures: Iterable[str]) -> list[str]:
    """Return the names of the report and of all files of its figures, in their folder."""
    return [REPORT, *(f"{FIGURES}/{name}" for figure in figures for name in figure_files(figure))]


def _is_up_to_date(folder: Path, figures: Iterable[str], contents: str) -> bool:
    """Return whether these contents were written last, and every file is as it was written."""
    try:
        return (folder / CONTENTS).read_bytes() == _record(folder, figures, contents)
    except FileNotFoundError:
        return False


def _record(folder: Path, figures: Iterable[str], contents: str) -> bytes:
    """Return what contents.json has if these contents are in the files that are there now."""
    files = {name: _sha256((folder / name).read_bytes()) for name in _outputs(figures)}
    return (json.dumps({"contents": contents, "files": files}, indent=1) + "\n").encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def book_seen_from(folder: Path) -> str | None:
    """Return the way from a folder of a checkout to the built book, None for other folders: there is no book."""
    checkout, here = Path(__file__).resolve().parents[3], folder.resolve()
    if not (checkout / "docs" / "conf.py").is_file() or not here.is_relative_to(checkout):
        return None
    return Path(os.path.relpath(checkout / BOOK, here)).as_posix()


def _contents(finished: Sequence[Finished], shown: Sequence[Any]) -> str:
    """Return a fingerprint of the content, without the time it took, and of the code that draws it."""
    content: list[Any] = [*shown, _versions(), _drawing_code()]
    content += [[done.table.to_dict(), [asdict(claim) for claim in done.claims]] for done in finished]
    return _sha256(json.dumps(content, sort_keys=True).encode())


def _drawing_code() -> str:
    """Return a fingerprint of the files that draw figures and lay out pages."""
    digest = hashlib.sha256()
    for folder in ("plotting", "report"):
        for path in sorted((Path(__file__).parents[1] / folder).iterdir()):
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _versions() -> dict[str, str]:
    versions = {"bayesregret": metadata.version("bayesregret"), "Python": platform.python_version()}
    return versions | {name: metadata.version(name) for name in LIBRARIES}
