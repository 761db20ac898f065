"""Twenty browsers on one live page: all sliders move at once, and every page ends with the numbers of its own state.

    python benchmarks/explore_load.py

Prints how long it took until all pages were quiet, the memory of the server before and after, and how many pages show
numbers that are not the library's for their address.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import bayesregret as br
from bayesregret.exploring.settings import decode
from explore_speed import CHROMIUM, FLAGS

PAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 20
MOVES, PAUSE = 40, 50  # of each slider, and milliseconds between them
QUERY = "problem=gaussian&horizon=200&runs=1000&policy=bayes-ucb&policy=ucb1"
DRAG = """([moves, pause, shift]) => {
  const find = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.matches('input[type=range][name="prior_width"]')) return each;
      const found = each.shadowRoot && find(each.shadowRoot);
      if (found) return found;
    }
  };
  let left = moves;
  const step = () => {
    const slider = find(document);
    const position = (shift + 0.618 * left) % 1;
    slider.value = Number(slider.min) + position * (Number(slider.max) - Number(slider.min));
    slider.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true }));
    if (--left > 0) setTimeout(step, pause);
    else window.dragged = true;
  };
  step();
}"""


def memory(process: int) -> float:
    """Resident memory of a process in MB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024.0


def main() -> None:
    command = [sys.executable, "-m", "bayesregret", "explore", "--no-browser"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                drag(browser, f"{found[0]}?{QUERY}", server)
        finally:
            server.terminate()


def drag(browser, link: str, server: subprocess.Popen) -> None:
    pages = []
    for _ in range(PAGES):
        page = browser.new_context(viewport={"width": 900, "height": 700}).new_page()
        page.set_default_timeout(300_000)
        page.goto(link)
        pages.append(page)
    for page in pages:
        page.locator(".status.done").wait_for()
    before, start = memory(server.pid), time.perf_counter()
    for i, page in enumerate(pages):
        page.evaluate(DRAG, [MOVES, PAUSE, i / PAGES])
    for page in pages:
        page.wait_for_function("() => window.dragged")
    dragged = time.perf_counter() - start
    for page in pages:
        page.wait_for_timeout(400 if page is pages[0] else 50)
        page.locator(".status.done").wait_for()
    quiet = time.perf_counter() - start
    stale = sum(is_stale(page) for page in pages)
    print(f"{PAGES} pages, {MOVES} moves each: dragged in {dragged:.1f} s, all pictures final after {quiet:.1f} s")
    print(f"memory of the server: {before:.0f} MB before, {memory(server.pid):.0f} MB after")
    print(f"pages with numbers that are not the library's: {stale}; server alive: {server.poll() is None}")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


def is_stale(page) -> bool:
    """Whether a number on the page is not that of the state in its address."""
    page.wait_for_timeout(300)
    state = decode(page.url.partition("?")[2], {})
    found = br.simulate(state.bandit({}), state.play(), horizon=200, runs=1000, seed=0, progress=False)
    script = "rows => rows.map(row => [row.dataset.name, Number(row.querySelector('td[data-value]').dataset.value)])"
    shown = dict(page.locator("tr[data-name]").evaluate_all(script))
    return shown != {name: found[name].mean for name in found}


if __name__ == "__main__":
    main()
