"""The public names: all of them shown, documented in NumPy style with an example, and typed."""

import dataclasses
import functools
import inspect
import re

import pytest

import bayesregret as br


def public(name):
    return functools.reduce(getattr, name.split("."), br)


PUBLIC = [name for name in br.__all__ if name != "bounds"] + [f"bounds.{name}" for name in br.bounds.__all__]
CLASSES = [name for name in PUBLIC if inspect.isclass(public(name))]
FUNCTIONS = [name for name in PUBLIC if inspect.isfunction(public(name))]
FORMULAS = [name for name in PUBLIC if isinstance(public(name), br.bounds.Formula)]
METHODS = [
    f"{name}.{attribute}"
    for name in CLASSES
    for attribute, value in vars(public(name)).items()
    if not attribute.startswith("_") and inspect.isfunction(value)
]
METHODS.append("bounds.Formula.__call__")


def section(docstring, title):
    """The text of one NumPy-style section, None if there is none."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=\n\n\S|\n\S[^\n]*\n-+\n|\Z)", inspect.cleandoc(docstring), re.S | re.M)
    return found[1] if found else None


def described(docstring, *titles):
    """The names that these sections describe."""
    text = "\n".join(section(docstring, title) or "" for title in titles)
    lines = re.findall(r"^([\w*, ]+?)(?: :.*)?$", text, re.M)
    return {name.strip(" *") for line in lines for name in line.split(",")}


def parameters(function):
    signature = inspect.signature(function)
    return [name for name, each in signature.parameters.items() if name not in ("self", "cls")]


def test_every_public_name_is_a_class_a_function_or_a_formula():
    assert sorted(CLASSES + FUNCTIONS + FORMULAS) == sorted(PUBLIC)


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_have_one_sentence(name):
    """Their arguments, type and example are those of `Formula`."""
    assert re.fullmatch(r"[A-Z][^\n]+\.", public(name).__doc__)


def test_dir_shows_the_public_names_and_nothing_else():
    assert [name for name in dir(br) if not name.startswith("__")] == sorted(br.__all__)
    assert all(hasattr(br, name) for name in br.__all__)


@pytest.mark.parametrize("name", FUNCTIONS + METHODS)
def test_functions_describe_their_parameters(name):
    function = public(name)
    documentation = inspect.getdoc(function)  # an override has that of the method it overrides
    assert documentation, name
    missing = set(parameters(function)) - described(documentation, "Parameters")
    assert not missing, f"{name} does not describe {sorted(missing)}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_describe_their_result_and_show_an_example(name):
    function = public(name)
    assert section(function.__doc__, "Returns"), name
    assert ">>> " in function.__doc__, name


@pytest.mark.parametrize("name", CLASSES)
def test_classes_describe_their_fields_and_show_an_example(name):
    cls = public(name)
    fields = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    given = fields or (
        set(parameters(cls.__init__)) if "__init__" in vars(cls) and not inspect.isabstract(cls) else set()
    )
    missing = given - described(cls.__doc__, "Parameters", "Attributes")
    assert not missing, f"{name} does not describe {sorted(missing)}"
    assert ">>> " in cls.__doc__, name


@pytest.mark.parametrize("name", FUNCTIONS + METHODS + CLASSES)
def test_public_arguments_have_types(name):
    found = public(name)
    function = found.__init__ if inspect.isclass(found) else found
    if inspect.isclass(found) and "__init__" not in vars(found):
        return
    for parameter in list(inspect.signature(function).parameters.values()):
        if parameter.name != "self" and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            annotation = str(parameter.annotation)
            assert annotation not in ("Any", str(inspect.Parameter.empty)), f"{name}: {parameter.name} is {annotation}"
