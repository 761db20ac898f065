"""Examples in documents: the commands they show, and whether what they show of the output came out."""

import re
import shlex

CONSOLE = re.compile(r"^```(?:console)?\n(\$ .*?)^```", re.DOTALL | re.MULTILINE)


def console_examples(text):
    """(arguments, shown lines) of every `$ bayesregret ...` in a document; a command may go on after a backslash."""
    found = []
    for block in CONSOLE.findall(text):
        for example in re.split(r"^\$ bayesregret ", block, flags=re.MULTILINE)[1:]:
            command, *shown = re.sub(r"\\\n\s*", "", example).splitlines()
            found.append((shlex.split(command), shown))
    return found


def is_shown(line, printed):
    """Whether a line's words stand in one printed line in that order: columns may be left out, and lines broken."""
    words = line.split()
    return any(_in_order(words, other.split()) for other in printed)


def _in_order(words, others):
    rest = iter(others)
    return all(word in rest for word in words)
