// The samples of one run.
const several = rows.some((row) => row.a);
const filters = inputs("find", "state", "rule", "tag", "scorer", "low", "high", "order");
const value = (row) => row.f?.find((found) => found[0] === Number(filters.scorer.value))?.[1] ?? null;

const orders = {
  low: (one, other) => (value(one) ?? 2) - (value(other) ?? 2),
  high: (one, other) => (value(other) ?? -1) - (value(one) ?? -1),
  slow: (one, other) => (other.v ?? 0) - (one.v ?? 0),
  tokens: (one, other) => (other.k ?? 0) - (one.k ?? 0),
  id: (one, other) => one.n.localeCompare(other.n, undefined, { numeric: true }),
};

function keep() {
  const { state, rule, tag, low, high } = filters;
  const within = (row) =>
    (!low.value || (value(row) !== null && 100 * value(row) >= Number(low.value))) &&
    (!high.value || (value(row) !== null && 100 * value(row) <= Number(high.value)));
  return (row) =>
    (!state.value || row.z === state.value) && (!rule.value || row.c === Number(rule.value)) &&
    (!tag.value || row.g?.includes(Number(tag.value))) && within(row);
}

function body(row) {
  const made = el("div", { class: "body" }, tags(row));
  if (row.x) made.append(el("p", { class: "reason" }, text(row.x)));
  for (const found of row.f ?? []) made.append(...verdict(found));
  if (row.q) made.append(block(words.question, row.q));
  if (row.p) made.append(calls(row.p));
  if (row.e && row.m) made.append(el("div", { class: "texts" }, block(words.expected, row.e), block(words.made, row.m)));
  else if (row.e) made.append(block(words.expected, row.e));
  else if (row.m) made.append(block(row.p ? words.instead : words.came, row.m));
  made.append(conversation(row), link(row));
  return made;
}

function line(row) {
  const scores = (row.f ?? []).map((found) => found[2] || (found[1] === null ? "–" : percent(found[1])));
  const why = (row.c ? data.rules[row.c - 1] : []).filter(Boolean).join(" · ") || row.o || "";
  const attempt = several ? soft(` ${fill(words.attempt, { number: (row.a ?? 0) + 1 })}`) : "";
  const summary = el("summary", null, el("span", { class: "state" }, words[row.z]),
    el("span", { class: "name" }, el("code", null, row.n), attempt),
    el("span", { class: "asked" }, text(row.q).slice(0, 200)), el("span", { class: "why" }, why),
    el("span", { class: "points" }, scores.join(" · ")));
  return opening(row, row.z, summary, body);
}

const states = ["failed", "passed", "unscored", "lost"].filter((one) => rows.some((row) => row.z === one));
offer(filters.state, states.map((one) => [one, words[one]]), 2);
offer(filters.rule, data.rules.map((rule, at) => [at + 1, rule.filter(Boolean).join(" · ")]).filter(([, title]) => title));
offer(filters.tag, data.tags.map((tag, at) => [at, tag]));
offer(filters.scorer, data.scorers.map((name, at) => [at, name]), 2);
document.querySelector(".filters .span").hidden = !rows.some((row) => row.f?.some((one) => one[1] > 0 && one[1] < 1));
const isJudged = rows.some((row) => row.f?.some((one) => one[5]));
if (states.length > 1 && states[0] === "failed" && !isJudged) filters.state.value = "failed";
list({ filters, keep, line, orders, refs: (row) => [...textsOf(row)] });
