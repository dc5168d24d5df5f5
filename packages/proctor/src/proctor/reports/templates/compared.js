// The samples of two runs, with both answers.
const filters = inputs("find", "state", "tag");
const GROUPS = ["broken", "fixed", "both_wrong", "both_right", "not_compared"];
const score = (value) => (value === null ? "–" : percent(value));

function keep() {
  const { state, tag } = filters;
  const wanted = state.value === "moved" ? ["broken", "fixed"] : [state.value];
  return (row) => (!state.value || wanted.includes(row.z)) && (!tag.value || row.g?.includes(Number(tag.value)));
}

function answer(letter, row, value, number, attempts) {
  const head = [`${letter} · ${score(value)}`, attempts > 1 ? fill(words.of_attempts, { number, count: attempts }) : ""];
  const made = el("div", null, el("h3", { class: "letter" }, head.filter(Boolean).join(" · ")));
  if (!row) {
    made.append(el("p", { class: "soft" }, words.not_run));
    return made;
  }
  if (row.x) made.append(el("p", { class: "reason" }, text(row.x)));
  if (row.p) made.append(calls(row.p));
  if (row.m) made.append(el("pre", null, text(row.m)));
  for (const found of row.f ?? []) made.append(...verdict(found));
  made.append(conversation(row));
  return made;
}

function body(row) {
  const [first, second] = row.r;
  const made = el("div", { class: "body" }, tags(row));
  const question = first?.q ?? second?.q;
  const expected = first?.e ?? second?.e;
  if (question) made.append(block(words.question, question));
  if (expected) made.append(block(words.expected, expected));
  const sides = [answer("A", first, row.v[0], row.a[0], row.t[0]), answer("B", second, row.v[1], row.a[1], row.t[1])];
  made.append(el("div", { class: "texts" }, ...sides), link(row));
  return made;
}

function line(row) {
  const summary = el("summary", null, el("span", { class: "state" }, words[row.z]), el("span", { class: "name" }, el("code", null, row.n)),
    el("span", { class: "asked" }, text(row.r[0]?.q ?? row.r[1]?.q).slice(0, 200)),
    el("span", { class: "points" }, `${score(row.v[0])} → ${score(row.v[1])}`));
  return opening(row, row.z, summary, body);
}

const groups = GROUPS.filter((one) => rows.some((row) => row.z === one));
const moved = groups.includes("broken") || groups.includes("fixed");
offer(filters.state, [...(moved ? [["moved", words.moved]] : []), ...groups.map((one) => [one, words[one]])]);
offer(filters.tag, data.tags.map((tag, at) => [at, tag]));
if (moved) filters.state.value = "moved";
list({ filters, keep, line, refs: (row) => [row.n, ...row.r.filter(Boolean).flatMap((one) => [...textsOf(one)])] });
