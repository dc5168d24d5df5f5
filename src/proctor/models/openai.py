"""Chat models at any OpenAI-compatible endpoint."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import quote

import msgspec

from proctor.chat.messages import (
    ChoiceReply,
    Json,
    MessageReply,
    Reply,
    read,
    sent_names,
    to_message,
    to_messages,
    to_stop,
    to_tools,
    to_usage,
)
from proctor.chat.streaming import Stream, hearer
from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import ModelPart
from proctor.core.sample import Message, Tool
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import NOTHING, Step
from proctor.models import cache
from proctor.transport.client import Client, current
from proctor.transport.faults import NotAccepted
from proctor.transport.pace import CEILING, Bounds
from proctor.transport.repair import strict
from proctor.transport.retry import Policy
from proctor.transport.target import Target

OFFICIAL = "https://api.openai.com/v1"
_PATH = "/chat/completions"
STREAMED: Json = {"stream": True, "stream_options": {"include_usage": True}}
_FILTERED = cache.Answer(
    reply=Reply(choices=[ChoiceReply(message=MessageReply(), finish_reason="content_filter")]), seconds=0.0
)
_encoder = msgspec.json.Encoder()

Positive = Annotated[float, msgspec.Meta(gt=0)]
_VARIABLE = re.compile(r"\{env:(\w+)\}")


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of a chat model.

    Attributes:
        model: the name of the model; else LLM_MODEL_ID.
        base_url: the address up to `/v1`; else OPENAI_BASE_URL, LLM_BASE_URL, or that of OpenAI.
        api_key_env: the environment variable that holds the key; else OPENAI_API_KEY or LLM_API_KEY.
        timeout, first_byte_timeout, connect_timeout: seconds, of one request; else LLM_TIMEOUT and our defaults.
        client_certificate: a PEM file with a certificate and its key, for an endpoint that asks for one.
        headers: more headers; a value `env:NAME` is read from the environment.
        extra_body: more fields of the request, as they are.
        stream: ask for a stream, and measure the time to the first token.
        tools: "native" offers tools as the API does, "prompt" describes them in words.
        max_steps: requests at most in one turn when tools are run; else the limit of steps of the run.
        retries, retry_seconds: how often a request is sent again at most, and for how long.
        concurrency, requests_per_minute, tokens_per_minute: fixed limits; without them the pace adapts.
    """

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    seed: int | None = None
    stop: str | Sequence[str] | None = None
    timeout: Positive | None = None
    first_byte_timeout: Positive | None = None
    connect_timeout: Positive | None = None
    client_certificate: str | None = None
    headers: Mapping[str, str] = {}
    extra_body: Mapping[str, Any] = {}
    stream: bool = False
    tools: Literal["native", "prompt"] = "native"
    max_steps: Annotated[int, msgspec.Meta(ge=1)] | None = None
    retries: Annotated[int, msgspec.Meta(ge=0)] | None = None
    retry_seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    concurrency: Annotated[int, msgspec.Meta(ge=1)] | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None


def options_of(values: Mapping[str, object]) -> Options:
    """Return the user's options, checked.

    Raises:
        BadInput: an unknown option, a wrong value, or a key: those stay in the environment, as runs are stored.
    """
    for name in ("api_key", "key", "token"):
        if name in values:
            raise BadInput(
                "A key is no option, because options are stored with the run. Put it into OPENAI_API_KEY, or into a variable that the option 'api_key_env' names."
            )
    return converted(values, Options, "openai")


def make(argument: str, options: Mapping[str, object]) -> "ChatModel":
    """Return the model `openai:MODEL` with `Options`."""
    return ChatModel(argument, options_of(options))


def policy_of(retries: int | None, retry_seconds: float | None) -> Policy | None:
    """Return the retry policy of these options; None when they leave it to the run."""
    if retries is None and retry_seconds is None:
        return None
    usual = Policy()
    attempts = usual.attempts if retries is None else retries + 1
    return Policy(
        attempts=attempts,
        attempts_at_first=usual.attempts_at_first if retries is None else attempts,
        budget_seconds=usual.budget_seconds if retry_seconds is None else retry_seconds,
    )


def fill_variables(address: str) -> str:
    """Return an address with each `{env:NAME}` in it replaced by that environment variable.

    Raises:
        BadInput: a variable is not set.
    """
    return _VARIABLE.sub(lambda found: quote(header_value("http", f"env:{found[1]}"), safe=""), address)


def header_value(name: str, value: str) -> str:
    """Return the value of a header; `env:NAME` is read from the environment variable NAME."""
    if not value.startswith("env:"):
        return value
    found = os.environ.get(value[4:])
    if not found:
        raise BadInput(
            "The header {header} wants the environment variable {variable}, which is not set.",
            header=name,
            variable=value[4:],
        )
    return found


