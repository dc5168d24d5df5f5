"""Chat models of any provider that the package litellm knows: `litellm:PROVIDER/MODEL`, with the keys that it reads.

Pace, retries, budget and cache are ours; litellm words the request for the provider, sends it once, and reads the reply.
Nothing is streamed: litellm reports a stream that breaks off as one that ended.
"""

import asyncio
import json
import logging
import os
import re
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.chat.dialect import Json, ModelReply, Request, opaque_of, without_none
from proctor.config import converted, settings
from proctor.core.errors import BadInput, needs
from proctor.core.parts import ModelPart
from proctor.core.sample import Reasoning
from proctor.core.sentence import say
from proctor.core.trajectory import Usage
from proctor.models import openai
from proctor.models.addresses import Count, ModelOptions, access_of, header_value, refuse_keys
from proctor.models.cache import CachedAnswer
from proctor.runtime.telemetry import switch_off
from proctor.transport.client import Client
from proctor.transport.faults import RequestFault, fault_of_status, shown
from proctor.transport.repair import strict

_API = "litellm"
_MOST_CAUSES = 20
_NAMES = re.compile(r"^(?:(?:litellm\.)?[A-Z]\w*: )+")  # of exceptions
_ADVICE = re.compile(r" To drop these|Traceback \(most recent")  # for programmers
_CAUSES: Sequence[tuple[type[BaseException], str]] = (
    (TimeoutError, "timeout"),
    (socket.gaierror, "dns"),
    (ssl.SSLError, "tls"),
    (ConnectionRefusedError, "connect"),
    (json.JSONDecodeError, "not_json"),
)


