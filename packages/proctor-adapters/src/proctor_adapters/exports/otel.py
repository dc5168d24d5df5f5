"""Write a run as OTLP traces, to a file or to a collector.

By the suffix a file is JSON lines as collectors write them (.jsonl), one JSON object (.json), or protobuf (.pb, .binpb).
"""

import base64
import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.core.errors import BadInput
from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.exports.writing import Options
from proctor.runtime.files import draft_of
from proctor.stores.reading import trials_with_verdicts
from proctor_adapters.exports._trial_spans import SpanMaker
from proctor_adapters.exports.otlp import AT_ONCE, Collector, wants_content

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

SUFFIXES = (".jsonl", ".json", ".pb", ".binpb")
IDS = ("traceId", "spanId", "parentSpanId")  # hexadecimal in OTLP's JSON, where protobuf's own has base64


def write(record: RunRecord, store: Store, path: Path, *, options: Options | None = None) -> list[Path]:
    """Write the traces and return the path; memory does not grow with the run, and the file appears when it is complete.

    Raises:
        BadInput: another suffix, or the file cannot be written; `MissingExtra`.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise BadInput(
            "Traces are written to a file that ends in {known}, or sent to an address such as http://localhost:4318, not to '{name}'.",
            known=", ".join(SUFFIXES),
            name=path.name,
        )
    batches = _batches(record, store, options)
    first = [*islice(batches, 1)]  # what is wrong is found before a file is made
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    with draft_of(path) as draft, draft.open("wb") as file:
        is_json = suffix == ".json"
        file.write(b'{"resourceSpans":[' if is_json else b"")
        separator = b""
        for spans in chain(first, batches):
            message = encode_spans(spans)
            if suffix in (".pb", ".binpb"):
                file.write(message.SerializeToString())  # messages of one type, one after the other, are one message
            elif is_json:
                file.writelines((separator, _compact(_otlp_json(message)["resourceSpans"])[1:-1]))
                separator = b","
            else:
                file.write(_compact(_otlp_json(message)) + b"\n")
        file.write(b"]}\n" if is_json else b"")
    return [path]


def send(record: RunRecord, store: Store, address: str, *, options: Options | None = None) -> Sentence:
    """Send the traces to a collector and say how many.

    Raises:
        BadInput: not all arrived, or the address is wrong; `MissingExtra`.
    """
    collector = Collector(address)
    count = 0
    try:
        for spans in _batches(record, store, options):
            reason = collector.send(spans)
            if reason is not None:
                raise BadInput(
                    "The traces did not reach {host}: {reason}. {count} arrived; sending them again does no harm, as their ids are the same.",
                    host=collector.host,
                    reason=reason,
                    count=count,
                )
            count += sum(span.parent is None for span in spans)
    finally:
        collector.close()
    return say("{count} traces sent to {host}", count=count, host=collector.host)


def _batches(record: RunRecord, store: Store, options: Options | None) -> "Iterator[Sequence[ReadableSpan]]":
    """Yield the spans of some trials at a time; a sampler of the environment may leave all of them out."""
    maker = SpanMaker(record, content=wants_content(bool((options or {}).get("content"))))
    played = trials_with_verdicts(store, record.id)
    while batch := list(islice(played, AT_ONCE)):
        spans = [
            span
            for trial, verdicts in batch
            for span in maker.make(trial, verdicts, store.sample(record.id, trial.sample_id))
        ]
        if spans:
            yield spans


def _otlp_json(message: object) -> dict[str, object]:
    from google.protobuf.json_format import MessageToDict

    request: dict[str, Any] = MessageToDict(message, use_integers_for_enums=True)
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                span |= {name: base64.b64decode(span[name]).hex() for name in IDS if name in span}
    return request


def _compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


PART = ExportPart(write=write, send=send, suffix=".otlp.jsonl", has_content=True)
