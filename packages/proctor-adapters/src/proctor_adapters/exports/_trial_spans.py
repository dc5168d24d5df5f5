"""Describe trials as spans of OpenTelemetry's GenAI conventions, made by the official SDK.

    evaluate TASK                       one trace for each trial
      invoke_agent AGENT                one for each turn; the last has the events gen_ai.evaluation.result
        chat MODEL
        execute_tool NAME

Source: open-telemetry/semantic-conventions-genai, docs/gen-ai (gen-ai-spans.md, gen-ai-agent-spans.md, gen-ai-events.md), 1.41.
"""

import json
import os
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from proctor import registry
from proctor.chat.agent_replies import clean
from proctor.core.digest import digest, digest_bytes
from proctor.core.errors import BadInput, needs
from proctor.core.run import RunRecord
from proctor.core.sample import File, Message, Part, Reasoning, Sample, Text, ToolCall, ToolResult
from proctor.core.score import Score, short_reason
from proctor.core.trajectory import Step, Stop, turns_of
from proctor.core.trial import IN_THE_MEAN, Trial, Verdict

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

MOST_INTEGER = 2**63 - 1
MOST_SECONDS = 1e10
MOST_CHARACTERS = 100_000  # of one text; collectors refuse requests of a few megabytes
MOST_BYTES = 75_000  # of a file, which are as many characters in base64; of a larger one the digest is sent
FINISH: Mapping[Stop, str] = {"length": "length", "filtered": "content_filter", "refused": "refusal"}


class _Made(msgspec.Struct, frozen=True, kw_only=True):
    """A span below the one of its turn; times are Unix seconds."""

    name: str
    start: float
    end: float
    attributes: Mapping[str, object]
    failed: str | None = None


