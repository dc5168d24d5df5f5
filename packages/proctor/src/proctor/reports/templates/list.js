// What the lists of samples of all pages share. What a model wrote only ever becomes text: no HTML is made of it.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const { rows, texts, words } = data;
const PAGE = 100;
const text = (ref) => (typeof ref === "number" ? texts[ref] : ref ?? "");
const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
const byId = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en");
const percent = (value) => `${(100 * value).toFixed(1).replace(/\.0$/, "")}%`;
const anchor = (row) =>
  "s-" + encodeURIComponent(row.n).replace(/[!'()*]/g, (sign) => "%" + sign.charCodeAt(0).toString(16).toUpperCase()) +
  (row.a ? `~${row.a + 1}` : "");

function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) if (value) made.setAttribute(key, value);
  made.append(...children.filter((one) => one !== null && one !== undefined && one !== ""));
  return made;
}

const code = (ref) => el("code", null, text(ref));
const soft = (content) => el("span", { class: "soft" }, content);
const block = (title, ref) => el("div", null, el("h3", null, title), el("pre", null, text(ref)));
const tags = (row) => (row.g ? el("p", { class: "facts" }, ...row.g.map((at) => el("span", null, data.tags[at]))) : "");
const link = (row) => el("p", { class: "soft" }, el("a", { href: `#${anchor(row)}` }, words.link));

// Parts of a sample

const side = (ref) => el("td", null, ref === null ? soft(words.no_call) : ref === "" ? "" : code(ref));

function calls(pairs) {
  const table = el("table", { class: "sides" });
  table.append(el("thead", null, el("tr", null, ...["call", "expected", "made"].map((key) => el("th", null, words[key])))));
  let turn = 0;
  pairs.forEach(([expected, made, sign, kind, number, given], at) => {
    if (number && number !== turn) {
      turn = number;
      table.append(el("tr", { class: "turn" }, el("td", { colspan: 3, class: "soft" }, fill(words.turn, { number }))));
    }
    const head = el("td", null, `${at + 1} ${sign} `, kind ? soft(text(kind)) : "");
    table.append(el("tr", { class: sign === "✗" ? "call marked" : "call" }, head, side(expected), side(made)));
    for (const [name, wanted, came, marked] of given) {
      const cell = (ref, call) => el("td", null, text(ref) ? code(ref) : call === null ? "" : soft("–"));
      const title = el("td", null, el("code", null, name), marked ? " ✗" : "");
      table.append(el("tr", { class: marked ? "marked" : "" }, title, cell(wanted, expected), cell(came, made)));
    }
  });
  return table;
}

function verdict([scorer, points, shown, reason, , marks]) {
  const name = data.scorers.length > 1 ? `${data.scorers[scorer]} ` : "";
  const said = text(reason) || (points === 1 ? "" : words.no_reason);
  const made = [el("p", { class: "reason" }, said, " ", soft(name + (shown || (points === null ? "" : percent(points)))))];
  if (marks) {
    const lines = marks.map(([title, given, low, high]) =>
      el("tr", null, el("td", null, title), el("td", { class: "n main" }, given === null ? "?" : String(given)),
        el("td", { class: "n soft" }, `${low}–${high}`)));
    made.push(el("table", { class: "few marks" }, ...lines));
  }
  return made;
}

// The types of pictures and sounds and their bytes were checked where the page was made; the address is data of this page.
function medium(number, name) {
  if (number === undefined) return "";
  const src = data.media[number];
  return src.startsWith("data:audio/") ? el("audio", { src, controls: "controls", "aria-label": name }) : el("img", { src, alt: name });
}

function conversation(row) {
  const lines = (row.l ?? []).flatMap(([role, said, number]) =>
    [el("dt", null, text(role)), el("dd", null, el("pre", null, text(said)), medium(number, text(said)))]);
  const facts = [words.conversation, row.s, fill(words.tokens, { tokens: (row.k ?? 0).toLocaleString("en") }), row.w].filter(Boolean);
  const made = el("details", null, el("summary", null, facts.join(" · ")), el("dl", { class: "said" }, ...lines));
  if (row.d) made.append(el("p", { class: "soft" }, fill(words.left_out, { count: row.d })));
  return made;
}

// Every text of a sample that can be searched
function* textsOf(row) {
  yield* [row.n, row.q, row.e, row.m, row.x];
  for (const found of row.f ?? []) yield found[3];
  for (const line of row.l ?? []) yield line[1];
  for (const pair of row.p ?? []) {
    yield* [pair[0], pair[1]];
    for (const given of pair[5]) yield* [given[1], given[2]];
  }
}

const lower = [];

function holds(wanted, refs) {
  const hit = texts.map((one, at) => (lower[at] ??= one.toLowerCase()).includes(wanted));
  const has = (ref) => (typeof ref === "number" ? hit[ref] : typeof ref === "string" && ref.toLowerCase().includes(wanted));
  return (row) => refs(row).some(has);
}

function offer(select, options, least = 1) {
  for (const [key, title] of options) select.append(el("option", { value: String(key) }, title));
  select.hidden = options.length < least;
}

// The list. `keep` says which rows the filters want, `line` shows one, and `orders` sort them.

function list({ filters, refs, keep, line, orders = {} }) {
  let found = [];
  let shown = 0;

  function more(least = 0) {
    const until = Math.min(found.length, Math.max(shown + PAGE, least));
    byId("rows").append(...found.slice(shown, until).map(line));
    shown = until;
    byId("count").textContent = fill(words.shown, { shown: count(found.length), count: count(rows.length) });
    byId("more").hidden = shown === found.length;
    byId("none").hidden = found.length > 0;
  }

  function show() {
    const wanted = filters.find.value.trim().toLowerCase();
    const holding = wanted ? holds(wanted, refs) : () => true;
    const wants = keep();
    found = rows.filter((row) => wants(row) && holding(row));
    if (filters.order?.value) found.sort(orders[filters.order.value]);
    shown = 0;
    byId("rows").replaceChildren();
    more();
  }

  function reset() {
    for (const one of Object.values(filters)) if (one.id !== "scorer") one.value = "";
  }

  // #s-ID opens a sample, #class-N shows those of a class
  function follow() {
    const name = location.hash.slice(1);
    const rule = /^class-(\d+)$/.exec(name);
    if (rule && filters.rule) {
      reset();
      filters.rule.value = rule[1];
      show();
      byId("samples").scrollIntoView();
    } else if (name.startsWith("s-")) {
      let at = found.findIndex((row) => anchor(row) === name);
      if (at < 0) {
        reset();
        show();
        at = found.findIndex((row) => anchor(row) === name);
      }
      if (at < 0) return;
      if (at >= shown) more(at + 1);
      const opened = byId(name);
      opened.open = true;
      opened.scrollIntoView();
    }
  }

  let waiting = 0;
  for (const one of Object.values(filters)) {
    one.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(show, one.type === "search" ? 150 : 0);
    });
  }
  byId("more").addEventListener("click", () => more());
  addEventListener("hashchange", follow);
  for (const one of document.querySelectorAll(".still [id]")) one.removeAttribute("id");
  document.documentElement.classList.add("live");
  byId("samples").hidden = false;
  show();
  follow();
}

const inputs = (...ids) => Object.fromEntries(ids.map((id) => [id, byId(id)]));

// A row that shows its body when it is opened
function opening(row, kind, summary, body) {
  const made = el("details", { class: `sample ${kind}`, id: anchor(row) }, summary);
  made.addEventListener("toggle", () => made.open && !made.querySelector(".body") && made.append(body(row)));
  return made;
}
