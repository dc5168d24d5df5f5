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
  const save = caseForm()?.querySelector(".save button");
  if (!save || event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  caseForm().requestSubmit(save);
});

// Leaving: a link away from a form with changes asks first; the form's own buttons do not.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || link.target || caseForm()?.dataset.unsaved === undefined) return;
  if (!window.confirm(caseForm().dataset.leave)) {
    event.preventDefault();
    event.stopImmediatePropagation();
  } else {
    delete caseForm().dataset.unsaved;
  }
}, true);

let isSending = false;
document.addEventListener("submit", () => { isSending = true; });
window.addEventListener("beforeunload", (event) => {
  if (!isSending && caseForm()?.dataset.unsaved !== undefined) event.preventDefault();
});
document.addEventListener("htmx:after:swap", () => { isSending = false; });
