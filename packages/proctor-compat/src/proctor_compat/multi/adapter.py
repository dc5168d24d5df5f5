"""The original's adapter as an agent: an object with `generate_answer(question) -> question`, adding `prediction`."""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from proctor.core.errors import AgentFailed, BadInput
from proctor.core.sample import File, Message, Sample, Text, Turn
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle, Usage
from proctor_benchmarks.multi.predictions import count


class Adapter:
    """Asks an object that answers a whole question at once; its input is the list of contents of all turns."""

    tools: ToolStyle = "text"

    def __init__(self, evaluator: Any, name: str = "adapter", arguments: Mapping[str, object] | None = None) -> None:
        """Take an object, or make one of a class out of those `arguments` that its constructor names.

        Raises:
            BadInput: the constructor needs what is not given, fails, or makes no object with `generate_answer`.
        """
        instance = _made(evaluator, name, arguments or {}) if isinstance(evaluator, type) else evaluator
        if not callable(getattr(instance, "generate_answer", None)):
            raise BadInput("'{name}' has no method generate_answer(question).", name=name)
        self._generate = instance.generate_answer
        self.name = name

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        return nullcontext(_Asked(self._generate, sample))


class _Asked:
    def __init__(self, generate: Any, sample: Sample) -> None:
        self._generate = generate
        self._sample = sample
        self._left = len(sample.turns)

    async def send(self, turn: Turn) -> Sequence[Step]:
        self._left -= 1
        if self._left:
            return [Step(message=Message(role="assistant"))]  # the last turn asks the whole question
        answered = await asyncio.to_thread(self._generate, question_of(self._sample))
        prediction = answered.get("prediction") if isinstance(answered, dict) else None
        if not isinstance(prediction, str):
            raise AgentFailed("generate_answer gave no question with a text as 'prediction'.")
        usage = Usage(
            input_tokens=count(answered.get("prompt_tokens")),
            output_tokens=count(answered.get("completion_tokens")),
            requests=1,
        )
        return [Step(message=Message.of("assistant", prediction), usage=usage)]


def _made(evaluator: type, name: str, arguments: Mapping[str, object]) -> Any:
    parameters = inspect.signature(evaluator).parameters.values()
    named = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    given = {
        parameter.name: arguments[parameter.name] for parameter in named if arguments.get(parameter.name) is not None
    }
    missing = [
        parameter.name for parameter in named if parameter.default is parameter.empty and parameter.name not in given
    ]
    if missing:
        raise BadInput(
            "'{name}' is made with {missing}; give --{flag}.", name=name, missing=", ".join(missing), flag=missing[0]
        )
    try:
        return evaluator(**given)
    except Exception as error:
        raise BadInput(
            "'{name}' cannot be made: {kind}: {error}", name=name, kind=type(error).__name__, error=error
        ) from error


def question_of(sample: Sample) -> dict[str, object]:
    """Return the question object that adapters of the original are given; images are paths."""
    contents = [
        "".join(part.text for part in turn.messages[-1].parts if isinstance(part, Text)) for turn in sample.turns
    ]
    images = [part.path or "" for turn in sample.turns for part in turn.messages[-1].parts if isinstance(part, File)]
    question: dict[str, object] = {"question_id": sample.id, "question_image_number": sample.meta.get("images", 0)}
    system = [message.text for message in sample.turns[0].messages if message.role == "system"]
    if system:
        question["prompted_system_content"] = system[0]
    if images:
        question["image_list"] = images + [""] * (len(contents) - len(images))
    key = "prompted_content" if len(contents) == 1 else "prompted_content_list"
    question[key] = contents[0] if len(contents) == 1 else contents
    return question
