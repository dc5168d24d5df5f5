"""Requests in batches: half the price, nothing sent twice, and lines that fail are outcomes."""

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from batch_servers import AnthropicServer, Batches, OpenAIServer
from endpoint import Endpoint, Request, data
from memory_store import MemoryStore
from msgspec.structs import replace

from proctor import Sample, Task, evaluate_async
from proctor.api import Run
from proctor.chat.dialect import ModelReply
from proctor.core.around import around
from proctor.core.errors import BadInput, ProviderFailed
from proctor.core.run import Budget
from proctor.core.sample import Message, Text
from proctor.models.named import model
from proctor.transport.client import Client
from proctor.transport.faults import RequestFault
from proctor.transport.target import RequestTarget
from proctor_adapters.models import batch_apis, batches

SERVERS: dict[str, Callable[..., Batches]] = {"openai": OpenAIServer, "anthropic": AnthropicServer}
PATHS = {"openai": "/chat/completions", "anthropic": "/messages"}
REQUESTS = 5
SAMPLES = [Sample.ask(f"s{n}", f"q{n}", target=f"re q{n}") for n in range(REQUESTS)]
TASK = Task(name="t", samples=SAMPLES, scorers=["exact"])


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(batches, "data_folder", lambda: tmp_path)  # a port may be that of an earlier test
    monkeypatch.setattr(batches, "MOST_REQUESTS", REQUESTS)  # so that no clock says when all are there
    monkeypatch.setattr(batches, "GATHER_SECONDS", 1.0)
    monkeypatch.setattr(batches, "LONGEST_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(batch_apis, "LOOKS_AFTER_SECONDS", (0.0, 0.01))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-a-test-012345")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-key-of-a-test-012345")


async def run(kind: str, url: str, store: Any = None, **how: Any) -> Run:
    options = {"base_url": f"{url}/v1", "batch": True, "retries": how.pop("retries", 0)}
    return await evaluate_async(
        how.pop("task", TASK), agent=f"{kind}:m", agent_options=options, store=store or MemoryStore(), **how
    )


@pytest.mark.parametrize("kind", sorted(SERVERS))
async def test_a_run_is_one_batch_at_half_the_price(kind: str) -> None:
    Path("proctor.toml").write_text("[prices.m]\ninput = 2.0\noutput = 8.0\n", encoding="utf-8")
    server = SERVERS[kind]()
    async with Endpoint(server) as endpoint:
        made = await run(kind, endpoint.url)
    assert made.outcomes == {"scored": 5}
    assert made.estimate("accuracy").value == 1.0, "each reply went to its own question"
    assert [len(questions) for questions in server.sent.values()] == [5]
    assert made.usage.cost == pytest.approx(5 * (2.0 + 8.0) / 2)
    assert made.usage.requests == 5


@pytest.mark.parametrize("kind", sorted(SERVERS))
async def test_lines_that_fail_are_outcomes_and_are_sent_again_only_on_demand(kind: str) -> None:
    fates = {"q1": "errored", "q2": "expired", "q3": "lost"}
    server = SERVERS[kind](fate=lambda question: fates.get(question, "ok"))
    store = MemoryStore()
    async with Endpoint(server) as endpoint:
        first = await run(kind, endpoint.url, store, run_id="r", max_failed=1.0)
        assert first.outcomes == {"scored": 2, "provider_failed": 3}
        failures = {trial.sample_id: trial.failure for trial in first.trials(outcome="provider_failed")}
        kinds = {id: failure.kind for id, failure in failures.items() if failure is not None}
        assert (kinds["s1"], kinds["s2"].startswith("batch_"), kinds["s3"]) == ("http_400", True, "batch_incomplete")
        await run(kind, endpoint.url, store, run_id="r", max_failed=1.0)
        assert len(server.questions) == 5, "a run that is resumed sends nothing again"
        fates.clear()
        again = await run(kind, endpoint.url, store, run_id="r", retry_failed=True)
    assert again.outcomes == {"scored": 5}
    assert sorted(server.questions[5:]) == ["q1", "q2", "q3"]
    assert not again.record.warnings, "no result was lost"
    assert again.usage.requests == 8, "those that failed count too"


