"""Reports are written anew only when something changed."""

import json
import pathlib
import re

import pytest

from bayesregret.report.publication import CONTENTS, book_seen_from, publish
from bayesregret.reproduction.runner import run_experiments
from bayesregret.reproduction.sweep import sweep_experiments
from bayesregret.study import Study

SWEEP = {
    "horizon": 20,
    "runs": 10,
    "problem": {"common": "gaussian", "arms": 3},
    "vary": {"prior_width": [0.5, 1, 2]},
}


@pytest.fixture
def finished(tmp_path):
    with Study.open(tmp_path / "study.sqlite") as study:
        return run_experiments(sweep_experiments(SWEEP), study)


def test_report_and_figures_are_written_once(finished, tmp_path):
    report, written = publish(finished, tmp_path / "out", title="Widths")
    assert written
    assert "Widths" in report.read_text(encoding="utf-8")
    made = json.loads((tmp_path / "out" / CONTENTS).read_text())["files"]
    assert {name.rsplit(".", 1)[1] for name in made} == {"html", "pdf", "png", "csv", "tex"}
    first = report.stat().st_mtime_ns
    assert publish(finished, tmp_path / "out", title="Widths") == (report, False)
    assert report.stat().st_mtime_ns == first


def test_the_files_beside_the_report_are_linked(finished, tmp_path):
    report, _ = publish(finished, tmp_path, title="Widths")
    links = re.findall(r'href="(figures/[^"]+)"', report.read_text(encoding="utf-8"))
    assert len(links) == 4
    assert all((tmp_path / link).is_file() for link in links)


def test_only_reports_in_a_checkout_have_a_book(tmp_path):
    checkout = pathlib.Path(__file__).parents[2]
    assert book_seen_from(checkout / "reproduction") == "../build/docs"
    assert book_seen_from(tmp_path) is None


def test_what_changed_or_is_missing_is_written_again(finished, tmp_path):
    report, _ = publish(finished, tmp_path, title="Widths")
    assert publish(finished, tmp_path, title="Other")[1]
    next((tmp_path / "figures").glob("*.csv")).unlink()
    assert publish(finished, tmp_path, title="Other")[1]
    (tmp_path / CONTENTS).write_text("{")
    assert publish(finished, tmp_path, title="Other")[1]
    assert report.exists()


@pytest.mark.parametrize("name", ["report.html", "figures/sweep.csv", "figures/sweep.pdf", CONTENTS])
def test_what_someone_emptied_or_edited_is_written_again(finished, tmp_path, name):
    publish(finished, tmp_path, title="Widths")
    path = tmp_path / name
    good = path.read_bytes()
    for bad in (b"", good + b" ", good.replace(b"0", b"1")):
        path.write_bytes(bad)
        assert publish(finished, tmp_path, title="Widths")[1]
        assert path.read_bytes() == good
    assert not publish(finished, tmp_path, title="Widths")[1], "the control"


@pytest.mark.parametrize("name", ["report.html", "figures/sweep.csv", CONTENTS])
def test_a_link_in_the_way_keeps_every_file(finished, tmp_path, name):
    publish(finished, tmp_path, title="Widths")
    mine = (tmp_path / name).rename(tmp_path / "mine")
    (tmp_path / name).symlink_to(mine)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    with pytest.raises(ValueError, match=rf"{name}: cannot be written: it is a symbolic link$"):
        publish(finished, tmp_path, title="Other")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
