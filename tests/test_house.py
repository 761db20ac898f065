"""The measures of the house: a short first page, short files and functions, one name for one idea."""

import ast
import collections
import pathlib

import bayesregret

PACKAGE = pathlib.Path(bayesregret.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
FIRST_PAGE = ("model.py", "policy.py", "linear.py")  # of the contracts: all that an author needs
LONGEST_PAGE, LONGEST_FILE, LONGEST_FUNCTION = 150, 400, 80


def lines_of(path):
    return len(path.read_text().splitlines())


def nodes(kind):
    return [(path, node) for path in FILES for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kind)]


def lines_of_code(function):
    """Lines of a function without its docstring, which grows with the number of parameters."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function) is not None
    docstring = first.end_lineno - first.lineno + 1 if has_docstring else 0
    return function.end_lineno - function.lineno + 1 - docstring


def test_the_contracts_first_page_is_short():
    assert sum(lines_of(PACKAGE / "contracts" / name) for name in FIRST_PAGE) <= LONGEST_PAGE


def test_files_are_short():
    assert len(FILES) > 300
    assert [str(path) for path in FILES if lines_of(path) > LONGEST_FILE] == []


def test_functions_are_short():
    functions = nodes(ast.FunctionDef)
    assert len(functions) > 2000
    assert [f"{path}: {each.name}" for path, each in functions if lines_of_code(each) > LONGEST_FUNCTION] == []


def test_no_two_classes_share_a_name():
    """But an experiment is what a user runs, and in `reproduction` what the paper shows in a figure."""
    found = collections.Counter(node.name for _, node in nodes(ast.ClassDef))
    assert [name for name, number in found.items() if number > 1] == ["Experiment"]