@pytest.mark.parametrize("kind", sorted(SERVERS))
async def test_a_line_that_is_busy_or_garbled_takes_no_other_with_it(kind: str) -> None:
    fates = {"q1": "busy", "q2": "garbled"}
    server = SERVERS[kind](fate=lambda question: fates.get(question, "ok"))
    async with Endpoint(server) as endpoint:
        made = await run(kind, endpoint.url, max_failed=1.0)
    assert made.outcomes == {"scored": 3, "provider_failed": 2}
    failures = {trial.sample_id: trial.failure for trial in made.trials(outcome="provider_failed")}
    kinds = {id: failure.kind for id, failure in failures.items() if failure is not None}
    assert kinds == {"s1": "http_429", "s2": "batch_incomplete"}, "a rate limit is no quota that is used up"


def _again(results: bytes) -> bytes:
    """The results, and the first one once more with another answer."""
    first = results.splitlines()[0] if results else b""
    return results + first.replace(b"re q", b"no q") + b"\n"


def _failed_too(results: bytes) -> bytes:
    """The results, and an error for the request of the first one."""
    rows = [json.loads(line) for line in results.splitlines()]
    error = {"type": "errored", "error": {"type": "error", "error": {"type": "api_error", "message": "?"}}}
    late = [{"custom_id": row["custom_id"], "result": error, "error": {"code": "x"}} for row in rows[:1]]
    return b"".join(json.dumps(row).encode() + b"\n" for row in [*late, *rows, *late])


def _with(change: Mapping[str, Any]) -> Callable[[bytes], bytes]:
    """Change the first row of the results; the last of the five questions, as they come in reverse."""

    def spoil(results: bytes) -> bytes:
        rows = [json.loads(line) for line in results.splitlines()]
        rows[:1] = [{**row, **change} for row in rows[:1]]
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    return spoil


INCOMPLETE, NO_REPLY = ["batch_incomplete"], ["no_reply"]
SPOILT: Mapping[str, tuple[Callable[[bytes], bytes], list[str] | Mapping[str, list[str]]]] = {
    "each line twice": (lambda results: results * 2, []),
    "two replies": (_again, NO_REPLY),
    "an error for what has a reply": (_failed_too, []),
    "ids that nobody sent": (lambda results: results + b"".join(line.replace(b'"custom_id": "', b'"custom_id": "x') + b"\n" for line in results.splitlines()), []),
    "half a line at the end": (lambda results: results[:-30], INCOMPLETE),
    "half a line among the others": (lambda results: results[:40] + b"\n" + results[results.find(b"\n") + 1 :] if results else results, INCOMPLETE),
    "lines without their end": (lambda results: results.rstrip(b"\n"), []),
    "empty lines and ends of Windows": (lambda results: b"\r\n\r\n" + results.replace(b"\n", b"\r\n"), []),
    "an id that is a number": (_with({"custom_id": 7}), INCOMPLETE),
    "no result": (_with({"result": None, "response": None}), {"anthropic": NO_REPLY, "openai": ["http_400"]}),
    "canceled": (_with({"result": {"type": "canceled"}, "response": None}), {"anthropic": ["batch_canceled"], "openai": ["http_400"]}),
    "a type that nobody knows": (_with({"result": {"type": "hovering"}, "response": {"status_code": 299}}), NO_REPLY),
    "a reply that is null": (_with({"result": {"type": "succeeded", "message": None}, "response": {"status_code": 200, "body": None}}), NO_REPLY),
    "a reply that is a list": (_with({"result": {"type": "succeeded", "message": [[]]}, "response": {"status_code": 200, "body": [[]]}}), NO_REPLY),
    "an error that is a text": (_with({"result": {"type": "errored", "error": "no"}, "response": None, "error": "no"}), ["http_400"]),
    "nothing": (lambda results: b"", INCOMPLETE * 5),
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(SERVERS))
@pytest.mark.parametrize("name", SPOILT)
async def test_results_that_are_spoilt_are_nobodys_answer_and_take_no_other_with_them(name: str, kind: str) -> None:
    server = SERVERS[kind]()
    server.spoil, expected = SPOILT[name]
    kinds = expected if isinstance(expected, list) else expected[kind]
    async with Endpoint(server) as endpoint:
        made = await run(kind, endpoint.url, max_failed=1.0)
    found = [trial.failure.kind for trial in made.trials(outcome="provider_failed") if trial.failure is not None]
    assert found == kinds
    assert made.outcomes.get("scored", 0) == 5 - len(kinds)
    assert made.estimate("accuracy").value in (1.0, None), "each reply went to its own question"


