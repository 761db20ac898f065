"""A user's own files, on the way to other processes: policies and models, and all modules of the user's they import."""

from __future__ import annotations

import hashlib
import importlib
import pathlib
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

from bayesregret.dispatch import all_contracts
from bayesregret.models import Bandit
from bayesregret.sources import is_outside_file
from bayesregret.writing import write_atomically

UNNAMED = ("__main__", "__mp_main__")  # modules that another process cannot import
STANDARD = sys.stdlib_module_names

_installing = threading.Lock()


class OwnFiles(NamedTuple):
    """Modules to import, and their files by paths below a folder of the module search path."""

    modules: tuple[str, ...]
    files: tuple[tuple[str, str], ...]


def own_files(definitions: Iterable[type | Callable[..., Any]]) -> OwnFiles:
    """Return the files of the user's classes and functions among these, and of what their modules use.

    ValueError, in one line, for what a script or a notebook defines: no other process can import that.
    """
    modules: dict[str, ModuleType] = {}
    for subject in definitions:
        for defined in (subject, *_bodies(subject)):
            _check_can_be_imported(defined)
            _add(defined.__module__, modules)
    files = tuple((_path(module), _text(module)) for module in modules.values())
    return OwnFiles(tuple(modules), files)


def install(own: OwnFiles) -> None:
    """Write files that this process lacks into a folder of their own, and import their modules from there."""
    with _installing:
        if not all(_is_here(name, text) for name, (_, text) in zip(*own, strict=True)):
            for name in own.modules:
                _forget(name)
            digest = hashlib.sha256(repr(own.files).encode()).hexdigest()[:16]
            folder = pathlib.Path(tempfile.gettempdir(), f"bayesregret-own-files-{digest}")
            for path, text in own.files:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                write_atomically(folder / path, text)
            sys.path.insert(0, str(folder))
            importlib.invalidate_caches()
        for name in own.modules:
            importlib.import_module(name)


def _forget(name: str) -> None:
    """Forget an earlier state of a module; ValueError if it defines a model: the first of a kind is the one in use."""
    old = sys.modules.pop(name, None)
    for value in list(vars(old).values()) if old is not None else []:
        if isinstance(value, type) and issubclass(value, Bandit) and value.__module__ == name:
            sys.modules[name] = old  # type: ignore[assignment]
            raise ValueError(
                f"{name} must not change while workers have it loaded, because it defines a model: restart them with "
                "client.restart()"
            )


def _bodies(subject: Any) -> Iterator[Callable[..., Any]]:
    """Yield what implements contracts for a class; it may be in another file."""
    for contract in all_contracts():
        if subject in contract.bodies:
            yield contract.bodies[subject]


def _check_can_be_imported(defined: Any) -> None:
    name = defined.__module__
    has_file = name in STANDARD or getattr(sys.modules.get(name), "__file__", None) is not None
    if name in UNNAMED or not has_file:
        raise ValueError(
            f"{defined.__name__} must be defined in a file that workers can import, got one of a script or notebook: "
            "put it into a file such as mine.py, and import it from there"
        )


def _add(name: str, modules: dict[str, ModuleType]) -> None:
    """Add a module with all that it uses, unless it is part of a library."""
    if name in modules or not _is_own(name):
        return
    module = modules[name] = sys.modules[name]
    if "." in name:
        _add(name.rpartition(".")[0], modules)
    for value in list(vars(module).values()):
        used = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        if isinstance(used, str):
            _add(used, modules)


def _is_own(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    is_library = not is_outside_file(file) or "dist-packages" in file or name.partition(".")[0] in STANDARD
    return file.endswith(".py") and not is_library


def _path(module: ModuleType) -> str:
    parts = module.__name__.split(".")
    return "/".join([*parts, "__init__.py"]) if hasattr(module, "__path__") else "/".join(parts) + ".py"


def _text(module: ModuleType) -> str:
    return pathlib.Path(str(module.__file__)).read_text(encoding="utf-8")


def _is_here(name: str, text: str) -> bool:
    return _is_own(name) and _text(sys.modules[name]) == text