class SpanMaker:
    """Makes the spans of the trials of a run; the same trial has the same ids whenever it is described.

    Args:
        content: what was said is included, with the arguments and results of tools and the reasons of verdicts.

    Raises:
        MissingExtra: the SDK is not installed.
        BadInput: the environment switches traces off.
    """

    def __init__(self, record: RunRecord, *, content: bool) -> None:
        with needs("otel", "OpenTelemetry"):
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import SimpleSpanProcessor
            from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
            raise BadInput("OTEL_SDK_DISABLED switches all traces off; unset it.")
        self._record, self._content = record, content
        self._ids = _ids()
        self._memory = InMemorySpanExporter()
        resource = Resource.create()  # reads OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
        if str(resource.attributes.get("service.name", "")).startswith("unknown_service"):
            resource = resource.merge(Resource({"service.name": "proctor"}))
        provider = TracerProvider(resource=resource, id_generator=self._ids, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._memory))
        self._tracer = provider.get_tracer("proctor", record.proctor_version or None)
        kind, _, model = record.spec.agent.partition(":")
        self._provider, self._model = (kind, model) if model and registry.MODELS.knows(kind) else ("proctor", "")

    def make(self, trial: Trial, verdicts: Sequence[Verdict], sample: Sample | None) -> "list[ReadableSpan]":
        """Return the spans of a trial, each after its parent; none if the sampler of the environment leaves it out."""
        self._ids.begin(digest([trial.run_id, clean(trial.sample_id), trial.attempt, trial.started]))
        turns = list(self._turns(trial, sample))
        end = max([trial.started + trial.seconds, *(span.end for made in turns for span in made)])
        failed = trial.failure.kind if trial.failure is not None else None
        if failed is None and trial.outcome not in IN_THE_MEAN:
            failed = trial.outcome
        about = self._of_trial(trial, sample)
        root = self._start(_Made(name=f"evaluate {self._record.task}", start=trial.started, end=end, attributes=about))
        for number, (turn, *steps) in enumerate(turns):
            is_last = number == len(turns) - 1
            span, at = self._start(turn, root), _nanoseconds(turn.end)
            for verdict in verdicts if is_last else ():
                span.add_event("gen_ai.evaluation.result", self._of_verdict(verdict), timestamp=at)
            for step in steps:
                self._end(self._start(step, span), step.end, step.failed)
            self._end(span, turn.end, failed if is_last else None)
        self._end(root, end, failed)
        spans = {span.context.span_id: span for span in self._memory.get_finished_spans()}
        self._memory.clear()
        return [spans[id] for id in self._ids.given if id in spans]

    def _start(self, made: _Made, parent: Any = None) -> Any:
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind, set_span_in_context

        context = Context() if parent is None else set_span_in_context(parent, Context())
        kind = SpanKind.CLIENT if made.name.startswith("chat") else SpanKind.INTERNAL
        known = {clean(name): _value(value) for name, value in made.attributes.items() if value not in (None, "")}
        return self._tracer.start_span(
            clean(made.name.strip()), context, kind, known, start_time=_nanoseconds(made.start)
        )

    def _end(self, span: Any, end: float, failed: str | None) -> None:
        from opentelemetry.trace import Status, StatusCode

        if failed is not None:
            span.set_attribute("error.type", clean(failed) or "_OTHER")
            span.set_status(Status(StatusCode.ERROR))
        span.end(_nanoseconds(end))

    def _of_trial(self, trial: Trial, sample: Sample | None) -> dict[str, object]:
        record = self._record
        tags = sample.tags if sample is not None else {}
        return {  # tags first: of too many, the SDK drops the first
            **{f"proctor.tag.{key}": value for key, value in tags.items()},
            "proctor.run.id": record.id,
            "proctor.task": record.task,
            "proctor.task.version": record.task_version,
            "proctor.sample.id": trial.sample_id,
            "proctor.attempt": trial.attempt,
            "proctor.outcome": trial.outcome,
            "proctor.requests": trial.usage.requests,
            "proctor.cost": trial.usage.cost,
            "gen_ai.conversation.id": self._conversation(trial),
        }

    def _conversation(self, trial: Trial) -> str:
        return f"{trial.run_id}/{trial.sample_id}/{trial.attempt}"

    def _of_verdict(self, verdict: Verdict) -> dict[str, object]:
        result = verdict.result
        attributes: dict[str, object] = {"gen_ai.evaluation.name": verdict.scorer}
        if isinstance(result, Score):
            attributes["gen_ai.evaluation.score.value"] = float(result.value)
            if isinstance(result.details.get("passed"), bool) or result.value in (0, 1):
                attributes["gen_ai.evaluation.score.label"] = "pass" if result.passed else "fail"
        elif result.why == "not_applicable":
            attributes["gen_ai.evaluation.score.label"] = result.why
        else:
            attributes["error.type"] = result.why
        if self._content and result.reason:
            attributes["gen_ai.evaluation.explanation"] = str(short_reason(result.reason))
        return {name: _value(value) for name, value in attributes.items()}

    def _turns(self, trial: Trial, sample: Sample | None) -> Iterator[list[_Made]]:
        """Yield the span of each turn that was played with the spans of its steps."""
        trajectory = trial.trajectory
        asked = turns_of(sample, trajectory) if sample is not None else ()
        clock = trial.started
        pending: list[ToolCall] = []
        played = sorted({step.turn for step in trajectory.steps}) or [0]
        for number in played:
            steps = [step for step in trajectory.steps if step.turn == number and step.author != "user"]
            said = list(asked[number].messages) if number < len(asked) else []
            unseen, answer, start = list(said), "", clock
            made: list[_Made] = []
            for step in steps:
                begin = step.started or clock
                clock = max(clock, begin + step.seconds)
                if step.message.role == "tool":
                    unseen.append(step.message)
                    made += self._tools(trial, step, pending, begin)
                    continue
                pending += step.message.calls
                answer = step.message.text or answer
                if not _is_plain(step, steps):
                    made.append(self._chat(trial, step, unseen, begin))
                unseen = []
            end = max([clock, *(span.end for span in made)])
            if number == played[-1]:
                end = max(end, trial.started + trial.seconds)
            attributes = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": self._record.agent,
                "gen_ai.conversation.id": self._conversation(trial),
                "gen_ai.request.model": self._model,
                "gen_ai.provider.name": self._provider,
                "gen_ai.input.messages": self._texts(said),
                "gen_ai.output.messages": self._texts([Message.of("assistant", answer)] if answer else [], "stop"),
            }
            start = min([start, *(span.start for span in made)])
            yield [_Made(name=f"invoke_agent {self._record.agent}", start=start, end=end, attributes=attributes), *made]

    def _chat(self, trial: Trial, step: Step, sent: Sequence[Message], start: float) -> _Made:
        used = step.usage
        finish = FINISH.get(step.stop, "tool_call" if step.message.calls else "stop")
        attributes: dict[str, object] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": self._model,
            "gen_ai.conversation.id": self._conversation(trial),
            "gen_ai.response.finish_reasons": [finish],
            "gen_ai.response.time_to_first_chunk": step.first_token_seconds,
            "gen_ai.input.messages": self._texts(sent),
            "gen_ai.output.messages": self._texts([step.message], finish),
        }
        if used is not None and (used.input_tokens or used.output_tokens):
            attributes |= {
                "gen_ai.usage.input_tokens": used.input_tokens,
                "gen_ai.usage.output_tokens": used.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": used.cached_tokens or None,
                "gen_ai.usage.cache_creation.input_tokens": used.cache_write_tokens or None,
                "gen_ai.usage.reasoning.output_tokens": used.reasoning_tokens or None,
                "proctor.cost": used.cost,
            }
        return _Made(name=f"chat {self._model}", start=start, end=start + step.seconds, attributes=attributes)

    def _tools(self, trial: Trial, step: Step, pending: list[ToolCall], start: float) -> Iterator[_Made]:
        for result in step.message.parts:
            if not isinstance(result, ToolResult):
                continue
            call = _answered(result, pending)
            name = result.name or (call.name if call is not None else "")
            attributes = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": name,
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.id": result.id,
                "gen_ai.conversation.id": self._conversation(trial),
            }
            if self._content:
                attributes["gen_ai.tool.call.arguments"] = _cut(call.arguments_text()) if call is not None else ""
                attributes["gen_ai.tool.call.result"] = _cut(result.content)
            failed = "tool_error" if result.is_error else None
            yield _Made(
                name=f"execute_tool {name}", start=start, end=start + step.seconds, attributes=attributes, failed=failed
            )

    def _texts(self, messages: Sequence[Message], finish: str = "") -> str:
        """Return messages as JSON in the form of the conventions; '' without content."""
        if not self._content or not messages:
            return ""
        more = {"finish_reason": finish} if finish else {}
        shown = [
            {"role": message.role, "parts": [_part(part) for part in message.parts_with_files], **more}
            for message in messages
        ]
        return json.dumps(shown, ensure_ascii=False, default=str)


