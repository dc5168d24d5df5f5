"""Chat models at any OpenAI-compatible endpoint."""

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

import msgspec
from msgspec.structs import replace

from proctor.chat.dialect import (
    BatchKind,
    Dialect,
    Json,
    ModelReply,
    Request,
    merge,
    settle_calls,
    url_of,
    without_none,
)
from proctor.chat.message_text import media_to_send
from proctor.chat.messages import (
    ADDRESSED,
    KINDS,
    RESULT_MEDIA,
    read,
    sent_names,
    to_messages,
    to_reply,
    to_tools,
)
from proctor.chat.streaming import Stream
from proctor.config import converted, settings
from proctor.core.around import around
from proctor.core.errors import BadInput, EndpointRefused
from proctor.core.media_type import PDF, SOUNDS, result_media
from proctor.core.parts import ModelPart
from proctor.core.sample import File, Message, Tool
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import NOTHING, Step, Usage
from proctor.models import cache, prices
from proctor.models.addresses import (
    Count,
    EndpointOptions,
    access_of,
    header_value,
    policy_of,
    refuse_keys,
    seconds_of_the_environment,
)
from proctor.models.batching import batch_sender
from proctor.transport.client import Client
from proctor.transport.faults import NotAccepted
from proctor.transport.pace import CEILING, PaceBounds
from proctor.transport.repair import strict
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms

OFFICIAL = "https://api.openai.com/v1"
_PATH = "/chat/completions"
STREAMED: Json = {"stream": True, "stream_options": {"include_usage": True}}
_FILTERED = cache.CachedAnswer(said=ModelReply(usage=NOTHING, stop="filtered"), seconds=0.0)
_UNSUPPORTED = ("unsupported_parameter", "unsupported_value", "unknown_parameter")  # codes of OpenAI
_SAYS_UNSUPPORTED = re.compile(
    "Unsupported (?:parameter|value): '|Unknown parameter: '"
)  # of its replies without a code
_OPTION = re.compile(r"'([a-z_]+)'|\): ([a-z_]+)(?:\.\w+)*: ")  # in quotes, or at the beginning as Anthropic writes it
_encoder = msgspec.json.Encoder()


