"""The report: all of it there, nothing from elsewhere, and safe whatever the names are."""

import json
import re
from html.parser import HTMLParser

import pytest

from bayesregret.plotting.table_cells import table_cells
from bayesregret.report import write_report
from bayesregret.report.reproduction_page import shown_setting
from bayesregret.reproduction.table import Axis, Claim, Trend
from plotting.samples import (
    CLAIMS,
    difference_table,
    exact_difference_table,
    exact_table,
    one_trend,
    ranked_table,
    width_table,
)

ROWS = [["bound", "value", "applies"], ["gap_dependent", "1352", "yes, but (1)"], ["certified_index", "124.4", "yes"]]
BOUNDS = [("Gaussian bandit", ROWS, ["10 arms", "(1) as printed"]), ("Without remarks", ROWS)]
ABOUT = {"Settings": {"seed": 7, "runs": 10_000, "widths": [0.1, 1.0]}, "Time": {"all": "12.3 s"}}
EVIL = "<script>alert(\"x\")</script> & 'y' {{ 7 * 7 }} </style>"
EMPTY = {"meta", "link", "br", "path", "use", "rect", "circle"}


class Reader(HTMLParser):
    """Checks that tags match, and keeps what a reader would see and what an attribute says."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.attributes, self.tags = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def write(tmp_path, **changes):
    contents = {
        "title": "Reproduced",
        "tables": [width_table(), difference_table()],
        "claims": CLAIMS,
        "bounds": BOUNDS,
        "about": ABOUT,
    }
    return write_report(tmp_path / "report.html", **(contents | changes)).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write(tmp_path_factory.mktemp("report"))


def test_it_is_well_formed(page):
    reader = read(page)
    assert page.startswith("<!DOCTYPE html>")
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(set(ids)) == len(ids)


def test_links_inside_the_page_lead_somewhere(page):
    reader = read(page)
    ids = {value for name, value in reader.attributes if name == "id"}
    assert {value[1:] for name, value in reader.attributes if name == "href" and value.startswith("#")} <= ids


def test_nothing_comes_from_elsewhere(page):
    assert re.findall(r"https?:|//\w+\.|@import|src=", page) == []
    links = [value for name, value in read(page).attributes if name == "href"]
    assert all(link.startswith(("#", "data:,")) for link in links)


def test_figures_come_first_and_every_claim_is_there_once(page):
    places = [page.index(f'<section id="{name}"') for name in ("figure-1a", "figure-3a", "claims", "bounds", "about")]
    assert places == sorted(places)
    assert page.index('href="#claims"') < places[0], "the verdict leads to the claims"
    statements = [claim.statement for claim in CLAIMS]
    in_table = page[places[2] : places[3]]
    assert [in_table.count(statement) for statement in statements] == [1] * len(statements)
    before = " ".join(read(page[page.index("<main") : places[2]] + "</main>").text)
    assert [statement for statement in statements if statement in before] == ["Theorem 1 is above the regret."]
    assert "the other claim about this figure" in before


def test_figures_link_their_files_and_bounds_the_book(page, tmp_path):
    def links(text):
        return [value for name, value in read(text).attributes if name == "href" and value[0] != "#"]

    made = links(write(tmp_path, figures="figures", book="../build/docs"))
    for figure in ("figure-1a", "figure-3a"):
        assert {f"figures/{figure}.{form}" for form in ("pdf", "png", "csv", "tex")} <= set(made)
    assert "../build/docs/reference/bounds.html#bayesregret.bounds.certified_index" in made
    assert links(page) == ["data:,"], "the control: nothing beside it is known"


def test_it_is_small(page):
    assert len(page) < 400_000


def test_every_claim_is_shown_with_evidence_and_those_that_fail_come_first(page):
    text = " ".join(read(page).text)
    for claim in CLAIMS:
        assert claim.statement in text
        assert claim.evidence in text
        assert all(exception in text for exception in claim.exceptions)
    assert "1 of 3 claims fails, 2 hold." in text
    assert "✗ fails" in text
    assert page.index("Theorem 1 is above the regret.") < page.index("The regret falls.")
    assert "claimed by this package" in text


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["holds"] * 4, "All 4 claims hold."),
        (["holds"], "The one claim holds."),
        (["fails"], "1 of 1 claim fails, 0 hold."),
        (["fails", "fails", "holds"], "2 of 3 claims fail, 1 hold."),
        ([], ""),
    ],
)
def test_the_verdict_in_words(tmp_path, verdicts, expected):
    claims = [Claim("figure-9", f"claim {i}", verdict, "numbers") for i, verdict in enumerate(verdicts)]
    page = write(tmp_path, tables=[], claims=claims)
    assert expected in page
    assert ('<p class="verdict">' in page) == bool(verdicts)


def test_every_number_is_one_click_away(page):
    text = read(page).text
    for table in (width_table(), difference_table()):
        for row in table_cells(table)[1:]:
            assert all(cell in text for cell in row)
    assert page.count('<details class="numbers">') == 2


def test_captions_bounds_and_settings_are_shown(page):
    text = " ".join(read(page).text)
    for words in (
        "Gaussian bandit as the prior width changes.",
        "certified_index",
        "(1) as printed",
        "12.3 s",
        "10,000",
        "0.1, 1.0",
    ):
        assert words in text
    assert "Figure 1a" in text
    assert "prior width σ₀" in text


def test_figures_are_described_for_those_who_do_not_see_them(page):
    labels = [value for name, value in read(page).attributes if name == "aria-label"]
    assert sum("Bayes regret against prior width σ₀ for BayesUCB, UCB1" in label for label in labels) == 2


def test_the_script_gets_the_same_numbers(page):
    found = re.findall(r'<script type="application/json" data-for="([^"]+)">(.*?)</script>', page)
    data = {name: json.loads(text) for name, text in found}
    assert data["figure-1a"]["values"][0] == ["0.50 ± 0.20", "12.25 ± 0.80", "77.8 ± 1.1", "76.60 ± 0.50"]
    assert data["figure-1a"]["values"][2][0] == "−343.6"
    assert data["figure-3a"]["names"][0] == "K=5 noise 2"
    assert [len(row) for row in data["figure-1a"]["wide"]] == [4, 4, 4, 4]


def test_marks_at_the_edge_are_explained(page):
    assert re.search(r'<li class="note"><svg class="sample".*?</svg>below the axis</li>', page)


def data_of(page):
    found = re.findall(r'<script type="application/json" data-for="([^"]+)">(.*?)</script>', page)
    return {name: json.loads(text) for name, text in found}


def test_exact_values_are_shown_with_the_simulated_ones(tmp_path):
    page = write(tmp_path, tables=[exact_table(), exact_difference_table()])
    data = data_of(page)
    assert data["figure-1a"]["exact"][0] == ["< 5e-09", "12.5000", "77.5000", "76.9000"]
    assert data["figure-1a"]["exact"][2] is None
    assert data["figure-1a"]["values"][0][0] == "0.50 ± 0.20"
    assert data["figure-1a"]["order"] is None
    assert page.count("</svg>exact</li>") == page.count("</svg>simulated, ± standard error</li>") == 2
    assert page.count("data-legend=") == 4  # of the trends; the one difference has no name of its own


def test_in_a_ranked_figure_each_place_has_its_own_point(tmp_path):
    data = data_of(write(tmp_path, tables=[ranked_table()]))["figure-7"]
    assert data["order"] == [[1, 0, 3, 2], [3, 0, 2, 1]]
    assert data["names"] == ["K=5", "K=10", "K=20", "K=40"]
    heights = [place[1] for place in data["wide"][0]]
    assert heights == sorted(heights, reverse=True)  # counted from the top: the line rises


def test_names_cannot_become_markup(tmp_path):
    table = width_table(
        figure=EVIL,
        title=EVIL,
        caption=EVIL,
        x=Axis(EVIL),
        y=Axis(EVIL),
        trends=(Trend(EVIL, EVIL, "printed", (1.0,) * 4), Trend("b", EVIL, "regret", (1.0,) * 4, (0.1,) * 4)),
        point_names=(EVIL,) * 4,
        settings={EVIL: EVIL},
    )
    claims = [Claim(EVIL, EVIL, "fails", EVIL, (EVIL,))]
    page = write(
        tmp_path,
        title=EVIL,
        tables=[table],
        claims=claims,
        bounds=[(EVIL, [[EVIL], [EVIL]])],
        about={EVIL: {EVIL: EVIL}},
    )
    assert read(page).tags.count("script") == 2  # the figure's numbers and our own
    assert "<script>alert" not in page
    assert page.count("</style>") == 1
    assert "{{ 7 * 7 }}" in " ".join(read(page).text)


def test_two_figures_of_one_name(tmp_path):
    reader = read(write(tmp_path, tables=[width_table(), width_table()]))
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(set(ids)) == len(ids)


def test_hard_values_and_nothing_at_all(tmp_path):
    page = write(tmp_path, tables=[one_trend((float("inf"), float("nan"), -1.0)), one_trend(())], claims=())
    assert "∞" in page
    assert "NaN" not in page
    read(page)
    empty = write_report(tmp_path / "empty.html", title="Nothing", tables=[])
    read(empty.read_text(encoding="utf-8"))


def test_the_same_bytes_every_time(page, tmp_path):
    assert write(tmp_path) == page


def test_no_half_written_file_is_left(tmp_path):
    with pytest.raises(AttributeError):
        write_report(tmp_path / "report.html", title="x", tables=[None])
    assert list(tmp_path.iterdir()) == []


def test_settings_in_words():
    assert shown_setting({"a": [1, 2.5], "b": True, "c": 20_000}) == "a 1, 2.5, b yes, c 20,000"
    assert shown_setting(None) == "None"
