"""Tell plain requests to a model from those that would have its provider fetch, search or run something for the agent."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import NoReturn
from urllib.parse import parse_qsl, urlencode

import msgspec

PATHS = re.compile(r"(?:/v1)?(?:/messages(?:/count_tokens)?|/chat/completions|/responses)|/v1(?:beta)?/models/[\w.:-]+:(?:stream)?[gG]enerateContent", re.ASCII)  # fmt: skip
_TARGET = re.compile(r"[!-~]+")
_HEADER = re.compile(r"[\t -~]*")
_LOCAL_TOOL = re.compile(r"function|custom|local_shell|apply_patch|computer_use_preview|(?:bash|text_editor|computer|memory)_\d{8}", re.ASCII)  # fmt: skip
_GEMINI_TOOLS = {"functionDeclarations", "function_declarations"}
_SERVER_FIELDS = ("mcp_servers", "web_search_options", "search_parameters", "plugins")
_SEARCHING_MODEL = re.compile(r"search-(?:preview|api)|deep-research|:online")
_MODEL_IN_PATH = re.compile(r"/models/([\w.:-]+):", re.ASCII)
MOST_CHARACTERS = 200  # of the name of a model
PLAIN_QUESTION, PLAIN_TOKENS = "Say: ok", 16
_KEYS = {"key", "access_token"}  # in a query; that of the provider is added by the proxy


class RequestRefused(Exception):
    """A request that is not passed on, with the status of the reply."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def check_target(target: str, headers: Mapping[str, str]) -> tuple[str, str]:
    """Return path and query of a request, without keys.

    Raises:
        RequestRefused: it is not to a model, or has characters that no request has.
    """
    if not _TARGET.fullmatch(target) or not all(
        _HEADER.fullmatch(str(text)) for pair in headers.items() for text in pair
    ):
        raise RequestRefused(400, "characters that no request has")
    path, _, query = target.partition("?")
    if not PATHS.fullmatch(path):
        raise RequestRefused(403, "not a request to a model")
    values = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name.lower() not in _KEYS]
    return path, urlencode(values)


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that is passed on: its body as it was read here, so that its provider can read nothing else, and its model."""

    body: bytes
    model: str


def check_body(path: str, body: bytes) -> ModelRequest:
    """Return what is passed on of a request.

    Raises:
        RequestRefused: it is not JSON, or the provider is to do more than answer.
    """
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
        text = json.dumps(value, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise RequestRefused(400, "the body is not JSON") from None
    if not isinstance(value, dict):
        raise RequestRefused(400, "the body is not an object")
    fields = [name for name in _SERVER_FIELDS if value.get(name)]
    if fields:
        raise RequestRefused(403, f"{fields[0]} is for what a box has not")
    if _SEARCHING_MODEL.search(str(value.get("model", ""))):
        raise RequestRefused(403, "a model that searches the network")
    tools = value.get("tools") or []
    is_local = _is_local_gemini_tool if "enerateContent" in path else _is_local_tool
    if not isinstance(tools, list) or not all(map(is_local, tools)):
        raise RequestRefused(403, "a tool that the provider runs")
    if any(_is_fetched(part) for part in _parts(value)):
        raise RequestRefused(403, "a file that the provider fetches")
    in_path = _MODEL_IN_PATH.search(path)
    return ModelRequest(body=text, model=in_path[1] if in_path else str(value.get("model", ""))[:MOST_CHARACTERS])


def plain_request(path: str, model: str) -> tuple[str, ModelRequest]:
    """Return path and request of a question that every provider answers, in the protocol of another request's path.

    >>> plain_request("/v1/messages/count_tokens", "m")[0], plain_request("/v1beta/models/x:streamGenerateContent", "m")[0]
    ('/v1/messages', '/v1beta/models/m:generateContent')
    """
    if "enerateContent" in path:
        path = f"{path.partition('/models/')[0]}/models/{model}:generateContent"
        return path, _request(model, {"contents": [{"role": "user", "parts": [{"text": PLAIN_QUESTION}]}]})
    if path.endswith("/responses"):
        return path, _request(model, {"model": model, "input": PLAIN_QUESTION})
    body = {"model": model, "messages": [{"role": "user", "content": PLAIN_QUESTION}]}
    if path.endswith("/chat/completions"):
        return path, _request(model, body)
    return path.removesuffix("/count_tokens"), _request(model, {**body, "max_tokens": PLAIN_TOKENS})


def _request(model: str, body: Mapping[str, object]) -> ModelRequest:
    return ModelRequest(body=json.dumps(body).encode(), model=model)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)


def _is_local_tool(tool: object) -> bool:
    if not isinstance(tool, dict):
        return False
    kind = tool.get("type")
    if kind == "shell":
        return bool(tool.get("environment") == {"type": "local"})
    if kind == "namespace":
        inner = tool.get("tools")
        return isinstance(inner, list) and all(map(_is_local_tool, inner))
    return kind is None or (isinstance(kind, str) and _LOCAL_TOOL.fullmatch(kind) is not None)


def _is_local_gemini_tool(tool: object) -> bool:
    return isinstance(tool, dict) and tool.keys() <= _GEMINI_TOOLS


def _parts(value: object) -> Iterator[Mapping[str, object]]:
    """Yield each object in a value."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            yield value
            left += value.values()
        elif isinstance(value, list):
            left += value


def _is_fetched(part: Mapping[str, object]) -> bool:
    """True for the part of a message whose content is at an address."""
    source, image = part.get("source"), part.get("image_url")
    if part.get("type") in ("image", "document") and isinstance(source, dict) and source.get("type") == "url":
        return True
    if part.get("type") in ("image_url", "input_image") and image:
        address = image.get("url") if isinstance(image, dict) else image
        return not str(address).startswith("data:")
    is_file = part.get("type") == "input_file" and bool(part.get("file_url"))
    return is_file or any(isinstance(part.get(name), dict) for name in ("fileData", "file_data"))
