// Hover or arrow keys show a point's values; a click on a trend's name hides it. The page is complete without this.
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
    for (const item of figure.querySelectorAll("[data-legend]")) makeButton(figure, item, hidden);
    for (const stage of figure.querySelectorAll(".stage")) addTips(stage, data, data[stage.dataset.form], hidden);
  }

  function makeButton(figure, item, hidden) {
    const trend = Number(item.dataset.legend);
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Hide or show";
    button.setAttribute("aria-pressed", "true");
    button.append(...item.childNodes);
    item.append(button);
    button.addEventListener("click", () => {
      const hide = !hidden.has(trend);
      hide ? hidden.add(trend) : hidden.delete(trend);
      button.setAttribute("aria-pressed", String(!hide));
      for (const part of figure.querySelectorAll(`[data-trend="${trend}"]`)) part.classList.toggle("off", hide);
    });
  }

  function addTips(stage, data, places, hidden) {
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
      const found = nearest(event);
      found ? show(...found) : hide();
    };
    stage.addEventListener("pointermove", point);
    stage.addEventListener("pointerdown", point);
    stage.addEventListener("pointerleave", hide);
    stage.addEventListener("blur", hide);
    stage.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
      const found = step(event.key);
      if (found) show(found[0], found[1]);
    });
  }

  document.querySelectorAll("figure[data-figure]").forEach(setUp);
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  // On paper nothing can be unfolded, so exceptions are always shown.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll(".exceptions")) details.open = true;
  });
})();
