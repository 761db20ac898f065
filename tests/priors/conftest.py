"""Histories from files."""

import pytest

from bayesregret.priors.history import read_history


@pytest.fixture
def read(tmp_path):
    """The history in a file with this text or these bytes."""

    def from_text(text, model="bernoulli", **options):
        path = tmp_path / "history.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_history(path, model, **options)

    return from_text
