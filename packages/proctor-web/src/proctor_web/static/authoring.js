// Forms of eval sets: what is not saved is said, asked about before it is left, and saved by Ctrl+S.
"use strict";

const caseForm = () => document.getElementById("case");

document.addEventListener("input", (event) => {
  const form = event.target.closest("#case");
  if (form) form.dataset.unsaved = "";
});

document.addEventListener("change", (event) => {
  const all = event.target.closest("[data-all]");
  if (!all) return;
  for (const box of document.querySelectorAll(`input[name="${CSS.escape(all.dataset.all)}"]`)) box.checked = all.checked;
});

document.addEventListener("keydown", (event) => {
  const save = caseForm()?.querySelector(".savebar button.main");
  if (!save || event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  caseForm().requestSubmit(save);
});

// Leaving: a link away from a form with changes asks first; the form's own buttons do not.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || link.target || link.hasAttribute("download") || caseForm()?.dataset.unsaved === undefined) return;
  if (link.matches("[data-leave]")) {
    delete caseForm().dataset.unsaved;
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
  document.querySelector("#leave [data-leave]").href = link.href;
  document.getElementById("leave").showModal();
}, true);

let isSending = false;
document.addEventListener("submit", () => { isSending = true; });
window.addEventListener("beforeunload", (event) => {
  if (!isSending && caseForm()?.dataset.unsaved !== undefined) event.preventDefault();
});
document.addEventListener("htmx:after:swap", () => { isSending = false; });

// A row that was added gets the focus; what was wrong is brought to the eye.
const names = (form) => new Set([...form.elements].map((field) => field.name));
let known = new Set();
document.addEventListener("htmx:before:request", () => { if (caseForm()) known = names(caseForm()); });
document.addEventListener("htmx:after:swap", () => {
  const form = caseForm();
  if (!form) return;
  const visible = [...form.elements].filter((field) => field.offsetParent && field.matches("input, textarea"));
  const fresh = known.size ? visible.find((field) => !known.has(field.name)) : null;
  (form.querySelector("[aria-invalid]") ?? fresh)?.focus();
  known = new Set();
});

// Results that come in replace the table: what is selected in it stays selected.
const boxes = () => [...document.querySelectorAll('#results input[name="cases"]')];
let selected = [];
document.addEventListener("htmx:before:swap", () => { selected = boxes().filter((box) => box.checked).map((box) => box.value); });
document.addEventListener("htmx:after:swap", () => {
  for (const box of boxes()) box.checked ||= selected.includes(box.value);
  selected = [];
});
