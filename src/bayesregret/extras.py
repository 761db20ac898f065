"""Libraries that only some features need; a plain installation has none of them."""

from __future__ import annotations

import importlib.util

# By the extra of the package that installs them, as in pyproject.toml.
LIBRARIES = {
    "plot": ("matplotlib",),
    "frame": ("pandas",),
    "parquet": ("pyarrow",),
    "report": ("matplotlib", "jinja2"),
    "gpu": ("numba_cuda",),
    "cluster": ("distributed",),
    "store": ("sqlalchemy",),
    "postgres": ("sqlalchemy", "psycopg"),
    "serve": ("sqlalchemy", "fastapi", "jinja2", "prometheus_client", "uvicorn"),
    "explore": ("bokeh", "panel", "matplotlib", "jinja2"),
}


class MissingExtraError(ModuleNotFoundError):
    """A feature needs libraries that are not installed."""


def require(extra: str, what: str) -> None:
    """Raise an error that says what to install, unless the libraries of an extra are there."""
    missing = [name for name in LIBRARIES[extra] if importlib.util.find_spec(name) is None]
    if missing:
        message = f'{what} needs {" and ".join(missing)}: pip install "bayesregret[{extra}]"'
        raise MissingExtraError(message, name=missing[0])
