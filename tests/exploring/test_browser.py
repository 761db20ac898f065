"""The live page in a real Chromium: what it shows is what the library computes."""

import csv
import http.client
import io
import shlex
from urllib.parse import urlsplit

import pytest

import bayesregret as br
from bayesregret.exploring.cached import ENOUGH, bound
from bayesregret.exploring.presets import FIGURES, PRESETS
from bayesregret.exploring.settings import PageState, checked, decode, encode
from bayesregret.problem import common_gaussian, load_problem
from exploring.pages import CHROMIUM, Visit, chromium, served

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]
SMALL = "arms=3&horizon=100&runs=600"
BANDIT = common_gaussian(arms=3)
GAP = "Prior gap: mean of the first arm"


@pytest.fixture(scope="module")
def link(tmp_path_factory):
    own = tmp_path_factory.mktemp("problems") / "own.toml"
    own.write_text('model = "bernoulli"\nalpha = [1, 2, 3]\nbeta = [4, 3, 2]\n')
    with served(str(own), "gaussian") as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def visit(browser, link):
    opened = []

    def open_page(query="", **settings):
        opened.append(Visit(browser, f"{link}?{query}" if query else link, **settings))
        return opened[-1]

    yield open_page
    for each in opened:
        each.tab.close()
        assert each.complaints == []


def simulated(bandit, policies, **settings):
    found = br.simulate(bandit, policies, seed=0, progress=False, **settings)
    return {name: found[name].mean for name in found}


def test_nothing_comes_from_the_network(visit, link):
    page = visit("problem=gaussian&" + SMALL)
    page.finished()
    assert len(page.requests) > 5
    assert [url for url in page.requests if not url.startswith((link, "blob:", "data:"))] == []


def test_regret_is_that_of_the_library(visit):
    page = visit("problem=gaussian&" + SMALL)
    page.finished()
    shown = page.numbers()
    expected = simulated(BANDIT, ["bayes-ucb", "thompson", "ucb1"], horizon=100, runs=600)
    assert {name: values[0] for name, values in shown.items()} == expected
    for name in ("bayes-ucb", "ucb1"):
        assert shown[name][2] == br.exact_regret(BANDIT, name, horizon=100, accuracy=ENOUGH).regret
    assert len(shown["thompson"]) == 2  # not an index policy


def test_a_slider_moves_by_keyboard_and_all_numbers_follow(visit):
    page = visit("problem=gaussian&" + SMALL)
    page.finished()
    slider = page.tab.get_by_label(GAP, exact=True)
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    assert float(page.tab.get_by_label(f"{GAP}, number").input_value()) == pytest.approx(1.15)
    query = page.until("prior_gap=1.15")
    page.finished()
    state = decode(query, {})
    assert state.mapping["prior_gap"] == pytest.approx(1.15)
    expected = simulated(state.bandit({}), ["bayes-ucb", "thompson", "ucb1"], horizon=100, runs=600)
    assert {name: values[0] for name, values in page.numbers().items()} == expected


def test_a_legend_entry_hides_a_curve_and_the_address_knows_it(visit):
    page = visit("problem=gaussian&" + SMALL)
    page.finished()
    page.tab.get_by_role("button", name="ucb1", exact=True).click()
    page.tab.locator('button[name="hide:ucb1"][aria-pressed="false"]').wait_for()
    page.until("hide=ucb1")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_shown(visit, name):
    page = visit("problem=gaussian&runs=16&" + SMALL.replace("&runs=600", ""))
    page.tab.get_by_label("Start from").select_option(name)
    expected = PRESETS[name].state
    page.tab.wait_for_function(f"() => location.search.slice(1) === {encode(checked(expected, {}))!r}")
    page.fresh()
    first = next(iter(expected.play()))
    page.tab.locator(f'tr[data-name="{first}"] td[data-value]').first.wait_for()
    assert page.tab.locator("[role=alert]").count() == 0


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_one_click(visit, name):
    page = visit("problem=gaussian&view=bounds&" + SMALL)
    page.tab.get_by_role("button", name=f"Figure {name}").click()
    page.tab.wait_for_function(f"() => location.search.slice(1) === {encode(FIGURES[name].state)!r}")
    page.fresh()
    page.tab.locator('tr[data-name="sqrt"] td[data-value]').wait_for()
    bandit = FIGURES[name].state.bandit({})
    assert page.numbers()["sqrt"] == [br.bounds.sqrt(bandit, horizon=1_000).leading]


def test_bounds_are_those_of_the_library(visit):
    page = visit("problem=gaussian&arms=3&horizon=50&runs=64&policy=bayes-ucb&view=bounds&sweep=prior_gap")
    page.finished()
    shown = page.numbers()
    bandit = common_gaussian(arms=3)
    assert shown["bayes-ucb"] == [br.exact_regret(bandit, "bayes-ucb", horizon=50, accuracy=ENOUGH).regret]
    assert shown["certified"] == [br.bounds.certified(bandit, horizon=50).value]
    assert shown["gap_dependent"] == [br.bounds.gap_dependent(bandit, horizon=50).leading]
    assert shown["certified_lower"] == [br.bounds.certified_lower(bandit, horizon=50, accuracy=0.01).value]
    assert shown["certified_lower"] < shown["bayes-ucb"] < shown["certified"] < shown["certified_trivial"]
    assert bound("certified", bandit, 50, None)[0] == shown["certified"][0]


