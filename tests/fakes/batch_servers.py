"""Local servers with the batch APIs of OpenAI and Anthropic, which remember what was sent and can lose, expire or fail it.

The official packages were run against them: openai 3.54.0, anthropic 2.12.0.
"""

import asyncio
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from email import message_from_bytes
from typing import Any

from endpoint import Request, body, data, raw

Json = dict[str, Any]
Fate = Callable[[str], str]  # of a question: "ok", "expired", "errored", "busy", "garbled" or "lost"


class Batches:
    """What both servers share.

    Args:
        looks: how often a batch is looked at before it is over.
        fate: what becomes of a request, by its question.

    Attributes:
        sent: the questions of each batch, by its id.
        posts: what becomes of the next requests for a batch: "lost" makes one and loses the reply, "dropped" makes none.
        spoil: what becomes of a file of results.
        foreign: batches of others that come into being with the next one of ours.
        page_size: batches on a page of the list.
        kills: by moment, what is called then, once: "listed", "uploaded" (either before the reply), "asked" (before a batch
            is made), "made" (after it, before the reply). The connection is closed after it.
    """

    def __init__(self, *, looks: int = 1, fate: Fate = lambda question: "ok") -> None:
        self.looks = looks
        self.fate = fate
        self.sent: dict[str, list[str]] = {}
        self.posts: list[str] = []
        self.foreign = 0
        self.page_size = 100
        self.spoil: Callable[[bytes], bytes] = lambda results: results
        self.kills: dict[str, Callable[[], None]] = {}
        self.was_looked_at = asyncio.Event()
        self._posted: dict[str, Request] = {}
        self._lines: dict[str, list[Json]] = {}
        self._looked: dict[str, int] = {}

    @property
    def questions(self) -> list[str]:
        """Every question that was sent, in order."""
        return [question for questions in self.sent.values() for question in questions]

    async def _make(self, lines: list[Json], status: str, request: Request, writer: asyncio.StreamWriter) -> None:
        if self._kill("asked"):
            await raw(b"")(request, writer)
            return
        fate = self.posts.pop(0) if self.posts else "ok"
        for _ in range(self.foreign):
            self._begin(f"foreign_{secrets.token_hex(4)}", lines)
        id = f"batch_{secrets.token_hex(4)}"  # as nothing else is called
        self._posted[id] = request
        if fate != "dropped":
            self._begin(id, lines)
        if self._kill("made"):
            await raw(b"")(request, writer)
            return
        await (data(self._state(id, status)) if fate == "ok" else raw(b""))(request, writer)

    async def _list(self, status: str, request: Request, writer: asyncio.StreamWriter) -> None:
        if self._kill("listed"):
            await raw(b"")(request, writer)
            return
        ids, after = [*reversed(self.sent)], re.search(r"&after(?:_id)?=(\w+)", request.path)
        newest = ids[ids.index(after[1]) + 1 if after else 0 :]
        shown = [self._state(id, status) for id in newest[: self.page_size]]
        more = len(newest) > self.page_size
        await data({"data": shown, "has_more": more, "first_id": None, "last_id": None})(request, writer)

    def _kill(self, moment: str) -> bool:
        kill = self.kills.pop(moment, None)
        if kill is not None:
            kill()
        return kill is not None

    def _begin(self, id: str, lines: list[Json]) -> None:
        self.sent[id] = [_question(line) for line in lines]
        self._lines[id] = lines
        self._looked[id] = 0

    def _is_over(self, id: str) -> bool:
        self._looked[id] += 1
        self.was_looked_at.set()
        return self._looked[id] > self.looks

    def _state(self, id: str, status: str) -> Json:
        raise NotImplementedError

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError


