// Lists, filters and opens the samples of a report. What a model wrote only ever becomes text: no HTML is made of it.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { rows, texts, words } = data;
  const PAGE = 100;
  const text = (ref) => (typeof ref === "number" ? texts[ref] : ref ?? "");
  const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  const byId = (id) => document.getElementById(id);

  function el(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes ?? {})) if (value) made.setAttribute(key, value);
    made.append(...children.filter((one) => one !== null && one !== undefined && one !== ""));
    return made;
  }

  const code = (ref) => el("code", null, text(ref));
  const soft = (content) => el("span", { class: "soft" }, content);
  const block = (title, ref) => el("div", null, el("h3", null, title), el("pre", null, text(ref)));
  const percent = (value) => `${(100 * value).toFixed(1).replace(/\.0$/, "")}%`;
  const several = rows.some((row) => row.a);
  const anchor = (row) =>
    "s-" + encodeURIComponent(row.n).replace(/[!'()*]/g, (sign) => "%" + sign.charCodeAt(0).toString(16).toUpperCase()) +
    (row.a ? `~${row.a + 1}` : "");

  // The samples that are wanted

  const filters = Object.fromEntries(["find", "state", "rule", "tag", "scorer", "low", "high", "order"].map((id) => [id, byId(id)]));
  const value = (row) => row.f?.find((found) => found[0] === Number(filters.scorer.value))?.[1] ?? null;
  const lower = [];

  function holds(wanted) {
    const hit = texts.map((one, at) => (lower[at] ??= one.toLowerCase()).includes(wanted));
    const has = (ref) => (typeof ref === "number" ? hit[ref] : typeof ref === "string" && ref.toLowerCase().includes(wanted));
    return (row) =>
      has(row.n) || has(row.q) || has(row.e) || has(row.m) || has(row.x) ||
      row.f?.some((found) => has(found[3])) || row.l?.some((line) => has(line[1])) ||
      row.p?.some((pair) => has(pair[0]) || has(pair[1]) || pair[5].some((given) => has(given[1]) || has(given[2])));
  }

  const ORDERS = {
    low: (one, other) => (value(one) ?? 2) - (value(other) ?? 2),
    high: (one, other) => (value(other) ?? -1) - (value(one) ?? -1),
    slow: (one, other) => (other.v ?? 0) - (one.v ?? 0),
    tokens: (one, other) => (other.k ?? 0) - (one.k ?? 0),
    id: (one, other) => one.n.localeCompare(other.n, undefined, { numeric: true }),
  };

  function chosen() {
    const { state, rule, tag, low, high, order } = filters;
    const wanted = filters.find.value.trim().toLowerCase();
    const holding = wanted ? holds(wanted) : null;
    const within = (row) =>
      (!low.value || (value(row) !== null && 100 * value(row) >= Number(low.value))) &&
      (!high.value || (value(row) !== null && 100 * value(row) <= Number(high.value)));
    const found = rows.filter(
      (row) =>
        (!state.value || row.z === state.value) && (!rule.value || row.c === Number(rule.value)) &&
        (!tag.value || row.g?.includes(Number(tag.value))) && within(row) && (!holding || holding(row)),
    );
    return order.value ? found.sort(ORDERS[order.value]) : found;
  }

  // One sample

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

  function conversation(row) {
    const lines = (row.l ?? []).flatMap(([role, said]) => [el("dt", null, text(role)), el("dd", null, el("pre", null, text(said)))]);
    const facts = [words.conversation, row.s, fill(words.tokens, { tokens: (row.k ?? 0).toLocaleString("en") }), row.w].filter(Boolean);
    const made = el("details", null, el("summary", null, facts.join(" · ")), el("dl", { class: "said" }, ...lines));
    if (row.d) made.append(el("p", { class: "soft" }, fill(words.left_out, { count: row.d })));
    return made;
  }

  function body(row) {
    const made = el("div", { class: "body" });
    if (row.g) made.append(el("p", { class: "facts" }, ...row.g.map((at) => el("span", null, data.tags[at]))));
    if (row.x) made.append(el("p", { class: "reason" }, text(row.x)));
    for (const found of row.f ?? []) made.append(...verdict(found));
    if (row.q) made.append(block(words.question, row.q));
    if (row.p) made.append(calls(row.p));
    if (row.e && row.m) made.append(el("div", { class: "texts" }, block(words.expected, row.e), block(words.made, row.m)));
    else if (row.e) made.append(block(words.expected, row.e));
    else if (row.m) made.append(block(row.p ? words.instead : words.came, row.m));
    made.append(conversation(row), el("p", { class: "soft" }, el("a", { href: `#${anchor(row)}` }, words.link)));
    return made;
  }

  function line(row) {
    const rule = row.c ? data.rules[row.c - 1] : null;
    const scores = (row.f ?? []).map((found) => found[2] || (found[1] === null ? "–" : percent(found[1])));
    const why = rule?.filter(Boolean).join(" · ") || row.o || "";
    const made = el("details", { class: `sample ${row.z}`, id: anchor(row) });
    made.append(
      el("summary", null, el("span", { class: "state" }, words[row.z]),
        el("span", { class: "name" }, el("code", null, row.n), several ? soft(` ${fill(words.attempt, { number: (row.a ?? 0) + 1 })}`) : ""),
        el("span", { class: "asked" }, text(row.q).slice(0, 200)), el("span", { class: "why" }, why),
        el("span", { class: "points" }, scores.join(" · "))),
    );
    made.addEventListener("toggle", () => made.open && !made.querySelector(".body") && made.append(body(row)));
    return made;
  }

  // The list

  let found = [];
  let shown = 0;

  function more(least = 0) {
    const until = Math.min(found.length, Math.max(shown + PAGE, least));
    byId("rows").append(...found.slice(shown, until).map(line));
    shown = until;
    byId("count").textContent = fill(words.shown, { shown: found.length.toLocaleString("en"), count: rows.length.toLocaleString("en") });
    byId("more").hidden = shown === found.length;
    byId("none").hidden = found.length > 0;
  }

  function list() {
    found = chosen();
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
    if (rule) {
      reset();
      filters.rule.value = rule[1];
      list();
      byId("samples").scrollIntoView();
    } else if (name.startsWith("s-")) {
      let at = found.findIndex((row) => anchor(row) === name);
      if (at < 0) {
        reset();
        list();
        at = found.findIndex((row) => anchor(row) === name);
      }
      if (at < 0) return;
      if (at >= shown) more(at + 1);
      const opened = byId(name);
      opened.open = true;
      opened.scrollIntoView();
    }
  }

  const offer = (select, options, least = 1) => {
    for (const [key, title] of options) select.append(el("option", { value: String(key) }, title));
    select.hidden = options.length < least;
  };
  const states = ["failed", "passed", "unscored", "lost"].filter((one) => rows.some((row) => row.z === one));
  offer(filters.state, states.map((one) => [one, words[one]]), 2);
  offer(filters.rule, data.rules.map((rule, at) => [at + 1, rule.filter(Boolean).join(" · ")]).filter(([, title]) => title));
  offer(filters.tag, data.tags.map((tag, at) => [at, tag]));
  offer(filters.scorer, data.scorers.map((name, at) => [at, name]), 2);
  document.querySelector(".filters .span").hidden = !rows.some((row) => row.f?.some((one) => one[1] > 0 && one[1] < 1));
  const isJudged = rows.some((row) => row.f?.some((one) => one[5]));
  if (states.length > 1 && states[0] === "failed" && !isJudged) filters.state.value = "failed";

  let waiting = 0;
  for (const one of Object.values(filters)) {
    one.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(list, one.type === "search" ? 150 : 0);
    });
  }
  byId("more").addEventListener("click", () => more());
  addEventListener("hashchange", follow);
  for (const one of document.querySelectorAll(".failures [id]")) one.removeAttribute("id");
  document.documentElement.classList.add("live");
  byId("samples").hidden = false;
  list();
  follow();
})();