@pytest.mark.parametrize("kind", sorted(SERVERS))
@pytest.mark.parametrize(("retries", "posts"), [(0, ["lost"]), (3, ["dropped", "lost"])])
async def test_a_batch_whose_reply_was_lost_is_found_and_not_sent_again(
    kind: str, retries: int, posts: list[str]
) -> None:
    server = SERVERS[kind]()
    async with Endpoint(server) as endpoint:
        await run(kind, endpoint.url, run_id="before")
        server.posts = [*posts]
        made = await run(kind, endpoint.url, retries=retries)
    assert made.outcomes == {"scored": 5}
    assert len(server.sent) == 2, "one for each run"


@pytest.mark.parametrize("kind", sorted(SERVERS))
async def test_a_batch_of_somebody_else_is_not_taken_for_one_whose_reply_was_lost(kind: str) -> None:
    server = SERVERS[kind]()
    server.posts, server.foreign = ["lost"], 1
    async with Endpoint(server) as endpoint:
        made = await run(kind, endpoint.url, max_failed=1.0)
    if kind == "openai":  # which says the file of each batch
        assert made.outcomes == {"scored": 5}
        return
    (kinds,) = {trial.failure.kind for trial in made.trials() if trial.failure is not None}
    (reason, *_) = [str(trial.failure.reason) for trial in made.trials() if trial.failure is not None]
    assert kinds == "batch_unknown"
    assert all(id in reason for id in server.sent)
    assert len(server.sent) == 2, "nothing is sent again"


class Broken(OpenAIServer):
    """Answers the first looks at a batch with something else than its results."""

    answers: list[tuple[Any, int]]

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if self.answers and request.path.startswith("/v1/batches/"):
            return await data(*self.answers.pop(0))(request, writer)
        return await super().__call__(request, writer)


FULL = {"object": "list", "data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (({"id": "batch_1", "status": "failed", "errors": FULL}, 200), "http_400"),
        (({"error": {"message": "No batch found"}}, 404), "batch_gone"),
    ],
)
async def test_a_batch_that_failed_or_is_gone_is_sent_again_on_demand(answer: tuple[Any, int], kind: str) -> None:
    server, store = Broken(), MemoryStore()
    server.answers = [answer]
    async with Endpoint(server) as endpoint:
        first = await run("openai", endpoint.url, store, run_id="r", max_failed=1.0)
        failures = [trial.failure for trial in first.trials(outcome="provider_failed")]
        again = await run("openai", endpoint.url, store, run_id="r", retry_failed=True)
    assert [failure.kind for failure in failures if failure is not None] == [kind] * 5
    assert again.outcomes == {"scored": 5}
    assert len(server.sent) == 2


class Chatty(OpenAIServer):
    """Has replies without choices in its first batch."""

    def _results(self, id: str) -> tuple[bytes, bytes]:
        good, bad = super()._results(id)
        return (
            good.replace(b'"choices": [', b'"choices": [], "chosen": [') if id == next(iter(self.sent)) else good
        ), bad


