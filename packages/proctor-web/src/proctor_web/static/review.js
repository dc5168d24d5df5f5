// Keys, sliders and drafts of the review page. Listeners are on the document, so that they stay when htmx swaps the page, and
// the script is not deferred, so that a key is heard as soon as something is shown.
"use strict";

const form = () => document.getElementById("label");
const sliders = () => [...form().querySelectorAll("input[type=range]")];
const isUnset = (slider) => Number(slider.value) === Number(slider.dataset.unset);

function paint(slider) {
  const unset = isUnset(slider);
  slider.classList.toggle("unset", unset);
  const output = slider.parentElement.querySelector("output");
  output.value = unset ? output.dataset.unset : slider.value;
}

// Drafts: what was typed and not saved stays in this tab, also when the page is left or loaded again.

const draftKey = (element) => `draft ${element.dataset.person} ${element.dataset.item}`;

function keepDraft() {
  if (!form().dataset.item) return;
  const fields = [...new FormData(form())].filter(([name]) => name !== "csrf");
  sessionStorage.setItem(draftKey(form()), JSON.stringify(fields));
  form().querySelector(".draft").hidden = false;
}

function bringDraft() {
  const saved = document.getElementById("saved");
  if (saved) sessionStorage.removeItem(draftKey(saved));
  if (!form()?.dataset.item) return;
  const kept = sessionStorage.getItem(draftKey(form()));
  if (kept === null) return;
  for (const [name, value] of JSON.parse(kept)) {
    const field = form().elements.namedItem(name);
    if (field) field.value = value;
  }
  sliders().forEach(paint);
  form().querySelector(".draft").hidden = false;
}

document.addEventListener("input", (event) => {
  if (event.target.form !== form() || !form()) return;
  if (event.target.type === "range") paint(event.target);
  keepDraft();
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open]");
  if (opener) document.getElementById(opener.dataset.open).showModal();
});

// Keys

function score(digit) {
  const all = sliders();
  let at = all.indexOf(document.activeElement);
  if (at < 0) at = Math.max(all.findIndex(isUnset), 0);
  const slider = all[at];
  if (digit > Number(slider.max) || (digit !== 0 && digit < Number(slider.dataset.unset))) return;
  slider.value = digit === 0 ? slider.dataset.unset : digit;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  (digit === 0 ? slider : (all[at + 1] ?? form().querySelector("button.main"))).focus();
}

function choose(status) {
  const radio = form().querySelector(`input[value=${status}]`);
  radio.checked = true;
  radio.dispatchEvent(new Event("input", { bubbles: true }));
}

const follow = (rel) => document.querySelector(`a[rel=${rel}]`)?.click();
const save = () => form()?.requestSubmit(form().querySelector("button.main"));

const ACTIONS = {
  a: () => choose("approved"),
  r: () => choose("rejected"),
  v: () => choose("needs_revision"),
  c: () => form().elements.namedItem("comments").focus(),
  s: save,
  j: () => follow("next"),
  k: () => follow("prev"),
  u: () => document.getElementById("undo")?.requestSubmit(),
};

function onKey(event) {
  if (event.isComposing) return;
  const writing = event.target.matches("textarea, input[type=search], select");
  if (event.key === "Enter" && event.ctrlKey && form()) {
    event.preventDefault();
    save();
  } else if (event.key === "Escape" && writing) {
    event.target.blur();
  } else if (writing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) {
    return;
  } else if (event.key === "?") {
    event.preventDefault();
    document.getElementById("keys")?.showModal();
  } else if (form() && /^[0-9]$/.test(event.key)) {
    event.preventDefault();
    score(Number(event.key));
  } else if (form() && Object.hasOwn(ACTIONS, event.key)) {
    event.preventDefault();
    ACTIONS[event.key]();
  }
}

document.addEventListener("keydown", (event) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => onKey(event), { once: true });
  else onKey(event);
});

// Pages that htmx brings, and answers that never came

document.addEventListener("DOMContentLoaded", bringDraft);
document.addEventListener("htmx:after:swap", () => {
  document.activeElement?.blur(); // htmx keeps the focus on the slider of the same name: scores go to the first one again
  bringDraft();
  window.scrollTo(0, 0);
});
for (const trouble of ["htmx:error", "htmx:response:error"]) {
  document.addEventListener(trouble, async (event) => {
    const answer = event.detail.ctx?.response;
    if (answer && answer.status < 500 && ![401, 403, 413].includes(answer.status)) return;
    const place = document.getElementById("trouble");
    if (answer && event.detail.ctx.text && answer.status < 500) place.textContent = event.detail.ctx.text;
    place.hidden = false;
  });
}
