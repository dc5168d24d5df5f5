"""PDF and sound as each API documents them, and what is said of a file that an API or a model does not take."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, chat, data
from model_apis import Anthropic, Gemini, Responses

from proctor import Sample, Task, evaluate_async
from proctor.core.sample import File, Message, Text, Tool, ToolCall, ToolResult
from proctor.models.named import model
from proctor.models.openai import ChatModel
from proctor.transport.client import Client
from proctor.transport.retry import RetryPolicy
from proctor_adapters.models.local import LocalModel, _in_words

READ = Tool(name="read", parameters={"properties": {}})
QUICK = RetryPolicy(attempts=1)
PDF = b"%PDF-1.7\n"
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt "
MP3 = b"ID3\x04\x00\x00"
GIF = File(name="b.gif", media_type="image/gif", data=b"GIF89a!")
BARE_MP3 = b"\xff\xfb\x90\x64\x00"
FILES = (
    File(name="a.pdf", media_type="application/pdf", data=PDF),
    File(name="b.wav", media_type="audio/x-wav", data=WAV),
    File(name="c.mp3", media_type="audio/mpeg", data=MP3),
)
TYPED = (
    FILES[0],
    *(
        File(name=file.name, media_type=kind, data=file.data)
        for file, kind in zip(FILES[1:], ("audio/wav", "audio/mpeg"), strict=True)
    ),
)
SERVERS: dict[str, Any] = {
    "openai": chat("Heard."),
    "responses": Responses(),
    "anthropic": Anthropic(),
    "gemini": Gemini(),
}
PDF_URL = f"data:application/pdf;base64,{b64encode(PDF).decode()}"
NOTES = ["\n[Attached file: b.wav (audio/x-wav)]\n", "\n[Attached file: c.mp3 (audio/mpeg)]\n"]


def encoded(data: bytes) -> str:
    return b64encode(data).decode()


SOUNDS_OF_CHAT = [
    {"type": "input_audio", "input_audio": {"data": encoded(WAV), "format": "wav"}},
    {"type": "input_audio", "input_audio": {"data": encoded(MP3), "format": "mp3"}},
]
PDF_BY_KIND: dict[str, Any] = {
    "openai": {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF_URL}},
    "responses": {"type": "input_file", "filename": "a.pdf", "file_data": PDF_URL},
    "anthropic": {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": encoded(PDF)},
    },
    "gemini": {"inlineData": {"mimeType": "application/pdf", "data": encoded(PDF)}},
}
SOUNDS_BY_KIND: dict[str, Any] = {
    "openai": SOUNDS_OF_CHAT,
    "responses": [{"type": "input_text", "text": note} for note in NOTES],
    "anthropic": [{"type": "text", "text": note} for note in NOTES],
    "gemini": [
        {"inlineData": {"mimeType": "audio/wav", "data": encoded(WAV)}},
        {"inlineData": {"mimeType": "audio/mp3", "data": encoded(MP3)}},
    ],
}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for api, variable in ((Anthropic, "ANTHROPIC_API_KEY"), (Gemini, "GEMINI_API_KEY"), (Responses, "OPENAI_API_KEY")):
        monkeypatch.setenv(variable, api().key)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def asking(*files: File) -> tuple[Message, ...]:
    return (Message(role="user", parts=(Text(text="What is this?"), *files)),)


def made(kind: str, endpoint: Endpoint, **options: Any) -> ChatModel:
    base = endpoint.url + ("/v1" if kind in ("openai", "responses") else "")
    chat_model = model(f"{kind}:m", {"base_url": base, **options})
    assert isinstance(chat_model, ChatModel)
    return chat_model


async def sent(kind: str, messages: tuple[Message, ...], **options: Any) -> Any:
    async with Endpoint(SERVERS[kind]) as endpoint, Client(policy=QUICK):
        await made(kind, endpoint, **options).complete(messages)
    return endpoint.requests[-1].json


def content_of(kind: str, body: Any) -> list[Any]:
    """Return the content of the last message of a request."""
    match kind:
        case "gemini":
            return body["contents"][-1]["parts"]  # type: ignore[no-any-return]
        case "responses":
            return body["input"][-1]["content"]  # type: ignore[no-any-return]
    return body["messages"][-1]["content"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", SERVERS)
async def test_pdf_and_sound_of_a_question_are_sent_as_the_api_documents_them(kind: str) -> None:
    content = content_of(kind, await sent(kind, asking(*FILES)))
    assert content[1:] == [PDF_BY_KIND[kind], *SOUNDS_BY_KIND[kind]]


@pytest.mark.parametrize("kind", SERVERS)
async def test_pdf_and_sound_of_a_result_are_sent_or_named_in_its_text(kind: str) -> None:
    said, calling = (
        chat("Heard."),
        chat(None, tool_calls=[{"id": "c1", "function": {"name": "read", "arguments": "{}"}}]),
    )
    async with Endpoint(*((calling, said) if kind == "openai" else (SERVERS[kind],))) as endpoint, Client(policy=QUICK):
        asked = made(kind, endpoint)
        first = await asked.complete(asking(), [READ])
        (call,) = first.message.calls
        result = ToolResult(name=call.name, content="Read.", id=call.id, files=TYPED)
        await asked.complete([*asking(), first.message, Message(role="tool", parts=(result,))], [READ])
    body = endpoint.requests[-1].json
    lines = [
        f"[1 file left out: {name}; it cannot be shown here.]"
        for name in ("b.wav (audio/wav, 16 bytes)", "c.mp3 (audio/mpeg, 6 bytes)")
    ]
    text = "\n".join(("Read.", *lines))
    match kind:
        case "openai":
            assert body["messages"][2] == {"role": "tool", "tool_call_id": "c1", "content": "Read."}
            files = [part for part in body["messages"][3]["content"] if part["type"] != "text"]
            assert files == [PDF_BY_KIND[kind], *SOUNDS_OF_CHAT]
        case "responses":
            assert body["input"][-1]["output"] == [{"type": "input_text", "text": text}, PDF_BY_KIND[kind]]
        case "anthropic":
            assert content_of(kind, body)[0]["content"] == [{"type": "text", "text": text}, PDF_BY_KIND[kind]]
        case "gemini":
            (part,) = content_of(kind, body)
            assert part["functionResponse"]["response"] == {"output": text}
            assert part["functionResponse"]["parts"] == [PDF_BY_KIND[kind]]


async def test_bytes_decide_what_a_file_is_and_not_its_name_or_declared_type(tmp_path: Path) -> None:
    path = tmp_path / "speech"
    path.write_bytes(BARE_MP3)
    files = (
        File(name="a.bin", data=PDF),
        File(name="speech", path=str(path)),
        File(name="no.pdf", media_type="application/pdf", data=b"<html>"),
        File(name="no.mp3", media_type="audio/mpeg", data=b"ID3,name"),
        File(name="far.mp3", media_type="audio/mpeg", url="https://a.example/far.mp3"),
    )
    content = content_of("openai", await sent("openai", asking(*files)))
    kinds = [part["type"] for part in content]
    assert kinds == ["text", "file", "input_audio", "text", "text", "text"]
    assert content[1]["file"]["file_data"] == PDF_URL
    assert content[2]["input_audio"] == {"data": encoded(BARE_MP3), "format": "mp3"}


@pytest.mark.parametrize(("kind", "is_sent"), [("anthropic", True), ("gemini", False)])
async def test_a_gif_is_named_where_the_api_takes_none(kind: str, is_sent: bool) -> None:
    asked = asking(File(name="a.gif", media_type="image/png", data=b"GIF89a"))
    async with Endpoint(SERVERS[kind]) as endpoint, Client(policy=QUICK):
        taker = made(kind, endpoint)
        first = await taker.complete(asked, [READ])
        (call,) = first.message.calls
        result = ToolResult(name=call.name, content="Read.", id=call.id, files=(GIF,))
        await taker.complete([*asked, first.message, Message(role="tool", parts=(result,))], [READ])
    body = str(endpoint.requests[-1].json)
    assert (encoded(b"GIF89a") in body, encoded(b"GIF89a!") in body) == (is_sent, is_sent)
    assert ("[Attached file: a.gif" in body, "left out: b.gif" in body) == (not is_sent, not is_sent)


class Drawer:
    """An environment whose one tool returns a GIF."""

    tools = (READ,)

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult(name=call.name, content="Read.", id=call.id, files=(GIF,))

    def state(self) -> dict[str, object]:
        return {}


@pytest.mark.parametrize(("kind", "count"), [("anthropic", 0), ("gemini", 1)])
async def test_a_gif_of_an_environment_that_is_not_sent_is_counted_with_the_trial(kind: str, count: int) -> None:
    async with Endpoint(SERVERS[kind]) as endpoint:
        task = Task(
            name="t", samples=[Sample.ask("s", "?", target="Paris")], scorers=["exact"], environment=lambda _: Drawer()
        )
        how: dict[str, Any] = {"agent": f"{kind}:m", "agent_options": {"base_url": endpoint.url, "max_steps": 2}}
        run = await evaluate_async(task, store=":memory:", max_failed=1.0, **how)
        (trial,) = run.trials()
    assert trial.notes.get("files_left_out", 0) == count, trial.failure


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_model_that_takes_no_pdf_and_no_sound_is_given_their_names(kind: str) -> None:
    far = [File(name="far.pdf", media_type="application/pdf", url="https://a.example/far.pdf")]
    body = await sent(kind, asking(*FILES, *far), pdf=False, sound=False)
    assert "far.pdf (application/pdf), at https://a.example/far.pdf" in str(body)
    assert encoded(PDF) not in str(body)
    assert encoded(WAV) not in str(body)
    assert all(f"[Attached file: {file.name} ({file.media_type})]" in str(body) for file in FILES)


@pytest.mark.parametrize(("options", "count"), [({}, 0), ({"sound": False}, 2), ({"pdf": False, "sound": False}, 3)])
async def test_files_of_a_question_that_were_not_sent_are_counted_with_the_trial(
    options: dict[str, Any], count: int
) -> None:
    sample = Sample.ask("s", "What is this?", target="Heard.", files=FILES)
    async with Endpoint(chat("Heard.")) as endpoint:
        how: dict[str, Any] = {"agent": "openai:m", "agent_options": {"base_url": endpoint.url + "/v1", **options}}
        run = await evaluate_async(Task(name="t", samples=[sample], scorers=["exact"]), store=":memory:", **how)
        (trial,) = run.trials()
    assert trial.outcome == "scored"
    assert trial.notes.get("files_left_out", 0) == count


async def test_an_endpoint_that_refuses_a_file_fails_the_sample_and_books_no_zero() -> None:
    refused = {"error": {"message": "Invalid content type 'input_audio'.", "type": "invalid_request_error"}}
    sample = Sample.ask("s", "What is this?", target="Heard.", files=FILES[1:])
    async with Endpoint(data(refused, 400)) as endpoint:
        how: dict[str, Any] = {"agent": "openai:m", "agent_options": {"base_url": endpoint.url + "/v1"}}
        task = Task(name="t", samples=[sample], scorers=["exact"])
        run = await evaluate_async(task, store=":memory:", max_failed=1.0, **how)
        (trial,) = run.trials()
    assert trial.outcome == "provider_failed"
    assert trial.failure is not None
    assert "input_audio" in str(trial.failure.reason)


def test_a_model_of_text_is_told_the_names_of_the_files_of_a_question() -> None:
    local = LocalModel("smollm2-135m")
    assert not any(map(local.takes, FILES))
    (message,) = _in_words(asking(FILES[0]))
    assert "[Attached file: a.pdf (application/pdf)]" in message.text
