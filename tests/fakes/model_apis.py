"""Local servers that speak the APIs of Anthropic, Google and OpenAI's Responses, and refuse what those refuse.

Each asks for the tool `weather` where it is offered, wants its thoughts back unchanged with the result, and then answers;
without tools it answers at once. The official packages were run against them: anthropic 2.12.0, google-genai 2.34.0, openai 3.54.0.
"""

import asyncio
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from endpoint import Request, body, data

SIGNATURE = "dGhlIHNpZ25hdHVyZSBvZiBhIHRob3VnaHQ="  # base64, as the packages decode it
Json = dict[str, Any]


def sse(*events: tuple[str, Any]) -> bytes:
    """Server-sent events with names; an empty name is left out."""
    named = ((f"event: {name}\n" if name else "") + f"data: {json.dumps(value)}\n\n" for name, value in events)
    return "".join(named).encode()


def pieces(text: str) -> list[str]:
    """A text in two pieces."""
    return [text[:4], text[4:]]


class Anthropic:
    """`POST /v1/messages`."""

    key = "sk-ant-api03-a-key-of-a-test"

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        asked = request.json
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if given != self.key:
            return await self._error(401, "authentication_error", "invalid x-api-key", request, writer)
        if (wrong := self._wrong(request, asked)) is not None:
            return await self._error(400, "invalid_request_error", wrong, request, writer)
        message = self._reply(asked)
        if asked.get("stream"):
            content = sse(*((event["type"], event) for event in self._events(message)))
            return await body(content, content_type="text/event-stream")(request, writer)
        return await data(message, request_id="req_1")(request, writer)

    async def _error(self, status: int, kind: str, text: str, request: Request, writer: asyncio.StreamWriter) -> None:
        error = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_1"}
        await data(error, status)(request, writer)

    def _wrong(self, request: Request, asked: Json) -> str | None:
        version = request.headers.get("anthropic-version")
        if request.path != "/v1/messages" or version not in ("2023-06-01", "2026-10-21"):
            return "anthropic-version: header is required"
        for name in ("temperature", "top_p", "top_k"):
            if name in asked and version == "2026-10-21":
                return f"{name}: Extra inputs are not permitted"
        if not isinstance(asked.get("max_tokens"), int):
            return "max_tokens: Field required"
        messages = asked["messages"]
        if not messages or messages[0]["role"] != "user":
            return 'messages: first message must use the "user" role'
        for before, after in pairwise(messages):
            used = [
                block["id"] for block in before["content"] if isinstance(block, dict) and block["type"] == "tool_use"
            ]
            given = [one.get("tool_use_id") for one in after["content"] if isinstance(one, dict)]
            if used and given[: len(used)] != used:
                return "messages: `tool_use` ids were found without `tool_result` blocks immediately after"
            if before["role"] == after["role"]:
                return "messages: roles must alternate"
            thoughts = [block for block in before["content"] if isinstance(block, dict) and "thinking" in block["type"]]
            if used and _thinks(asked) and thoughts != self._thoughts():
                return "messages.1.content.0: Expected `thinking` as it was"
        for message in messages:
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] == "text" and not block["text"].strip():
                    return "messages: text content blocks must contain non-whitespace text"
        return None

    def _thoughts(self) -> list[Json]:
        return [
            {"type": "thinking", "thinking": "They want weather.", "signature": SIGNATURE},
            {"type": "redacted_thinking", "data": "EmwKAhgB"},
        ]

    def _reply(self, asked: Json) -> Json:
        has_result = any(
            isinstance(block, dict) and block["type"] == "tool_result" for block in asked["messages"][-1]["content"]
        )
        content: list[Json] = []
        stop = "end_turn"
        if asked.get("tools") and not has_result:
            content = [*(self._thoughts() if _thinks(asked) else ()), {"type": "text", "text": "Let me look."}]
            call = {"type": "tool_use", "id": "toolu_01A", "name": asked["tools"][0]["name"], "input": {"city": "Rome"}}
            content.append(call)
            stop = "tool_use"
        elif "output_config" in asked and "format" in asked["output_config"]:
            assert asked["output_config"]["format"]["type"] == "json_schema"
            content = [{"type": "text", "text": '{"city": "Paris"}'}]
        else:
            content = [{"type": "text", "text": "It is sunny." if has_result else "Paris"}]
        return {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": asked["model"],
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 10,
                "cache_creation_input_tokens": 20,
                "cache_creation": {"ephemeral_5m_input_tokens": 12, "ephemeral_1h_input_tokens": 8},
                "cache_read_input_tokens": 30,
                "output_tokens": 7,
                "output_tokens_details": {"thinking_tokens": 4},
            },
        }

    def _events(self, message: Json) -> Iterator[Json]:
        start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
        yield {"type": "message_start", "message": start}
        yield {"type": "ping"}
        for index, block in enumerate(message["content"]):
            empty: Json
            deltas: list[Json]
            match block["type"]:
                case "text":
                    empty, deltas = {"text": ""}, [{"type": "text_delta", "text": one} for one in pieces(block["text"])]
                case "thinking":
                    empty = {"thinking": "", "signature": ""}
                    deltas = [{"type": "thinking_delta", "thinking": one} for one in pieces(block["thinking"])]
                    deltas.append({"type": "signature_delta", "signature": block["signature"]})
                case "tool_use":
                    empty = {"input": {}}
                    written = json.dumps(block["input"])
                    deltas = [{"type": "input_json_delta", "partial_json": one} for one in ("", *pieces(written))]
                case _:
                    empty, deltas = {}, []
            yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        usage = {"output_tokens": message["usage"]["output_tokens"], "output_tokens_details": {"thinking_tokens": 4}}
        last: Json = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": last, "usage": usage}
        yield {"type": "message_stop"}


