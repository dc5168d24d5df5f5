"""Chat models of Anthropic by their own Messages API: `anthropic:MODEL`."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from proctor.chat import anthropic_messages
from proctor.chat.dialect import BatchKind, Dialect, Json, without_none
from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import ModelPart
from proctor.models.addresses import Count, EndpointOptions, access_of, refuse_keys
from proctor.models.openai import ChatModel

OFFICIAL = "https://api.anthropic.com"
VERSION = "2026-10-21"
SAMPLING_VERSION = "2023-06-01"  # the last one with temperature, top_p and top_k
_SAMPLING = ("temperature", "top_p", "top_k")
MOST_TOKENS = 16_384  # of a reply, as the API requires a limit
_PATH = "/v1/messages"


class AnthropicOptions(EndpointOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `anthropic:MODEL`, in addition to those of every address.

    Attributes:
        base_url: else ANTHROPIC_BASE_URL, or that of Anthropic.
        api_key_env: the environment variable that holds the key; else ANTHROPIC_API_KEY.
        max_tokens: 16,384 if None, and the tokens of `thinking` more.
        thinking: "adaptive", "disabled", or the number of tokens that the model may think; that of the model if None.
        temperature, top_p, top_k: for the models that still take them; version 2023-06-01 of the API is asked then.
        batch: send requests in batches, at half the price; a reply may take a day.
    """

    reasoning_effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    thinking: Literal["adaptive", "disabled"] | Annotated[int, msgspec.Meta(ge=1_024)] | None = None
    top_k: Count | None = None
    batch: bool = False


def options_of(values: Mapping[str, object]) -> AnthropicOptions:
    """Return the user's options, checked.

    Raises:
        BadInput: an unknown option, a wrong value, a key, or fewer tokens for a reply than for thinking.
    """
    refuse_keys(values, "ANTHROPIC_API_KEY")
    options = converted(values, AnthropicOptions, "anthropic")
    if isinstance(options.thinking, int) and options.max_tokens is not None and options.max_tokens <= options.thinking:
        raise BadInput("anthropic: 'max_tokens' has to be above 'thinking', as it counts those tokens too.")
    return options


def make(argument: str, options: Mapping[str, object]) -> ChatModel:
    """Return the model `anthropic:MODEL` with `AnthropicOptions`."""
    checked = options_of(options)
    return ChatModel(argument, checked, dialect=Messages(checked))


class Messages(Dialect):
    """The dialect of the Messages API."""

    body = staticmethod(anthropic_messages.to_body)
    read = staticmethod(anthropic_messages.read)
    fold = anthropic_messages.MessageStream
    kinds = anthropic_messages.KINDS
    addressed = anthropic_messages.ADDRESSED
    objects = ("output_config",)

    def __init__(self, options: AnthropicOptions) -> None:
        self._options = options

    def access(self) -> tuple[str, str]:
        return access_of(self._options, OFFICIAL, ("ANTHROPIC_BASE_URL",), ("ANTHROPIC_API_KEY",))

    def url(self, base: str, model: str) -> str:
        return base if _PATH in base else base.rstrip("/").removesuffix("/v1") + _PATH

    def headers(self, key: str) -> Mapping[str, str]:
        is_sampled = any(getattr(self._options, field) is not None for field in _SAMPLING)
        version = {"anthropic-version": SAMPLING_VERSION if is_sampled else VERSION}
        return version | ({"x-api-key": key} if key else {})

    def fixed(self, model: str) -> Json:
        options = self._options
        budget = options.thinking if isinstance(options.thinking, int) else 0
        fixed: Json = {"model": model, "max_tokens": options.max_tokens or MOST_TOKENS + budget}
        fixed |= without_none({field: getattr(options, field) for field in _SAMPLING})
        if stops := options.stops():
            fixed["stop_sequences"] = stops
        if options.reasoning_effort is not None:
            fixed["output_config"] = {"effort": options.reasoning_effort}
        if budget:
            fixed["thinking"] = {"type": "enabled", "budget_tokens": budget}
        elif options.thinking is not None:
            fixed["thinking"] = {"type": options.thinking}
        return fixed

    def batches(self) -> BatchKind | None:
        return BatchKind("anthropic", _PATH) if self._options.batch else None


PART = ModelPart(make=make, options=AnthropicOptions)