class ChatModel:
    """A chat model; safe to share between tasks of one loop, and between runs.

    Args:
        endpoint: what the reply cache knows the endpoint by; its address if None.

    Attributes:
        name: the name of the model.
        concurrency: how many callers it can make use of at once.
        seed: what it is asked with, unless a call names another.
    """

    def __init__(
        self,
        model: str = "",
        options: Options = Options(),  # noqa: B008 - frozen
        *,
        endpoint: str | None = None,
    ) -> None:
        name = model or options.model or os.environ.get("LLM_MODEL_ID")
        if not name:
            raise BadInput("No model is named: write openai:MODEL, or set LLM_MODEL_ID.")
        self.name = name
        self.options = options
        self.concurrency = options.concurrency or CEILING
        self.seed = options.seed
        self._fixed = _fixed(name, options)
        base, variable = _address_and_key(options)
        key = os.environ.get(variable)
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key.strip()}"
        headers |= {header: header_value(header, value) for header, value in options.headers.items()}
        self._target = Target(
            base if _PATH in base else base.rstrip("/") + _PATH,
            headers=headers,
            seconds=options.timeout or _seconds_of_the_environment(),
            first_byte_seconds=options.first_byte_timeout,
            connect_seconds=options.connect_timeout,
            certificate=options.client_certificate,
            bounds=Bounds(
                concurrency=options.concurrency,
                requests_per_minute=options.requests_per_minute,
                tokens_per_minute=options.tokens_per_minute,
            ),
            advice=_advice(name, variable, is_set=bool(key)),
            policy=policy_of(options.retries, options.retry_seconds),
        )
        self._endpoint = endpoint or str(self._target.url)
        self._counts_tokens = options.tokens_per_minute is not None

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
            Refused: the endpoint refuses key, model or address.
            ProviderFailed: it failed after all retries, or does not accept this request.
        """
        names = sent_names(tools) if tools else {}
        body = self._body(messages, tools, names, response_format)
        if seed is not None:
            body["seed"] = seed
        started = time.time()
        place = cache.place_of(self._endpoint, body)
        answer = place.answer() if place is not None else None
        usage = NOTHING
        if answer is None:
            try:
                answer = await self._asked(body)
                usage = to_usage(answer.reply.usage)
            except NotAccepted as error:  # the request counts among those that failed
                if error.code != "content_filter":
                    raise
                answer = _FILTERED
            if place is not None:
                place.keep(answer)
        elif place is not None:
            place.hit(to_usage(answer.reply.usage))
        choice, said = answer.reply.said()
        message = to_message(said, names, len(messages))
        return Step(
            message=message,
            started=started,
            seconds=answer.seconds,
            first_token_seconds=answer.first_token_seconds,
            usage=usage,
            stop=to_stop(choice, said, message),
        )

    async def _asked(self, body: Json) -> cache.Answer:
        client = current.get()
        if client is None:
            async with Client():
                return await self._asked(body)
        data, clock = _encoded(body), time.perf_counter()
        first_token_seconds = None
        if body.get("stream"):
            reply, first_token_seconds = await client.stream(self._target, data, partial(Stream, self._target.secrets))
        else:
            reply = await client.post(self._target, data, _decoded)
        if self._counts_tokens:
            usage = to_usage(reply.usage)
            client.endpoint(self._target).spent(usage.input_tokens + usage.output_tokens)
        seconds = time.perf_counter() - clock
        return cache.Answer(reply=reply, seconds=seconds, first_token_seconds=first_token_seconds)

    def _body(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        names: Mapping[str, str],
        response_format: Mapping[str, object] | None,
    ) -> Json:
        body: Json = {**self._fixed, "messages": to_messages(messages, names)}
        if hearer.get() is not None:
            body |= STREAMED
        if tools:
            body["tools"] = to_tools(tools, names)
        if response_format is not None:
            body["response_format"] = response_format
        return body


def _decoded(data: bytes) -> Reply:
    reply = read(data)
    reply.said()
    return reply


def _fixed(name: str, options: Options) -> Json:
    """Return the fields of a request that are always the same."""
    fixed: Json = {"model": name}
    for field in ("temperature", "top_p", "max_tokens", "seed", "stop"):
        value = getattr(options, field)
        if value is not None:
            fixed[field] = value
    if options.stream:
        fixed |= STREAMED
    return fixed | dict(options.extra_body)


def _address_and_key(options: Options) -> tuple[str, str]:
    """Return the base URL, and the variable with the key; a key goes to the address that it is set together with."""
    environment = os.environ
    base = options.base_url or environment.get("OPENAI_BASE_URL") or environment.get("LLM_BASE_URL")
    pair = ("OPENAI_API_KEY", "LLM_API_KEY")
    if not options.base_url and not environment.get("OPENAI_BASE_URL") and environment.get("LLM_BASE_URL"):
        pair = ("LLM_API_KEY", "OPENAI_API_KEY")
    if options.api_key_env is not None:
        if not environment.get(options.api_key_env):
            raise BadInput(
                "The environment variable {variable} is not set, but the option 'api_key_env' names it.",
                variable=options.api_key_env,
            )
        return base or OFFICIAL, options.api_key_env
    return base or OFFICIAL, next((variable for variable in pair if environment.get(variable)), pair[0])


def _seconds_of_the_environment() -> float | None:
    value = os.environ.get("LLM_TIMEOUT")
    try:
        seconds = float(value) if value else None
    except ValueError:
        seconds = 0.0
    if seconds is not None and not 0 < seconds < float("inf"):
        raise BadInput("LLM_TIMEOUT has to be a number of seconds, not '{value}'.", value=value)
    return seconds


def _advice(model: str, variable: str, *, is_set: bool) -> Sentence:
    if is_set:
        return say(
            "Model: {model}. Check the key in {variable}, the model, and the base URL (it usually ends in /v1).",
            model=model,
            variable=variable,
        )
    return say(
        "Model: {model}. No key was sent, because {variable} is not set. Check that, the model, and the base URL (it usually ends in /v1).",
        model=model,
        variable=variable,
    )


def _encoded(body: Json) -> bytes:
    try:
        return _encoder.encode(body)
    except UnicodeEncodeError:  # a sample with a lone surrogate
        return _encoder.encode(strict(body))


PART = ModelPart(make=make, options=Options)
