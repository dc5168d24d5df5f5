"""Send trials as OTLP traces over HTTP with the SDK's exporter, from a thread that nothing waits for.

Addresses are those of collectors, `http://localhost:4318`, or `env`: where the OTEL_EXPORTER_OTLP_* variables say. Headers,
certificates, compression and time limits are those of the variables in both cases.
"""

import logging
import os
import queue
import re
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from proctor.core.errors import BadInput, needs
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.trial import Trial, Verdict
from proctor.exports.summary import host_of
from proctor.runtime.threads import within
from proctor.transport.redact import redact
from proctor_adapters.exports._trial_spans import SpanMaker

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

MOST_WAITING = 256  # trials; what comes while the queue is full is counted as lost
AT_ONCE = 16  # trials in one request
END_SECONDS = 5.0
MOST_SECONDS = 30.0
REASON_SECONDS = 0.2  # in which a sending that was given up says why
ENVIRONMENT = "env"
PATH = "/v1/traces"
CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class Collector:
    """Sends spans to a collector, one request after the other.

    Attributes:
        host: its host and port, for people.

    Raises:
        MissingExtra, BadInput: the SDK is not installed; the address or the variables are wrong.
    """

    def __init__(self, address: str) -> None:
        with needs("otel", "OpenTelemetry"):
            import requests
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        endpoint = endpoint_of(address)
        session = requests.Session()
        session.stream = True  # replies are not read: their status says all
        session.max_redirects = 0  # headers with keys stay with the address they are meant for
        self._noted = _Noted()
        try:
            self._exporter = OTLPSpanExporter(endpoint=endpoint, session=session)
        except ValueError as error:
            raise BadInput("The OTEL_EXPORTER_OTLP_ variables are wrong: {error}.", error=redact(str(error))) from None
        self.host = host_of(endpoint or _endpoint_of_variables())

    def send(self, spans: "Sequence[ReadableSpan]") -> str | None:
        """Send spans and return None, or why they did not arrive; waits as long as the SDK does (10 s by default), but not for ever."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        with self._noted:
            try:
                if within(_most_seconds(), lambda: self._exporter.export(spans)) is SpanExportResult.SUCCESS:
                    return None
            except TimeoutError:
                return "no reply in time"
            except Exception as error:  # noqa: BLE001 - whatever a collector does, the run goes on
                return redact(f"{type(error).__name__}: {error}"[:500])
        return redact(_cause(self._noted.first)[:300]).strip(". ") or "no reply"

    def close(self) -> None:
        """Give up what is being sent."""
        with self._noted:
            self._exporter.shutdown()


class LiveTraces:
    """Takes the trials of a run as they are stored, and sends them meanwhile; a slow or dead collector costs some of them.

    Args:
        record: the run; `address` and `content` as in the module and `SpanMaker`.
    """

    def __init__(self, record: RunRecord, address: str, *, content: bool) -> None:
        self._run = record.id
        self._collector, self._maker = Collector(address), SpanMaker(record, content=content)
        self._waiting: queue.Queue[tuple[Trial, Sequence[Verdict], Sample] | None] = queue.Queue(MOST_WAITING)
        self._given = self._sent = 0
        self._reason = ""
        self._is_over = False
        self._thread = threading.Thread(target=self._work, name="proctor-traces", daemon=True)
        self._thread.start()

    def add(self, trial: Trial, verdicts: Sequence[Verdict], sample: Sample) -> None:
        """Take a stored trial; never waits."""
        self._given += 1
        try:
            self._waiting.put_nowait((trial, verdicts, sample))
        except queue.Full:
            return  # counted as given, and not as sent

    def close(self) -> Sentence | None:
        """Send what waits, for a few seconds at most; say how many traces did not arrive, and None if all did."""
        deadline = time.monotonic() + END_SECONDS
        with suppress(queue.Full):
            self._waiting.put(None, timeout=END_SECONDS)
        self._thread.join(max(0.0, deadline - time.monotonic()))
        self._is_over = True
        self._collector.close()
        self._thread.join(REASON_SECONDS)
        reason = self._reason or ("no reply in time" if self._thread.is_alive() else "the collector is too slow")
        if self._sent == self._given:
            return None
        return say(
            "{lost} of {count} traces did not reach {host}: {reason}. The run has all trials; to send them: proctor runs export {run} --format otel --out URL",
            lost=self._given - self._sent,
            count=self._given,
            host=self._collector.host,
            reason=reason,
            run=self._run,
        )

    def _work(self) -> None:
        while (first := self._waiting.get()) is not None and not self._is_over:
            batch, is_last = [first], False
            while len(batch) < AT_ONCE and not self._waiting.empty():
                item = self._waiting.get()
                if item is None:
                    is_last = True
                    break
                batch.append(item)
            self._send(batch)
            if is_last:
                return

    def _send(self, batch: Sequence[tuple[Trial, Sequence[Verdict], Sample]]) -> None:
        try:
            spans = [span for given in batch for span in self._maker.make(*given)]
        except Exception as error:  # noqa: BLE001 - a trial that cannot be described ends no run
            self._reason = redact(f"{type(error).__name__}: {error}"[:500])
            return
        reason = self._collector.send(spans) if spans else None
        if reason is None:
            self._sent += len(batch)
        else:
            self._reason = reason


def endpoint_of(address: str) -> str | None:
    """Return where traces are sent for an address; None leaves it to the variables.

    >>> endpoint_of("http://localhost:4318"), endpoint_of("https://x.example/otel/v1/traces")
    ('http://localhost:4318/v1/traces', 'https://x.example/otel/v1/traces')

    Raises:
        BadInput: it is none.
    """
    given = _endpoint_of_variables() if address == ENVIRONMENT else address
    if address == ENVIRONMENT:
        protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        if protocol not in (None, "", "http/protobuf"):
            raise BadInput(
                "Traces are sent by http/protobuf, not by {protocol}: set OTEL_EXPORTER_OTLP_PROTOCOL and the address of a receiver for it.",
                protocol=protocol,
            )
        if not given:
            raise BadInput("OTEL_EXPORTER_OTLP_ENDPOINT is not set. Set it to the address of a collector.")
    try:
        parts = urlsplit(given)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets or a port that are none
        is_address = False
    if not is_address:
        raise BadInput(
            "'{address}' is no address of a collector. Write one such as http://localhost:4318, or env for that of OTEL_EXPORTER_OTLP_ENDPOINT.",
            address=redact(given),
        )
    if address == ENVIRONMENT:
        return None
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(PATH) else path + PATH).geturl()


def wants_content(asked: bool, variables: Mapping[str, str] | None = None) -> bool:
    """True if what was said is to be sent: asked for, or by the variable that instrumentations have for it."""
    value = (os.environ if variables is None else variables).get(CONTENT_VARIABLE, "")
    return asked or value.strip().lower() in ("true", "1", "span_only", "span_and_event")


def _most_seconds() -> float:
    """Return how long a sending may take in all: well above the SDK's limit, which bounds each wait for a byte."""
    names = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
    given = next((value for name in names if (value := os.environ.get(name))), "")
    return MOST_SECONDS + (float(given) if given.replace(".", "", 1).isdigit() else 0.0)


