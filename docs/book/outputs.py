"""Run the book's pages, and put what comes out into them: `make outputs`, or `python docs/book/outputs.py PAGE...`.

Commands and Python prompts are run in the order of the page, in an empty folder in which `docs` is the book, with a
terminal of 88 columns. Where an output has a line `...`, only the lines that it shows are brought up to date, found by
their first words; a line that is no longer printed is reported. Theory pages show excerpts of wider tables, which only
the tests compare.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import types
from collections.abc import Callable, Sequence
from pathlib import Path

BOOK = Path(__file__).parents[1]
COLUMNS = "88"  # no wider than the book
LEFT_OUT = "..."
SECONDS = re.compile(r"\b\d[\d.,]* s\b")  # of computing: others in every run

# A fenced block with the comment before it, which may name a file or an example: kind, title, language, content.
BLOCK = re.compile(r"(?:^<!-- ([a-z]+): ([^\n]*?) -->\n)?^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROMPT = "$ bayesregret "
CURL = "$ curl "
PORT = "8000"  # of services, on pages
IDS = re.compile(r"\b\d+-[0-9a-f]{8}\b")  # of decisions: others in every experiment


def is_prompts(language: str, text: str) -> bool:
    return language == "python" and ">>> " in text


def is_commands(language: str, text: str) -> bool:
    return language in ("", "console") and text.startswith((PROMPT, CURL))


def commands(block: str) -> list[tuple[str, list[str]]]:
    """(command as written, lines shown) of each command in a block."""
    found = []
    for example in re.split(rf"^(?={re.escape(PROMPT)}|{re.escape(CURL)})", block, flags=re.MULTILINE)[1:]:
        lines = example.splitlines()
        end = next(number for number, line in enumerate(lines) if not line.endswith("\\"))
        found.append(("\n".join(lines[: end + 1]), lines[end + 1 :]))
    return found


def arguments(command: str) -> list[str]:
    return shlex.split(re.sub(r"\\\n\s*", "", command).removeprefix(PROMPT))


# --- services --------------------------------------------------------------------------------------------------------


class Services:
    """What a page runs in the background, on a port that is free, and its requests to it; `with` stops it."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = str(free.getsockname()[1])
        self._running: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Services:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
            if process.returncode != 0:
                raise RuntimeError(f"a service ended with status {process.returncode}")

    def here(self, text: str) -> str:
        """Return a text with the port that is used in place of the one that the page shows."""
        return text.replace(f":{PORT}", f":{self._port}").replace(f"--port {PORT}", f"--port {self._port}")

    def shown(self, lines: list[str]) -> list[str]:
        """Return lines with the port that the page shows."""
        return [line.replace(f":{self._port}", f":{PORT}") for line in lines]

    def start(self, arguments: list[str]) -> list[str]:
        """Start a command in the background; return the first line that it prints."""
        command = [sys.executable, "-m", "bayesregret", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._running.append(process)
        assert process.stdout is not None
        return self.shown([process.stdout.readline().rstrip("\n")])

    def curl(self, command: str) -> list[str]:
        """Return what curl prints."""
        words = shlex.split(self.here(command).replace("\\\n", "").removeprefix(CURL))
        done = subprocess.run(["curl", "--silent", *words], capture_output=True, text=True, check=True)
        return self.shown(done.stdout.splitlines())


# --- commands --------------------------------------------------------------------------------------------------------


def steady(line: str) -> str:
    """Return a line without what differs from run to run."""
    return IDS.sub("", SECONDS.sub("", line))


def printed_by(command: str, services: Services) -> list[str]:
    """Run a command; return the lines that it prints, of one in the background the first. RuntimeError if it fails."""
    from bayesregret.cli import run

    if command.startswith(CURL):
        return services.curl(command)
    if command.endswith(" &"):
        return services.start(arguments(services.here(command.removesuffix(" &"))))
    printed, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        if run(arguments(services.here(command))) != 0:
            raise RuntimeError(f"{command}: {errors.getvalue()}")
    return [line.rstrip() for line in printed.getvalue().splitlines()]


def columns(page: Path) -> str:
    """The terminal's width for the commands of a page; empty if it is unlimited."""
    return "" if page.parent.name == "theory" else COLUMNS


def run_plain(text: str, names: dict[str, object], path: Path) -> None:
    """From a file, in which the compiler looks for the source of formulas."""
    path.write_text(text, encoding="utf-8")
    exec(compile(text, str(path), "exec"), names)


# --- new outputs ---------------------------------------------------------------------------------------------------


def renewed(page: Path, folder: Path, report: Callable[[str], None]) -> str:
    """Return the text of a page with new outputs; files are written in `folder`, the current one."""
    module = sys.modules["page"] = types.ModuleType("page")
    services = Services()

    def renew(found: re.Match[str]) -> str:
        kind, title, language, text = found.groups()
        if kind == "file":
            (folder / title).write_text(text, encoding="utf-8")
        elif is_prompts(language, text):
            return found[0].replace(text, _renewed_prompts(text, vars(module)))
        elif language == "python" and page.parent.name == "how-to":
            run_plain(services.here(text), vars(module), folder / f"block_{found.start()}.py")
        elif is_commands(language, text):
            return found[0].replace(text, "".join(_renewed_command(*one, services, report) for one in commands(text)))
        return found[0]

    with services:
        return BLOCK.sub(renew, page.read_text(encoding="utf-8"))


def _renewed_prompts(text: str, names: dict[str, object]) -> str:
    parts = []
    for part in doctest.DocTestParser().parse(text):
        if isinstance(part, str):
            parts.append(part)
            continue
        first, *more = part.source.rstrip("\n").split("\n")
        parts.append("".join([f">>> {first}\n", *(f"... {line}".rstrip() + "\n" for line in more)]))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(part.source, "<page>", "single"), names)
            except Exception as error:
                last = traceback.format_exception_only(error)[-1]
                print(f"Traceback (most recent call last):\n    {LEFT_OUT}\n{last}", end="")
        parts.append(re.sub(r"^$\n", "<BLANKLINE>\n", printed.getvalue(), flags=re.MULTILINE))
    return "".join(parts)


