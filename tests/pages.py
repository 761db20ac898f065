"""Pages of the book as programs: their files, Python and commands in the order in which a reader meets them."""

import doctest
import re
import sys
import types

from book.outputs import (
    BLOCK,
    COLUMNS,
    LEFT_OUT,
    Services,
    columns,
    commands,
    is_commands,
    is_prompts,
    printed_by,
    run_plain,
    steady,
)
from shown import is_shown

__all__ = ["BLOCK", "COLUMNS", "columns", "run_page"]


def run_page(page, folder):
    """Run the blocks of a page in `folder`; return complaints about what differs, and the blocks that were not run.

    `<!-- file: NAME -->` before a block makes it a file. Python is one module for the whole page.
    """
    name = "page_" + re.sub(r"\W", "_", page.stem)
    module = sys.modules[name] = types.ModuleType(name)
    complaints, left = [], []
    try:
        with Services() as services:
            for kind, title, language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
                if kind == "file":
                    (folder / title).write_text(text, encoding="utf-8")
                elif is_prompts(language, text):
                    _run_prompts(text, vars(module), page, complaints)
                elif language == "python" and page.parent.name == "how-to":
                    run_plain(services.here(text), vars(module), folder / f"{name}_{len(vars(module))}.py")
                elif is_commands(language, text):
                    for command, shown in commands(text):
                        complaints += _run_command(command, shown, services)
                elif language != "text" and not language.startswith("{"):
                    left.append(text)
    finally:
        del sys.modules[name]
    return complaints, left


def _run_prompts(text, names, page, complaints):
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    examples.globs = names
    doctest.DocTestRunner().run(examples, out=complaints.append, clear_globs=False)


def _run_command(command, shown, services):
    try:
        printed = list(map(steady, printed_by(command, services)))
    except RuntimeError as error:
        return [str(error)]
    joined = [*printed, " ".join(printed)]  # a theory page may break a long line
    missing = [line for line in shown if line != LEFT_OUT and not is_shown(steady(line), joined)]
    return ["\n".join([f"{command} does not print", *missing, "but", *printed])] if missing else []
