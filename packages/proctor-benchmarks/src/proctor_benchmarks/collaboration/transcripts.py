"""Read transcripts of several agents: of AutoGen, CrewAI, LangGraph and ADK, of chat completions with names, and our own.

    {"messages": [{"source": "planner", "type": "TextMessage", "content": "…", "models_usage": {…}}]}      AutoGen 0.7 (TaskResult)
    {"chat_history": [{"name": "planner", "role": "user", "content": "…"}]}                                AutoGen 0.2
    {"raw": "…", "tasks_output": [{"agent": "Planner", "raw": "…", "messages": […]}], "token_usage": {…}}  CrewAI 1.15 (CrewOutput)
    {"messages": [{"type": "ai", "name": "planner", "content": "…", "tool_calls": […]}]}                   LangGraph 1 (state)
    {"id": "…", "events": [{"author": "planner", "content": {"parts": […]}}]}                              google-adk 2 (Session)
    {"steps": […]}, {"trajectory": {…}}                                                                    Proctor

They are the objects as their own library writes them to JSON, compared with files that it wrote (`tests/data/collaboration`).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.chat.agent_replies import call_of, clean
from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject, Message, Part, Reasoning, Text, ToolCall, ToolResult
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.core.validation import in_words
from proctor_adapters.traces.attributes import at, number, text
from proctor_adapters.traces.messages import as_text, message

MOST_BYTES = 200_000_000
SUFFIXES = (".json", ".jsonl")
KEYS = ("transcript", "trajectory", "steps", "tasks_output", "events", "messages", "chat_history", "values")
_PEOPLE = ("user", "human", "user_proxy", "userproxy")
_ACTION = re.compile(r"^Action:[ \t]*(.*)\nAction Input:[ \t]*(.*(?:\n(?!Observation:).*)*)(?:\nObservation:[ \t]*((?s:.*)))?", re.MULTILINE)  # fmt: skip


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation of a team: the ids it may be known by, what it was asked, and what was done."""

    ids: tuple[str, ...]
    question: str
    trajectory: Trajectory
    path: Path


def read(path: Path) -> Iterator[Transcript]:
    """Yield the transcripts of a file (one, a list with ids, or a line each), or of all files below a folder.

    Raises:
        BadInput: a file that cannot be read, or holds no transcript; names it.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
        if not files:
            raise BadInput("{path}: there is no file that ends with {names}.", path=path, names=", ".join(SUFFIXES))
    else:
        files = [path]
    for file in files:
        name = file.relative_to(path).with_suffix("").as_posix() if path.is_dir() else file.stem
        values = _values(file)
        for index, value in enumerate(values):
            own = str(value["id"]) if isinstance(value, dict) and value.get("id") else ""
            stem = name if len(values) == 1 else ""
            ids = tuple(filter(None, (own, stem))) or (f"{name}-{index + 1}",)
            try:
                question, trajectory = transcript(value)
            except BadInput as error:
                raise BadInput("{path}, {where}: {reason}", path=file, where=say("record {number}", number=index + 1), reason=error.sentence) from None  # fmt: skip
            yield Transcript(ids=ids, question=question, trajectory=trajectory, path=file)


def transcript(value: Any) -> tuple[str, Trajectory]:
    """Return what a team was asked first, and what it did.

    Raises:
        BadInput: it is in none of the layouts.
    """
    match value:
        case {"transcript": inner} | {"values": {"messages": _} as inner}:
            return transcript(inner)
        case {"trajectory": dict()} | {"steps": [*_]}:
            raw = value["trajectory"] if isinstance(value.get("trajectory"), dict) else value
            try:
                found = msgspec.convert({key: entry for key, entry in raw.items() if key != "id"}, Trajectory)
            except msgspec.ValidationError as error:
                raise BadInput("its trajectory is none: {error}.", error=in_words(error)) from None
            return _split([*found.steps], found)
        case {"tasks_output": list() as tasks}:
            return _split(_of_crew(tasks, value))
        case {"events": list() as items} | {"messages": list() as items} | {"chat_history": list() as items}:
            return _split(_of_items(items))
        case [_, *_] as items:
            return _split(_of_items(items))
    raise BadInput("expected a transcript: an object with one of {names}, or a list of messages.", names=", ".join(KEYS))  # fmt: skip


def _values(path: Path) -> list[object]:
    """Return the transcripts of a file; a list of objects that are transcripts themselves is several."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadInput("{path} is larger than {limit} bytes.", path=path, limit=MOST_BYTES)
        written = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error.strerror or error) from None
    except UnicodeDecodeError as error:
        raise BadInput("{path}: {error}.", path=path, error=error) from None
    value = _decode(path, written, lines=path.suffix == ".jsonl")
    is_several = isinstance(value, list) and all(isinstance(item, dict) and any(key in item for key in KEYS) for item in value)  # fmt: skip
    return value if is_several and value else [value]