def _is_plain(step: Step, steps: Sequence[Step]) -> bool:
    """True for the one answer of a program that tells of no model: it is in the span of its turn."""
    return len(steps) == 1 and step.usage is None and not step.message.calls


def _answered(result: ToolResult, pending: list[ToolCall]) -> ToolCall | None:
    """Take the call that a result is of from those without one: by id, else the first of that name."""
    call = next((tool_call for tool_call in pending if result.id and tool_call.id == result.id), None)
    call = call or next((tool_call for tool_call in pending if tool_call.name == result.name), None)
    if call is not None:
        pending.remove(call)
    return call


def _part(part: Part) -> dict[str, object]:
    match part:
        case Text(text=text):
            return {"type": "text", "content": _cut(text)}
        case Reasoning(text=text):
            return {"type": "reasoning", "content": _cut(text)}
        case ToolCall(name=name, id=id):
            has_own_text = part.raw is not None or part.written is not None
            given = _cut(part.arguments_text()) if has_own_text else part.arguments
            return {"type": "tool_call", "id": id, "name": name, "arguments": given}
        case ToolResult(content=content, id=id):
            return {"type": "tool_call_response", "id": id, "response": _cut(content)}
        case File(url=str() as url):
            return {"type": "uri", "uri": url, **_kind(part)}
        case File(data=bytes() as data) if len(data) <= MOST_BYTES:
            return {"type": "blob", "content": b64encode(data).decode(), **_kind(part)}
        case File(data=bytes() as data):
            return {"type": "file", "file_id": digest_bytes(data), **_kind(part)}
        case File():
            return {"type": "file", "file_id": part.name or part.path or "", **_kind(part)}


def _kind(file: File) -> dict[str, object]:
    kind = file.media_type.partition("/")[0]
    modality = kind if kind in ("image", "audio", "video") else "document"
    return {"mime_type": file.media_type, "modality": modality}


def _cut(text: str) -> str:
    return str(short_reason(text, MOST_CHARACTERS))


def _value(value: object) -> Any:
    if isinstance(value, str):
        return clean(value)
    return str(value) if isinstance(value, int) and abs(value) > MOST_INTEGER else value


def _nanoseconds(seconds: float) -> int:
    if not 0 <= seconds < MOST_SECONDS:  # a clock that is wrong, or none
        return 0
    whole = int(seconds)
    return whole * 1_000_000_000 + round((seconds - whole) * 1e9)


def _ids() -> Any:
    """Return what gives the SDK the ids of trials: the same for the same trial."""
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    class OfTrials(IdGenerator):
        def __init__(self) -> None:
            self.given: list[int] = []
            self._seed = ""

        def begin(self, seed: str) -> None:
            self.given, self._seed = [], seed

        def generate_trace_id(self) -> int:
            return int(self._seed, 16)

        def generate_span_id(self) -> int:
            self.given.append(int(digest([self._seed, len(self.given)])[:16], 16))
            return self.given[-1]

    return OfTrials()
