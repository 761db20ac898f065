// HTML whose inputs and buttons report to Python: native elements, so that keyboards and screen readers work.
const PAUSE = 30; // milliseconds between two messages of a slider that moves

const number = (input) => {
  const at = Number(input.value);
  if (input.dataset.scale !== "log") return at;
  const value = Number((10 ** at).toPrecision(3));
  return input.dataset.whole ? Math.round(value) : value;
};
const position = (input, value) => (input.dataset.scale === "log" ? Math.log10(Math.max(value, 1e-300)) : value);

const is_dark = () => {
  const chosen = localStorage.getItem("bayesregret-theme");
  if (chosen) return chosen === "dark";
  const jupyter = document.body.dataset.jpThemeLight;
  return jupyter ? jupyter === "false" : matchMedia("(prefers-color-scheme: dark)").matches;
};

function save(file) {
  const bytes = Uint8Array.from(atob(file.content), (c) => c.charCodeAt(0));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: file.kind }));
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function render({ model, el }) {
  const root = document.createElement("div");
  const host = el.getRootNode().host;
  const waiting = new Map();
  const sent = new Map(); // number of the last message about each input
  let timer = null, address_timer = null;

  const flush = () => {
    timer = null;
    if (!waiting.size) return;
    const values = Object.fromEntries(waiting);
    waiting.clear();
    model.send_msg({ values, count: window.bayesregretCount });
    timer = setTimeout(flush, PAUSE);
  };
  const send = (name, value) => {
    waiting.set(name, value);
    window.bayesregretCount = (window.bayesregretCount ?? 0) + 1;
    sent.set(name, window.bayesregretCount);
    if (!timer) flush();
  };

  const in_place = (name) => [...root.querySelectorAll(`[name="${CSS.escape(name)}"]`)];
  const mirror = (input) => {
    const value = number(input);
    for (const other of in_place(input.name)) if (other.type === "number") other.value = value;
    input.setAttribute("aria-valuetext", String(value));
  };
  const show_values = () => {
    for (const [name, value] of Object.entries(model.values)) {
      // An answer to an earlier move must not take a slider back.
      if ((sent.get(name) ?? 0) > (model.seen ?? 0)) continue;
      for (const input of in_place(name)) {
        const is_used = input === root.getRootNode().activeElement && (input.type !== "range" || waiting.has(name) || input.dataset.held);
        if (is_used) continue;
        if (input.type === "checkbox") input.checked = value;
        else if (input.type === "radio") input.checked = input.value === value;
        else if (input.type === "range") {
          input.value = position(input, value);
          input.setAttribute("aria-valuetext", String(value));
        } else if (String(input.value) !== String(value)) input.value = value;
      }
    }
  };
  const fill = () => {
    const active = root.getRootNode().activeElement;
    const key = active && root.contains(active) ? active.dataset.key || active.id : null;
    const open = new Set([...root.querySelectorAll("details[open]")].map((each) => each.id));
    root.innerHTML = model.html;
    for (const each of root.querySelectorAll("details")) if (open.has(each.id)) each.open = true;
    show_values();
    if (key) root.querySelector(`[data-key="${CSS.escape(key)}"], #${CSS.escape(key)}`)?.focus();
  };

  root.addEventListener("pointerdown", (e) => { if (e.target.type === "range") e.target.dataset.held = "1"; });
  root.addEventListener("pointerup", (e) => { delete e.target.dataset?.held; });
  root.addEventListener("input", (e) => {
    const input = e.target;
    if (input.type === "range") { mirror(input); send(input.name, number(input)); }
    else if (input.type === "checkbox") send(input.name, input.checked);
    else if (input.type === "radio" || input.tagName === "SELECT") send(input.name, input.value);
  });
  root.addEventListener("change", (e) => {
    if (e.target.type === "number" || e.target.type === "text") send(e.target.name, e.target.value);
  });
  root.addEventListener("click", async (e) => {
    const button = e.target.closest("button");
    if (!button) return;
    if (button.dataset.theme) {
      localStorage.setItem("bayesregret-theme", is_dark() ? "light" : "dark");
      dispatchEvent(new Event("bayesregret-theme"));
    } else if (button.dataset.copy !== undefined) {
      const text = button.dataset.copy || location.href;
      const label = button.textContent;
      try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; }
      catch { button.textContent = "Select the text and copy it"; }
      setTimeout(() => { button.textContent = label; }, 1500);
    } else if (button.name) send(button.name, button.value);
  });

  let last = "";
  const dress = () => {
    const dark = is_dark();
    host.classList.toggle("dark", dark);
    if (!model.leads) return;
    if (model.address_bar) {
      document.documentElement.style.colorScheme = dark ? "dark" : "light";
      document.documentElement.lang = "en";
      document.body.style.background = dark ? "#15181c" : "#ffffff";
      document.body.style.margin = "0";
    }
    const screen = JSON.stringify({ dark, narrow: host.getBoundingClientRect().width < 560 });
    if (screen !== last) send("screen", JSON.parse(screen));
    last = screen;
  };
  const show_address = () => {
    if (!model.address_bar) return;
    clearTimeout(address_timer);
    address_timer = setTimeout(() => {
      const query = model.address ? `?${model.address}` : location.pathname;
      history.replaceState(null, "", query);
    }, 200);
  };

  fill();
  dress();
  model.on("html", fill);
  model.on("values", show_values);
  model.on("seen", show_values);
  model.on("address", show_address);
  model.on("file", () => { if (model.file.name) save(model.file); });
  addEventListener("bayesregret-theme", dress);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  if (model.leads) new ResizeObserver(dress).observe(host);
  return root;
}
