"""Read files of spans: OTLP as collectors write it, spans as SDKs print them, and VeADK's dumps.

A file is JSON lines, one JSON array, or JSON objects one after the other, or OTLP protobuf; plain or compressed with gzip.

    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "5b8e", "spanId": "eee1", "parentSpanId": "", "name": "chat m",
      "startTimeUnixNano": "1700000000000000000", "attributes": [{"key": "session.id", "value": {"stringValue": "s1"}}]}]}]}]}
    {"name": "chat m", "context": {"trace_id": "0x5b8e", "span_id": "0xeee1"}, "parent_id": null,
     "start_time": "2026-01-01T00:00:00Z", "attributes": {"session.id": "s1"}, "events": []}
"""

import base64
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import msgspec

from proctor.chat.agent_replies import clean
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.core.validation import describe_malformed, in_words, mismatch
from proctor_adapters.json_path import Invalid, format_path
from proctor_adapters.json_path import Path as Place
from proctor_adapters.traces import protobuf
from proctor_adapters.traces.attributes import TooDeep, at, attributes_by_name, plain_value, text, tree

MOST_BYTES = 512_000_000
MOST_SPANS = 2_000_000
REPLY = {"answer", "prediction", "calls", "messages", "trajectory"}  # a recorded reply, though it may name its trace
SUFFIXES = (".json", ".jsonl", ".ndjson", ".pb", ".binpb", ".gz")
_SEPARATOR = re.compile(r"[\s,]*")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{11}=")
_FRACTION = re.compile(r"(\.\d{6})\d+")


class SpanEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event recorded within a span."""

    name: str
    attributes: Mapping[str, object]


class TraceSpan(msgspec.Struct, frozen=True, kw_only=True):
    """One span; `attributes` is a tree, times are Unix seconds and 0 where they are not known. `failed` is the reason of a failure.

    is_log: it is no span, but a log record of the span with that id, as its only event.
    """

    trace: str
    id: str
    parent: str = ""
    name: str = ""
    start: float = 0.0
    end: float = 0.0
    attributes: Mapping[str, object] = {}
    events: tuple[SpanEvent, ...] = ()
    failed: str | None = None
    is_log: bool = False


def files(path: Path) -> list[Path]:
    """Return the file, or the files of a folder, in the order of their names."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES) and file.is_file())


def is_trace(path: Path) -> bool:
    """True if a file, or the first one of a folder, begins with spans."""
    try:
        first = files(path)[0]
        if protobuf.is_named_so(first):  # what it lacks, such as the extra, is reported when it is read
            return True
        _, value = next(_values(first))
    except (BadInput, StopIteration, IndexError):
        return False
    return _is_envelope(value) or (_is_span(value) and not REPLY & value.keys())


def read(path: Path) -> Iterator[TraceSpan]:
    """Yield the spans of a file, and its log records of model calls.

    Raises:
        BadInput: it cannot be read, is too large, or holds something that is no span; names file, line and JSON path.
    """
    count = 0
    for line, value in _values(path):
        for at_path, raw in _raw(path, line, value):
            count += 1
            if count > MOST_SPANS:
                raise BadInput("{path} has more than {limit} spans; split it.", path=path, limit=f"{MOST_SPANS:,}")
            try:
                if not _is_log(raw):
                    yield _span(raw)
                elif (log := _log(raw)) is not None:
                    yield log
            except _Wrong as error:
                raise _bad(path, line, (*at_path, *error.path), error.problem) from None
            except TooDeep:
                raise _bad(path, line, at_path, say("it is nested too deep")) from None


def of_values(values: Sequence[Any]) -> Iterator[TraceSpan]:
    """Yield the spans of a list that is read already.

    Raises:
        Invalid: one that is no span, with its JSON path.
    """
    for index, raw in enumerate(values):
        try:
            yield _span(raw)
        except _Wrong as error:
            raise Invalid((index, *error.path), error.problem) from None
        except TooDeep:
            raise Invalid((index,), say("it is nested too deep")) from None


class _Wrong(Exception):
    def __init__(self, path: Place, problem: Sentence) -> None:
        super().__init__(str(problem))
        self.path, self.problem = path, problem


class _Line(msgspec.Struct, frozen=True):
    """The line of a JSON value, and its index in a list that is the whole file."""

    number: int
    path: Place = ()


