"""Compiled code is made anew when a formula changes, and only then."""

import importlib
import pathlib
import pkgutil

import bayesregret
from bayesregret import sources


def import_everything():
    for _, name, _ in pkgutil.walk_packages(bayesregret.__path__, "bayesregret."):
        if "__main__" not in name:
            importlib.import_module(name)


def formula_places():
    return [sources.PACKAGE / place for place in sources.FORMULAS]


def is_covered(path):
    return any(place == path or place in path.parents for place in formula_places())


def test_every_formula_counts():
    import_everything()
    ours = [pathlib.Path(name) for name in sources._formula_files if not sources.is_outside_file(name)]
    assert len(ours) > 40
    assert [path for path in ours if not is_covered(path)] == []
    assert all(place.exists() for place in formula_places())


def test_what_no_kernel_contains_does_not_count():
    for name in ("cli/help.py", "report/publication.py", "plotting/style.py", "planning/planner.py", "bounds/table.py"):
        assert (sources.PACKAGE / name).exists()
        assert not is_covered(sources.PACKAGE / name)


def test_the_fingerprint_names_files_and_classes(monkeypatch, tmp_path):
    (tmp_path / "formulas").mkdir()
    formula, other = tmp_path / "formulas" / "a.py", tmp_path / "help.py"
    formula.write_text("one")
    other.write_text("one")
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    monkeypatch.setattr(sources, "FORMULAS", ("formulas",))
    before = sources.fingerprint(is_covered, [int])
    other.write_text("two")
    assert sources.fingerprint(is_covered, [int]) == before
    assert sources.fingerprint(is_covered, [float]) != before
    formula.write_text("two")
    assert sources.fingerprint(is_covered, [int]) != before
