"""Twenty browsers on one live page: all sliders move at once, and every page ends with the numbers of its own state.

    python benchmarks/explore_load.py

Prints, for each drag of all sliders, how long it took until all pictures were final, how many pages end with numbers
that are not the library's for where their slider stands, and the memory of the server, which must stop growing.
"""

from __future__ import annotations

import functools
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
DRAGS, LONGEST = 3, 20  # times that all sliders move, and seconds in which a page must be right
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
    print(f"{PAGES} pages open: the server has {memory(server.pid):.0f} MB", flush=True)
    for drag_number in range(1, DRAGS + 1):
        start = time.perf_counter()
        for i, page in enumerate(pages):
            page.evaluate(DRAG, [MOVES, PAUSE, i / PAGES + 0.003 * drag_number])
        for page in pages:
            page.wait_for_function("() => window.dragged")
            page.evaluate("() => { window.dragged = false; }")
        dragged = time.perf_counter() - start
        stale = sum(not becomes_right(page) for page in pages)
        print(
            f"drag {drag_number}, {MOVES} moves of each slider in {dragged:.1f} s: all pictures final after "
            f"{time.perf_counter() - start:.1f} s, {stale} with other numbers than the library's; "
            f"the server has {memory(server.pid):.0f} MB and is {'alive' if server.poll() is None else 'dead'}",
            flush=True,
        )
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


def becomes_right(page) -> bool:
    """Whether a page ends with the library's numbers for where its slider stands."""
    script = "rows => rows.map(row => [row.dataset.name, Number(row.querySelector('td[data-value]')?.dataset.value)])"
    end = time.perf_counter() + LONGEST
    while time.perf_counter() < end:
        shown = dict(page.locator("tr[data-name]").evaluate_all(script))
        if page.locator(".status.done").count() and shown == numbers_at(page):
            return True
        page.wait_for_timeout(100)
    print(f"  shown {shown}, the library's {numbers_at(page)}", flush=True)
    return False


def numbers_at(page) -> dict[str, float]:
    """The library's numbers for where the slider of a page stands."""
    width = float(page.get_by_label("Prior width, number").input_value())
    return regrets(width)


@functools.cache
def regrets(width: float) -> dict[str, float]:
    state = decode(QUERY, {}).with_value("prior_width", width)
    found = br.simulate(state.bandit({}), state.play(), horizon=200, runs=1000, seed=0, progress=False)
    return {name: found[name].mean for name in found}


if __name__ == "__main__":
    main()
