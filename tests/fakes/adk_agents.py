"""Agents of google-adk whose model says what it is told to."""

from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

Reply = LlmResponse | BaseException | Callable[[LlmRequest], LlmResponse]


class ScriptedLlm(BaseLlm):
    """Gives its replies in order, the last one for ever; keeps what it was asked."""

    model: str = "scripted"
    replies: list[Any] = []  # noqa: RUF012 - pydantic copies it
    asked: list[Any] = []  # noqa: RUF012

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.asked.append([content.model_copy(deep=True) for content in llm_request.contents])
        reply: Reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        if isinstance(reply, BaseException):
            raise reply
        yield reply(llm_request) if callable(reply) else reply.model_copy(deep=True)


def agent(*replies: Reply | Iterable[Reply], name: str = "root", **more: Any) -> LlmAgent:
    """An agent whose model gives these replies."""
    return LlmAgent(name=name, model=ScriptedLlm(replies=list(replies), asked=[]), **more)


def model_of(target: LlmAgent) -> ScriptedLlm:
    """The model behind an agent made here."""
    assert isinstance(target.model, ScriptedLlm)
    return target.model


def says(*texts: str, thought: str | None = None, tokens: tuple[int, int] = (10, 5)) -> LlmResponse:
    """A reply of text parts, with a thought before them."""
    parts = [types.Part(text=text) for text in texts]
    if thought is not None:
        parts.insert(0, types.Part(text=thought, thought=True))
    return _response(parts, tokens)


def calls(*made: tuple[str, dict[str, Any] | None], text: str | None = None) -> LlmResponse:
    """A reply of tool calls, all at once."""
    parts = [types.Part(function_call=types.FunctionCall(name=name, args=arguments)) for name, arguments in made]
    if text is not None:
        parts.insert(0, types.Part(text=text))
    return _response(parts, (7, 3))


def last_said(request: LlmRequest) -> str:
    """The text of the last message the model was given."""
    return "".join(part.text or "" for part in request.contents[-1].parts or ())


def lookup_price(model: str) -> dict[str, Any]:
    """The price of a model."""
    return {"price": {"A": 100, "B": 200}.get(model, 0)}


def _response(parts: list[types.Part], tokens: tuple[int, int]) -> LlmResponse:
    used = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=tokens[0], candidates_token_count=tokens[1], total_token_count=sum(tokens)
    )
    return LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=used)
