"""The page of a plan: the answer first, every figure there, nothing from elsewhere."""

import json
import re

import pytest

import bayesregret as br
from bayesregret.planning.figure_tables import figure_tables
from bayesregret.problem import common_bernoulli, common_linear
from bayesregret.report.plan_page import ASSUMPTIONS, write_plan
from report.test_reproduction_page import read

EVERYWHERE = re.compile(r"(?:src|href)\s*=\s*[\"'](?!#|data:,)|https?://|@import|url\((?!#)")


@pytest.fixture(scope="module")
def plan():
    return br.plan(common_bernoulli(arms=2), 6, [br.BayesUCB(), br.UCB1()], runs=8, budget=0.3, regret_per_round=0.3)


@pytest.fixture(scope="module")
def page(plan, tmp_path_factory):
    return write_plan(tmp_path_factory.mktemp("plan") / "plan.html", plan).read_text(encoding="utf-8")


def test_the_answer_comes_first(plan, page):
    text = "".join(read(page).text)
    assert " ±" not in text  # numbers keep their errors beside them
    text = text.replace("\N{NO-BREAK SPACE}", " ")
    lines = [line for line in text.splitlines() if line.strip()]
    assert lines.index(plan.sentences()[0]) <= 2
    for line in (*plan.sentences(), *plan.notes, *ASSUMPTIONS):
        assert line in text
    for row in plan.table():
        assert all(cell in text for cell in row)


def test_every_figure_is_there_with_words_for_those_who_do_not_see_it(plan, page):
    tables = figure_tables(plan)
    spoken = [value for name, value in read(page).attributes if name == "aria-label"]
    assert [table.figure for table in tables] == ["plan-regret", "plan-best-arm", "plan-wrong-mean", "plan-wrong-width"]
    for table in tables:
        labels = [label for label in spoken if label.startswith(f"{table.title}: ")]
        assert len(labels) == 2  # wide and narrow
        assert all(table.y.label.split("$")[0] in label for label in labels)
        assert json.loads(re.search(rf'data-for="{table.figure}">(.*?)</script>', page, re.DOTALL)[1])["points"]


def test_nothing_comes_from_elsewhere(page):
    without_names = page.replace("http://www.w3.org", "")
    assert not EVERYWHERE.findall(without_names)


def test_it_is_well_formed_and_ids_are_unique(page):
    ids = [value for name, value in read(page).attributes if name == "id"]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("bandit", "horizon", "figures"),
    [(common_bernoulli(arms=1), 5, 0), (common_bernoulli(arms=2), 1, 0), (common_linear(arms=14, dimension=2), 4, 2)],
)
def test_small_and_other_problems_have_a_page_too(tmp_path, bandit, horizon, figures):
    found = br.plan(bandit, horizon, [br.BayesUCB(), br.UCB1()], runs=4)
    page = write_plan(tmp_path / "plan.html", found).read_text(encoding="utf-8")
    read(page)
    assert found.sentences()[0] in page.replace("\N{NO-BREAK SPACE}", " ")
    assert page.count("<figure") >= figures


def test_it_says_what_made_it(page):
    assert f"<dt>bayesregret</dt><dd>{br.__version__}</dd>" in page


def test_long_lists_are_cut(tmp_path):
    found = br.plan(common_bernoulli(arms=14), 1, br.UCB1(), runs=4)
    assert "… (14 numbers)" in write_plan(tmp_path / "plan.html", found).read_text(encoding="utf-8")