def test_one_run_is_that_of_a_simulation(visit):
    page = visit("problem=gaussian&view=run&round=100&" + SMALL)
    page.finished()
    regret = br.simulate(BANDIT, "bayes-ucb", horizon=100, runs=1, seed=0, progress=False)["bayes-ucb"].mean
    assert f"regret so far {regret:.4g}" in page.tab.locator(".status").inner_text()
    assert sum(values[1] for values in page.numbers().values()) == 100
    page.tab.get_by_role("button", name="One round back").click()
    page.tab.get_by_text("Round 99 of 100").wait_for()
    page.tab.get_by_role("button", name="Another instance").click()
    page.tab.get_by_text("Before the first of 100 rounds").wait_for()
    page.tab.get_by_role("button", name="Play / pause").click()
    page.tab.get_by_text("Round 100 of 100").wait_for()
    regret = br.simulate(BANDIT, "bayes-ucb", horizon=100, runs=1, seed=1, progress=False)["bayes-ucb"].mean
    assert f"regret so far {regret:.4g}" in page.tab.locator(".status").inner_text()


def test_a_link_brings_everything_back(visit):
    first = visit("problem=gaussian&" + SMALL)
    first.type("Prior width", 0.7)
    first.type(GAP, 0.3)
    first.tab.get_by_label("moss").check()
    first.tab.get_by_role("button", name="Edit each arm").click()
    first.tab.get_by_label("prior_mean of arm 2").fill("0.25")
    first.tab.get_by_label("prior_mean of arm 2").press("Enter")
    query = first.until("prior_mean=0.3,0.0,0.25")
    first.finished()
    second = visit(query)
    second.finished()
    assert second.numbers() == first.numbers()
    assert decode(query, {}).bandit({}) == br.GaussianBandit([0.3, 0, 0.25], 0.7, 1)
    assert second.tab.get_by_label("prior_mean of arm 2").input_value() == "0.25"


def saved(page, label):
    with page.tab.expect_download() as waiting:
        page.tab.get_by_role("button", name=label).click()
    return waiting.value


def test_everything_can_be_taken_away(visit, tmp_path, capsys):
    page = visit("problem=gaussian&" + SMALL)
    page.finished()
    rows = list(csv.reader(io.StringIO(saved(page, "Numbers (CSV)").path().read_text())))
    found = br.simulate(BANDIT, "bayes-ucb", horizon=100, runs=600, seed=0, progress=False)["bayes-ucb"]
    assert [float(row[1]) for row in rows[1:]] == found.curve.mean.tolist()
    assert saved(page, "Figure (SVG)").path().read_bytes().startswith(b"<?xml")
    assert saved(page, "Figure (PNG)").path().read_bytes().startswith(b"\x89PNG")
    problem = saved(page, "Problem file")
    problem.save_as(tmp_path / "problem.toml")
    assert load_problem(tmp_path / "problem.toml") == BANDIT
    command = page.tab.locator("#take-command").inner_text()
    assert shlex.split(command)[:3] == ["bayesregret", "simulate", "gaussian"]
    shown = {name: values[0] for name, values in page.numbers().items()}
    made = {}
    exec(page.tab.locator("#take-python").inner_text(), made)
    assert {name: made["result"][name].mean for name in made["result"]} == shown


def test_a_given_problem_is_there(visit):
    page = visit("problem=bernoulli&horizon=50&runs=64")
    page.tab.get_by_label("Start from").select_option("own.toml")
    page.until("alpha=1.0,2.0,3.0")
    page.tab.get_by_label("alpha of arm 1").wait_for()


BAD = ["horizon=1e9", "%ff%00<script>=3", "problem=nothing", "arms=10**9", "round=x&" + "a=1&" * 500]


@pytest.mark.parametrize("query", BAD)
def test_garbage_in_the_address_is_one_line(visit, query):
    page = visit(query)
    alert = page.tab.get_by_role("alert")
    alert.wait_for()
    assert alert.inner_text().startswith("This address does not describe a page")
    assert "\n" not in alert.inner_text()
    page.tab.locator("td[data-value]").first.wait_for()


def handshake(link, origin):
    """The status of an attempt to open the page's socket from a page of this origin."""
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    headers |= {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol": "bokeh, token"}
    connection.request("GET", "/ws", headers=headers | {"Origin": origin})
    status = connection.getresponse().status
    connection.close()
    return status


def test_pages_of_other_origins_are_refused(link):
    assert handshake(link, "http://example.org") == 403
    assert handshake(link, "http://127.0.0.1:1") == 403
    assert handshake(link, link.rstrip("/")) != 403


def test_a_bad_number_is_one_line_and_changes_nothing(visit):
    page = visit("problem=gaussian&" + SMALL)
    page.type("Prior width", -3)
    page.tab.get_by_role("alert").wait_for()
    assert page.tab.get_by_role("alert").inner_text() == "prior_width must be a positive number, got -3"
    assert "prior_width" not in page.query()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_screens_and_both_themes(visit, scheme):
    page = visit("problem=gaussian&" + SMALL, color_scheme=scheme)
    page.tab.set_viewport_size({"width": 400, "height": 800})
    page.finished()
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 400
    back = page.tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"}[scheme]
    page.tab.get_by_role("button", name="Light or dark page").click()
    assert page.tab.evaluate("getComputedStyle(document.body).backgroundColor") != back


def test_every_input_has_a_name(visit):
    """As a screen reader would say it."""
    page = visit("problem=gaussian&view=run&" + SMALL)
    page.finished()
    inputs = page.tab.locator("input, select, button")
    assert inputs.count() > 25
    script = """all => all.filter(each => !(each.ariaLabel || each.labels?.length || each.textContent.trim()))
        .map(each => each.outerHTML)"""
    assert inputs.evaluate_all(script) == []


def test_default_state_is_the_usual_page(visit):
    assert decode("", {}) == PageState()
