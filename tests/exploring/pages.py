"""A served page and a real Chromium for the tests of the live page."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
PATIENCE = 40_000  # milliseconds, for kernels that are compiled the first time


@contextlib.contextmanager
def process(*words: str, **settings) -> Iterator[subprocess.Popen]:
    """A Python process with this source, ended at the end."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1"} | settings.pop("env", {})
    started = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True, env=environment, **settings)
    try:
        yield started
    finally:
        started.terminate()
        started.wait(20)
        started.stdout.close()


@contextlib.contextmanager
def served(*words: str, **settings) -> Iterator[str]:
    """The address of a page that `bayesregret explore` serves."""
    with process("-m", "bayesregret", "explore", "--no-browser", *words, **settings) as started:
        line = started.stdout.readline()
        yield re.search(r"http://\S+", line)[0]


@contextlib.contextmanager
def chromium() -> Iterator:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """One tab, with all that it asked for and complained about."""

    def __init__(self, browser, link: str, **settings) -> None:
        self.tab = browser.new_page(viewport={"width": 1280, "height": 900}, accept_downloads=True, **settings)
        self.tab.set_default_timeout(PATIENCE)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("console", lambda message: message.type == "error" and self.complaints.append(message.text))
        self.tab.goto(link)
        self.tab.get_by_role("group", name="View").wait_for()

    def finished(self) -> None:
        """Wait until nothing is computed any more."""
        self.tab.locator(".status.done").wait_for()
        self.tab.locator('table[data-done="true"]').wait_for()

    def numbers(self) -> dict[str, list[float]]:
        """The numbers of the table by row, with all their digits."""
        rows = self.tab.locator("tr[data-name]")
        script = """rows => rows.map(row => [row.dataset.name,
            [...row.querySelectorAll("td[data-value]")].map(cell => [cell.dataset.value, cell.dataset.error])])"""
        return {name: [float(value) for value, _ in cells] for name, cells in rows.evaluate_all(script)}

    def type(self, label: str, value: float) -> None:
        box = self.tab.get_by_label(f"{label}, number")
        box.fill(str(value))
        box.press("Enter")

    def query(self) -> str:
        """The query of the address, once it has followed the last move."""
        self.tab.wait_for_timeout(500)
        return self.tab.url.partition("?")[2]

    def until(self, part: str) -> str:
        """The query of the address, once it contains this part."""
        self.tab.wait_for_function(f"() => location.search.includes({part!r})")
        return self.query()

    def fresh(self) -> None:
        """Wait until no number is of the settings before."""
        self.tab.locator("table.running, table.done").wait_for()
