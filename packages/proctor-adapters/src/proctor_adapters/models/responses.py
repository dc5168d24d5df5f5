"""Chat models by OpenAI's Responses API: `responses:MODEL`."""

from collections.abc import Mapping

from proctor.chat.dialect import BatchKind, Dialect, Json, url_of, without_none
from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import ModelPart
from proctor.models.addresses import EndpointOptions, refuse_keys
from proctor.models.openai import ChatModel, access
from proctor_adapters.models import responses_messages

_PATH = "/responses"
_ENCRYPTED = "reasoning.encrypted_content"


class ResponsesOptions(EndpointOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `responses:MODEL`, which are those of every address; the API has neither `stop` nor a seed.

    Attributes:
        base_url, api_key_env: as for `openai:MODEL`.
        max_tokens: of a reply with its reasoning, `max_output_tokens`.
        batch: send requests in batches, at half the price; a reply may take a day.
    """

    batch: bool = False


def make(argument: str, options: Mapping[str, object]) -> ChatModel:
    """Return the model `responses:MODEL` with `ResponsesOptions`."""
    refuse_keys(options, "OPENAI_API_KEY")
    checked = converted(options, ResponsesOptions, "responses")
    if checked.stop is not None:
        raise BadInput("The Responses API has no 'stop'; use openai:MODEL where you need it.")
    return ChatModel(argument, checked, dialect=Responses(checked))


class Responses(Dialect):
    """The dialect of the Responses API."""

    body = staticmethod(responses_messages.to_body)
    read = staticmethod(responses_messages.read)
    fold = responses_messages.ResponseStream
    kinds = responses_messages.KINDS
    addressed = responses_messages.KINDS
    objects = ("text",)

    def __init__(self, options: ResponsesOptions) -> None:
        self._options = options

    def access(self) -> tuple[str, str]:
        return access(self._options)

    def url(self, base: str, model: str) -> str:
        return url_of(base, _PATH)

    def fixed(self, model: str) -> Json:
        options = self._options
        fixed: Json = {"model": model, "store": False, "include": [_ENCRYPTED]}
        values = {"temperature": options.temperature, "top_p": options.top_p, "max_output_tokens": options.max_tokens}
        fixed |= without_none(values)
        if options.reasoning_effort is not None:
            fixed["reasoning"] = {"effort": options.reasoning_effort, "summary": "auto"}
        return fixed

    def batches(self) -> BatchKind | None:
        return BatchKind("openai", _PATH) if self._options.batch else None

    def repaired(self, body: Json, text: str) -> Json | None:
        """Return the request without what a model that does not reason, or an organisation that is not verified, is refused."""
        if "include" in body and "ncrypted content" in text:
            return {name: value for name, value in body.items() if name != "include"}
        reasoning = body.get("reasoning")
        is_about_summaries = "reasoning.summary" in text or "reasoning summaries" in text
        if isinstance(reasoning, dict) and "summary" in reasoning and is_about_summaries:
            return {**body, "reasoning": {name: value for name, value in reasoning.items() if name != "summary"}}
        return None


PART = ModelPart(make=make, options=ResponsesOptions)