def _values(path: Path) -> Iterator[tuple[_Line, Any]]:
    """Yield the JSON values of a file, those of a list one by one."""
    try:
        with _open(path) as file:
            if protobuf.is_named_so(path):
                messages = protobuf.messages(path, file, MOST_BYTES)
                yield from ((_Line(number), value) for number, value in enumerate(messages, 1))
            else:
                yield from _decode_values(path, _limited(path, file))
    except (OSError, EOFError, zlib.error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise BadInput("{path} cannot be read: {error}.", path=path, error=reason) from None


def _open(path: Path) -> BufferedIOBase:
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if zipped else path.open("rb")


def _limited(path: Path, file: BufferedIOBase) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers; no line, and no file, is longer than the limit."""
    left = MOST_BYTES
    number = 0
    while line := file.readline(left + 1):
        left -= len(line)
        if left < 0:
            raise BadInput("{path} is larger than {limit} MB; split it.", path=path, limit=MOST_BYTES // 1_000_000)
        number += 1
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise BadInput("{path} is no UTF-8 text: {error}.", path=path, error=in_words(error)) from None


def _decode_values(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[_Line, object]]:
    """Yield a value a line where the first line is one, else values that span several lines."""
    by_line = False
    for number, line in lines:
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            rest = "" if by_line else "".join(text for _, text in lines)
            yield from _spread(path, number, line.rstrip() if by_line else line + rest)
            return
        except RecursionError:
            raise _bad(path, _Line(number), (), say("it is nested too deep")) from None
        by_line = True
        yield from _elements(_Line(number), value)


def _spread(path: Path, number: int, text: str) -> Iterator[tuple[_Line, object]]:
    decoder = json.JSONDecoder()
    counted = position = 0
    while (position := _next_value(text, position)) < len(text):
        number += text.count("\n", counted, position)
        counted = position
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise BadInput(
                "{path}, line {line}: it is no JSON: {error}.",
                path=path,
                line=number + text.count("\n", counted, error.pos),
                error=describe_malformed(error),
            ) from None
        except RecursionError:
            raise _bad(path, _Line(number), (), say("it is nested too deep")) from None
        yield from _elements(_Line(number), value)


def _next_value(text: str, position: int) -> int:
    match = _SEPARATOR.match(text, position)
    return match.end() if match else position


def _elements(line: _Line, value: object) -> Iterator[tuple[_Line, object]]:
    if isinstance(value, list):
        yield from ((_Line(line.number, (index,)), item) for index, item in enumerate(value))
    else:
        yield line, value


def _raw(path: Path, line: _Line, value: Any) -> Iterator[tuple[Place, Mapping[str, object]]]:
    """Yield the spans of a value, each with its JSON path in it."""
    if _is_envelope(value):
        yield from _unpack(path, line, value, (), _ENVELOPE)
        yield from _unpack(path, line, value, (), _LOGS)
    elif _is_span(value):
        yield (), value
    elif isinstance(value, dict) and any(key in value for key in _LOGS[0]):
        yield from _unpack(path, line, value, (), _LOGS)
    elif not (isinstance(value, dict) and any(key in value for key in _OTHER_SIGNALS)):
        problem = say(
            "expected spans: an object with 'resourceSpans' (OTLP), or with 'trace_id', 'traceId' or 'context'"
        )
        raise _bad(path, line, (), problem)


_ENVELOPE = (
    ("resourceSpans", "resource_spans", "batches"),
    ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"),
    ("spans",),
)
_LOGS = (("resourceLogs", "resource_logs"), ("scopeLogs", "scope_logs"), ("logRecords", "log_records"))
_OTHER_SIGNALS = ("resourceMetrics", "resource_metrics")  # a collector may write all into one file


def _is_envelope(value: object) -> bool:
    return isinstance(value, dict) and any(key in value for names in _ENVELOPE for key in names)


def _is_span(value: object) -> bool:
    return isinstance(value, dict) and bool(_trace_of(value))


def _unpack(
    path: Path, line: _Line, value: object, here: Place, levels: Sequence[Sequence[str]]
) -> Iterator[tuple[Place, Mapping[str, object]]]:
    if not isinstance(value, dict):
        raise _bad(path, line, here, mismatch("object", value))
    if not levels:
        yield here, value
        return
    for depth, names in enumerate(levels):
        key = next((name for name in names if name in value), None)
        if key is not None:
            inner = value[key] if value[key] is not None else []
            if not isinstance(inner, list):
                raise _bad(path, line, (*here, key), mismatch("array", inner))
            for index, entry in enumerate(inner):
                yield from _unpack(path, line, entry, (*here, key, index), levels[depth + 1 :])
            return


def _span(raw: Mapping[str, object]) -> TraceSpan:
    trace = _trace_of(raw)
    if not trace:
        raise _Wrong((), say("'{field}' is missing", field="traceId"))
    start = _seconds(raw, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
    return TraceSpan(
        trace=trace,
        id=_id(raw, "spanId", "span_id") or _id(raw.get("context"), "span_id", "spanId"),
        parent=_id(raw, "parentSpanId", "parent_span_id", "parent_id", "parentId"),
        name=_text(raw, "name"),
        start=start,
        end=max(start, _seconds(raw, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")),
        attributes=_attributes(raw),
        events=tuple(_events(raw)),
        failed=_failed(raw),
    )


def _is_log(raw: Mapping[str, object]) -> bool:
    return "name" not in raw and any(
        key in raw for key in ("eventName", "event_name", "severityNumber", "severity_number", "body")
    )


def _log(raw: Mapping[str, object]) -> TraceSpan | None:
    """Return a log record that tells of a model call; None for any other."""
    said = {
        "name": _text(raw, "eventName", "event_name"),
        "attributes": raw.get("attributes"),
        "body": plain_value(raw.get("body")),
    }
    [event] = _events({"events": [said]})
    name = event.name or text(event.attributes, "event.name")
    trace, span_id = _trace_of(raw), _id(raw, "spanId", "span_id")
    if not name.startswith("gen_ai.") or not trace or not span_id:
        return None
    return TraceSpan(trace=trace, id=span_id, events=(msgspec.structs.replace(event, name=name),), is_log=True)


def _trace_of(raw: Mapping[str, object]) -> str:
    return _id(raw, "traceId", "trace_id") or _id(raw.get("context"), "trace_id", "traceId")


def _text(raw: object, *names: str) -> str:
    """Return an id or a name; numbers are ids too, as VeADK writes them."""
    for name in names:
        value = raw.get(name) if isinstance(raw, dict) else None
        if value and isinstance(value, str | int):
            return clean(str(value).strip())
    return ""


def _id(raw: object, *names: str) -> str:
    """Return an id in hexadecimal, however it was written: with `0x`, or in base64 as other writers of protobuf do."""
    found = _text(raw, *names).removeprefix("0x")
    return base64.b64decode(found).hex() if _BASE64.fullmatch(found) else found


def _attributes(raw: Mapping[str, object]) -> Mapping[str, object]:
    try:
        return tree(attributes_by_name(raw.get("attributes")))
    except TooDeep:
        raise
    except (ValueError, AttributeError):
        raise _Wrong(("attributes",), mismatch("object", raw.get("attributes"))) from None


def _events(raw: Mapping[str, object]) -> Iterator[SpanEvent]:
    given = raw.get("events")
    if given is None:
        return
    if not isinstance(given, list):
        raise _Wrong(("events",), mismatch("array", given))
    for index, event in enumerate(given):
        try:
            body = event.get("body")
            attributes = {**attributes_by_name(event.get("attributes")), **(body if isinstance(body, dict) else {})}
            yield SpanEvent(name=str(event.get("name", "")), attributes=tree(attributes))
        except TooDeep:
            raise
        except (ValueError, AttributeError):
            raise _Wrong(("events", index), mismatch("object", event)) from None


def _failed(raw: Mapping[str, object]) -> str | None:
    status = raw.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else raw.get("status_code")
    if code not in (2, "2", "ERROR", "STATUS_CODE_ERROR", "Error"):
        return None
    said = at(status, "message") or at(status, "description")
    return said if isinstance(said, str) else ""


def _seconds(raw: Mapping[str, object], *names: str) -> float:
    """Return Unix seconds out of nano-, micro- or milliseconds, a date, or seconds with nanoseconds; 0 where it is none."""
    value = next((raw[name] for name in names if raw.get(name) not in (None, "")), 0)
    if isinstance(value, list) and len(value) == 2 and all(isinstance(item, int) for item in value):
        return float(value[0] + value[1] / 1e9)
    if isinstance(value, str):
        if not value.isdecimal():
            try:
                return datetime.fromisoformat(_FRACTION.sub(r"\1", value)).timestamp()
            except (ValueError, OverflowError):
                return 0.0
        value = int(value[:30])
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e21:
        return 0.0
    for unit in (1e9, 1e6, 1e3):
        if value >= 1e8 * unit:
            return float(value / unit)
    return float(value)


def _bad(path: Path, line: _Line, inside: Place, problem: Sentence) -> BadInput:
    return BadInput(
        "{file}, line {line}: {problem} at {path}.",
        file=path,
        line=line.number,
        problem=problem,
        path=format_path((*line.path, *inside)),
    )
