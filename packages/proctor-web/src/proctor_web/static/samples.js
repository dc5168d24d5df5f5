// Shows a sample beside its list, where the page is wide enough for both; elsewhere its link leads to its own page.
"use strict";

const isWide = () => matchMedia("(min-width: 64rem)").matches;
const opened = () => document.querySelector(".reading.open");

async function showBeside(link) {
  const pane = document.getElementById("beside");
  const { beside, listed } = link.dataset;
  await htmx.ajax("GET", beside, { target: pane, swap: "innerHTML" });
  document.querySelector(".reading").classList.add("open");
  history.replaceState(history.state, "", listed);
  for (const row of document.querySelectorAll(".samples tr[aria-current]")) row.removeAttribute("aria-current");
  const row = [...document.querySelectorAll(".samples a[data-beside]")].find((one) => one.dataset.beside === beside)?.closest("tr");
  row?.setAttribute("aria-current", "true");
  row?.scrollIntoView({ block: "nearest" });
  pane.scrollTop = 0;
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const row = event.target.closest(".samples tr[data-row]");
  const link = event.target.closest("a") ?? (row && !String(getSelection()) && row.querySelector("a[data-beside]"));
  if (!link?.dataset.beside || !isWide()) return;
  event.preventDefault();
  event.stopPropagation();
  showBeside(link);
}, true);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && opened() && !document.querySelector("dialog[open]")) opened().querySelector("[data-close-beside]").click();
});
