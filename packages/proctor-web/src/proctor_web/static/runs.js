// The list of runs, the form of a new one, and a run that is under way. Loaded once; `begin` looks at each page that comes.
"use strict";
(() => {
  const list = () => document.getElementById("runs");
  const part = () => document.querySelector("[data-events]");
  const boxes = () => [...document.querySelectorAll("input[form=choose][type=checkbox]")];
  const picked = () => boxes().filter((box) => box.checked);
  const REFUSED_MILLISECONDS = 3000;
  let source = null;
  let timer = 0;
  let asking = null;

  // A run under way: the server sends its part of the page again and again. Only the tab that is looked at listens, as a browser
  // keeps few connections to one server.
  function listen() {
    const wanted = document.hidden ? undefined : part()?.dataset.events;
    if (source?.of === wanted) return;
    source?.close();
    source = null;
    if (!wanted) return;
    source = new EventSource(wanted);
    source.of = wanted;
    source.addEventListener("progress", (event) => swap(part(), event.data));
    source.addEventListener("open", () => { document.getElementById("trouble").hidden = true; });
    source.addEventListener("error", () => { // the browser tries again by itself, unless the server refused: a new one knows nobody
      document.getElementById("trouble").hidden = false;
      if (source?.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), REFUSED_MILLISECONDS);
    });
    source.addEventListener("over", (event) => {
      source?.close();
      location.replace(event.data);
    });
  }
  function swap(live, html) {
    if (!live) return listen();
    const open = [...live.querySelectorAll("details")].map((one) => one.open);
    const log = live.querySelector("pre");
    const above = log && log.scrollTop + log.clientHeight < log.scrollHeight - 4 ? log.scrollTop : null;
    live.innerHTML = html;
    live.querySelectorAll("details").forEach((one, at) => (one.open = open[at] ?? one.open));
    const now = live.querySelector("pre");
    if (now) now.scrollTop = above ?? now.scrollHeight;
  }

  // The list: asked for again while numbers are computed or runs are under way.
  async function again() {
    const asked = location.href;
    const answer = document.hidden ? null : await fetch(asked, { headers: { accept: "text/html" } }).catch(() => undefined);
    if (answer !== null) document.getElementById("trouble").hidden = Boolean(answer);
    const text = answer?.ok ? await answer.text() : "";
    const fresh = text && new DOMParser().parseFromString(text, "text/html").getElementById("runs");
    if (fresh && list() && location.href === asked) {
      const chosen = picked().map((box) => box.value);
      const at = [...list().querySelectorAll("a, input, button")].indexOf(document.activeElement);
      list().replaceWith(fresh);
      boxes().forEach((box) => (box.checked = chosen.includes(box.value)));
      if (at >= 0) fresh.querySelectorAll("a, input, button")[at]?.focus();
    }
    begin();
  }
  function several() {
    const button = document.querySelector("[data-several]");
    if (button) button.disabled = picked().length < Number(button.dataset.several) || picked().length > 6;
  }
  document.addEventListener("change", (event) => {
    if (event.target.form?.id === "choose") several();
  });

  // The form of a new run: its options follow the task and the agent.
  document.addEventListener("change", async (event) => {
    const form = event.target.closest("form[data-options]");
    if (!form || !["task", "agent"].includes(event.target.name.replace("_typed", ""))) return;
    const fields = new URLSearchParams([...new FormData(form)].filter(([name, value]) => value && name !== "csrf"));
    asking?.abort(); // its answer may come last
    asking = new AbortController();
    const answer = fetch(`${form.dataset.options}?${fields}`, { signal: asking.signal });
    const text = await answer.then((one) => (one.ok ? one.text() : "")).catch(() => "");
    const fresh = text && new DOMParser().parseFromString(text, "text/html").getElementById("options");
    if (fresh) document.getElementById("options")?.replaceWith(fresh);
  });

  function begin() {
    clearTimeout(timer);
    const seconds = Number(list()?.dataset.again);
    if (seconds) timer = setTimeout(again, 1000 * seconds);
    several();
    listen();
    document.querySelectorAll("#live pre").forEach((one) => (one.scrollTop = one.scrollHeight));
  }
  document.addEventListener("visibilitychange", listen);
  document.addEventListener("htmx:after:swap", begin);
  whenRead(begin);
})();
