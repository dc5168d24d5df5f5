"""Chat models of Google by their own Gemini API: `gemini:MODEL`."""

from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import quote

import msgspec

from proctor.chat import gemini_messages
from proctor.chat.dialect import Dialect, Json, without_none
from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.media_type import PDF
from proctor.core.parts import ModelPart
from proctor.models.addresses import Count, EndpointOptions, access_of, refuse_keys
from proctor.models.openai import ChatModel

OFFICIAL = "https://generativelanguage.googleapis.com"
VERSION = "v1beta"


class GeminiOptions(EndpointOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `gemini:MODEL`, in addition to those of every address.

    Attributes:
        base_url: else GOOGLE_GEMINI_BASE_URL, or that of Google.
        api_key_env: the environment variable that holds the key; else GEMINI_API_KEY or GOOGLE_API_KEY.
        reasoning_effort: the level of thinking; the number of tokens is `thinking`.
        thinking: how many tokens the model may think; 0 is none, -1 leaves it to the model.
        top_k: how many of the likeliest tokens are sampled from.
    """

    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = None
    thinking: Annotated[int, msgspec.Meta(ge=-1)] | None = None
    top_k: Count | None = None
    seed: int | None = None


def make(argument: str, options: Mapping[str, object]) -> ChatModel:
    """Return the model `gemini:MODEL` with `GeminiOptions`."""
    refuse_keys(options, "GEMINI_API_KEY")
    checked = converted(options, GeminiOptions, "gemini")
    if checked.reasoning_effort is not None and checked.thinking is not None:
        raise BadInput("gemini: 'reasoning_effort' and 'thinking' exclude each other: a level, or a number of tokens.")
    return ChatModel(argument, checked, dialect=Contents(checked))


class Contents(Dialect):
    """The dialect of `generateContent`."""

    body = staticmethod(gemini_messages.to_body)
    read = staticmethod(gemini_messages.read)
    fold = gemini_messages.ContentStream
    kinds = gemini_messages.KINDS
    addressed = gemini_messages.KINDS
    result_media = frozenset({*gemini_messages.PICTURES_TAKEN, PDF})
    objects = ("generationConfig",)

    def __init__(self, options: GeminiOptions) -> None:
        self._options = options
        self.seed = options.seed

    def access(self) -> tuple[str, str]:
        keys = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
        return access_of(self._options, OFFICIAL, ("GOOGLE_GEMINI_BASE_URL",), keys)

    def url(self, base: str, model: str) -> str:
        return f"{self._model_url(base, model)}:generateContent"

    def stream_url(self, base: str, model: str) -> str:
        return f"{self._model_url(base, model)}:streamGenerateContent?alt=sse"

    def _model_url(self, base: str, model: str) -> str:
        base = base.rstrip("/")
        base = base if base.rpartition("/")[2].startswith("v1") else f"{base}/{VERSION}"
        path = model if "/" in model else f"models/{model}"
        return f"{base}/{quote(path)}"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def fixed(self, model: str) -> Json:
        options = self._options
        config: Json = {
            "temperature": options.temperature,
            "topP": options.top_p,
            "topK": options.top_k,
            "maxOutputTokens": options.max_tokens,
            "seed": options.seed,
            "stopSequences": options.stops() or None,
        }
        if options.reasoning_effort is not None:
            config["thinkingConfig"] = {"thinkingLevel": options.reasoning_effort.upper(), "includeThoughts": True}
        elif options.thinking is not None:
            config["thinkingConfig"] = {"thinkingBudget": options.thinking, "includeThoughts": options.thinking != 0}
        config = without_none(config)
        return {"generationConfig": config} if config else {}


PART = ModelPart(make=make, options=GeminiOptions)
