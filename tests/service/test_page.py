"""Pages: complete without a script, nothing from the network, and nothing of a name becomes code."""

import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from bayesregret.agent import Posterior
from bayesregret.service.page import EDGE, SCALE, intervals
from service.conftest import BANDIT

PAGE = "/experiments/checkout/page"
FROM_THE_NETWORK = re.compile(r"""(?:src|href)=["'](?:https?:)?//|@import|url\(\s*["']?(?:https?:)?//""")


class Tags(HTMLParser):
    """Open tags, and whether all of them are closed in order."""

    EMPTY = ("meta", "link", "path", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


@pytest.mark.parametrize("path", [PAGE, "/", "/docs"])
def test_pages_are_whole_and_load_nothing(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert Tags(answer.text).open == []
    assert not FROM_THE_NETWORK.search(answer.text)


def test_what_would_be_loaded_is_noticed():
    """The control."""
    assert FROM_THE_NETWORK.search('<script src="https://cdn.example/x.js">')
    assert FROM_THE_NETWORK.search("<link href='//cdn.example/x.css'>")


def test_the_page_has_all_of_the_status(client, store):
    experiment = store.experiment("checkout")
    for decision in experiment.decide_many(30):
        experiment.reward(decision.id, decision.arm)
    text = unescape(re.sub(r"[\s\N{NO-BREAK SPACE}]+", " ", re.sub(r"<[^>]+>", " ", client.get(PAGE).text)))
    status = experiment.status(exact=False)
    for row in [*status.table(), *status.facts()[1:]]:
        for cell in row:
            assert cell.strip().replace("<=", "≤").removesuffix(": exact=False") in text
    assert f"{status.advice.sentence} {status.advice.why}" in text
    assert "30 of 100 visitors" in text
    assert client.get(PAGE).text.count('<svg class="interval"') == 2
    assert '<a href="?exact=true">' in client.get(PAGE).text


def test_names_are_no_code(client, store):
    store.start("odd", BANDIT, "bayes-ucb", horizon=10, arms=["<script>alert(1)</script>", '"&'], unit="<b>")
    text = client.get("/experiments/odd/page").text
    assert "<script>alert" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;aler" in text
    assert Tags(text).open == []


def test_the_list_links_to_every_page(client, store):
    store.start("banner", BANDIT, "bayes-ucb", horizon=10)
    links = re.findall(r'href="(/experiments/[^"]+)"', client.get("/").text)
    assert links == ["/experiments/checkout/page", "/experiments/banner/page"]
    assert all(client.get(link).status_code == 200 for link in links)


def test_the_documentation_has_every_request_with_its_fields(client):
    text = client.get("/docs").text
    for method, path in (("POST", "/experiments/{name}/decisions"), ("GET", "/experiments/{name}/export")):
        assert f"<code>{method} {path}</code>" in text
    for field in ("reward_after (optional)", "decision", "format (in the query)"):
        assert field in text


def test_intervals_share_a_scale():
    low, mean, high = np.array([0.0, 5.0]), np.array([1.0, 7.5]), np.array([2.0, 10.0])
    posterior = Posterior(("a", "b"), np.array([1, 1]), mean, low, high, mean, mean, 0.95, "gaussian")
    wide, inner = SCALE - 2 * EDGE, EDGE
    found = [[float(number) for number in re.findall(r"[MH]([\d.]+)", picture)] for picture in intervals(posterior)]
    expected = [[0.0, 2.0, 1.0], [5.0, 10.0, 7.5]]
    for numbers, ends in zip(found, expected, strict=True):
        assert numbers == pytest.approx([inner + wide * end / 10.0 for end in ends], abs=0.01)


@pytest.mark.parametrize("ends", [(np.nan, np.inf), (1.0, 1.0), (-np.inf, 3.0)])
def test_intervals_without_a_width_or_an_end(ends):
    low, high = (np.array([end]) for end in ends)
    posterior = Posterior(("a",), np.array([1]), low, low, high, low, low, 0.95, "gaussian")
    (picture,) = intervals(posterior)
    assert "nan" not in picture
    assert "inf" not in picture
