// Hover or arrow keys show a point's values. A click on a trend's name hides the trend; where one trend is in front, the
// others are grey, and touching a trend or its name shows it in colour. The page is complete without this.
"use strict";
(() => {
  const SVG = document.documentElement.querySelector("svg")?.namespaceURI;
  const NEAR = 60; // pixels; farther points are ignored
  const tip = document.getElementById("tip");

  function line(tag, text) {
    const element = document.createElement(tag);
    element.textContent = text;
    return element;
  }

  function fillTip(data, trend, place) {
    const point = data.order ? data.order[trend][place] : place;
    const parts = [line("strong", data.values[trend][point])];
    if (data.exact[trend]) parts.push(line("span", `exact: ${data.exact[trend][point]}`));
    if (data.labels.length > 1) parts.unshift(line("span", data.labels[trend]));
    parts.push(line("span", data.names ? data.names[point] : `${data.x}: ${data.points[point]}`));
    tip.replaceChildren(...parts);
  }

  function placeTip(x, y) {
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = x + 16 + width > innerWidth - 8 ? x - 16 - width : x + 16;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, Math.min(y - height - 10, innerHeight - height - 8))}px`;
  }

  function setUp(figure) {
    const data = JSON.parse(document.querySelector(`script[data-for="${figure.dataset.figure}"]`).textContent);
    const hidden = new Set();
    const lights = figure.dataset.front === undefined ? null : showInGrey(figure, Number(figure.dataset.front));
    for (const item of figure.querySelectorAll("[data-legend]"))
      lights ? addHighlight(item, lights) : addHiding(figure, item, hidden);
    for (const stage of figure.querySelectorAll(".stage"))
      addTips(stage, data, data[stage.dataset.form], hidden, lights);
  }

  // Show all trends but the one in front in grey. Return functions that also show another one in colour, and no longer.
  function showInGrey(figure, front) {
    figure.classList.add("in-grey");
    const lines = [...figure.querySelectorAll("[data-trend]")];
    const names = [...figure.querySelectorAll("[data-legend]")];
    let current = null;
    const on = (touched) => {
      if (touched === current) return;
      current = touched;
      for (const name of names) name.classList.toggle("lit", [front, touched].includes(Number(name.dataset.legend)));
      for (const part of lines) part.classList.remove("lit");
      for (const trend of [front, touched])
        for (const part of lines.filter((one) => Number(one.dataset.trend) === trend)) {
          part.classList.add("lit");
          part.parentNode.append(part); // in front of the others
        }
    };
    on(front);
    // A trend that another one has followed is grey already.
    return { on, off: (trend) => { if (trend === current) on(front); } };
  }

  function makeButton(item, title) {
    const button = document.createElement("button");
    button.type = "button";
    button.title = title;
    button.append(...item.childNodes);
    item.append(button);
    return button;
  }

  function addHighlight(item, lights) {
    const trend = Number(item.dataset.legend);
    const button = makeButton(item, "Show in colour");
    // Not every browser gives a button that is tapped the focus.
    for (const name of ["pointerenter", "focus", "click"]) button.addEventListener(name, () => lights.on(trend));
    button.addEventListener("blur", () => lights.off(trend));
    button.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") lights.off(trend); });
  }

  function addHiding(figure, item, hidden) {
    const trend = Number(item.dataset.legend);
    const button = makeButton(item, "Hide or show");
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const hide = !hidden.has(trend);
      hide ? hidden.add(trend) : hidden.delete(trend);
      button.setAttribute("aria-pressed", String(!hide));
      for (const part of figure.querySelectorAll(`[data-trend="${trend}"]`)) part.classList.toggle("off", hide);
    });
  }

  function distanceToSegment([x, y], [ax, ay], [bx, by]) {
    const [dx, dy] = [bx - ax, by - ay];
    const along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1);
    const at = Math.max(0, Math.min(1, along));
    return Math.hypot(x - ax - at * dx, y - ay - at * dy);
  }

  function addTips(stage, data, places, hidden, lights) {
    const svg = stage.querySelector("svg");
    const spot = document.createElementNS(SVG, "circle");
    spot.setAttribute("class", "spot");
    spot.setAttribute("r", "3.6");
    let at = null;

    const toScreen = ([x, y]) => {
      const point = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
      return [point.x, point.y];
    };
    const show = (trend, point) => {
      at = [trend, point];
      lights?.on(trend);
      const place = places[trend][point];
      spot.setAttribute("cx", place[0]);
      spot.setAttribute("cy", place[1]);
      svg.append(spot);
      fillTip(data, trend, point);
      placeTip(...toScreen(place));
    };
    const hide = () => {
      spot.remove();
      tip.hidden = true;
      if (at) lights?.off(at[0]);
    };
    const every = function* () {
      for (const [trend, row] of places.entries())
        if (!hidden.has(trend)) for (const [point, place] of row.entries()) if (place) yield [trend, point, place];
    };
    const nearest = (event) => {
      let best = null;
      let least = NEAR;
      for (const [trend, point, place] of every()) {
        const [x, y] = toScreen(place);
        const distance = Math.hypot(x - event.clientX, y - event.clientY);
        if (distance < least) [best, least] = [[trend, point], distance];
      }
      return best;
    };
    // The nearest point may be on another line than the one under the pointer.
    const nearestOnLine = (event) => {
      const pointer = [event.clientX, event.clientY];
      let [line, least] = [null, NEAR];
      for (const [trend, point, place] of every()) {
        const before = places[trend][point - 1] ?? place;
        const distance = distanceToSegment(pointer, toScreen(before), toScreen(place));
        if (distance < least) [line, least] = [trend, distance];
      }
      if (line === null) return null;
      const across = (place) => Math.abs(toScreen(place)[0] - event.clientX);
      const row = [...places[line].entries()].filter(([, place]) => place);
      return [line, row.reduce((best, other) => (across(other[1]) < across(best[1]) ? other : best))[0]];
    };
    // Left and right along the trend, up and down to the next trend at the same place.
    const step = (key) => {
      if (at === null || hidden.has(at[0])) return every().next().value;
      const [trend, point] = at;
      const along = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
      const across = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
      for (let t = trend + across, p = point + along; places[t]?.[p] !== undefined; t += across, p += along)
        if (!hidden.has(t) && places[t][p]) return [t, p];
      return at;
    };

    stage.tabIndex = 0;
    stage.setAttribute("role", "group");
    stage.setAttribute("aria-label", "Figure; the arrow keys read its points");
    const point = (event) => {
      const found = lights ? nearestOnLine(event) : nearest(event);
      found ? show(...found) : hide();
    };
    stage.addEventListener("pointermove", point);
    stage.addEventListener("pointerdown", point);
    // A finger leaves as soon as it is lifted: what it touched stays until the next touch elsewhere.
    stage.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hide(); });
    const isElsewhere = (event) => spot.isConnected && !stage.contains(event.target);
    addEventListener("pointerdown", (event) => { if (isElsewhere(event)) hide(); }, { capture: true });
    stage.addEventListener("blur", hide);
    stage.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
      const found = step(event.key);
      if (found) show(found[0], found[1]);
    });
  }

  // The hint above a table is only for tables that are wider than their box.
  const boxes = new ResizeObserver((entries) => {
    for (const { target } of entries) target.previousElementSibling.hidden = target.scrollWidth <= target.clientWidth;
  });

  document.querySelectorAll("figure[data-figure]").forEach(setUp);
  document.querySelectorAll(".hint + .scroll").forEach((box) => boxes.observe(box));
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  // On paper nothing can be unfolded, so exceptions are always shown.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll(".exceptions")) details.open = true;
  });
})();
