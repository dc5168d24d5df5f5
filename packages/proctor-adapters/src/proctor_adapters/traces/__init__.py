"""Read traces, the spans an agent recorded, as conversations that can be scored and kept as eval cases.

Spans may follow OpenTelemetry's GenAI conventions (new and old), OpenInference, or ADK and VeADK; a log record of a model call
belongs to its span. Spans of one conversation belong together by its id, else by their trace; a trace that continues where
another ended is appended to it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor.transport.redact import redact
from proctor_adapters.traces import span_files
from proctor_adapters.traces.attributes import identity
from proctor_adapters.traces.conversation import Dialogue, history
from proctor_adapters.traces.dialects import LOOKED_FOR
from proctor_adapters.traces.span_files import SpanEvent, TraceSpan, is_trace
from proctor_adapters.traces.span_tree import Node, place_spans

__all__ = ["TracedConversation", "Traces", "conversations", "is_trace", "read"]


class TracedConversation(msgspec.Struct, frozen=True, kw_only=True):
    """The messages and calls of a conversation; `turns` are the user's messages.

    Attributes:
        id: that of the conversation where one is recorded, else of its first trace.
        sample: the id of the sample that it is of, in traces that an evaluation wrote.
    """

    id: str
    turns: tuple[Message, ...]
    trajectory: Trajectory
    started: float = 0.0
    app: str = ""
    user: str = ""
    sample: str = ""


class Traces(msgspec.Struct, frozen=True, kw_only=True):
    """The conversations of span files in the order of time, and those that are incomplete, with what they lack."""

    whole: tuple[TracedConversation, ...] = ()
    broken: tuple[tuple[TracedConversation, Sentence], ...] = ()
    spans: int = 0
    traces: int = 0


def read(paths: Sequence[Path]) -> Traces:
    """Read the conversations of files, or of folders of files.

    Raises:
        BadInput: a file that cannot be read, or holds no spans; or no span in any of them is of a model, a tool or an agent.
    """
    files = (file for given in paths for file in span_files.files(given))
    return conversations((span for file in files for span in span_files.read(file)), ", ".join(map(str, paths)))


def conversations(spans: Iterable[TraceSpan], source: str) -> Traces:
    """Assemble spans into conversations; a message names the files they are from.

    Raises:
        BadInput: no span is of a model, a tool or an agent.
    """
    by_trace: dict[str, list[TraceSpan]] = {}
    logged: dict[tuple[str, str], list[SpanEvent]] = {}
    for span in spans:
        if span.is_log:
            logged.setdefault((span.trace, span.id), []).extend(span.events)
        else:
            by_trace.setdefault(span.trace, []).append(span)
    count = sum(map(len, by_trace.values()))
    groups = sorted(
        (place_spans([_with_logs(span, logged) for span in group]) for group in by_trace.values()),
        key=_start,
    )
    if not any(node.kind for group in groups for node in group):
        raise BadInput(
            "{path}: none of its {count} spans tells of a model, a tool or an agent. Looked for: {names}.",
            path=source,
            count=f"{count:,}",
            names=LOOKED_FOR,
        )
    every = [(_conversation(name, dialogue, first), _problem(dialogue)) for name, dialogue, first in _dialogues(groups)]
    return Traces(
        whole=tuple(conversation for conversation, problem in every if problem is None),
        broken=tuple((conversation, problem) for conversation, problem in every if problem is not None),
        spans=count,
        traces=len(by_trace),
    )


def _with_logs(span: TraceSpan, logged: Mapping[tuple[str, str], Sequence[SpanEvent]]) -> TraceSpan:
    events = logged.get((span.trace, span.id), ())
    return msgspec.structs.replace(span, events=(*span.events, *events)) if events else span


def _dialogues(groups: Sequence[Sequence[Node]]) -> Iterator[tuple[str, Dialogue, Sequence[Node]]]:
    """Yield the dialogues with their id and the spans of their first trace, in the order they began."""
    dialogues: dict[tuple[str, str], tuple[Dialogue, Sequence[Node]]] = {}  # by recorded id, or by the first trace
    first_by_end: dict[str, str] = {}  # of a dialogue without an id: its first trace by what had been said at its end
    for group in groups:
        by_id: dict[str, list[Node]] = {}
        for node in group:
            by_id.setdefault(node.conversation, []).append(node)
        for name, nodes in by_id.items():
            if not any(node.kind for node in nodes):
                continue
            trace = "" if name else first_by_end.pop(_beginning(nodes), nodes[0].span.trace)
            dialogue, _ = dialogues.setdefault((name, trace), (Dialogue(), nodes))
            dialogue.add(nodes)
            if not name and (end := dialogue.end()):
                first_by_end[end] = trace
    for (name, trace), (dialogue, first) in dialogues.items():
        yield name or trace, dialogue, first


def _beginning(nodes: Sequence[Node]) -> str:
    """Return a digest of what had been said before a trace began, up to the last message of the assistant."""
    models = [node for node in nodes if node.kind == "model"]
    prompt = min(models, key=lambda node: (node.span.start, node.order)).prompt if models else []
    last = next((index for index in reversed(range(len(prompt))) if prompt[index].role == "assistant"), None)
    return "" if last is None else history(prompt[: last + 1])


def _start(group: Sequence[Node]) -> float:
    return min((node.span.start for node in group if node.span.start), default=0.0)


def _conversation(name: str, dialogue: Dialogue, nodes: Sequence[Node]) -> TracedConversation:
    def first(*paths: str) -> str:
        return next((text for node in nodes if (text := identity(node.span.attributes, *paths))), "")

    return TracedConversation(
        id=name,
        turns=tuple(user for user in dialogue.users if user is not None),
        trajectory=dialogue.trajectory,
        started=_start(nodes),
        app=first("gen_ai.app.name", "app.name", "app_name"),
        user=first("gen_ai.user.id", "user.id", "enduser.id"),
        sample=first("proctor.sample.id"),
    )


def _problem(dialogue: Dialogue) -> Sentence | None:
    if not dialogue.users or not all(user and user.parts for user in dialogue.users):
        return say("it does not tell what the user said")
    if not dialogue.is_unanswered():
        return None
    if dialogue.failed:
        return say("it has no answer: {error}", error=redact(dialogue.failed[:200]))
    return say("it has no answer")