def _renewed_command(command: str, shown: Sequence[str], services: Services, report: Callable[[str], None]) -> str:
    lines = printed_by(command, services)
    if LEFT_OUT in shown:
        lines = _same_sentences(shown, lines, lambda sentence: report(f"{command}: no line like {sentence!r}"))
    elif list(map(steady, lines)) == list(map(steady, shown)):
        lines = list(shown)
    return "\n".join([command, *lines, ""])


def _same_sentences(shown: Sequence[str], printed: Sequence[str], report: Callable[[str], None]) -> list[str]:
    """What is printed now in place of each shown sentence; the shown one if there is nothing like it."""
    sentences = _sentences(printed)
    found = []
    for lines in _sentences(shown):
        alike = [lines] if lines in sentences or lines[0] in ("", LEFT_OUT) else []
        words = " ".join(lines).split()
        for count in range(len(words), min(2, len(words)) - 1, -1):
            alike = alike or [each for each in sentences if " ".join(each).split()[:count] == words[:count]]
        if not alike:
            report(" ".join(lines))
        found += alike[0] if alike else lines
    return found


def _sentences(lines: Sequence[str]) -> list[list[str]]:
    """Lines that were one before the terminal wrapped it: the first word of the next had no room at the end.

    Rows of tables, which have wider gaps between their columns, are on their own.
    """
    found: list[list[str]] = []
    for line in lines:
        first, before = line.partition(" ")[0], found[-1][-1] if found else ""
        is_row = "  " in f"{before} {line}"
        if first and before and not is_row and len(before) <= int(COLUMNS) < len(f"{before} {first}"):
            found[-1].append(line)
        else:
            found.append([line])
    return found


def main(names: list[str]) -> None:
    import bayesregret as br
    from bayesregret.bounds.bound import Formula

    os.environ["COLUMNS"] = COLUMNS
    policies, formulas = dict(br.Policy.classes), dict(Formula.every)
    pages = [page for page in sorted(BOOK.rglob("*.md")) if columns(page)]
    for page in [Path(name).resolve() for name in names] or pages:
        br.Policy.classes, Formula.every = dict(policies), dict(formulas)  # without those of the page before
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "docs").symlink_to(BOOK)
            with contextlib.chdir(folder):
                text = renewed(page, folder, lambda complaint, page=page: print(f"{page.name}: {complaint}"))
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"{page.name}: new outputs")


if __name__ == "__main__":
    main(sys.argv[1:])