async def test_a_reply_that_cannot_be_used_is_asked_for_again_on_demand() -> None:
    server, store = Chatty(), MemoryStore()
    async with Endpoint(server) as endpoint:
        first = await run("openai", endpoint.url, store, run_id="r", max_failed=1.0)
        assert first.outcomes == {"provider_failed": 5}
        again = await run("openai", endpoint.url, store, run_id="r", retry_failed=True)
    assert again.outcomes == {"scored": 5}


async def test_looks_that_fail_are_no_requests_of_the_agent() -> None:
    server = Broken()
    server.answers = [({}, 503)] * 2
    async with Endpoint(server) as endpoint:
        options = {"batch": True, "retries": 3, "base_url": f"{endpoint.url}/v1"}
        made = await evaluate_async(TASK, agent="openai:m", agent_options=options, store=MemoryStore())
    assert (made.outcomes, made.usage.requests) == ({"scored": 5}, 5)


@pytest.mark.parametrize("options", [{}, {"retries": 1, "retry_seconds": 5}])
async def test_an_outage_while_a_batch_is_under_way_is_waited_for(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "PATIENT", replace(batches.PATIENT, wait_seconds=0.001, longest_wait_seconds=0.002))
    server = Broken()
    server.answers = [({}, 503)] * 30
    async with Endpoint(server) as endpoint:
        options = {**options, "batch": True, "base_url": f"{endpoint.url}/v1"}
        made = await evaluate_async(TASK, agent="openai:m", agent_options=options, store=MemoryStore())
    assert made.outcomes == {"scored": 5}


async def test_the_results_of_a_batch_may_be_larger_than_one_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = Client.__init__.__kwdefaults__ or {}
    monkeypatch.setattr(Client.__init__, "__kwdefaults__", {**defaults, "most_reply_bytes": 500})
    async with Endpoint(OpenAIServer()) as endpoint:
        made = await run("openai", endpoint.url)
    assert made.outcomes == {"scored": 5}


@pytest.mark.parametrize("kind", sorted(SERVERS))
async def test_a_run_that_was_stopped_gets_the_results_of_the_batch_it_had_sent(kind: str) -> None:
    server = SERVERS[kind](looks=10**9)
    store = MemoryStore()
    async with Endpoint(server) as endpoint:
        first = asyncio.ensure_future(run(kind, endpoint.url, store, run_id="r"))
        async with asyncio.timeout(20):
            await server.was_looked_at.wait()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        server.looks = 0
        again = await run(kind, endpoint.url, store, run_id="r")
        other = await run(kind, endpoint.url, run_id="other")
    assert again.outcomes == other.outcomes == {"scored": 5}
    assert again.estimate("accuracy").value == 1.0
    assert [len(questions) for questions in server.sent.values()] == [5, 5], "one batch for each run"


async def test_the_budget_bounds_what_a_batch_holds() -> None:
    server = OpenAIServer()
    async with Endpoint(server) as endpoint:
        made = await run("openai", endpoint.url, budget=Budget(requests=3))
    assert len(server.questions) <= 3
    assert made.outcomes["scored"] == 3


async def test_a_price_that_is_not_known_is_said_once() -> None:
    Path("proctor.toml").write_text('price_table = "genai-prices"\n', encoding="utf-8")
    async with Endpoint(OpenAIServer()) as endpoint:
        made = await run("openai", endpoint.url)
    assert made.usage.cost is None
    assert ["The price of m is not known" in str(warning) for warning in made.record.warnings] == [True]


