"""`replay:FILE`: recorded replies, by sample id, as an agent; and `read`, which scores them without one.

One JSON object a line, or a list of them: `{"id": "fr", "answer": "Paris"}` (or `prediction`), `{"id": "f1",
"calls": [{"name": "f", "arguments": {"x": 1}}]}`, `{"id": ..., "messages": [...]}` as in chat completions, or
`{"id": ..., "trajectory": {...}}` as we export it. Several records of one id are its attempts, in order.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from proctor.agents.conversation import RecordedConversation
from proctor.chat.agent_replies import call_of, steps_of
from proctor.config import unknown_option
from proctor.core.errors import AgentFailed, BadInput
from proctor.core.parts import AgentPart
from proctor.core.sample import Message, Sample
from proctor.core.sentence import Sentence, say
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import Step, ToolStyle, Trajectory
from proctor.core.validation import in_words
from proctor.runtime.files import reading


def make(argument: str, options: Mapping[str, object]) -> Agent:
    """Return the recorded replies as an agent; the file is read, and checked, at once.

    Raises:
        BadInput: no such file, a record that cannot be read, or an unknown option.
    """
    for option in options:
        raise unknown_option(f"replay:{argument}", option, [])
    recorded: dict[str, list[Trajectory]] = {}
    for sample_id, trajectory in read(Path(argument).expanduser()):
        recorded.setdefault(sample_id, []).append(trajectory)
    return Replay(recorded, name=f"replay:{argument}")


def read(path: Path) -> Iterator[tuple[str, Trajectory]]:
    """Yield each sample id with its recorded trajectory or failure.

    Raises:
        BadInput: no such file, or a record that cannot be read; names file and line (or the number of the record).
    """
    for where, record in _records(path):
        try:
            yield _record(record)
        except (BadInput, AgentFailed) as error:
            raise BadInput("{path}, {where}: {reason}", path=path, where=where, reason=error.sentence) from None


class Replay:
    """Gives each sample what was recorded for it, one record an attempt, and from the start again after the last."""

    def __init__(self, recorded: Mapping[str, Sequence[Trajectory]], *, name: str) -> None:
        natively = any(attempt.tools == "native" for attempts in recorded.values() for attempt in attempts)
        self.name = name
        self.tools: ToolStyle = "native" if natively else "text"
        self._recorded = recorded
        self._played = {sample_id: count() for sample_id in recorded}

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        if sample.id not in self._recorded:
            raise AgentFailed("There is no recorded reply for '{id}'.", kind="no_reply", id=sample.id)
        attempts = self._recorded[sample.id]
        yield RecordedConversation(attempts[next(self._played[sample.id]) % len(attempts)])


def _records(path: Path) -> Iterator[tuple[Sentence, Any]]:
    with reading(path), path.open("rb") as file:
        first = file.read(4_096).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        file.seek(0)
        if first == b"[":
            yield from _read_list(path, file.read())
            return
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield say("line {number}", number=number), _decode(line, path, say("line {number}", number=number))


def _read_list(path: Path, text: bytes) -> Iterator[tuple[Sentence, object]]:
    for number, record in enumerate(_decode(text, path, say("the list")), start=1):
        yield say("record {number}", number=number), record


def _decode(text: bytes, path: Path, where: Sentence) -> Any:
    try:
        return json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadInput(
            "{path}, {where}: {reason}",
            path=path,
            where=where,
            reason=say("it is no JSON: {error}.", error=in_words(error)),
        ) from None


def _record(record: Any) -> tuple[str, Trajectory]:
    match record:
        case {"id": str() | int() as sample_id}:
            return str(sample_id), _trajectory(record)
    raise BadInput("expected an object with an 'id'.")


def _trajectory(record: Mapping[str, object]) -> Trajectory:
    match record:
        case {"trajectory": dict() as trajectory}:
            try:
                return msgspec.convert(trajectory, Trajectory)
            except msgspec.ValidationError as error:
                raise BadInput("its trajectory is none: {error}.", error=in_words(error)) from None
        case {"calls": list() as calls} if all(_is_call(call) for call in calls):
            parts = tuple(
                call_of(call["name"], call.get("arguments", {}), f"call_{index}") for index, call in enumerate(calls)
            )
            said = tuple(part for step in steps_of(record.get("answer") or "") for part in step.message.parts)
            return Trajectory(steps=(Step(message=Message(role="assistant", parts=said + parts)),), tools="native")
        case {"answer": str() as answer} | {"prediction": str() as answer}:
            return Trajectory(steps=tuple(steps_of(answer)))
        case {"messages": list() as messages}:
            steps = tuple(steps_of(messages))
            called = any(step.message.calls for step in steps)
            return Trajectory(steps=steps, tools="native" if called else "text")
    raise BadInput(
        "expected 'answer' (a text), 'calls' (a list of name and arguments), 'messages' or 'trajectory' besides the id."
    )


def _is_call(call: object) -> bool:
    return isinstance(call, dict) and isinstance(call.get("name"), str)


PART = AgentPart(make=make)
