// What to do next in a task, as the tools of `actions.py` with their arguments: [["click_element", {"ref": 3}], …]. Nothing means:
// look again. It reads the page as a person would, and asks none of its variables; `memo` lasts for the episode.
({task, utterance}) => {
  core.getDOMInfo();  // gives elements that are new their ref
  const memo = (window.__solving ??= {});
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const q = (selector, inside = document) => inside.querySelector(selector);
  const text = (element) => element.textContent.trim();
  const is_seen = (element) => element && element.getBoundingClientRect().width > 0;
  const click = (element) => is_seen(element) ? [["click_element", {ref: +element.dataset.wob_ref}]] : [];
  const type = (element, words) => {
    const pieces = String(words).match(/[^]{1,64}/g) ?? [];
    return [...click(element), ...pieces.map((piece) => ["type_text", {text: piece}])];
  };
  const press = (key, times = 1) => Array(times).fill(["press_key", {key}]);
  const named = (selector, words) => all(selector).find((element) => text(element) === words && is_seen(element));
  const quoted = [...utterance.matchAll(/"([^"]*)"/g)].map((match) => match[1]);
  const number = () => parseInt(utterance.match(/(\d+)(st|nd|rd|th)/)[1]);
  const middle = (element) => { const box = element.getBoundingClientRect(); return {x: box.x + box.width / 2, y: box.y + box.height / 2}; };
  const submit = () => click(q("#subbtn") ?? q(".secondary-action") ?? named("button", "Submit"));
  const fields = () => core.getUtterance().fields;

  const click_button = () => click(named("button, input[type=button]", quoted[0]));
  const link_in_tabs = () => {
    const target = all(".alink").find((element) => text(element) === quoted[0]);
    return is_seen(target) ? click(target) : click(q(`a[href="#${target.closest("[role=tabpanel]").id}"]`));
  };
  const link_in_sections = () => {
    const target = all(".alink").find((element) => text(element) === quoted[0]);
    const panel = target.closest("[role=tabpanel]"), before = memo.height;
    memo.height = panel.getBoundingClientRect().height;
    if (!memo.height) return click(panel.previousElementSibling);
    return memo.height === before ? click(target) : [];  // it is still opening
  };
  const section = () => is_seen(q(".ui-accordion-content")) ? submit() : click(q("h3"));
  const checkboxes = () => {
    const wanted = utterance.match(/Select (.*) and click Submit/)[1].split(", ");
    const labels = all("label").filter((label) => wanted.includes(text(label)));
    return [...labels.flatMap((label) => click(q("input", label))), ...submit()];
  };
  const login = () => q("#popup-cancel") ? click(q("#popup-cancel")) : (
    !q("#username").value ? type(q("#username"), quoted[0]) : !q("#password").value ? type(q("#password"), quoted[1]) : submit());
  const email = ({task, by, to, message}) => {
    if (q("#send-forward")) return q(".forward-sender").value ? click(q("#send-forward")) : type(q(".forward-sender"), to);
    if (q("#send-reply")) return q("#reply-text").value ? click(q("#send-reply")) : type(q("#reply-text"), message);
    if (q("#email")) return click(q(task === "reply" ? "#email .email-reply" : "#email .email-forward"));
    const thread = all("#main .email-thread").find((one) => text(q(".email-sender", one)) === by);
    const inside = {delete: ".trash", star: ".star"}[task];
    return click(inside ? q(inside, thread) : q(".email-sender", thread));
  };
  const read_email = () => {
    const by = utterance.match(/email by (\S+) and/)[1], to = utterance.match(/ to (\S+)\.$/)?.[1];
    const task = /reply/.test(utterance) ? "reply" : /forward/.test(utterance) ? "forward" : /trash/.test(utterance) ? "delete" : "star";
    return email({task, by, to, message: quoted[0]});
  };
  const posts = () => all(".media").filter((post) => text(q(".username", post)) === utterance.match(/@\S+?(?=,| |$)/)[0]);
  const act_on_posts = (count) => {
    const kind = quoted[0].toLowerCase();
    const clicks = posts().slice(0, count).flatMap((post) => click(q(`.${kind}`, post)));
    return [...clicks, ...click(named("button, #submitRow *", "Submit"))];
  };
  const complete = () => {
    const [start, end] = [quoted[0], quoted[1] ?? ""];
    if (!q("#tags").value) return type(q("#tags"), start);
    const item = all(".ui-menu-item *").find((one) => is_seen(one) && text(one).startsWith(start) && text(one).endsWith(end));
    if (q("#tags").value.length > start.length || memo.chosen) return submit();
    if (!item) return [];
    memo.chosen = true;
    return click(item);
  };
  const slide = () => {
    const wanted = parseInt(utterance.match(/Select (-?\d+)/)[1]), at = parseInt(text(q("#val")));
    if (at === wanted) return null;
    const key = wanted > at ? "<ArrowRight>" : "<ArrowLeft>";
    return [...click(q(".ui-slider-handle")), ...press(key, Math.min(Math.abs(wanted - at), 30))];
  };
  const search_movies = () => {
    const [, genre, director, year] = utterance.match(/Search for (.*) movies directed by (.*) from year (\d+)/);
    const inputs = all("#area input[type=text]");
    const label_of = (input) => (input.placeholder || text(input.closest("tr, .ui-entry, p, .field") ?? input.parentElement)).toLowerCase();
    const empty = inputs.find((input) => !input.value);
    if (!empty) return click(all("#area button, .ui-submit, .final").at(-1));
    const label = label_of(empty);
    return type(empty, /genre/.test(label) ? genre : /director/.test(label) ? director : year);
  };

  const solutions = {
  "ascending-numbers": () => {
    memo.next = (memo.next ?? 0) + 1;
    memo.places ??= Object.fromEntries(all("svg text").map((one) => [text(one), middle(one)]));
    return [["click_coords", memo.places[memo.next]]];
  },
  "buy-ticket": () => {
    const worth = (flight) => {
      if (/cost/.test(utterance)) return parseInt(text(flight).match(/\$(\d+)/)[1]);
      const [, hours, minutes] = text(flight).match(/(\d+)h (\d+)m/);
      return 60 * hours + +minutes;
    };
    const sorted = all(".flight").sort((one, other) => worth(one) - worth(other));
    return click(q(".buy-ticket, button", /longest|expensive/.test(utterance) ? sorted.at(-1) : sorted[0]));
  },
  "choose-list": () => {
    const list = q("#options"), wanted = utterance.match(/Select (.*) from the list/)[1];
    return text(list.selectedOptions[0]) === wanted ? submit() : type(list, wanted);
  },
  "click-button": click_button,
  "click-button-sequence": () => [...click(q("#subbtn")), ...click(q("#subbtn2"))],
  "click-checkboxes": checkboxes,
  "click-checkboxes-large": checkboxes,
  "click-checkboxes-transfer": checkboxes,
  "click-collapsible": section,
  "click-collapsible-nodelay": section,
  "click-collapsible-2": link_in_sections,
  "click-collapsible-2-nodelay": link_in_sections,
  "click-color": () => click(q(`#area [data-color="${utterance.match(/Click on the (.*) colored/)[1]}"]`)),
  "click-dialog": () => click(q(".ui-dialog-titlebar button")),
  "click-dialog-2": () => click(quoted[0] === "x" ? q(".ui-dialog-titlebar button") : named(".ui-dialog-buttonset button", quoted[0])),
  "click-link": () => click(named(".alink", quoted[0])),
  "click-menu-2": () => {
    const icon = q("#query .ui-icon")?.className.match(/ui-icon-[\w-]+/)[0];
    const item = icon ? q(`#menu .${icon}`).parentElement : all("#menu li div").find((one) => text(one) === quoted[1]);
    if (is_seen(item)) return click(item);
    return is_seen(q("#menu")) ? [["move_coords", middle(named("#menu > li > div", "Playback"))]] : click(q("#open-menu"));
  },
  "click-option": checkboxes,
  "click-shades": () => [...all(`#area span[data-color="${utterance.match(/shades of (\S+)/)[1]}"]`).flatMap(click), ...submit()],
  "click-tab": () => click(named("#area ul a", utterance.match(/Tab #\d/)[0])),
  "click-tab-2": link_in_tabs,
  "click-tab-2-easy": link_in_tabs,
  "click-tab-2-medium": () => {  // of two tabs; what is in the second is not there
    const target = all(".alink").find((element) => text(element) === quoted[0]);
    return click(target ?? named("#area a", "Tab #2"));
  },
  "click-tab-2-hard": link_in_tabs,
  "click-test": () => click(q("#subbtn")),
  "click-test-2": () => click(named("button", "ONE")),
  "click-test-transfer": () => click(named("button", "ONE")),
  "click-widget": () => click(q(`#area [data-type="${quoted[0]}"]`)),
  "copy-paste": () => [...type(q("#answer-input"), q("#text-to-copy, textarea").value), ...submit()],
  "copy-paste-2": () => [...type(q("#answer-input"), all("textarea")[number() - 1].value), ...submit()],
  "email-inbox": read_email,
  "email-inbox-delete": read_email,
  "email-inbox-forward": read_email,
  "email-inbox-forward-nl": () => email({task: "forward", ...fields()}),
  "email-inbox-forward-nl-turk": () => email({task: "forward", ...fields()}),
  "email-inbox-important": read_email,
  "email-inbox-nl-turk": () => email(fields()),
  "email-inbox-noscroll": read_email,
  "email-inbox-reply": read_email,
  "email-inbox-star-reply": read_email,
  "enter-date": () => [...type(q("#tt"), utterance.match(/[\d/]{10}/)[0].replaceAll("/", "")), ...submit()],
  "enter-password": () => [...type(q("#password"), quoted[0]), ...type(q("#verify"), quoted[0]), ...submit()],
  "enter-text": () => [...type(q("#tt"), quoted[0]), ...submit()],
  "enter-text-2": () => [...type(q("#tt"), /lower/.test(utterance) ? quoted[0].toLowerCase() : quoted[0].toUpperCase()), ...submit()],
  "enter-text-dynamic": () => [...type(q("#tt"), quoted[0]), ...submit()],
  "enter-time": () => {
    const [, hour, minute, half] = utterance.match(/(\d+):(\d+)\s*([AP]M)/);
    return [...type(q("#tt"), hour.padStart(2, "0") + minute + half), ...submit()];
  },
  "find-greatest": () => {
    memo.seen ??= [];
    const cards = all(".card"), at = memo.seen.length;
    const open = cards.findIndex((card) => !card.classList.contains("hidden"));
    if (open >= 0 && open === at) memo.seen.push(parseInt(text(q(".card-value", cards[open]))));
    if (memo.seen.length < cards.length) return click(cards[memo.seen.length]);
    return [...click(cards[memo.seen.indexOf(Math.max(...memo.seen))]), ...click(q("#submit"))];
  },
  "find-word": () => [...type(q("#answer-input"), text(q("#area p")).split(/\s+/)[number() - 1].replace(/[^a-zA-Z]/g, "")), ...submit()],
  "focus-text": () => click(q("#area input")),
  "focus-text-2": () => click(all("#area input")[number() - 1]),
  "form-sequence": () => slide() ?? [...click(q(`#checkbox-${number()}`)), ...submit()],
  "form-sequence-2": () => {
    const [radio, box] = [...utterance.matchAll(/(\d)(st|nd|rd)/g)].map((match) => +match[1]);
    return [...click(all("input[type=radio]")[radio - 1]), ...type(q(`#input-${box}`), quoted[0]), ...submit()];
  },
  "generate-number": () => {
    const made = parseInt(text(q("#display-number"))), bound = parseInt(utterance.match(/\d+/)?.[0]);
    const is_right = /less/.test(utterance) ? made < bound : /greater/.test(utterance) ? made > bound : Math.abs(made % 2) === (/odd/.test(utterance) ? 1 : 0);
    return click(q(is_right ? "#submit" : "#generate"));
  },
  "grid-coordinate": () => click(document.getElementById(utterance.match(/\(-?\d,-?\d\)/)[0])),
  "guess-number": () => {
    const [low, high] = [q("#higher"), q("#lower")].map((one) => is_seen(one) ? parseInt(text(q("span", one))) : null);
    memo.low = low === null ? memo.low ?? 0 : low + 1;
    memo.high = high === null ? memo.high ?? 9 : high - 1;
    return [...click(q("#tt")), ...press("C-a"), ["type_text", {text: String((memo.low + memo.high) >> 1)}], ...submit()];
  },
  "login-user": login,
  "login-user-popup": login,
  "multi-layouts": search_movies,
  "multi-orderings": search_movies,
  "navigate-tree": () => {
    const target = all("#tree span").find((one) => text(one) === quoted[0]);
    let shown = target;
    while (!is_seen(shown)) shown = q("span", shown.closest("ul").closest("li"));
    return click(shown);
  },
  "odd-or-even": () => [...all(".row").flatMap((row) => click(q(parseInt(text(q(".display-number", row))) % 2 ? ".odd" : ".even", row))), ...click(q("#submit"))],
  "phone-book": () => {
    const [, name, kind] = utterance.match(/Find (.*) in the contact book and click on their (.*)\./);
    return click(text(q("#contact .name")) === name ? q(`#contact .${kind.split(" ")[0]}`) : q("#pagination .next a"));
  },
  "read-table": () => {
    const row = all("tr").find((one) => text(q("td", one)) === utterance.match(/value of (.*) into/)[1]);
    return [...type(q("#tt"), text(all("td", row)[1])), ...submit()];
  },
  "read-table-2": () => {
    const values = Object.fromEntries(all("tr").map((row) => all("td", row).map(text)));
    return [...["1", "2"].flatMap((at) => type(q(`#tt${at}`), values[text(q(`#ll${at}`)).replace(":", "")])), ...submit()];
  },
  "scroll-text": () => [...type(q("#answer-input"), q("#text-area").value.trim().split(/\s+/).at(-1).replace(/\W/g, "")), ...submit()],
  "search-engine": () => {
    if (!q("#search-text").value) return [...type(q("#search-text"), quoted[0]), ...click(q("#search"))];
    const at = number() - 1, page = String(Math.floor(at / 3) + 1);
    if (text(q("#pagination .active")) !== page) return click(named("#pagination a", page));
    return click(all("#page-content a")[at % 3]);
  },
  "simple-algebra": () => {
    const [left, sign, right, , result] = text(q("#math-problem")).split(/\s+/);
    const known = parseInt(left === "x" ? right : left), x = sign === "+" ? result - known : left === "x" ? +result + known : known - result;
    return [...type(q("#math-answer"), x), ...submit()];
  },
  "simple-arithmetic": () => {
    const [one, sign, other] = text(q("#math-problem")).split(/\s+/);
    return [...type(q("#math-answer"), {"+": +one + +other, "-": one - other, x: one * other}[sign]), ...submit()];
  },
  "sign-agreement": () => {
    const field = q("#name"), box = q("#area textarea, #agreement, .scroll");
    if (!quoted.length) return click(q("#cancel"));
    if (!is_seen(field) || field.disabled) return [["scroll_down_coords", middle(box)], ["scroll_down_coords", middle(box)]];
    return field.value ? click(q(quoted[1] === "Agree" ? "#agree" : "#cancel")) : type(field, quoted[0]);
  },
  "social-media": () => {
    const post = posts()[0], kind = {"Block": "block-user", "Mute": "menu-user"}[quoted[0]];
    const button = all(".reply, .retweet, .like, ul li", post).find((one) => one.className === quoted[0].toLowerCase() || text(one).startsWith(quoted[0]));
    return click(is_seen(button) ? button : q(".more", post));
  },
  "social-media-all": () => act_on_posts(),
  "social-media-some": () => act_on_posts(parseInt(utterance.match(/on (\d+) post/)[1])),
  "terminal": () => {
    const files = text(all(".terminal-output .output").at(-1)).split(/\s+/);
    const ending = utterance.match(/extension (\.[\w.]+)/)?.[1];
    const file = memo.listed && files.find((name) => ending ? name.endsWith(ending) : !name.includes("."));
    memo.listed = true;
    return [...click(q("#terminal-target")), ["type_text", {text: file ? `rm ${file}` : "ls"}], ...press("<Enter>")];
  },
  "text-transform": () => [...type(q("#tt"), text(q("#captcha"))), ...submit()],
  "unicode-test": click_button,
  "use-autocomplete": complete,
  "use-autocomplete-nodelay": complete,
  "use-slider": () => slide() ?? submit(),
  "use-spinner": () => {
    const left = parseInt(utterance.match(/Select (-?\d+)/)[1]) - (parseInt(q("#spinner").value) || 0);
    return [...Array(Math.abs(left)).fill(["click_coords", middle(q(left > 0 ? ".ui-spinner-up" : ".ui-spinner-down"))]), ...submit()];
  },
  };
  return solutions[task]();
}