def _decode(path: Path, written: str, *, lines: bool) -> Any:
    numbered = enumerate(written.split("\n"), start=1) if lines else [(1, written)]
    values, at_line = [], 1
    try:
        for at_line, text_ in numbered:  # noqa: B007 - for the error
            if text_.strip():
                values.append(json.loads(text_))
        return values if lines else values[0] if values else None
    except (ValueError, RecursionError) as error:
        raise BadInput("{path}, line {line}: it is no JSON: {error}.", path=path, line=at_line, error=in_words(error)) from None  # fmt: skip


def _split(steps: Sequence[Step], made: Trajectory | None = None) -> tuple[str, Trajectory]:
    """Return the first words of the user, and the trajectory after them, with its turns numbered."""
    first = next((index for index, step in enumerate(steps) if step.message.role == "user"), None)
    question = "" if first is None else steps[first].message.text
    kept, turn = [], 0
    for index, step in enumerate(steps):
        if index == first or step.message.role == "system":
            continue
        turn += step.message.role == "user"
        kept.append(replace(step, turn=turn))
    native = any(step.message.calls for step in kept)
    return question, replace(made or Trajectory(tools="native" if native else "text"), steps=tuple(kept))


def _of_items(items: Sequence[object]) -> list[Step]:
    steps: list[Step] = []
    waiting: dict[str, str] = {}  # by agent: whom its last tool call handed over to, as AutoGen tells it twice
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise BadInput("message {number} is no object.", number=index + 1)
        if item.get("partial") is True:  # a piece of an event of ADK, which comes whole later
            continue
        step = _of_autogen(item, waiting) if isinstance(item.get("source"), str) and "type" in item else _of_any(item)
        if step is not None:
            steps.append(step)
    return steps


def _of_any(item: Mapping[str, object]) -> Step | None:
    """Return a message of chat completions or LangChain, or an event of ADK."""
    inner = next((value for key in ("data", "kwargs") if isinstance(value := item.get(key), dict)), item)
    content = item.get("content")
    is_event = isinstance(content, dict) and "parts" in content
    chat_message = message(content if is_event else {"type": _type(item), **inner} if inner is not item else dict(item))
    author = clean(text(item, "author", "agent") or text(inner, "name"))
    usage = _usage(inner)
    if chat_message is None:
        return Step(message=Message(role="assistant"), author=author or "agent", usage=usage) if usage else None
    parts = tuple(_with_error(part, inner) if isinstance(part, ToolResult) else part for part in chat_message.parts)
    if chat_message.role == "tool":
        return Step(message=Message(role="tool", parts=parts), author="tool")
    if chat_message.role == "user" and not (author and author.lower() not in _PEOPLE):
        return Step(message=Message(role="user", parts=parts), author="user")
    if author.lower() in _PEOPLE:
        return Step(message=Message(role="user", parts=parts), author="user")
    if chat_message.role == "system":
        return Step(message=Message(role="system", parts=parts), author="system")
    return Step(message=Message(role="assistant", parts=parts), author=author or "agent", usage=usage)


def _type(item: JsonObject) -> str:
    """Return the type of a message of LangChain; with `dumps` it is the last part of its id, such as `AIMessage`."""
    named = item["id"][-1] if isinstance(item.get("id"), list) and item["id"] else item.get("type", "")
    return str(named).removesuffix("Chunk").removesuffix("Message").lower()


def _with_error(result: ToolResult, item: Mapping[str, object]) -> ToolResult:
    """Return a result with what LangChain (a status) and ADK (an object with `error`) say of its failure."""
    failed = item.get("status") == "error"
    if result.content.startswith('{"error"'):
        failed = True
    return replace(result, is_error=result.is_error or failed)


