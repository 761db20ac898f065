"""Pages of the book as programs: their files, Python and commands in the order in which a reader meets them."""

import doctest
import os
import re
import shlex
import sys
import types

from bayesregret.cli import run
from shown import is_shown

# A fenced block, the comment before it, which may name a file or an example, and its language.
BLOCK = re.compile(r"(?:^<!-- ([a-z]+): ([^\n]*?) -->\n)?^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run_page(page, folder, capsys):
    """Run the blocks of a page in `folder`; return complaints about what differs, and the blocks that were not run.

    `<!-- file: NAME -->` before a block makes it a file. Python is one module for the whole page.
    """
    os.chdir(folder)
    name = "page_" + re.sub(r"\W", "_", page.stem)
    module = sys.modules[name] = types.ModuleType(name)
    complaints, left = [], []
    try:
        for kind, title, language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
            if kind == "file":
                (folder / title).write_text(text, encoding="utf-8")
            elif language == "python" and ">>> " in text:
                _run_prompts(text, vars(module), page, complaints)
            elif language == "python" and page.parent.name == "how-to":
                _run_plain(text, vars(module), folder / f"{name}_{len(vars(module))}.py")
            elif language in ("", "console") and text.startswith("$ bayesregret "):
                complaints += _run_commands(text, capsys)
            elif language != "text" and not language.startswith("{"):
                left.append(text)
    finally:
        del sys.modules[name]
    return complaints, left


def _run_prompts(text, names, page, complaints):
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    examples.globs = names
    doctest.DocTestRunner().run(examples, out=complaints.append, clear_globs=False)


def _run_plain(text, names, path):
    """From a file, in which the compiler looks for the source of formulas."""
    path.write_text(text, encoding="utf-8")
    exec(compile(text, str(path), "exec"), names)


def _run_commands(block, capsys):
    complaints = []
    for example in re.split(r"^\$ bayesregret ", block, flags=re.MULTILINE)[1:]:
        command, *shown = re.sub(r"\\\n\s*", "", example).splitlines()
        capsys.readouterr()
        if run(shlex.split(command)) != 0:
            complaints.append(f"bayesregret {command}: {capsys.readouterr().err}")
            continue
        printed = capsys.readouterr().out.splitlines()
        joined = [*printed, " ".join(printed)]  # a long line may be broken in the book
        missing = [line for line in shown if line != "..." and not is_shown(line, joined)]
        if missing:
            complaints.append("\n".join([f"bayesregret {command} does not print", *missing, "but", *printed]))
    return complaints