async def test_a_key_is_in_no_batch_and_in_no_file_of_ours(tmp_path: Path) -> None:
    server = OpenAIServer()
    async with Endpoint(server) as endpoint:
        await run("openai", endpoint.url)
    assert all(b"sk-a-key" not in request.body for request in endpoint.requests)
    assert all(b"sk-a-key" not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_batches_are_refused_where_there_are_none() -> None:
    for options in (
        {"batch": True, "stream": True},
        {"batch": True, "extra_body": {"stream": True}},
        {"batch": True, "base_url": "http://x.example/chat/completions?v=1"},
    ):
        with pytest.raises(BadInput, match="batch"):
            model("openai:m", options)
    with pytest.raises(BadInput, match="batch"):
        model("anthropic:m", {"batch": True, "base_url": "http://x.example/v1/messages?beta=true"})
    with pytest.raises(BadInput, match="batch"):
        model("gemini:m", {"batch": True})


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
async def test_a_run_that_was_killed_sends_nothing_twice(number: int, tmp_path: Path) -> None:
    lines = "".join(f'{{"id": "s{n}", "question": "q{n}", "answer": "re q{n}"}}\n' for n in range(3))
    (tmp_path / "q.jsonl").write_text(lines, encoding="utf-8")
    server = OpenAIServer(looks=10**9)
    async with Endpoint(server) as endpoint:
        words = ["run", "q.jsonl", "--agent", "openai:m", "--batch", "--base-url", f"{endpoint.url}/v1"]
        command = [sys.executable, "-m", "proctor", *words, "--scorer", "exact", "--run", "r", "--store", "runs.db"]
        silent = asyncio.subprocess.DEVNULL
        first = await asyncio.create_subprocess_exec(*command, stdout=silent, stderr=silent)
        async with asyncio.timeout(60):
            await server.was_looked_at.wait()
        first.send_signal(number)
        await first.wait()
        server.looks = 0
        again = await asyncio.create_subprocess_exec(*command, "--json", stdout=-1, stderr=-1)
        async with asyncio.timeout(60):
            said, warned = await again.communicate()
    assert again.returncode == 0
    assert json.loads(said)["outcomes"] == {"scored": 3}
    assert b"lost" not in warned
    assert sorted(server.questions) == ["q0", "q1", "q2"]


class Killed:
    """The command of a run in batches, which its server kills once, at a moment."""

    def __init__(self, kind: str, folder: Path, url: str) -> None:
        words = ["run", "q.jsonl", "--agent", f"{kind}:m", "--batch", "--base-url", f"{url}/v1", "--scorer", "exact"]
        self._command = [sys.executable, "-m", "proctor", *words, "--run", "r", "--store", "runs.db", "--json"]
        lines = "".join(f'{{"id": "s{n}", "question": "q{n}", "answer": "re q{n}"}}\n' for n in range(3))
        (folder / "q.jsonl").write_text(lines, encoding="utf-8")
        self._process: asyncio.subprocess.Process | None = None

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)

    async def run(self) -> dict[str, Any] | None:
        self._process = await asyncio.create_subprocess_exec(*self._command, stdout=-1, stderr=-1)
        async with asyncio.timeout(60):
            said, _ = await self._process.communicate()
        return json.loads(said) if self._process.returncode == 0 else None


@pytest.mark.parametrize(
    ("kind", "moment"),
    [
        pytest.param(kind, moment, marks=() if moment == "made" else pytest.mark.torture)
        for kind, moments in {"openai": ("uploaded", "asked", "made"), "anthropic": ("listed", "asked", "made")}.items()
        for moment in moments
    ],
)
async def test_a_kill_while_a_batch_is_submitted_leads_to_one_batch(kind: str, moment: str, tmp_path: Path) -> None:
    server = SERVERS[kind]()
    async with Endpoint(server) as endpoint:
        command = Killed(kind, tmp_path, endpoint.url)
        server.kills[moment] = command.kill
        assert await command.run() is None
        again = await command.run()
    assert again is not None
    assert again["outcomes"] == {"scored": 3}
    assert again["usage"]["requests"] == 3
    assert [len(questions) for questions in server.sent.values()] == [3]


