"""The live page in JupyterLab, and what `br.explore` refuses."""

import importlib.util
import json
import re

import pytest

import bayesregret as br
from exploring.pages import CHROMIUM, PATIENCE, chromium, process

CELL = "import bayesregret as br\nbr.explore(br.GaussianBandit([1, 0, 0], 1, 1), horizon=100, runs=400)"
NOTEBOOK = {
    "cells": [
        {"cell_type": "code", "id": "one", "execution_count": None, "metadata": {}, "outputs": [], "source": CELL}
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab with one notebook."""
    (tmp_path / "live.ipynb").write_text(json.dumps(NOTEBOOK))
    words = ["-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0", "--IdentityProvider.token=test"]
    words += [f"--ServerApp.root_dir={tmp_path}", "--LabApp.news_url="]
    words += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    log = tmp_path / "log"
    with log.open("w") as file, process(*words, stderr=file, env={"HOME": str(tmp_path)}) as started:
        found = None
        while found is None and started.poll() is None:
            found = re.search(r"http://127\.0\.0\.1:\d+/", log.read_text())
        yield found[0]


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.skipif(importlib.util.find_spec("jupyterlab") is None, reason="needs JupyterLab")
def test_the_page_lives_in_jupyterlab(lab):
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.set_default_timeout(PATIENCE)
        outside = []
        tab.on("request", lambda request: "127.0.0.1" not in request.url and outside.append(request.url))
        tab.goto(f"{lab}lab/tree/live.ipynb?token=test")
        tab.get_by_text("Python 3").last.wait_for()
        tab.locator(".jp-CodeCell .cm-content").first.click()
        tab.keyboard.press("Shift+Enter")
        tab.locator('table[data-done="true"]').wait_for()
        expected = br.simulate(br.GaussianBandit([1, 0, 0], 1, 1), "bayes-ucb", horizon=100, runs=400, progress=False)
        shown = tab.locator('tr[data-name="bayes-ucb"] td[data-value]').first
        assert float(shown.get_attribute("data-value")) == expected["bayes-ucb"].mean
        tab.get_by_label("Prior width", exact=True).focus()
        tab.keyboard.press("ArrowLeft")
        width = float(tab.get_by_label("Prior width, number").input_value())
        assert width < 1.0
        narrow = br.GaussianBandit([1, 0, 0], width, 1)
        value = br.simulate(narrow, "bayes-ucb", horizon=100, runs=400, progress=False)["bayes-ucb"].mean
        tab.locator(f'td[data-value="{value!r}"]').wait_for()
        assert [url for url in outside if not url.startswith(("blob:", "data:"))] == []


def test_what_a_page_cannot_show_is_one_line():
    with pytest.raises(ValueError, match="horizon must be a whole number, at least 1 and at most 100000"):
        br.explore(horizon=10**6)
    with pytest.raises(ValueError, match='policies must be names such as "thompson"'):
        br.explore(policies=[br.Thompson()])
    with pytest.raises(ValueError, match="bandit must be a bandit such as GaussianBandit"):
        br.explore("gaussian")


def test_importing_the_package_needs_no_panel():
    code = "import sys, bayesregret; print(sorted({'panel', 'bokeh', 'param', 'tornado'} & set(sys.modules)))"
    with process("-c", code) as started:
        assert started.stdout.read() == "[]\n"
