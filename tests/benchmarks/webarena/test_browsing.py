"""WebArena live: the official actions on a small local shop and forum in a real Chromium, and what the evaluators see there."""

import json
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from proctor.agents.openai import ChatAgent
from proctor.api import Run, evaluate
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Text, Tool, ToolCall, ToolResult
from proctor.models.scripted import ScriptedModel
from proctor_benchmarks import webarena
from proctor_benchmarks.webarena import actions, page

pytestmark = pytest.mark.xdist_group("chromium")
SHOP = """<title>Shop</title><body><h1>Tea &amp; more</h1><a href=/cart>Cart</a>
<form action=/search><input name=q aria-label=Search></form><a href=/tall target=_blank>Tall</a><p id=who>{who}</p></body>"""
TALL = "<title>Tall</title><div style='height:3000px'>top</div><button>Far below</button>"
REVIEWS = [{"nickname": "Ada", "ratings": [{"rating_name": "Rating", "percent": 80}]}]


class Shop(BaseHTTPRequestHandler):
    """Serves a shop with a cart, a search, an interface for its administrator, and a member list of a code host."""

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        pages = {
            "/cart": "<title>Cart</title><table><tr><td id=item>Green tea</td></tr></table>",
            "/tall": TALL,
            "/search": f"<title>Found</title><p id=q>{parse_qs(asked.query).get('q', [''])[0]}</p>",
            "/sales/order/view/order_id/7/": "<title>Order</title><p>Order 7: two teas</p>",
            "/members": "<table><tr><td data-label='Account'><span class='gl-avatar-labeled-sublabel'>@ada</span></td>"
            "<td class='col-max-role'><span>Developer</span></td></tr></table>",
            "/rest/V1/orders": json.dumps({"items": [{"increment_id": "000007"}]}),
            "/rest/V1/products/TEA/reviews": json.dumps(REVIEWS),
            "/": SHOP.replace("{who}", self.headers.get("Cookie") or "nobody"),
        }
        if asked.path == "/away":
            self.send_response(302)
            self.send_header("Location", f"http://{self.headers['Host'].replace('127.0.0.1', 'localhost')}/cart")
            self.end_headers()
        elif asked.path.startswith("/rest/") and self.headers.get("Authorization") != "Bearer token-1":
            self.send(401, "{}")
        else:
            self.send(200 if asked.path in pages else 404, pages.get(asked.path, "no such page"))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send(200, '"token-1"')

    def send(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if text[0] in '[{"' else "text/html")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def target(url: str, locator: str, **required: Any) -> dict[str, Any]:
    return {"url": url, "locator": locator, "required_contents": required}


def task_of(number: int, **evaluation: Any) -> dict[str, Any]:
    about = {
        "sites": ["shopping"],
        "intent": f"Do {number}.",
        "start_url": "__SHOPPING__/",
        "storage_state": "./.auth/s.json",
    }
    return {"task_id": number, **about, "eval": evaluation}


TASKS = [
    task_of(1, eval_types=["url_match"], reference_url="__SHOPPING__/cart"),
    task_of(
        2,
        eval_types=["string_match", "program_html"],
        reference_answers={"exact_match": "done"},
        program_html=[
            target("last", "document.querySelector('#q').outerText", exact_match="green tea"),
            target("__SHOPPING__/cart", "", must_include=["green |OR| black", "tea"]),
            target("last", "document.querySelector('#q').outerText", must_include=["green"]),
            target("func:shopping_get_latest_order_url()", "document.body.outerText", must_include=["two teas"]),
            target("__SHOPPING__/members", "func:gitlab_get_project_memeber_role(__page__, 'ada')", exact_match="developer"),
            target("last", "func:shopping_get_sku_latest_review_author('TEA')", exact_match="ada"),
            target("last", "func:shopping_get_sku_latest_review_rating('TEA')", exact_match="80"),
            target("last", "document.querySelector('#none').outerText", exact_match=""),
            target("last", "document.querySelector('#none')", exact_match="none"),
        ],
    ),
    task_of(3, eval_types=["string_match"], reference_answers={"must_include": ["x"]}),
    task_of(
        6,
        eval_types=["program_html"],
        program_html=[target("func:reddit_get_post_url('__last_url__')", "", must_include=["x"])],
    ),
    task_of(5, eval_types=["url_match"], reference_url="__SHOPPING__"),
    task_of(4, eval_types=["program_html"], program_html=[target("last", "document.querySelector('#who').outerText", must_include=["session=42"])]),
]  # fmt: skip

