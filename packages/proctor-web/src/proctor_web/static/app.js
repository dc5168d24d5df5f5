// Keys and dialogs of the app. Listeners are on the document, so that they stay when htmx swaps the page, and the script is not
// deferred, so that a key is heard as soon as something is shown.
"use strict";

function whenRead(act) {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", act, { once: true });
  else act();
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open]");
  if (opener) whenRead(() => document.getElementById(opener.dataset.open).showModal());
  const closer = event.target.closest("[data-close]");
  if (closer) closer.closest("dialog").close();
  const copier = event.target.closest("[data-copy]");
  if (copier) copy(copier);
});

async function copy(button) {
  const field = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(field.value);
  } catch { // a page over plain http has no clipboard: the text is marked, so that the keys copy it
    field.closest("details")?.setAttribute("open", "");
    return field.select();
  }
  button.textContent = button.dataset.said;
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

const isTyping = (element) => element.matches("input, textarea, select, [contenteditable]");
const rows = () => [...document.querySelectorAll("[data-row]")];

function step(by) {
  const link = document.querySelector(by > 0 ? "a[rel=next][data-key]" : "a[rel=prev][data-key]");
  if (link) return link.click();
  const all = rows();
  if (!all.length) return;
  const at = all.indexOf(document.activeElement.closest("[data-row]"));
  const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  (next.querySelector("a") ?? next).focus();
}

const KEYS = {
  "/": () => document.querySelector("input[type=search]")?.focus(),
  "?": () => document.getElementById("keys")?.showModal(),
  j: () => step(1),
  k: () => step(-1),
  x: () => document.activeElement.closest("[data-row]")?.querySelector("input[type=checkbox]")?.click(),
  c: () => document.querySelector("[data-several]:enabled")?.click(),
  n: () => document.querySelector("a[data-failed=after]")?.click(),
  p: () => document.querySelector("a[data-failed=before]")?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const button = [...document.querySelectorAll("button[data-press]")].find((each) => each.dataset.press === event.key);
  const act = KEYS[event.key] ?? (button && (() => button.click()));
  if (!act) return;
  event.preventDefault();
  whenRead(act);
});

document.addEventListener("htmx:error", () => { document.getElementById("trouble").hidden = false; });
document.addEventListener("htmx:after:request", () => { document.getElementById("trouble").hidden = true; });

// A table that scrolls sideways can be scrolled by keys as well.
function makeScrollersReachable() {
  for (const box of document.querySelectorAll(".wide, .scroll")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
for (const event of ["htmx:after:swap", "toggle"]) document.addEventListener(event, makeScrollersReachable, true);
addEventListener("resize", makeScrollersReachable);
whenRead(makeScrollersReachable);

// The entry of this page is in sight where the navigation is a line that scrolls.
whenRead(() => document.querySelector(".bar nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }));