async def test_user_and_password_of_an_address_go_with_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    async with Endpoint(OpenAIServer()) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url.replace("://", "://me:a-password@") + "/v1")
        await evaluate_async(TASK, agent="openai:m", agent_options={"batch": True}, store=MemoryStore())
    assert {request.headers.get("authorization", "")[:6] for request in endpoint.requests} == {"Basic "}


async def test_another_run_of_the_same_name_sends_its_own_requests() -> None:
    server = OpenAIServer()
    async with Endpoint(server) as endpoint:
        for _ in range(2):
            await run("openai", endpoint.url, MemoryStore(), run_id="nightly")
    assert [len(questions) for questions in server.sent.values()] == [5, 5]


class OneBatch:
    """Has one batch, which goes on until it is told to end."""

    def __init__(self) -> None:
        self.is_over = False
        self.is_cut_off = False
        self.is_found: bool | None = True
        self.holds = "key"
        self.sizes: list[int] = []
        self.was_looked_at = asyncio.Event()

    async def find(self, client: Client, noted: bytes, is_known: batch_apis.IsKnown) -> str | None:
        match self.is_found:
            case None:
                raise RequestFault("batch_unknown", "nobody knows", again=False)
            case True:
                return "batch_1"
            case False:
                return None

    async def submit(
        self, client: Client, body_by_id: Mapping[str, bytes], is_known: batch_apis.IsKnown, note: batch_apis.Note
    ) -> str:
        await note(b"what it is known by")
        self.sizes.append(sum(map(len, body_by_id.values())))
        if self.is_cut_off:
            await asyncio.Event().wait()
        return "batch_1"

    async def results(self, client: Client, batch: str) -> Mapping[str, batch_apis.BatchLine] | None:
        self.was_looked_at.set()
        return {self.holds: batch_apis.BatchLine(reply=b"said")} if self.is_over else None


async def test_a_file_that_fails_when_the_results_are_there_ends_the_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(owner_by_key: Mapping[str, str | None]) -> None:
        raise BadInput("The disk is full.")

    api, journal = OneBatch(), batches.Journal(tmp_path / "sent.db")
    api.is_over = True
    monkeypatch.setattr(journal, "settle", full)
    batched = batches.Batches(api, journal, where="-", host="-", policy=None)
    async with Client() as client, asyncio.timeout(20):
        with pytest.raises(BadInput, match="disk is full"):
            await batched.reply(client, "key", b"", lambda data: ModelReply())


async def test_a_large_request_does_not_make_the_batch_of_others_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MOST_BYTES", 100)
    api = OneBatch()
    batched = batches.Batches(api, batches.Journal(tmp_path / "sent.db"), where="-", host="-", policy=None)
    async with Client() as client, asyncio.timeout(20):
        asking = [
            asyncio.create_task(batched.reply(client, f"{size}", b"x" * size, lambda data: ModelReply()))
            for size in (60, 70, 300)
        ]
        while len(api.sizes) < 3:  # noqa: ASYNC110 - the fake tells nobody
            await asyncio.sleep(0.01)
        for one in asking:
            one.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    assert sorted(api.sizes) == [60, 70, 300]


def test_a_batch_is_waited_for_again_in_another_event_loop(tmp_path: Path) -> None:
    api = OneBatch()
    batched = batches.Batches(api, batches.Journal(tmp_path / "sent.db"), where="-", host="-", policy=None)

    async def ask() -> ModelReply:
        async with Client() as client:
            return await batched.reply(client, "key", b"", lambda data: ModelReply(parts=(Text(text=data.decode()),)))

    async def stopped() -> None:
        asking = asyncio.ensure_future(ask())
        await api.was_looked_at.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    asyncio.run(stopped())
    api.is_over = True
    assert asyncio.run(asyncio.wait_for(ask(), 20)).parts == (Text(text="said"),)