Move = tuple[str, Mapping[str, Any]] | str
MOVES: Mapping[str, Sequence[Move]] = {
    "Do 1.": [("look", {}), ("click", {"id": "'Cart'"}), "I am at the cart."],
    "Do 2.": [
        ("look", {}),
        ("click", {"id": "9999"}),
        ("scroll", {"direction": "sideways"}),
        ("goto", {"url": "file:///etc/passwd"}),
        ("type", {"id": "'Search'", "text": "Green tea"}),
        ("go_back", {}),
        ("go_forward", {}),
        ("stop", {"answer": "Done"}),
    ],
    "Do 5.": [
        ("look", {}),
        ("click", {"id": "'Tall'"}),
        ("tab_focus", {"index": 1}),
        ("scroll", {"direction": "down"}),
        ("close_tab", {}),
        ("new_tab", {}),
        ("goto", {"url": "http://127.0.0.1:9/closed"}),
        ("tab_focus", {"index": 0}),
        ("press", {"keys": "Escape"}),
        "I am back.",
    ],
    "Do 3.": [("look", {}), *[("scroll", {"direction": "down"})] * 9, "x"],
    "Do 6.": [("goto", {"url": "http://127.0.0.1:9/f/a/1/x"}), ("stop", {"answer": "\ud800"})],
    "Do 4.": [("stop", {})],
}


class Player:
    """Makes the moves of a task; an element is named by its words, and its number read from the page shown last."""

    def __call__(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Message:
        asked = next(message.text for message in messages if message.role == "user")
        made = sum(message.role == "assistant" for message in messages)
        move = MOVES[asked][made]
        if isinstance(move, str):
            return Message.of("assistant", move)
        name, given = move
        if str(given.get("id", "")).startswith("'"):
            shown = [part.content for message in messages for part in message.parts if isinstance(part, ToolResult)][-1]
            line = next(line for line in shown.splitlines() if given["id"] in line and "StaticText" not in line)
            given = {**given, "id": line.strip()[1:].partition("]")[0]}
        return Message(
            role="assistant", parts=(Text(text="x, I think."), ToolCall(name=name, arguments=given, id=str(made)))
        )


@pytest.fixture(scope="module")
def played(shop: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("webarena")
    (folder / "tasks.json").write_text(json.dumps(TASKS), encoding="utf-8")
    cookie = {"name": "session", "value": "42", "domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": False, "secure": False, "sameSite": "Lax"}  # fmt: skip
    (folder / "s.json").write_text(json.dumps({"cookies": [cookie], "origins": []}), encoding="utf-8")
    options = {"data": str(folder / "tasks.json"), "sites": {"shopping": shop}, "logins": str(folder), "screenshots": str(folder / "seen"), "wait_action": 0.25, "wait_target": 0}  # fmt: skip
    agent = ChatAgent(ScriptedModel(Player()))
    return evaluate("webarena", agent=agent, options=options, store=str(folder / "runs.db"), run_id="r", concurrency=6)


def outcome(run: Run, id: str) -> tuple[Any, Any]:
    trial = next(trial for trial in run.trials() if trial.sample_id == id)
    assert trial.outcome == "scored", trial.failure
    return trial, next(verdict.result for verdict in run.verdicts() if verdict.sample_id == id)


def test_the_page_left_open_is_what_counts(played: Run, shop: str) -> None:
    trial, result = outcome(played, "1")
    assert trial.trajectory.state["url"] == f"{shop}/cart"
    assert result.points == 1


def test_targets_are_looked_for_where_the_agent_left_and_elsewhere(played: Run) -> None:
    trial, result = outcome(played, "2")
    assert trial.trajectory.state["held"] == [True] * 9, trial.trajectory.state["shown"]
    assert result.points == 1
    assert result.answer == "Done"


def results_of(run: Run, id: str) -> list[ToolResult]:
    trial, _ = outcome(run, id)
    return [part for step in trial.trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)]


def test_what_a_page_does_not_let_happen_is_an_error_that_the_agent_reads(played: Run) -> None:
    results = results_of(played, "2")
    assert [part.content.splitlines()[0] for part in results if part.is_error] == [
        "There is no element [9999] in the page as it was shown last.",
        "direction is one of up, down.",
        "An address begins with http:// or https://.",
    ]
    assert "link 'Cart'" in results[0].content
    assert "heading 'Tea & more'" in results[0].content


def test_a_tab_that_a_page_opened_has_to_be_chosen_and_only_what_is_in_view_is_shown(played: Run, shop: str) -> None:
    results = results_of(played, "5")
    assert "Tab 0 (current): Shop" in results[1].content
    assert "A new tab was opened." in results[1].content
    assert "Tab 1 (current): Tall" in results[2].content
    assert "Far below" not in results[2].content
    assert [part.content.partition("ERR_")[1] for part in results if part.is_error] == ["ERR_"]
    assert outcome(played, "5")[0].trajectory.state["url"] == f"{shop}/"


def test_the_same_action_three_times_ends_the_task_and_talk_is_no_answer(played: Run) -> None:
    trial, result = outcome(played, "3")
    assert len(trial.trajectory.calls()) == 4
    assert trial.trajectory.stop == "task_limit"
    assert result.points == 0
    assert result.answer == ""


def test_the_cookies_of_the_task_log_the_agent_in_and_are_not_recorded(played: Run) -> None:
    _, result = outcome(played, "4")
    assert result.points == 1
    assert played.store.sample("r", "4").meta["webarena"]["storage_state"] == "./.auth/s.json"  # type: ignore[union-attr]


def test_a_live_run_is_written_officially_with_the_verdicts_that_no_page_tells(played: Run, tmp_path: Path) -> None:
    trials = [(played.store.sample("r", trial.sample_id), trial) for trial in played.trials()]
    webarena.PART.export(trials, tmp_path, "m")  # type: ignore[misc, arg-type]
    read = dict(webarena.PART.replies(tmp_path, {}))  # type: ignore[misc]
    assert read["4"].state["recorded"] is True
    page = (tmp_path / "render_2.html").read_text(encoding="utf-8")
    assert "<pre>type [" in page
    assert "<pre>stop [Done]</pre>" in page
    assert page.count("[current]") == 0
    assert page.count("(current)") == 7


def test_a_page_left_open_that_leads_nowhere_holds_nothing(played: Run) -> None:
    trial, result = outcome(played, "6")
    assert trial.trajectory.state["held"] == [False]
    assert result.points == 0
    assert result.answer == "?"


def test_every_page_shown_has_a_picture(played: Run) -> None:
    trial, _ = outcome(played, "1")
    pictures = sorted(Path(trial.trajectory.state["screenshots"]).iterdir())
    assert [one.name for one in pictures] == ["000.png", "001.png"]
    assert pictures[0].read_bytes().startswith(b"\x89PNG")


def test_a_site_that_is_down_is_a_failure_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps(TASKS[:1]), encoding="utf-8")
    options = {"data": str(tmp_path / "tasks.json"), "sites": {"shopping": "http://127.0.0.1:9"}}
    found = evaluate("webarena", agent=ChatAgent(ScriptedModel(["x"])), options=options, store=str(tmp_path / "r.db"))
    assert found.outcomes == {"environment_failed": 1}


