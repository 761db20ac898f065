"""The page of a plan: the answer first, every figure there, nothing from elsewhere."""

import base64
import dataclasses
import json
import math
import re

import pytest

import bayesregret as br
from bayesregret.planning.figure_tables import figure_tables, round_tables
from bayesregret.plotting.style import COLOURS, FRONT, looks
from bayesregret.policies import Policy
from bayesregret.problem import common_bernoulli, common_gaussian, common_linear
from bayesregret.report import downloads
from bayesregret.report.glossary import POLICIES, WORDS, visible_text
from bayesregret.report.picture import NAMES
from bayesregret.report.plan_page import assumptions
from bayesregret.report.problem_facts import problem_facts
from bayesregret.report.reproduction_page import make_section, part
from report.test_reproduction_page import read

OWN = r"data:(?:,|(?:text/plain|application/json);charset=utf-8;base64,)"
EVERYWHERE = re.compile(rf"(?:src|href)\s*=\s*[\"'](?!#|{OWN})|https?://|@import|url\((?!#)")


def write(folder, plan):
    written = plan.to_html(folder / "plan.html")
    assert written == (folder / "plan.html").read_text(encoding="utf-8")
    return written


@pytest.fixture(scope="module")
def plan():
    return br.plan(
        common_bernoulli(arms=2), [br.BayesUCB(), br.UCB1()], horizon=6, runs=8, budget=0.3, regret_per_round=0.3
    )


@pytest.fixture(scope="module")
def page(plan, tmp_path_factory):
    return write(tmp_path_factory.mktemp("plan"), plan)


def test_the_answer_comes_first(plan, page):
    text = "".join(read(page).text)
    assert " ±" not in text  # numbers keep their errors beside them
    text = text.replace("\N{NO-BREAK SPACE}", " ")
    lines = [line for line in text.splitlines() if line.strip()]
    assert lines.index(plan.sentences()[0]) <= 2
    for line in (*plan.sentences(), *plan.notes, *assumptions(plan), plan.snippet()):
        assert line in text
    for row in plan.table():
        assert all(cell in text for cell in row)


def test_the_recommended_policy_is_marked(plan, page):
    found = re.findall(r'<tr class="front"><td[^>]*>([^<]*)', page)
    assert found == [plan.best.name]


def test_sections_are_in_the_order_of_a_decision(page):
    order = ["reward", "policies", "plan-regret", "plan-near-best", "changes", "prior", "delta", "targets", "run"]
    order += ["assumptions", "glossary", "about"]
    found = re.findall(r'<section id="([^"]+)"', page)
    assert [name for name in order if name in found] == found
    assert set(order) - {"prior", "delta", "targets"} <= set(found)


def test_a_recommendation_that_nothing_changes_is_called_so(plan, page):
    changed = any(found.compared.changes_order for found in (*plan.scenarios, *plan.other_horizons))
    assert ("Nothing that was examined" in page) == (not changed)


# --- figures --------------------------------------------------------------------------------------------------------


def test_every_figure_is_there_with_words_for_those_who_do_not_see_it(plan, page):
    tables = figure_tables(plan)
    spoken = [value for name, value in read(page).attributes if name == "aria-label"]
    assert [table.figure for table in tables][:2] == ["plan-regret", "plan-near-best"]
    for table in tables:
        labels = [label for label in spoken if label.startswith(f"{table.title}: ")]
        assert len(labels) == 2  # wide and narrow
        assert all(table.y.label.split("$")[0] in label for label in labels)
        assert json.loads(re.search(rf'data-for="{table.figure}">(.*?)</script>', page, re.DOTALL)[1])["points"]


def test_the_legend_has_the_order_of_the_table(plan, page):
    figure = re.search(r'<figure data-figure="plan-regret" data-front="0">.*?</figure>', page, re.DOTALL)[0]
    labels = re.findall(r'<span class="label">([^<]*)</span>', figure)
    assert labels == [row[0] for row in plan.table()[1:]]
    assert figure.count('class="front"') == 1
    assert '<li data-legend="0" class="front">' in figure


def test_the_recommended_policy_is_drawn_in_front(plan):
    table = round_tables(plan)[0]
    svg = make_section(table, "one").wide.svg
    assert re.findall(r'data-trend="(\d+)"', svg)[-1] == "0"
    first, *others = looks(table.trends, table.front)
    assert first == FRONT
    assert all(look.line_width < FRONT.line_width and look.colour != FRONT.colour for look in others)