async def test_without_a_file_for_what_was_sent_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full").mkdir()
    monkeypatch.setattr(batches, "FILE", tmp_path / "full")
    server = OpenAIServer()
    async with Endpoint(server) as endpoint:
        with pytest.raises(BadInput, match="cannot be used"):
            await run("openai", endpoint.url)
    assert not server.sent


async def test_a_model_that_is_listened_to_sends_no_stream_in_a_batch() -> None:
    server = OpenAIServer()
    token = around.set(replace(around.get(), hear=lambda text, is_thought, begins: None))
    try:
        async with Endpoint(server) as endpoint:
            asked = model("openai:m", {"base_url": f"{endpoint.url}/v1", "batch": True})
            step = await asked.complete([Message.of("user", "q")])
    finally:
        around.reset(token)
    assert step.message.text == "re q"
    assert all(b'"stream"' not in request.body for request in endpoint.requests)


def asked_after_a_stop(api: OneBatch, path: Path, *, times: int = 1) -> list[str]:
    """Return what requests got after a process ended while it submitted them: their text, or the kind of their failure."""

    async def ask() -> str:
        batched = batches.Batches(api, batches.Journal(path), where="-", host="-", policy=None)
        async with Client() as client, asyncio.timeout(20):
            try:
                reply = await batched.reply(
                    client, "key", b"q", lambda data: ModelReply(parts=(Text(text=data.decode()),))
                )
            except ProviderFailed as error:
                return error.kind
        (text,) = reply.parts
        assert isinstance(text, Text)
        return text.text

    async def stopped() -> None:
        asking = asyncio.ensure_future(ask())
        while not api.sizes:  # noqa: ASYNC110 - the fake tells nobody
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    api.is_cut_off = True
    asyncio.run(stopped())
    api.is_cut_off, api.is_over = False, True
    return [asyncio.run(ask()) for _ in range(times)]


def test_a_batch_that_was_being_submitted_is_adopted(tmp_path: Path) -> None:
    api = OneBatch()
    assert asked_after_a_stop(api, tmp_path / "sent.db") == ["said"]
    assert len(api.sizes) == 1


def test_a_batch_that_was_never_made_is_sent(tmp_path: Path) -> None:
    api = OneBatch()
    api.is_found = False
    assert asked_after_a_stop(api, tmp_path / "sent.db") == ["said"]
    assert len(api.sizes) == 2


def test_a_batch_of_which_nobody_knows_is_sent_again_only_on_demand(tmp_path: Path) -> None:
    api = OneBatch()
    api.is_found = None
    assert asked_after_a_stop(api, tmp_path / "sent.db", times=2) == ["batch_unknown", "said"]
    assert len(api.sizes) == 2


def test_a_batch_of_somebody_else_that_was_adopted_is_said_to_be_theirs(tmp_path: Path) -> None:
    api = OneBatch()
    api.holds = "theirs"
    assert asked_after_a_stop(api, tmp_path / "sent.db") == ["batch_foreign"]


@pytest.mark.parametrize("kind", sorted(SERVERS))
async def test_a_batch_is_found_among_many_later_ones(kind: str) -> None:
    server, noted = SERVERS[kind](), list[bytes]()

    async def note(one: bytes) -> None:
        noted.append(one)

    async with Endpoint(server) as endpoint, Client() as client:
        target = RequestTarget(f"{endpoint.url}/v1{PATHS[kind]}")
        api = (batch_apis.openai_batches if kind == "openai" else batch_apis.anthropic_batches)(target, PATHS[kind])

        async def submit(count: int) -> str:
            body = b'{"messages": [{"content": "q"}]}'
            return await api.submit(client, {str(number): body for number in range(count)}, lambda batch: False, note)

        await submit(3)
        ours = await submit(3)
        for _ in range(5):
            await submit(1)
        server.page_size = 2
        assert await api.find(client, noted[1], lambda batch: False) == ours
        server.page_size = 5
        assert await api.find(client, noted[1], lambda batch: False) == ours