async def test_the_browser_can_be_kept_to_the_sites(shop: str, tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps(TASKS[:1]), encoding="utf-8")
    (tmp_path / "s.json").write_text('{"cookies": [], "origins": []}', encoding="utf-8")
    task = webarena.task(data=str(tmp_path / "tasks.json"), sites={"shopping": shop}, logins=str(tmp_path), wait_action=0, only_sites=True)  # fmt: skip
    made: Any = task.environment
    samples: Any = task.samples
    async with made, made(samples[0]) as browsing:
        shown = {}
        for url in (f"{shop}/cart", f"{shop.replace('127.0.0.1', 'localhost')}/cart", f"{shop}/away"):
            shown[url] = (await browsing.call(ToolCall(name="goto", arguments={"url": url}))).content
    assert ["Green tea" in text for text in shown.values()] == [True, False, False]


@pytest.mark.parametrize(
    ("options", "said"),
    [({"sites": {"map": "http://127.0.0.1:9"}}, "No address is named for shopping"), ({"logins": "/nowhere"}, "holds no cookies")],
)  # fmt: skip
def test_what_no_task_can_be_played_without_is_named_at_once(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps(TASKS[:1]), encoding="utf-8")
    given = {"data": str(tmp_path / "tasks.json"), "sites": {"shopping": "http://127.0.0.1:9"}, **options}
    with pytest.raises(BadInput, match=said):
        evaluate("webarena", agent=ChatAgent(ScriptedModel(["x"])), options=given, store=str(tmp_path / "r.db"))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ToolCall(name="click", raw="[1"), "no JSON object"),
        (ToolCall(name="fly"), "no action fly"),
        (ToolCall(name="type", arguments={"id": "1"}), "needs text"),
        (ToolCall(name="type", arguments={"id": "1", "text": "x" * 9_000}), "longer than"),
        (ToolCall(name="type", arguments={"id": "1", "text": "\ud800"}), "lone surrogate"),
        (ToolCall(name="tab_focus", arguments={"index": "9" * 4_500}), "small whole number"),
        (ToolCall(name="goto", arguments={"url": "http://x\n"}), "cannot be written"),
        (ToolCall(name="goto", arguments={"url": "chrome://version"}), "begins with http"),
    ],
)
def test_a_call_that_no_page_could_take_is_refused_in_words(call: ToolCall, said: str) -> None:
    assert said in actions.problem(call)


def test_typing_into_one_field_counts_over_the_whole_task() -> None:
    typed = [ToolCall(name="type", arguments={"id": "7", "text": text}) for text in "abc"]
    back = ToolCall(name="go_back")
    assert actions.is_stuck([typed[0], back, typed[1], back, typed[2]])
    assert not actions.is_stuck([back, typed[0], back, typed[1], back])


def test_a_page_nested_without_end_is_shown_once() -> None:
    nodes = [{"nodeId": str(n), "role": {"value": "link"}, "name": {"value": str(n)}, "childIds": [str((n + 1) % 5000)], "backendDOMNodeId": n} for n in range(5000)]  # fmt: skip
    text, places = page.shown(nodes, {n: page.Box(0, 0, 10, 10) for n in range(5000)})
    assert len(text.splitlines()) == len(places) == 5000
