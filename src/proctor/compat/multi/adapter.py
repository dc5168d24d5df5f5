"""The original's adapter as an agent: an object with `generate_answer(question) -> question`, adding `prediction`."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from proctor.core.errors import AgentFailed
from proctor.core.sample import File, Message, Sample, Text, Turn
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle


class Adapter:
    """Asks an object that answers a whole question at once; the turns of a question become its list of contents."""

    tools: ToolStyle = "text"

    def __init__(self, evaluator: Any, name: str = "adapter") -> None:
        made = evaluator() if isinstance(evaluator, type) else evaluator
        self._generate = made.generate_answer
        self.name = name

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        """One question at a time."""
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
        return [Step(message=Message.of("assistant", prediction))]


def question_of(sample: Sample) -> dict[str, Any]:
    """The question object that adapters of the original are given; images are paths."""
    contents = [
        "".join(part.text for part in turn.messages[-1].parts if isinstance(part, Text)) for turn in sample.turns
    ]
    images = [part.path or "" for turn in sample.turns for part in turn.messages[-1].parts if isinstance(part, File)]
    question: dict[str, Any] = {"question_id": sample.id, "question_image_number": sample.meta.get("images", 0)}
    system = [message.text for message in sample.turns[0].messages if message.role == "system"]
    if system:
        question["prompted_system_content"] = system[0]
    if images:
        question["image_list"] = images + [""] * (len(contents) - len(images))
    key = "prompted_content" if len(contents) == 1 else "prompted_content_list"
    question[key] = contents[0] if len(contents) == 1 else contents
    return question