def _endpoint_of_variables() -> str:
    names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return next((value for name in names if (value := os.environ.get(name))), "")


def _cause(text: str) -> str:
    """Return what the system says of a connection that failed, without the names of the libraries between.

    >>> _cause("Transient error HTTPConnectionPool(host='x', port=1): Max retries … [Errno 111] Connection refused')) encountered …")
    'Connection refused'
    >>> _cause("Failed to export span batch code: 401, reason: Unauthorized")
    'Failed to export span batch code: 401, reason: Unauthorized'
    """
    causes = re.findall(r"\[Errno -?\d+\] ([^'\")]+)", text)
    return causes[-1] if causes else re.sub(r"^Transient error | encountered while exporting.*$", "", text)


class _Noted(logging.Handler):
    """Keeps the first message of each sending by the SDK's exporter, in place of standard error."""

    def __init__(self) -> None:
        super().__init__()
        self.first = ""
        self._users = 0
        self._logger = logging.getLogger("opentelemetry.exporter.otlp.proto.http")

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or record.getMessage()

    def __enter__(self) -> None:
        with self.lock or nullcontext():  # one thread may send while another closes
            self._users += 1
            self.first = "" if self._users == 1 else self.first
            self._logger.addHandler(self)

    def __exit__(self, *error: object) -> None:
        with self.lock or nullcontext():
            self._users -= 1
            if not self._users:
                self._logger.removeHandler(self)
