"""Traces: spans that agents left behind, as conversations that can be scored and kept as eval cases.

Three dialects are read, mixed as they come: OpenTelemetry's GenAI conventions (new and old), OpenInference, and the spans
of ADK and VeADK; what a log record tells of a model call belongs to its span. Spans of one conversation belong together by its id, else by their trace; a trace that goes on where
another ended is put behind it.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor.traces import span_files
from proctor.traces.attributes import identity
from proctor.traces.context import LOOKED_FOR, Placed, placed
from proctor.traces.conversation import Talk, history
from proctor.traces.span_files import Event, Span, is_trace
from proctor.transport.redact import redact

__all__ = ["Conversation", "Traces", "conversations", "is_trace", "read"]


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """What was said and done; `turns` are the words of the user.

    Attributes:
        id: that of the conversation where one is told, else of its first trace.
    """

    id: str
    turns: tuple[Message, ...]
    trajectory: Trajectory
    started: float = 0.0
    app: str = ""
    user: str = ""


class Traces(msgspec.Struct, frozen=True, kw_only=True):
    """What files of spans tell: conversations in the order of time, those that are not whole with what is missing."""

    whole: tuple[Conversation, ...] = ()
    broken: tuple[tuple[Conversation, Sentence], ...] = ()
    spans: int = 0
    traces: int = 0


def read(paths: Sequence[Path]) -> Traces:
    """The conversations of files, or of folders of files.

    Raises:
        BadInput: a file that cannot be read, or holds no spans; or no span in any of them tells of a model, a tool or
            an agent.
    """
    files = (file for given in paths for file in span_files.files(given))
    return conversations((span for file in files for span in span_files.read(file)), ", ".join(map(str, paths)))


def conversations(spans: Iterable[Span], source: str) -> Traces:
    """Put spans together as conversations; a message names where they are from.

    Raises:
        BadInput: no span tells of a model, a tool or an agent.
    """
    by_trace: dict[str, list[Span]] = {}
    count = 0
    logged: dict[tuple[str, str], list[Event]] = {}
    for span in spans:
        if span.is_log:
            logged.setdefault((span.trace, span.id), []).extend(span.events)
            continue
        by_trace.setdefault(span.trace, []).append(span)
        count += 1
    for found in by_trace.values() if logged else ():
        found[:] = [_with_logs(span, logged.get((span.trace, span.id), ())) for span in found]
    groups = sorted((placed(spans) for spans in by_trace.values()), key=_start)
    if not any(one.kind for group in groups for one in group):
        raise BadInput(
            "{path}: none of its {count} spans tells of a model, a tool or an agent. Looked for: {names}.",
            path=source,
            count=f"{count:,}",
            names=LOOKED_FOR,
        )
    whole: list[Conversation] = []
    broken: list[tuple[Conversation, Sentence]] = []
    for name, talk, first in _talks(groups):
        made = _conversation(name, talk, first)
        problem = _problem(talk)
        if problem is None:
            whole.append(made)
        else:
            broken.append((made, problem))
    return Traces(whole=tuple(whole), broken=tuple(broken), spans=count, traces=len(by_trace))


def _with_logs(span: Span, events: Sequence[Event]) -> Span:
    return msgspec.structs.replace(span, events=(*span.events, *events)) if events else span


def _talks(groups: Sequence[Sequence[Placed]]) -> Iterator[tuple[str, Talk, Sequence[Placed]]]:
    """Conversations with their id and the spans of their first trace, in the order they began."""
    talks: dict[tuple[str, str], tuple[Talk, Sequence[Placed]]] = {}  # by the id that was told, or the first trace
    ends: dict[str, str] = {}  # what had been said at the end of a conversation without an id, and its first trace
    for group in groups:
        by_id: dict[str, list[Placed]] = {}
        for one in group:
            by_id.setdefault(one.talk, []).append(one)
        for talk_id, spans in by_id.items():
            if not any(one.kind for one in spans):
                continue
            trace = "" if talk_id else ends.pop(_begin(spans), spans[0].span.trace)
            talk, _ = talks.setdefault((talk_id, trace), (Talk(), spans))
            talk.add(spans)
            if not talk_id and (end := talk.end()):
                ends[end] = trace
    for (talk_id, trace), (talk, first) in talks.items():
        yield talk_id or trace, talk, first


def _begin(spans: Sequence[Placed]) -> str:
    """What had been said before a trace began, up to the last message of the assistant."""
    models = sorted((one for one in spans if one.kind == "model"), key=lambda one: (one.span.start, one.order))
    sent = models[0].sent if models else []
    places = [place for place, message in enumerate(sent) if message.role == "assistant"]
    return history(sent[: places[-1] + 1]) if places else ""


def _start(group: Sequence[Placed]) -> float:
    return min((one.span.start for one in group if one.span.start), default=0.0)


def _conversation(name: str, talk: Talk, spans: Sequence[Placed]) -> Conversation:
    found = [one.span.attributes for one in spans]

    def first(*paths: str) -> str:
        return next((text for one in found if (text := identity(one, *paths))), "")

    return Conversation(
        id=name,
        turns=tuple(one for one in talk.users if one is not None),
        trajectory=talk.trajectory,
        started=_start(spans),
        app=first("gen_ai.app.name", "app.name", "app_name"),
        user=first("gen_ai.user.id", "user.id", "enduser.id"),
    )


def _problem(talk: Talk) -> Sentence | None:
    if not talk.users or None in talk.users or not all(one and one.parts for one in talk.users):
        return say("it does not tell what the user said")
    if talk.unanswered():
        if talk.failed:
            return say("it has no answer: {error}", error=redact(talk.failed[:200]))
        return say("it has no answer")
    return None
