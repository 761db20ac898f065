// Show the page anew every few seconds, without loading it again. It is complete without this.
"use strict";
(() => {
  const seconds = Number(document.querySelector("main").dataset.refresh);
  const refreshed = `Refreshed every ${seconds} seconds.`;
  const say = (text) => { document.getElementById("state").textContent = text; };

  async function refresh() {
    try {
      const response = await fetch(location.href, { cache: "no-store" });
      const text = await response.text();
      if (!response.ok) throw new Error(JSON.parse(text).error);
      const place = document.querySelector(".scroll").scrollLeft;
      document.querySelector("main").replaceWith(new DOMParser().parseFromString(text, "text/html").querySelector("main"));
      document.querySelector(".scroll").scrollLeft = place;
      say(refreshed);
    } catch (error) {
      say(`Not refreshed: ${error.message}`);
    }
    setTimeout(refresh, document.hidden ? 60000 : 1000 * seconds);
  }

  say(refreshed);
  setTimeout(refresh, 1000 * seconds);
})();