class OpenAIServer(Batches):
    """`/v1/files` and `/v1/batches`."""

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        files, path = self.__dict__.setdefault("files", {}), request.path
        if path == "/v1/files":
            head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
            parts = {
                part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
                for part in message_from_bytes(head + request.body).walk()
                if not part.is_multipart()
            }
            assert parts["purpose"] == b"batch"
            files[f"file-{len(files) + 1}"] = parts["file"]
            if self._kill("uploaded"):
                return await raw(b"")(request, writer)
            return await data({"id": f"file-{len(files)}", "object": "file"})(request, writer)
        if request.method == "GET" and path.startswith("/v1/batches?"):
            return await self._list("validating", request, writer)
        if path == "/v1/batches":
            asked = request.json
            assert asked["completion_window"] == "24h"
            lines = [json.loads(line) for line in files[asked["input_file_id"]].splitlines()]
            assert {line["url"] for line in lines} == {asked["endpoint"]}
            return await self._make(lines, "validating", request, writer)
        if path.startswith("/v1/batches/"):
            id = path.rpartition("/")[2]
            if not self._is_over(id):
                return await data(self._state(id, "in_progress"))(request, writer)
            files[f"out-{id}"], files[f"err-{id}"] = map(self.spoil, self._results(id))
            expired = any(self.fate(question) == "expired" for question in self.sent[id])
            state = self._state(id, "expired" if expired else "completed")
            state |= {"output_file_id": f"out-{id}", "error_file_id": f"err-{id}"}
            return await data(state)(request, writer)
        return await body(files[path.split("/")[3]])(request, writer)

    def _state(self, id: str, status: str) -> Json:
        batch = {
            "id": id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "status": status,
            "created_at": int(time.time()),
        }
        file = self._posted[id].json["input_file_id"] if id in self._posted else "file-of-another"
        return {**batch, "completion_window": "24h", "input_file_id": file}

    def _results(self, id: str) -> tuple[bytes, bytes]:
        good, bad = [], []
        for line in reversed(self._lines[id]):
            row = {"id": "batch_req_1", "custom_id": line["custom_id"], "response": None, "error": None}
            question = _question(line)
            match self.fate(question):
                case "ok":
                    message = {"role": "assistant", "content": f"re {question}"}
                    reply = {
                        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                        "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000},
                    }
                    good.append({**row, "response": {"status_code": 200, "request_id": "r", "body": reply}})
                case "errored":
                    error = {"error": {"message": "no such thing", "code": "invalid_value"}}
                    bad.append({**row, "response": {"status_code": 400, "request_id": "r", "body": error}})
                case "busy":
                    error = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
                    bad.append({**row, "response": {"status_code": 429, "request_id": "r", "body": error}})
                case "garbled":
                    bad.append({"id": "batch_req_1"})
                case "expired":
                    late = {"code": "batch_expired", "message": "This request could not be executed in time."}
                    bad.append({**row, "error": late})
        return _jsonl(good), _jsonl(bad)


class AnthropicServer(Batches):
    """`/v1/messages/batches`."""

    address = ""

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        path, self.address = request.path, f"http://{request.headers['host']}"
        if request.method == "GET" and path.startswith("/v1/messages/batches?"):
            return await self._list("in_progress", request, writer)
        if path == "/v1/messages/batches":
            lines = request.json["requests"]
            return await self._make(lines, "in_progress", request, writer)
        if path.endswith("/results"):
            return await body(self.spoil(self._results(path.split("/")[4])), content_type="application/x-jsonl")(
                request, writer
            )
        id = path.rpartition("/")[2]
        state = self._state(id, "ended" if self._is_over(id) else "in_progress")
        return await data(state)(request, writer)

    def _state(self, id: str, status: str) -> Json:
        counts = {"processing": len(self._lines.get(id, ())), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        times = {"created_at": "2026-11-23T10:00:00Z", "expires_at": "2026-11-24T10:00:00Z"}
        url = f"{self.address}/v1/messages/batches/{id}/results" if status == "ended" else None
        state = {"id": id, "type": "message_batch", "processing_status": status, "request_counts": counts}
        return {**state, **times, "results_url": url}

    def _results(self, id: str) -> bytes:
        rows: list[Json] = []
        for line in reversed(self._lines[id]):
            question, result = _question(line), {}
            match self.fate(question):
                case "ok":
                    content = [{"type": "text", "text": f"re {question}"}]
                    usage = {"input_tokens": 1_000_000, "output_tokens": 1_000_000}
                    reply = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
                    result = {"type": "succeeded", "message": {**reply, "stop_reason": "end_turn", "usage": usage}}
                case "errored":
                    error = {"type": "invalid_request_error", "message": "too long"}
                    result = {"type": "errored", "error": {"type": "error", "error": error, "request_id": "r"}}
                case "busy":
                    error = {"type": "rate_limit_error", "message": "slow down"}
                    result = {"type": "errored", "error": {"type": "error", "error": error, "request_id": "r"}}
                case "garbled":
                    rows.append({"result": {}})
                    continue
                case "expired":
                    result = {"type": "expired"}
                case "lost":
                    continue
            rows.append({"custom_id": line["custom_id"], "result": result})
        return _jsonl(rows)


def _question(line: Mapping[str, Any]) -> str:
    content = (line.get("body") or line["params"])["messages"][-1]["content"]
    return str(content if isinstance(content, str) else content[-1]["text"])


def _jsonl(rows: list[Json]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
