"""The files of a figure."""

import csv
import io
import re
import zlib

import pytest

from bayesregret.plotting import save
from bayesregret.plotting.latex import latex_table
from bayesregret.plotting.saving import csv_table
from bayesregret.plotting.table_cells import exact_cell, table_cells
from bayesregret.reproduction.table import Axis, Exact, Trend
from plotting.samples import difference_table, exact_table, one_trend, ranked_table, width_table

ENDINGS = [".pdf", ".png", ".csv", ".tex"]


def test_four_files_are_written(tmp_path):
    paths = save(width_table(), tmp_path / "new" / "folder")
    assert [path.name for path in paths] == [f"figure-1a{ending}" for ending in ENDINGS]
    assert all(path.stat().st_size > 200 for path in paths)
    assert sorted(path.name for path in paths[0].parent.iterdir()) == sorted(path.name for path in paths)


def test_the_same_table_gives_the_same_bytes(tmp_path):
    for table in (width_table(), difference_table()):
        first, second = save(table, tmp_path / "a"), save(table, tmp_path / "b")
        assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def pdf_text(path):
    """All of a PDF, its streams unpacked."""
    content = path.read_bytes()
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    for stream in streams:
        try:
            content += zlib.decompress(stream)
        except zlib.error:
            continue
    return content


def test_fonts_are_embedded_and_no_time_is_written(tmp_path):
    content = pdf_text(save(width_table(), tmp_path)[0])
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    assert b"STIXGeneral" in content
    assert b"CreationDate" not in content


def test_the_picture_is_a_column_wide_at_300_dots(tmp_path):
    content = save(width_table(), tmp_path)[1].read_bytes()
    assert int.from_bytes(content[16:20], "big") == 990


def test_csv_has_every_digit():
    table = width_table()
    rows = list(csv.reader(io.StringIO(csv_table(table))))
    assert rows[0][1:3] == ["BayesUCB", "BayesUCB, standard error"]
    assert [float(row[1]) for row in rows[1:]] == list(table.trends[0].values)
    assert len(rows) == 1 + len(table.points)


def test_csv_has_exact_values_with_their_errors():
    rows = list(csv.reader(io.StringIO(csv_table(exact_table()))))
    assert rows[0][1:5] == [
        "BayesUCB",
        "BayesUCB, standard error",
        "BayesUCB, exact",
        "BayesUCB, error of the exact one",
    ]
    assert [float(cell) for cell in rows[1][3:5]] == [2e-10, 5e-9]
    assert {len(row) for row in rows} == {11}


def test_exact_values_have_the_digits_that_mean_something():
    heading, first, second, *_ = table_cells(exact_table())
    assert heading[1:5] == ["BayesUCB", "BayesUCB, exact", "UCB1", "UCB1, exact"]
    assert first[1:5] == ["0.50 ± 0.20", "< 5e-09", "107.10 ± 0.60", "106.605"]
    assert second[2] == "12.5000"
    rough = Exact((77.4,), (0.1,))
    assert exact_cell(rough, 0) == "77.4"


def test_a_ranked_table_is_by_problem():
    rows = list(csv.reader(io.StringIO(csv_table(ranked_table()))))
    assert rows[0] == ["problem", "Theorem 1", "certified (index)"]
    assert rows[1] == ["K=5", "20.0", "2.0"]
    assert table_cells(ranked_table())[2] == ["K=10", "15.00", "∞"]
    assert r"\begin{tabular}{lrr}" in latex_table(ranked_table())


def test_latex_has_a_column_for_exact_values():
    lines = latex_table(exact_table()).splitlines()
    assert lines[2] == r"\begin{tabular}{rrrrrrr}"
    assert all(line.count("&") == 6 for line in lines if line.endswith(r"\\"))


def test_latex_is_a_booktabs_table():
    lines = latex_table(width_table()).splitlines()
    assert lines[1] == r"\begin{tabular}{rrrrr}"
    assert {r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"} < set(lines)
    assert lines[5] == r"0.1 & 0.50\,$\pm$\,0.20 & 107.10\,$\pm$\,0.60 & $-$343.6 & 0.9000 \\"
    assert all(line.count("&") == 4 for line in lines if line.endswith(r"\\"))


def test_latex_escapes_names():
    trends = (Trend("x", "50% of R&D_total", "printed", (1.0,) * 4),)
    assert r"50\% of \\ R\&D\_total" in latex_table(width_table(trends=trends))


def test_long_tables_break_over_pages():
    long = difference_table(
        points=tuple(map(float, range(81))),
        point_names=tuple(f"bandit {i}" for i in range(81)),
        trends=(Trend("d", "difference", "difference", (1.0,) * 81, (0.1,) * 81),),
    )
    assert r"\begin{longtable}{rlr}" in latex_table(long)
    assert r"\endhead" in latex_table(long)


def test_many_columns_stand_closer():
    trends = tuple(Trend(f"b{i}", f"b{i}", "printed", (1.0,) * 4) for i in range(7))
    assert r"\begingroup\setlength{\tabcolsep}" in latex_table(width_table(trends=trends))
    assert r"\begingroup\footnotesize" in latex_table(width_table(trends=(*trends, *trends)))


def test_numbers_that_are_none_have_signs():
    text = latex_table(one_trend((float("inf"), float("-inf"), float("nan")), points=(1.0, 2.0, float("nan"))))
    assert "$\\infty$" in text
    assert "$-$$\\infty$" in text
    assert "–" in text


@pytest.mark.parametrize("name", ["../../etc/x", "a/b", "...", ""])
def test_a_name_does_not_lead_out_of_the_folder(tmp_path, name):
    table = width_table(figure=name, y=Axis("regret"))
    assert {path.parent for path in save(table, tmp_path)} == {tmp_path}
