"use strict";
/* A run under way: the server sends its part of the page again and again. Only the tab that is looked at listens, as a browser
   keeps few connections to one server. */
function follow(part) {
  let source = null;
  const listen = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      source = new EventSource(part.dataset.events);
      source.addEventListener("progress", (event) => swap(part, event.data));
      source.addEventListener("over", (event) => {
        source.close();
        location.replace(event.data);
      });
    }
  };
  document.addEventListener("visibilitychange", listen);
  listen();
}
function swap(part, html) {
  const open = [...part.querySelectorAll("details")].map((one) => one.open);
  const log = part.querySelector("pre");
  const above = log && log.scrollTop + log.clientHeight < log.scrollHeight - 4 ? log.scrollTop : null;
  part.innerHTML = html;
  part.querySelectorAll("details").forEach((one, at) => (one.open = open[at] ?? one.open));
  const now = part.querySelector("pre");
  if (now) now.scrollTop = above ?? now.scrollHeight;
}
document.querySelectorAll("[data-events]").forEach(follow);
document.querySelectorAll("#live pre").forEach((one) => (one.scrollTop = one.scrollHeight));

/* The list: ask again while numbers are computed or runs are under way. */
const list = () => document.getElementById("runs");
async function again() {
  if (!document.hidden) {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
    document.getElementById("trouble").hidden = Boolean(answer);
    const fresh = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("runs");
    if (fresh) {
      const chosen = picked().map((box) => box.value);
      const at = [...list().querySelectorAll("a, input, button")].indexOf(document.activeElement);
      list().replaceWith(fresh);
      boxes().forEach((box) => (box.checked = chosen.includes(box.value)));
      if (at >= 0) fresh.querySelectorAll("a, input, button")[at]?.focus();
      several();
    }
  }
  wait();
}
function wait() {
  const seconds = Number(list()?.dataset.again);
  if (seconds) setTimeout(again, 1000 * seconds);
}
const boxes = () => [...document.querySelectorAll("#choose input[type=checkbox]")];
const picked = () => boxes().filter((box) => box.checked);
function several() {
  const button = document.querySelector("[data-several]");
  if (button) button.disabled = picked().length < Number(button.dataset.several) || picked().length > 6;
}
document.addEventListener("change", (event) => {
  if (event.target.closest("#choose")) several();
});
several();
wait();

/* The form of a new run: its options follow the task and the agent. */
const form = document.querySelector("form[data-options]");
form?.addEventListener("change", async (event) => {
  if (!["task", "agent"].includes(event.target.name)) return;
  const fields = new URLSearchParams([...new FormData(form)].filter(([name, value]) => value && name !== "csrf"));
  const answer = await fetch(`${form.dataset.options}?${fields}`).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("options");
  document.getElementById("options").replaceWith(fresh);
});
form?.querySelector(".no-script")?.remove();
