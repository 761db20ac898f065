"""How fast the live page answers, measured in Chromium: from a slider's move to a changed picture.

    python benchmarks/explore_speed.py

Serves the page itself and prints, for each view, the median and the 95th percentile over moves of a slider, with the
time to open the page and the time until all curves are known to one percent. The page is warm: all kernels have been
compiled, and no move goes where the slider has been before.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import time

from playwright.sync_api import Page, sync_playwright

MOVES = 40
OPENINGS = 5
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
VIEWS = {
    "regret": "problem=gaussian&runs=1000",
    "between the bounds": "problem=gaussian&policy=bayes-ucb&view=bounds&sweep=prior_gap",
    "regret, bernoulli": "problem=bernoulli&horizon=300&runs=1000",
    "regret, linear": "problem=linear&policy=bayes-ucb&runs=1000",
}
SLIDERS = {"bernoulli": "beta", "default": "prior_width"}

# Watches the sources of the large picture, and notes when the browser has painted a change.
WATCH = """() => {
  window.painted = [];
  Bokeh.documents[0].on_change((batch) => {
    for (const event of batch.events ?? [batch]) {
      const data = event.attr === "data" ? event.model?.data : null;
      const columns = data instanceof Map ? [...data.keys()] : Object.keys(data ?? {});
      if (columns.includes("mark"))
        requestAnimationFrame(() => setTimeout(() => window.painted.push(performance.now())));
    }
  });
}"""
MOVE = """([name, position]) => {
  const find = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.matches(`input[type=range][name="${name}"]`)) return each;
      const found = each.shadowRoot && find(each.shadowRoot);
      if (found) return found;
    }
  };
  const slider = find(document);
  window.painted = [];
  slider.value = Number(slider.min) + position * (Number(slider.max) - Number(slider.min));
  const start = performance.now();
  slider.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true }));
  return start;
}"""


def main() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "bayesregret", "explore", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                measure(browser, found[0])
        finally:
            server.terminate()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


def measure(browser, link: str) -> None:
    for view, query in VIEWS.items():
        page = visit(browser, f"{link}?{query}")
        finish(page)  # warm
        page.evaluate(WATCH)
        slider = SLIDERS["bernoulli" if "bernoulli" in query else "default"]
        times = sorted(filter(None, (move(page, slider, i) for i in range(MOVES))))
        high = times[int(0.95 * (len(times) - 1))]
        print(
            f"{view}: from a move to a changed picture, median {statistics.median(times):.0f} ms, "
            f"95th percentile {high:.0f} ms, {len(times)} of {MOVES} moves",
            flush=True,
        )
        page.close()
    print(f"all curves to one percent: {precise(browser, link):.2f} s", flush=True)
    openings = [opening(browser, link) for _ in range(OPENINGS)]
    print(f"opening the page, to the first numbers: median {statistics.median(openings):.2f} s", flush=True)


def visit(browser, link: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    page.goto(link)
    page.locator("td[data-value]").first.wait_for()
    return page


def finish(page: Page) -> None:
    page.locator(".status.done").wait_for()


def move(page: Page, slider: str, i: int) -> float | None:
    """Milliseconds from a move to a painted change; None if there was none within five seconds."""
    page.wait_for_timeout(700)  # what was computed for the last move must not count for this one
    start = page.evaluate(MOVE, [slider, (0.31 + 0.618 * i) % 1.0])
    try:
        page.wait_for_function("() => window.painted.length > 0", timeout=5_000, polling=20)
    except Exception:
        return None
    return page.evaluate("() => window.painted[0]") - start


def precise(browser, link: str) -> float:
    """Seconds from a move of the prior's width until every standard error is at most one percent."""
    page = visit(browser, f"{link}?problem=gaussian&runs=100000")
    page.wait_for_timeout(3_000)
    start = page.evaluate(MOVE, ["prior_width", 0.77])
    script = """() => {
      const cells = [];
      const walk = (root) => { for (const each of root.querySelectorAll("*")) {
        if (each.matches("tr[data-name] td:nth-child(2)")) cells.push(each);
        if (each.shadowRoot) walk(each.shadowRoot);
      } };
      walk(document);
      const fine = (cell) => Number(cell.dataset.error) <= 0.01 * Number(cell.dataset.value);
      return performance.now() > %f + 60 && cells.length && cells.every(fine);
    }"""
    page.wait_for_function(script % start, polling=20)
    return (page.evaluate("performance.now()") - start) / 1e3


def opening(browser, link: str) -> float:
    start = time.perf_counter()
    visit(browser, link).close()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