def _of_autogen(item: Mapping[str, object], waiting: dict[str, str]) -> Step | None:
    author, content = clean(str(item["source"])), item.get("content")
    parts: tuple[Part, ...] = ()
    match item["type"], content:
        case "ToolCallRequestEvent", list():
            calls = [call_of(text(call, "name"), at(call, "arguments"), text(call, "id")) for call in content if isinstance(call, dict)]  # fmt: skip
            waiting[author] = next(
                (call.id for call in calls if "transfer_to_" in call.name or "handoff" in call.name), ""
            )
            parts = tuple(calls)
        case "ToolCallExecutionEvent", list():
            results = tuple(_result(result) for result in content if isinstance(result, dict))
            return Step(message=Message(role="tool", parts=results), author="tool") if results else None
        case "HandoffMessage", _:
            if waiting.pop(author, ""):
                return None  # its tool call says it
            parts = (ToolCall(name=f"transfer_to_{text(item, 'target')}"),)
            if author.lower() in _PEOPLE:
                return None
        case "ThoughtEvent", str():
            parts = (Reasoning(text=clean(content)),)
        case str() as kind, str() if kind.endswith(("Message", "Response")):
            parts = (Text(text=clean(content)),)
        case str() as kind, list() if kind.endswith("Message"):
            parts = tuple(Text(text=clean(words)) for words in content if isinstance(words, str))
        case str() as kind, dict() if kind.endswith("Message") or "Structured" in kind:
            parts = (Text(text=as_text(content)),)
    if not parts and _usage(item) is None:
        return None
    if author.lower() in _PEOPLE:
        return Step(message=Message(role="user", parts=parts), author="user")
    return Step(message=Message(role="assistant", parts=parts), author=author, usage=_usage(item))


def _result(one: Mapping[str, object]) -> ToolResult:
    return ToolResult(name=text(one, "name"), content=as_text(one.get("content", "")), id=text(one, "call_id", "id"), is_error=one.get("is_error") is True)  # fmt: skip


def _of_crew(tasks: Sequence[object], crew: object) -> list[Step]:
    """Return the steps of a crew: what its agents wrote in each task, and the output of the task."""
    steps: list[Step] = []
    for task in tasks:
        if not isinstance(task, Mapping):
            raise BadInput("a task of the crew is no object.")
        author, raw = clean(text(task, "agent")).strip() or "agent", text(task, "raw")
        if not steps:
            steps.append(Step(message=Message.of("user", clean(text(task, "description"))), author="user"))
        said = [each for each in task.get("messages") or () if isinstance(each, Mapping) and each.get("role") in ("assistant", "tool")]  # fmt: skip
        for index, each in enumerate(said):
            steps.extend(_of_react(each["content"], author, f"{len(steps)}-{index}") if "\nAction:" in f"\n{each.get('content')}" else [_by(author, each)])  # fmt: skip
        if raw and steps[-1].message.text.strip() != raw.strip():
            steps.append(Step(message=Message.of("assistant", clean(raw)), author=author))
    used = at(crew, "token_usage")
    usage = _usage({"usage": used}) if isinstance(used, dict) else None
    if usage is not None and steps:  # recorded for the crew only
        steps[-1] = replace(steps[-1], usage=usage)
    return steps


def _by(author: str, one: Mapping[str, object]) -> Step:
    step = _of_any(one)
    if step is None:
        return Step(message=Message(role="assistant"), author=author)
    return step if step.message.role == "tool" else replace(step, author=author)


def _of_react(written: str, author: str, id: str) -> Iterator[Step]:
    """Yield the call that a text of CrewAI makes and its result, which is in the same text."""
    match = _ACTION.search(written)
    if match is None:
        yield Step(message=Message.of("assistant", clean(written)), author=author)
        return
    call = call_of(match[1].strip(), match[2].strip(), id)
    thought = Reasoning(text=clean(written[: match.start()].strip()))
    yield Step(message=Message(role="assistant", parts=(thought, call) if thought.text else (call,)), author=author)
    if match[3] is not None:
        content = clean(match[3].strip())
        failed = content.startswith("Error executing t")
        result = ToolResult(name=call.name, content=content, id=id, is_error=failed)
        yield Step(message=Message(role="tool", parts=(result,)), author="tool")


def _usage(item: Mapping[str, object]) -> Usage | None:
    """Return the tokens that a message tells of, by any of the names; None if it tells of none."""
    for key in ("models_usage", "usage_metadata", "usageMetadata", "usage", "token_usage"):
        used = item.get(key)
        if isinstance(used, Mapping):
            prompt = number(used, "prompt_tokens", "input_tokens", "prompt_token_count", "promptTokenCount")
            completion = number(
                used, "completion_tokens", "output_tokens", "candidates_token_count", "candidatesTokenCount"
            )
            if prompt or completion:
                return Usage(
                    input_tokens=prompt, output_tokens=completion, requests=number(used, "successful_requests") or 1
                )
    return None


def problem(name: str, known: Sequence[str]) -> Sentence:
    """Return why a transcript belongs to no scenario."""
    return say("no scenario has the id '{name}', and none asks the same. Known: {known}.", name=name, known=", ".join(known[:10]))  # fmt: skip