def test_every_colour_can_be_grey():
    """The script shows trends in grey by one rule of the style sheet, which must cover all colours of trends."""
    rule = re.search(r"\.in-grey \[data-trend\]:not\(\.lit\)[^{]*\{([^}]*)\}", part("style.css"))[1]
    assert set(re.findall(r"--(\w+): var\(--quiet\)", rule)) == {NAMES[colour] for colour in COLOURS}


# --- nothing from elsewhere, everything reachable -------------------------------------------------------------------


def test_nothing_comes_from_elsewhere(page):
    without_names = page.replace("http://www.w3.org", "")
    assert not EVERYWHERE.findall(without_names)
    assert EVERYWHERE.findall('<a href="data:text/html;base64,PGI+">')  # the control


def test_it_is_well_formed_and_ids_are_unique(page):
    reader = read(page)
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {value[1:] for name, value in reader.attributes if name == "href" and value.startswith("#")} <= set(ids)


def test_tables_that_are_wider_than_the_page_say_so(page):
    assert page.count('<p class="hint">') == page.count('<div class="scroll"') >= 3
    assert re.search(r"\.scroll \{[^}]*overflow-x: auto", part("style.css"))


def saved(page):
    """Contents of the files that the page carries, by name."""
    links = re.findall(r'<a download="([^"]+)" href="data:[\w/]+;charset=utf-8;base64,([^"]+)">', page)
    return {name: base64.b64decode(content, validate=True).decode() for name, content in links}


def test_the_files_in_the_page_can_be_used(plan, page, tmp_path):
    files = saved(page)
    assert list(files) == ["problem.toml", "agent.json", "plan.json"]
    (tmp_path / "problem.toml").write_text(files["problem.toml"], encoding="utf-8")
    assert br.load_problem(tmp_path / "problem.toml") == plan.bandit
    agent = br.Agent.from_json(files["agent.json"])
    assert agent.policy == plan.best.policy
    assert agent.select() == plan.agent().select()
    numbers = json.loads(files["plan.json"])
    assert numbers["best"] == plan.best.name
    assert numbers["policies"].keys() == plan.to_dict()["policies"].keys()


def test_files_that_are_too_large_for_a_link_are_named_only(plan, monkeypatch, tmp_path):
    monkeypatch.setattr(downloads, "LARGEST", 1_000)
    page = write(tmp_path, plan)
    assert "plan.json" not in saved(page)
    assert "problem.toml" in saved(page)
    assert "plan.json: all numbers of this page, too large to be part of this page" in page


def test_numbers_in_files_are_strict_json():
    assert downloads._strict({"a": [math.inf, -math.inf, 1.5, "x"]}) == {"a": ["inf", "-inf", 1.5, "x"]}


def test_names_cannot_become_markup(tmp_path):
    evil = "<script>alert('x')</script>"
    plan = br.plan(common_bernoulli(arms=2), {evil: br.Thompson(), "ucb1": br.UCB1()}, horizon=4, runs=4)
    page = write(tmp_path, plan)
    read(page)
    assert "<script>alert" not in page
    assert evil in json.loads(saved(page)["plan.json"])["policies"]


# --- words ----------------------------------------------------------------------------------------------------------


def glossary_of(page):
    section = re.search(r'<dl class="glossary">(.*?)</dl>', page, re.DOTALL)[1]
    return re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", section)


def test_the_glossary_explains_the_words_of_this_page(plan, page):
    terms = [term for term, _ in glossary_of(page)]
    expected = {"A/B test", "arm", "Bayes regret", "bayes-ucb", "certified", "delta", "horizon", "policy", "prior"}
    expected |= {"regret", "round", "standard error,\N{NO-BREAK SPACE}±", "ucb1", f"within {plan.epsilon:g}"}
    assert expected <= set(terms)
    assert not {"batch", "control", "cost", "mixture", "matched prior", "moss", "thompson"} & set(terms)
    assert terms == sorted(terms, key=str.lower)
    elsewhere = visible_text(re.sub(r'<section id="glossary">.*?</section>', "", page, flags=re.DOTALL)).lower()
    patterns = {word.term: word.pattern for word in WORDS}
    for term in terms:
        assert re.search(patterns.get(term) or re.escape(term.lower()), elsewhere), term


