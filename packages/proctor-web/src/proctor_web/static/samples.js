// Shows a sample next to its list, where the page is wide enough for both; elsewhere its link leads to its own page.
"use strict";

const isWide = () => matchMedia("(min-width: 64rem)").matches;
const opened = () => document.querySelector(".reading.open");

let wanted = ""; // the part that was asked for last; one that is overtaken is not loaded
let loading = Promise.resolve();

function showPane(link) {
  const { pane: part, listed } = link.dataset;
  wanted = part;
  loading = loading.then(() => part === wanted && load(part, listed));
}

async function load(part, listed) {
  const pane = document.getElementById("pane");
  await htmx.ajax("GET", part, { target: pane, swap: "innerHTML" });
  document.querySelector(".reading").classList.add("open");
  history.replaceState(history.state, "", listed);
  for (const row of document.querySelectorAll(".samples tr[aria-current]")) row.removeAttribute("aria-current");
  const row = rowOf(part);
  row?.setAttribute("aria-current", "true");
  row?.scrollIntoView({ block: "nearest" });
  pane.scrollTop = 0;
}

const rowOf = (part) => rows().find((row) => row.querySelector("a[data-pane]")?.dataset.pane === part);

// The next sample is that of the row after the one asked for last, so that keys may come quicker than samples.
function stepFrom(by) {
  const all = rows().filter((row) => row.closest(".samples"));
  const at = wanted ? all.indexOf(rowOf(wanted)) : all.findIndex((row) => row.hasAttribute("aria-current"));
  const next = at < 0 ? null : all[at + by];
  (next?.querySelector("a[data-pane]") ?? document.querySelector(`#pane a[data-key][rel=${by > 0 ? "next" : "prev"}]`))?.click();
}

document.addEventListener("keydown", (event) => {
  if (!["j", "k"].includes(event.key) || event.ctrlKey || event.metaKey || event.altKey || !(wanted || opened())) return;
  if (isTyping(event.target) || document.querySelector("dialog[open]") || !isWide()) return;
  event.preventDefault();
  event.stopPropagation();
  stepFrom(event.key === "j" ? 1 : -1);
}, true);

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const row = event.target.closest(".samples tr[data-row]");
  const link = event.target.closest("a") ?? (row && !String(getSelection()) && row.querySelector("a[data-pane]"));
  if (!link?.dataset.pane || !isWide()) return;
  event.preventDefault();
  event.stopPropagation();
  showPane(link);
}, true);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && opened() && !document.querySelector("dialog[open]")) opened().querySelector("[data-close-pane]").click();
});

// Views are the filters of the address under a name, kept in this browser for each task.
const views = () => document.querySelector("[data-views]");
const viewsKey = () => `proctor.views.${views().dataset.views}`;

function keptViews() {
  try {
    return JSON.parse(localStorage.getItem(viewsKey())) ?? [];
  } catch {
    return [];
  }
}

function keepViews(kept) {
  localStorage.setItem(viewsKey(), JSON.stringify(kept));
  showViews();
}

function showViews() {
  if (!views()) return;
  views().hidden = false;
  const items = keptViews().map(({ name, query }) => {
    const item = document.getElementById("view-of").content.cloneNode(true);
    const link = item.querySelector("a");
    link.textContent = name;
    link.href = `${location.pathname}?${query}`;
    item.querySelector("button").value = name;
    return item;
  });
  views().querySelector("ul").replaceChildren(...items);
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-keep-view]")) return;
  event.preventDefault();
  const field = event.target.querySelector("input");
  const query = new URLSearchParams(location.search);
  for (const name of ["open", "attempt", "after"]) query.delete(name);
  keepViews([...keptViews().filter((one) => one.name !== field.value), { name: field.value, query: String(query) }]);
  field.value = "";
});

document.addEventListener("click", (event) => {
  const drop = event.target.closest("[data-drop-view]");
  if (drop) keepViews(keptViews().filter((one) => one.name !== drop.value));
});

document.addEventListener("htmx:after:swap", showViews);
whenRead(showViews);