def _thinks(asked: Json) -> bool:
    return bool(asked.get("thinking", {}).get("type", "disabled") != "disabled")


class Gemini:
    """`POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent?alt=sse`."""

    key = "AIzaSy-a-key-of-a-test-0123456789"

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        asked = request.json
        if request.headers.get("x-goog-api-key") != self.key:
            reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            return await self._error("API key not valid. Please pass a valid API key.", [reason], request, writer)
        if (wrong := self._wrong(request, asked)) is not None:
            return await self._error(wrong, [], request, writer)
        reply = self._reply(asked)
        if ":streamGenerateContent?alt=sse" in request.path:
            content = sse(*(("", event) for event in self._events(reply)))
            return await body(content, content_type="text/event-stream")(request, writer)
        return await data(reply)(request, writer)

    async def _error(self, text: str, details: list[Json], request: Request, writer: asyncio.StreamWriter) -> None:
        error = {"code": 400, "message": text, "status": "INVALID_ARGUMENT", "details": details}
        await data({"error": error}, 400)(request, writer)

    def _wrong(self, request: Request, asked: Json) -> str | None:
        if not request.path.startswith("/v1beta/models/") or "Content" not in request.path:
            return "no such method"
        known = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings"}
        if extra := set(asked) - known:
            return f'Invalid JSON payload received. Unknown name "{extra.pop()}": Cannot find field.'
        calls = 0
        for content in asked["contents"]:
            if content.get("role", "user") not in ("user", "model") or not content["parts"]:
                return "Please use a valid role: user, model."
            for part in content["parts"]:
                calls += "functionCall" in part
                if "functionCall" in part and part.get("thoughtSignature") != SIGNATURE:
                    return "Function call is missing a thought_signature in functionCall parts."
                calls -= "functionResponse" in part
        if calls:
            return "Please ensure that function call turn comes immediately after a function response turn."
        return None

    def _reply(self, asked: Json) -> Json:
        has_result = any("functionResponse" in part for part in asked["contents"][-1]["parts"])
        parts: list[Json] = []
        if asked.get("tools") and not has_result:
            call = {
                "id": "call-a",
                "name": asked["tools"][0]["functionDeclarations"][0]["name"],
                "args": {"city": "Rome"},
            }
            parts = [{"text": "They want weather.", "thought": True}]
            parts.append({"functionCall": call, "thoughtSignature": SIGNATURE})
        elif "responseJsonSchema" in asked.get("generationConfig", {}):
            parts = [{"text": '{"city": "Paris"}'}]
        else:
            parts = [{"text": "It is sunny." if has_result else "Paris"}]
        usage = {
            "promptTokenCount": 60,
            "cachedContentTokenCount": 30,
            "candidatesTokenCount": 3,
            "thoughtsTokenCount": 4,
            "totalTokenCount": 67,
        }
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}

    def _events(self, reply: Json) -> Iterator[Json]:
        parts = reply["candidates"][0]["content"]["parts"]
        split = [{**part, "text": one} for part in parts for one in pieces(part["text"])] if len(parts) == 1 else parts
        for number, part in enumerate(split):
            candidate: Json = {"content": {"role": "model", "parts": [part]}, "index": 0}
            if number == len(split) - 1:
                candidate["finishReason"] = "STOP"
            yield {**reply, "candidates": [candidate]}