class LitellmOptions(ModelOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `litellm:PROVIDER/MODEL`, in addition to those of every model.

    Attributes:
        base_url: where the provider's API is; else where litellm looks for it.
        api_key_env: the environment variable that holds the key; else the one that litellm reads for the provider.
    """

    max_completion_tokens: Count | None = None
    seed: int | None = None


def make(argument: str, options: Mapping[str, object]) -> "LiteLLMModel":
    """Return the model `litellm:PROVIDER/MODEL` with `LitellmOptions`."""
    refuse_keys(options, "ANTHROPIC_API_KEY")
    given = msgspec.structs.asdict(converted(options, LitellmOptions, _API))
    return LiteLLMModel(argument, openai.options_of(without_none(given)))


class LiteLLMModel(openai.ChatModel):
    """A chat model that litellm asks; its table of prices counts where there is no price of one's own."""

    def __init__(self, name: str, options: openai.OpenAIOptions) -> None:
        self._litellm = _loaded(name)
        try:
            _, provider, _, usual = self._litellm.get_llm_provider(name, api_base=options.base_url)
        except self._litellm.BadRequestError:
            raise BadInput(
                "litellm knows no provider of '{model}'. Write litellm:PROVIDER/MODEL, such as litellm:mistral/mistral-large-latest.",
                model=name,
            ) from None
        variables = [f"{provider.upper()}_{word}" for word in ("API_BASE", "BASE_URL")]
        own = options.base_url or next(filter(None, map(os.environ.get, variables)), "")
        base = own or usual or ""
        super().__init__(name, options, endpoint=f"litellm:{base}", dialect=_Dialect(options))
        target = self._target
        target.host = target.where = f"litellm:{name}"
        target.key = f"litellm:{provider}:{base} {target.terms.bounds}"
        target.advice = say(
            "Check the model, and the environment variables that litellm reads for {name}.", name=provider
        )
        key = os.environ[options.api_key_env] if options.api_key_env else None
        headers = {header: header_value(header, value) for header, value in options.headers.items()}
        self._more = without_none({"api_base": options.base_url, "api_key": key, "extra_headers": headers or None})
        if not own and name not in settings().prices:
            self._take_price()

    async def _asked(self, body: Json, *, is_streamed: bool) -> CachedAnswer:
        return await super()._asked(body, is_streamed=False)

    async def _posted(self, client: Client, data: bytes) -> ModelReply:
        return await client.through(self._target, data, partial(self._send, data), self._dialect.read)

    async def _send(self, data: bytes) -> bytes:
        seconds = self._target.terms.total_seconds
        asked = {**msgspec.json.decode(data), **self._more, "timeout": seconds, "num_retries": 0, "max_retries": 0}
        try:
            async with asyncio.timeout(seconds):  # that of litellm is for each piece of a reply
                reply = await self._litellm.acompletion(**asked)
            return msgspec.json.encode(strict(reply.model_dump()), enc_hook=str)
        except Exception as error:  # noqa: BLE001 - the libraries below have many
            raise _fault(self._litellm, error, self._target.secrets) from None

    def _take_price(self) -> None:
        try:
            prices = [self._cost(Usage(input_tokens=1000)), self._cost(Usage(output_tokens=1000))]
        except Exception:  # noqa: BLE001 - none in the table, which is said in several ways
            return
        if any(prices):  # 0 is also what it says of servers of one's own
            self._price, self.reports_cost = self._cost, True
            of_a_million = " + ".join(f"{price * 1000:g}" for price in prices)
            self.price_source = f"litellm {version('litellm')}: {self.name}, {of_a_million}"

    def _cost(self, usage: Usage) -> float:
        costs = self._litellm.cost_per_token(
            model=self.name,
            prompt_tokens=max(usage.input_tokens, usage.cached_tokens + usage.cache_write_tokens),
            completion_tokens=usage.output_tokens,
            cache_read_input_tokens=usage.cached_tokens,
            cache_creation_input_tokens=usage.cache_write_tokens,
        )
        return float(sum(costs))


class _Dialect(openai.Completions):
    """Chat completions, with the signed thoughts that litellm passes on and wants back."""

    def __init__(self, options: openai.OpenAIOptions) -> None:
        super().__init__(options)
        self._given = options

    def access(self) -> tuple[str, str]:
        return access_of(self._given, "http://litellm", (), ("",))  # no address: litellm has its own

    def url(self, base: str, model: str) -> str:
        return base

    def body(self, fixed: Json, request: Request) -> Json:
        body = super().body(fixed, request._replace(is_streamed=False))
        worded = (message for message in body["messages"] if message["role"] == "assistant")
        for message, wording in zip(
            (chat_message for chat_message in request.messages if chat_message.role == "assistant"), worded, strict=True
        ):
            for part in message.parts:
                if isinstance(part, Reasoning) and (blocks := opaque_of(part, _API).get("thinking_blocks")):
                    wording["thinking_blocks"] = blocks
        return body

    def read(self, data: bytes) -> ModelReply:
        said = super().read(data)
        if b'"thinking_blocks"' not in data:
            return said
        blocks = msgspec.json.decode(data)["choices"][0]["message"].get("thinking_blocks")
        if not isinstance(blocks, list) or not blocks:
            return said
        text = "".join(part.text for part in said.parts if isinstance(part, Reasoning))
        rest = tuple(part for part in said.parts if not isinstance(part, Reasoning))
        return replace(said, parts=(Reasoning(text=text, opaque={_API: {"thinking_blocks": blocks}}), *rest))


def _loaded(name: str) -> Any:
    """Return litellm, which then asks nobody for its table of prices, reads no `.env`, and says nothing by itself.

    Raises:
        MissingExtra: it is not installed.
    """
    switch_off()
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    with needs("litellm", f"litellm:{name}"):
        import litellm
    logging.getLogger("LiteLLM").disabled = True  # it shows requests, with their keys
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    return litellm


def _fault(litellm: Any, error: Exception, secrets: Sequence[str]) -> RequestFault:
    """Return what an exception of litellm means: as the provider's own reply says where it is kept, else by its status."""
    import httpx

    causes = list(_causes(error))
    text = shown(_ADVICE.split(_NAMES.sub("", str(error)), maxsplit=1)[0], secrets)
    value = getattr(error, "status_code", None)
    status = value if isinstance(value, int) else 0
    fault = None
    for cause in causes:
        if isinstance(cause, httpx.HTTPStatusError):
            with suppress(httpx.StreamError):  # its body was not read
                fault = fault_of_status(
                    cause.response.status_code, cause.response.headers, cause.response.content, secrets
                )
    if fault is None:
        later = ((httpx.TimeoutException, "timeout"), (httpx.ConnectError, "connect"), (httpx.TransportError, "reset"))
        for kind, name in (*_CAUSES, (litellm.Timeout, "timeout"), *later):
            if any(isinstance(cause, kind) for cause in causes):
                return RequestFault(name, text)
        is_ours = not status or any(isinstance(cause, ImportError) for cause in causes)
        fault = (
            RequestFault("no_reply", text, again=False)
            if is_ours
            else fault_of_status(status, {}, text.encode(), secrets)
        )
    if isinstance(error, litellm.ContentPolicyViolationError):
        fault.code = "content_filter"
    elif isinstance(error, litellm.UnsupportedParamsError):
        fault.code = "unsupported_parameter"
    return fault


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(_MOST_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


PART = ModelPart(make=make, options=LitellmOptions)