class OpenAIOptions(EndpointOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of a model of chat completions, in addition to those of every address.

    Attributes:
        model: else LLM_MODEL_ID.
        base_url: the address up to `/v1`; else OPENAI_BASE_URL, LLM_BASE_URL, or that of OpenAI.
        api_key_env: the environment variable that holds the key; else OPENAI_API_KEY or LLM_API_KEY.
        max_completion_tokens: the newer name of `max_tokens`, which counts reasoning too; either is sent under the other
            name where the endpoint asks for that.
        batch: send requests in batches, at half the price; a reply may take a day.
    """

    max_completion_tokens: Count | None = None
    batch: bool = False
    seed: int | None = None


def options_of(values: Mapping[str, object]) -> OpenAIOptions:
    """Return the user's options, checked.

    Raises:
        BadInput: an unknown option, a wrong value, or a key: those stay in the environment, as runs are stored.
    """
    refuse_keys(values, "OPENAI_API_KEY")
    return converted(values, OpenAIOptions, "openai")


def make(argument: str, options: Mapping[str, object]) -> "ChatModel":
    """Return the model `openai:MODEL` with `OpenAIOptions`."""
    return ChatModel(argument, options_of(options))


def make_served(kind: str, argument: str, options: Mapping[str, object], base: str, variable: str) -> "ChatModel":
    """Return a model of a kind of server that speaks chat completions, at its own address and with its own key."""
    refuse_keys(options, variable)
    checked = converted(options, OpenAIOptions, kind)
    if not (argument or checked.model):
        raise BadInput(
            "Name the model: {kind}:MODEL. The command 'proctor data models list' shows those of servers on this machine.",
            kind=kind,
        )
    if checked.batch:
        raise BadInput(
            "A server of {kind} takes no batches; the option 'batch' is for openai:, responses: and anthropic:.",
            kind=kind,
        )
    return ChatModel(argument, checked, dialect=Completions(checked, (base, variable)))


def access(options: EndpointOptions) -> tuple[str, str]:
    """Return the base URL, and the variable with the key; a key goes to the address that it is set together with."""
    is_other = not options.base_url and not os.environ.get("OPENAI_BASE_URL")
    keys = ("OPENAI_API_KEY", "LLM_API_KEY")
    if is_other and os.environ.get("LLM_BASE_URL"):
        keys = ("LLM_API_KEY", "OPENAI_API_KEY")
    return access_of(options, OFFICIAL, ("OPENAI_BASE_URL", "LLM_BASE_URL"), keys)


class Completions(Dialect):
    """The dialect of chat completions."""

    fold = Stream
    kinds = KINDS
    addressed = ADDRESSED
    result_media = RESULT_MEDIA

    def __init__(self, options: OpenAIOptions, own: tuple[str, str] | None = None) -> None:
        self._options = options
        self.seed = options.seed
        self._own = own  # address and variable of a kind of server

    def access(self) -> tuple[str, str]:
        if self._own is not None:
            return access_of(self._options, self._own[0], (), self._own[1:])
        return access(self._options)

    def url(self, base: str, model: str) -> str:
        return url_of(base, _PATH)

    def fixed(self, model: str) -> Json:
        fields = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort", "seed", "stop")
        return {"model": model} | without_none({field: getattr(self._options, field) for field in fields})

    def body(self, fixed: Json, request: Request) -> Json:
        messages = to_messages(request.messages, request.names, request.kinds, request.result_media)
        body: Json = {**fixed, "messages": messages}
        if request.is_streamed and (self._options.stream or "stream" not in fixed):  # else the user words it
            body = STREAMED | body
        if request.tools:
            body["tools"] = to_tools(request.tools, request.names)
        if request.response_format is not None:
            body["response_format"] = request.response_format
        if request.seed is not None:
            body["seed"] = request.seed
        return body

    def read(self, data: bytes) -> ModelReply:
        return to_reply(read(data))

    def batches(self) -> BatchKind | None:
        return BatchKind("openai", _PATH) if self._options.batch else None

    def repaired(self, body: Json, text: str) -> Json | None:
        """Return the request with the other name of its token limit, if the endpoint speaks of that."""
        for name, other in (("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")):
            if name in body and "max_completion_tokens" in text and "too large" not in text:
                return {other if field == name else field: value for field, value in body.items()}
        return None


def _is_allowed(kind: str, options: EndpointOptions) -> bool:
    """True if the user does not forbid files whose media types begin so."""
    return (options.pdf or kind != PDF) and (options.sound or not kind.startswith("audio/"))


class ChatModel:
    """A chat model; safe to share between tasks of one loop, and between runs.

    Args:
        endpoint: what the reply cache knows the endpoint by; its address if None.
        dialect: how its API words requests and replies; that of chat completions if None.

    Attributes:
        name: the name of the model.
        concurrency: how many callers it can make use of at once.
        seed: what it is asked with, unless a call names another.
        pictures, pdf, sound: True if those files in results of tools are sent.
        reports_cost: True if its usage says what it cost, by the table of prices that the settings name or for a batch.
        price_source: the table and the price, where there is one.
    """

    def __init__(
        self,
        model: str = "",
        options: EndpointOptions = OpenAIOptions(),  # noqa: B008 - frozen
        *,
        endpoint: str | None = None,
        dialect: Dialect | None = None,
    ) -> None:
        name = model or options.model or os.environ.get("LLM_MODEL_ID")
        if not name:
            raise BadInput("No model is named: write it after the colon, as in openai:MODEL, or set LLM_MODEL_ID.")
        self.name = name
        self.options = options
        self.concurrency = options.concurrency or CEILING
        self._dialect = dialect or Completions(cast("OpenAIOptions", options))
        self.seed = self._dialect.seed
        self.pictures = options.pictures
        self.pdf = options.pdf and PDF in self._dialect.result_media
        self.sound = options.sound and self._dialect.result_media >= SOUNDS
        self._kinds = [kind for kind in self._dialect.kinds if _is_allowed(kind, options)]
        self._fixed = merge(self._dialect.fixed(name), options.extra_body, self._dialect.objects)
        self._streams = options.stream or bool(self._fixed.get("stream"))
        base, variable = self._dialect.access()
        key = os.environ.get(variable)
        headers = {"Content-Type": "application/json", **self._dialect.headers((key or "").strip())}
        headers |= {header: header_value(header, value) for header, value in options.headers.items()}
        url, stream_url = self._dialect.url(base, name), self._dialect.stream_url(base, name)
        self._target = _target(url, headers, options, _advice(name, variable, url, is_set=bool(key)))
        self._stream_target = self._target if stream_url == url else self._target.at(stream_url)
        self._endpoint = endpoint or str(self._target.url)
        self._counts_tokens = options.tokens_per_minute is not None
        self._table = prices.table_of(name, str(self._target.url))
        patient = self._target.at(str(self._target.url))
        patient.terms = replace(patient.terms, policy=None)  # what sends batches and looks at them has its own
        self._batches = batch_sender(self._dialect.batches(), options, self._target, patient)
        own_price = settings().prices.get(name) if self._batches is not None else None
        self._price = self._table.cost if self._table is not None else own_price.of if own_price is not None else None
        self.reports_cost = self._price is not None
        self.is_batched = self._batches is not None
        self.price_source = self._table.source if self._table is not None else ""
        if self._batches is not None and options.concurrency is None:
            self.concurrency = self._batches.most
        self._repairs: list[str] = []  # what the endpoint said of requests that were then accepted in other words

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        response_format: Mapping[str, object] | None = None,
        seed: int | None = None,
    ) -> Step:
        """Return the model's next message, with times, usage, and why it stopped.

        Raises:
            Refused: the endpoint refuses key, model, address or an option.
            ProviderFailed: it failed after all retries, or does not accept this request.
        """
        names = sent_names(tools) if tools else {}
        is_streamed = (self._streams or around.get().hear is not None) and self._batches is None
        media = result_media(pictures=self.pictures, pdf=self.pdf, sound=self.sound) & self._dialect.result_media
        asked = Request(messages, tools, names, response_format, seed, is_streamed, self._kinds, media)
        body = self._dialect.body(self._fixed, asked)
        started = time.time()
        entry = cache.place_of(self._endpoint, body)
        answer = await entry.answer() if entry is not None else None
        usage = NOTHING
        if answer is None:
            answer = await self._answer(body, is_streamed=is_streamed)
            usage = answer.said.usage if self._price is None else self._paid(answer.said.usage, self._price)
            if entry is not None:
                entry.keep(answer)
        elif entry is not None:
            entry.hit(answer.said.usage)
        return Step(
            message=Message(role="assistant", parts=settle_calls(answer.said.parts, names, len(messages))),
            started=started,
            seconds=answer.seconds,
            first_token_seconds=answer.first_token_seconds,
            usage=usage,
            stop=answer.said.stop,
        )

    def takes(self, file: File) -> bool:
        """True if a file of a message is sent; else the model is given its name."""
        return media_to_send(file, self._kinds, self._dialect.addressed) is not None

    def _paid(self, usage: Usage, price: Callable[[Usage], float]) -> Usage:
        """Return the usage with its cost, unless the endpoint reported one; a batch costs half."""
        if usage.cost is not None or usage == NOTHING:
            return usage
        return replace(usage, cost=price(usage) * (1.0 if self._batches is None else self._batches.share))

    async def _answer(self, body: Json, *, is_streamed: bool) -> cache.CachedAnswer:
        """Return the answer to a request; one that the endpoint wants in other words is sent once more in those."""
        for text in self._repairs:
            body = self._dialect.repaired(body, text) or body
        try:
            return await self._asked(body, is_streamed=is_streamed)
        except NotAccepted as error:
            text = str(error)
            if error.code == "content_filter" or "content filtering policy" in text:
                return _FILTERED  # the request counts among those that failed
            repaired = self._dialect.repaired(body, text)
            if repaired is None:
                self._refuse_option(error)
                raise
            answer = await self._asked(repaired, is_streamed=is_streamed)
            if text not in self._repairs:
                self._repairs.append(text)
            return answer

    def _refuse_option(self, error: NotAccepted) -> None:
        """Stop the run if the endpoint refuses an option, as it would refuse every other request too."""
        text = str(error)
        match = _OPTION.search(text)
        if match is None:
            return
        name = match[1] or match[2]
        is_about_it = match[2] or error.code in _UNSUPPORTED or _SAYS_UNSUPPORTED.search(text)
        if name in self._fixed and name != "model" and is_about_it:
            raise EndpointRefused(
                "{text}. This is about the option '{option}', so every request would be refused: leave it out, or give it another value.",
                kind="option",
                text=error.sentence,
                option=name,
            ) from error

    async def _asked(self, body: Json, *, is_streamed: bool) -> cache.CachedAnswer:
        client = Client.current()
        if client is None:
            async with Client():
                return await self._asked(body, is_streamed=is_streamed)
        data, clock = _encoded(body), time.perf_counter()
        if self._batches is not None:
            key = cache.batch_key(self._endpoint, body)
            read, owner = self._dialect.read, cache.owner()
            said, first_token_seconds = await self._batches.reply(client, key, data, read, owner=owner), None
        elif is_streamed:
            fold = partial(self._dialect.fold, self._target.secrets)
            said, first_token_seconds = await client.stream(self._stream_target, data, fold)
        else:
            said, first_token_seconds = await self._posted(client, data), None
        if self._counts_tokens:
            client.endpoint(self._target).spent(said.usage.input_tokens + said.usage.output_tokens)
        seconds = time.perf_counter() - clock
        return cache.CachedAnswer(said=said, seconds=seconds, first_token_seconds=first_token_seconds)

    async def _posted(self, client: Client, data: bytes) -> ModelReply:
        return await client.post(self._target, data, self._dialect.read)


def _target(url: str, headers: Mapping[str, str], options: EndpointOptions, advice: Sentence) -> RequestTarget:
    terms = RequestTerms(
        seconds=options.timeout or seconds_of_the_environment(),
        first_byte_seconds=options.first_byte_timeout,
        connect_seconds=options.connect_timeout,
        bounds=PaceBounds(
            concurrency=options.concurrency,
            requests_per_minute=options.requests_per_minute,
            tokens_per_minute=options.tokens_per_minute,
        ),
        policy=policy_of(options.retries, options.retry_seconds),
    )
    return RequestTarget(url, headers=headers, terms=terms, advice=advice, certificate=options.client_certificate)


def _advice(model: str, variable: str, url: str, *, is_set: bool) -> Sentence:
    has_versions = url.endswith(("/chat/completions", "/responses")) and "/v1/" not in url
    usual: Sentence | str = say(" (it usually ends in /v1)") if has_versions else ""
    if is_set:
        return say(
            "Model: {model}. Check the key in {variable}, the model, and the base URL{usual}.",
            model=model,
            variable=variable,
            usual=usual,
        )
    if variable in ("OLLAMA_API_KEY", "VLLM_API_KEY"):  # of servers that seldom want one
        return say("Model: {model}. What runs on this machine: proctor data models list", model=model)
    return say(
        "Model: {model}. Check it, and the base URL{usual}. No key was sent, because {variable} is not set: export {variable}=KEY",
        model=model,
        variable=variable,
        usual=usual,
    )


def _encoded(body: Json) -> bytes:
    try:
        return _encoder.encode(body)
    except UnicodeEncodeError:  # a sample with a lone surrogate
        return _encoder.encode(strict(body))


PART = ModelPart(make=make, options=OpenAIOptions)