class Responses:
    """`POST /v1/responses`.

    Args:
        reasons: False for a model that refuses what belongs to reasoning.
    """

    key = "sk-proj-a-key-of-a-test-0123456789"

    def __init__(self, *, reasons: bool = True) -> None:
        self.reasons = reasons

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        asked = request.json
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return await self._error(401, "Incorrect API key provided.", "invalid_api_key", request, writer)
        if (wrong := self._wrong(request, asked)) is not None:
            return await self._error(400, wrong, None, request, writer)
        reply = self._reply(asked)
        if asked.get("stream"):
            content = sse(*((event["type"], event) for event in self._events(reply)))
            return await body(content, content_type="text/event-stream")(request, writer)
        return await data(reply)(request, writer)

    async def _error(
        self, status: int, text: str, code: str | None, request: Request, writer: asyncio.StreamWriter
    ) -> None:
        error = {"message": text, "type": "invalid_request_error", "param": None, "code": code}
        await data({"error": error}, status)(request, writer)

    def _wrong(self, request: Request, asked: Json) -> str | None:
        if request.path != "/v1/responses":
            return "Invalid URL"
        if not self.reasons and "reasoning.encrypted_content" in asked.get("include", ()):
            return "Encrypted content is not supported with this model."
        items = asked["input"] if isinstance(asked["input"], list) else []
        for item, following in zip(items, [*items[1:], {}], strict=True):
            if item.get("type") == "reasoning":
                if item.get("encrypted_content") != SIGNATURE or item.get("id") != "rs_1":
                    return "The encrypted content could not be verified."
                if following.get("type") != "function_call":
                    return "Item 'rs_1' of type 'reasoning' was provided without its required following item."
        calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
        results = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
        if calls != results:
            return "No tool output found for function call call_1."
        if calls and self.reasons and not any(item.get("type") == "reasoning" for item in items):
            return "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."
        return None

    def _reply(self, asked: Json) -> Json:
        items = asked["input"] if isinstance(asked["input"], list) else []
        has_result = any(item.get("type") == "function_call_output" for item in items)
        output: list[Json] = []
        text = "It is sunny." if has_result else "Paris"
        if asked.get("text", {}).get("format", {}).get("type") == "json_schema":
            assert asked["text"]["format"]["name"]
            text = '{"city": "Paris"}'
        said = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [said]}
        if asked.get("tools") and not has_result:
            if self.reasons:
                summary = [{"type": "summary_text", "text": "They want weather."}]
                output.append({"id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": SIGNATURE})
            call = {"call_id": "call_1", "name": asked["tools"][0]["name"], "arguments": '{"city": "Rome"}'}
            output.append({"id": "fc_1", "type": "function_call", "status": "completed", **call})
        else:
            output.append(message | ({"phase": "final_answer"} if self.reasons else {}))
        usage = {
            "input_tokens": 60,
            "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 20},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": 67,
        }
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": asked["model"],
            "output": output,
            "usage": usage,
            "error": None,
            "incomplete_details": None,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": asked.get("tools", []),
        }

    def _events(self, reply: Json) -> Iterator[Json]:
        started = {**reply, "status": "in_progress", "output": [], "usage": None}
        yield {"type": "response.created", "sequence_number": 0, "response": started}
        number = 1
        for index, item in enumerate(reply["output"]):
            where = {"output_index": index, "item_id": item["id"], "sequence_number": number}
            blank: Json = {"message": {"content": []}, "function_call": {"arguments": ""}}
            empty = blank.get(item["type"], {})
            yield {"type": "response.output_item.added", **where, "item": {**item, **empty}}
            if item["type"] == "message":
                part = {"content_index": 0, "part": {**item["content"][0], "text": ""}}
                yield {"type": "response.content_part.added", **where, **part}
                for one in pieces(item["content"][0]["text"]):
                    yield {
                        "type": "response.output_text.delta",
                        **where,
                        "content_index": 0,
                        "delta": one,
                        "logprobs": [],
                    }
            elif item["type"] == "function_call":
                for one in pieces(item["arguments"]):
                    yield {"type": "response.function_call_arguments.delta", **where, "delta": one}
            yield {"type": "response.output_item.done", **where, "item": item}
            number += 1
        yield {"type": "response.completed", "sequence_number": number, "response": reply}
