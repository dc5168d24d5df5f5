// Shows a sample next to its list, where the page is wide enough for both; elsewhere its link leads to its own page.
"use strict";

const isWide = () => matchMedia("(min-width: 64rem)").matches;
const opened = () => document.querySelector(".reading.open");

async function showPane(link) {
  const pane = document.getElementById("pane");
  const { pane: part, listed } = link.dataset;
  await htmx.ajax("GET", part, { target: pane, swap: "innerHTML" });
  document.querySelector(".reading").classList.add("open");
  history.replaceState(history.state, "", listed);
  for (const row of document.querySelectorAll(".samples tr[aria-current]")) row.removeAttribute("aria-current");
  const row = [...document.querySelectorAll(".samples a[data-pane]")].find((one) => one.dataset.pane === part)?.closest("tr");
  row?.setAttribute("aria-current", "true");
  row?.scrollIntoView({ block: "nearest" });
  pane.scrollTop = 0;
}

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
