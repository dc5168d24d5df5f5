// A chat: what the agent says comes over one connection, which is closed while the page is hidden. The script may run again
// when htmx swaps the page, so nothing here is global but the connection that it takes the place of.
"use strict";
(() => {
  const root = document.getElementById("chat");
  if (!root) return;
  window.proctorChat?.close();

  const path = `/chat/${root.dataset.chat}`;
  const turns = document.getElementById("turns");
  const composer = document.getElementById("composer");
  const stopper = document.getElementById("stop");
  const field = composer?.elements.namedItem("text");
  const wrong = composer?.querySelector(".wrong");
  let source = null;
  let since = Number(root.dataset.since);

  const turnOf = (number) => document.getElementById(`turn-${number}`);
  const running = () => turns.querySelector('[data-how="running"]');

  function element(html) {
    const made = document.createElement("template");
    made.innerHTML = html; // from the server's own templates, which escape what the agent said
    return made.content;
  }

  const isAtEnd = () => window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 120;
  function following(change) {
    const follow = isAtEnd();
    change();
    if (follow) window.scrollTo(0, document.documentElement.scrollHeight);
  }

  function putTurn(number, html) {
    const made = element(html);
    const old = turnOf(number);
    document.getElementById("chat-empty")?.remove();
    following(() => (old ? old.replaceWith(made) : turns.append(made)));
    if (stopper) stopper.hidden = !running();
  }

  function putSide(html) {
    const side = document.getElementById("chat-side");
    const open = new Map([...side.querySelectorAll("[data-panel]")].map((one) => [one.dataset.panel, one.open]));
    side.replaceChildren(element(html));
    for (const one of side.querySelectorAll("[data-panel]")) if (open.has(one.dataset.panel)) one.open = open.get(one.dataset.panel);
  }

  function putPiece(data) {
    const turn = turnOf(data.number);
    const [thought, text] = turn?.querySelectorAll(".coming") ?? [];
    if (!text) return;
    if (data.again) {
      thought.querySelector(".raw").textContent = text.textContent = "";
      thought.hidden = true;
    }
    if (data.thought && data.text) thought.hidden = false;
    following(() => (data.thought ? thought.querySelector(".raw") : text).append(data.text));
  }

  function putSteps(data) {
    const turn = turnOf(data.number);
    const steps = turn?.querySelector(".steps");
    if (!steps || !data.html.trim()) return;
    following(() => {
      for (const one of turn.querySelectorAll(".coming")) {
        (one.querySelector(".raw") ?? one).textContent = "";
        if (one.matches("details")) one.hidden = true;
      }
      steps.append(element(data.html));
    });
  }

  function connect() {
    if (source || document.hidden || !root.isConnected) return;
    source = new EventSource(`${path}/events?since=${since}`);
    const hear = (kind, act) => source.addEventListener(kind, (event) => act(JSON.parse(event.data)));
    hear("turn", (data) => { putTurn(data.number, data.html); if (data.how !== "running") since = data.number + 1; });
    hear("piece", putPiece);
    hear("said", putSteps);
    hear("over", (data) => { putTurn(data.number, data.html); putSide(data.side); since = data.number + 1; });
    hear("agent", (data) => { document.getElementById("chat-status").replaceChildren(element(data.html)); });
    hear("gone", () => { close(); location.assign("/chat"); });
    source.onerror = () => { // EventSource tries again by itself, with the address it has: turns it knows would come twice
      close();
      say(root.dataset.lost);
      setTimeout(connect, 2000);
    };
    source.onopen = () => { if (wrong?.textContent === root.dataset.lost) say(""); };
  }

  function close() {
    source?.close();
    source = null;
  }

  function say(text) {
    if (!wrong) return;
    wrong.textContent = text;
    wrong.hidden = !text;
  }

  async function post(what, fields = {}) {
    const body = new URLSearchParams({ csrf: root.dataset.csrf, ...fields });
    const answer = await fetch(`${path}/${what}`, { method: "POST", body, headers: { accept: "application/json", "x-csrf-token": root.dataset.csrf } });
    if (!answer.ok) throw new Error(answer.status === 422 ? (await answer.json()).why : await answer.text());
  }

  async function send() {
    const text = field.value;
    if (!text.trim()) return;
    connect();
    field.value = "";
    try {
      await post("messages", { text });
      say("");
    } catch (error) {
      if (!field.value) field.value = text;
      say(error instanceof TypeError ? root.dataset.lost : error.message);
    }
    grow();
  }

  function stop() {
    post("stop").catch((error) => say(error instanceof TypeError ? root.dataset.lost : error.message));
  }

  function grow() {
    field.rows = Math.min(Math.max(field.value.split("\n").length, 2), 12);
  }

  composer?.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter === stopper) stop();
    else send();
  });
  field?.addEventListener("input", grow);
  field?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { // an input method ends a word with Enter too
      event.preventDefault();
      send();
    }
  });

  const onKey = (event) => {
    if (event.key === "Escape" && running() && !document.querySelector("dialog[open]")) stop();
  };
  const onShown = () => (document.hidden ? close() : connect());
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", onShown);

  function end() {
    close();
    clearInterval(clock);
    document.removeEventListener("keydown", onKey);
    document.removeEventListener("visibilitychange", onShown);
  }

  const clock = setInterval(() => {
    if (!root.isConnected) return end();
    const turn = running();
    if (!turn) return;
    const seconds = Math.max(0, Date.now() / 1000 - Number(turn.dataset.started));
    const has = turn.querySelector(".steps").childElementCount || turn.querySelector("div.coming").textContent;
    turn.querySelector(".elapsed").textContent = `${seconds.toFixed(0)} s${has ? "" : ` · ${root.dataset.waits}`}`;
  }, 500);

  window.proctorChat = { close: end };
  document.querySelector("dialog[data-opens]")?.showModal();
  connect();
  field?.focus({ preventScroll: true });
  if (turns.childElementCount) window.scrollTo(0, document.documentElement.scrollHeight);
})();