def test_definitions_are_short_sentences():
    for meaning in [*(word.meaning for word in WORDS), *POLICIES.values()]:
        assert len(meaning) < 200
        assert meaning[0].isupper()
        assert meaning.endswith(".")


def test_every_policy_is_defined():
    built_in = {name for name, found in Policy.classes.items() if found.__module__.startswith("bayesregret.")}
    assert built_in <= POLICIES.keys()


@pytest.mark.parametrize(
    ("delay", "batch", "expected"),
    [
        (0, 1, "Each reward is observed immediately, before the next round begins."),
        (3, 1, "Rewards arrive 3 rounds late."),
        (1, 1, "Rewards arrive 1 round late."),
        (0, 2, "Rewards arrive at the ends of batches of 2 rounds."),
        (3, 2, "Rewards arrive 3 rounds late, and only at the ends of batches of 2 rounds."),
    ],
)
def test_assumptions_say_when_rewards_arrive(plan, delay, batch, expected):
    found = assumptions(dataclasses.replace(plan, delay=delay, batch=batch))
    assert expected in found
    assert sum("arrive" in line or "immediately" in line for line in found) == 1


def test_costs_are_called_costs(tmp_path):
    page = write(tmp_path, br.plan(common_bernoulli(arms=2), br.UCB1(), horizon=4, runs=4, minimise=True))
    assert "<h2>Expected cost</h2>" in page
    assert "Regret is the additional cost of not always using the best arm." in page
    assert "Costs are minimised" in page
    assert "the problem, with rewards in place of costs" in page
    assert "cost" in dict(glossary_of(page))


# --- the problem ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bandit", "horizon", "figures"),
    [(common_bernoulli(arms=1), 5, 0), (common_bernoulli(arms=2), 1, 0), (common_linear(arms=14, dimension=2), 4, 2)],
)
def test_small_and_other_problems_have_a_page_too(tmp_path, bandit, horizon, figures):
    found = br.plan(bandit, [br.BayesUCB(), br.UCB1()], horizon=horizon, runs=4)
    page = write(tmp_path, found)
    read(page)
    assert found.sentences()[0] in page.replace("\N{NO-BREAK SPACE}", " ")
    assert page.count("<figure") >= figures


def test_it_says_what_made_it(page):
    assert f"<dt>bayesregret</dt><dd>{br.__version__}</dd>" in page
    assert "<dt>each policy</dt><dd>8 runs</dd>" in page


def test_long_lists_are_cut_and_equal_arms_are_written_once():
    many = br.BernoulliBandit(range(1, 15), [1] * 14)
    facts = problem_facts(many)
    assert facts["alpha"][-1] == "… (14 numbers)"
    assert facts["beta"] == "1 for every arm"
    assert facts["prior mean"] == "0.5 to 0.933"
    assert problem_facts(common_linear(arms=5, dimension=2))["features"] == "5 rows of 2 numbers"


def test_a_mixture_is_described_by_its_ranges(tmp_path):
    parts = [common_bernoulli(arms=3, alpha=alpha, beta=10.0) for alpha in (1.0, 2.0, 3.0)]
    bandit = br.MixtureBandit([0.25, 0.5, 0.25], parts)
    facts = problem_facts(bandit)
    assert facts["model"] == "mixture of 3 bernoulli bandits"
    assert facts["weights"] == "0.25 to 0.5"
    assert facts["alpha of components"] == "1 to 3"
    assert facts["beta of components"] == "10"
    assert facts["matched prior"]["model"] == "bernoulli"
    page = write(tmp_path, br.plan(bandit, [br.Thompson(prior=bandit.conjugate()), br.UCB1()], horizon=4, runs=4))
    text = visible_text(page)
    assert "mixture of 3 bernoulli bandits" in text
    assert "The policies believe in one matched prior" in text
    assert not re.search(r"\[\[|\{'model'", text)
    assert {"mixture", "matched prior"} <= set(dict(glossary_of(page)))


def test_mixtures_of_other_kinds_are_described_too():
    gaussian = br.MixtureBandit([0.5, 0.5], [common_gaussian(arms=2), common_gaussian(arms=2, prior_width=2.0)])
    facts = problem_facts(gaussian)
    assert facts["prior_width of components"] == "1 to 2"
    assert facts["noise_kind of components"] == "gaussian"
    linear = common_linear(arms=4, dimension=2)
    assert problem_facts(br.MixtureBandit([0.5, 0.5], [linear, linear]))["model"] == "mixture of 2 linear bandits"
