// Opens and closes all that is folded in a conversation.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.key !== "o" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, textarea, select") || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  whenRead(() => {
    const folded = [...document.querySelectorAll("#conversation details")];
    const opens = folded.some((one) => !one.open);
    for (const one of folded) one.open = opens;
  });
});
