"""Push the numbers of an evaluation to a Prometheus push gateway, as the gauges that VeADK has; or write them to a file.

Gauges: test_cases_total, test_cases_success, test_cases_pass, test_cases_failure, threshold, diff_threshold,
test_cases_data{data}, eval_data{data}; job `veadk_eval_job`, grouped by `test_name`. Source: volcengine/veadk-python,
veadk/evaluation/utils/prometheus.py, release 1.1.19.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from proctor.core.errors import BadInput, MissingExtra
from proctor.core.installing import is_installed
from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.task import Store
from proctor.exports.writing import Options, writing
from proctor.i18n import speak
from proctor.runtime.threads import within
from proctor_adapters.evalsets.outcomes import CaseOutcome, MetricOutcome, outcomes

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_CREDENTIALS = re.compile("//[^/@]*@")
JOB = "veadk_eval_job"
SECONDS = 30.0  # between two bytes
MOST_SECONDS = 90.0  # for all of them
URL_VARIABLE = "OBSERVABILITY_PROMETHEUS_PUSHGATEWAY_URL"
USERNAME_VARIABLE = "OBSERVABILITY_PROMETHEUS_USERNAME"
PASSWORD_VARIABLE = "OBSERVABILITY_PROMETHEUS_PASSWORD"  # noqa: S105 - the name of a variable


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers to push; `cases` are dicts with id, input, actual_output, expected_output, score, reason, status, latency."""

    test_name: str
    total: int
    passed: int
    failed: int
    cases: Sequence[Mapping[str, str]] = ()
    models: Mapping[str, str] = {}
    threshold: float = 0.5
    diff_threshold: float = 0.2


class Gateway(msgspec.Struct, frozen=True, kw_only=True):
    """The address and credentials of a push gateway."""

    url: str
    username: str = ""
    password: str = ""


def from_environment(variables: Mapping[str, str] | None = None) -> Gateway:
    """Return the gateway that the environment names.

    Raises:
        BadInput: it names none.
    """
    environ = os.environ if variables is None else variables
    url = environ.get(URL_VARIABLE, "")
    if not url:
        raise BadInput("Set {variable} to the address of the push gateway.", variable=URL_VARIABLE)
    return Gateway(url=url, username=environ.get(USERNAME_VARIABLE, ""), password=environ.get(PASSWORD_VARIABLE, ""))


def check_installed() -> None:
    """Find out before anything is evaluated.

    Raises:
        MissingExtra: the official client library is not there.
    """
    if not is_installed("prometheus_client"):
        raise MissingExtra("prometheus", "Prometheus")


def push(figures: Figures, gateway: Gateway) -> None:
    """Push the figures, replacing those pushed under the same test name.

    Raises:
        BadInput: the gateway cannot be reached or refuses; `MissingExtra`.
    """
    from urllib.error import HTTPError, URLError

    registry = _registry(figures)
    from prometheus_client import push_to_gateway

    try:
        within(
            MOST_SECONDS,
            lambda: push_to_gateway(
                gateway.url,
                job=JOB,
                registry=registry,
                grouping_key={"test_name": figures.test_name},
                timeout=SECONDS,
                handler=_handler(gateway),
            ),
        )
    except (URLError, OSError, ValueError) as error:  # a status that is no success is an OSError too
        if isinstance(error, HTTPError):
            error.close()
        shown = _CREDENTIALS.sub("//", gateway.url)
        raise BadInput("The results could not be pushed to {url}: {error}", url=shown, error=error) from None


def write(record: RunRecord, store: Store, path: Path | TextIO, *, options: Options | None = None) -> list[Path]:
    """Write the gauges of a run as text, for example for the node exporter, and say where.

    Raises:
        BadInput: the file cannot be written; `MissingExtra`.
    """
    lang = (options or {}).get("lang", "en")
    registry = _registry(figures_of(record.id, list(outcomes(record, store)), {"tested_model": record.agent}, lang))
    from prometheus_client import generate_latest

    with writing(path) as file:
        file.write(generate_latest(registry).decode())
    return [path] if isinstance(path, Path) else []


def figures_of(test_name: str, cases: Sequence[CaseOutcome], models: Mapping[str, str], lang: str = "en") -> Figures:
    """Return the figures of the cases of a run: a case that was not evaluated is neither passed nor failed."""
    statuses = [case.status for case in cases]
    return Figures(
        test_name=test_name,
        total=len(cases),
        passed=statuses.count("passed"),
        failed=statuses.count("failed"),
        cases=[_case(case, lang) for case in cases],
        models=models,
    )


def _case(case: CaseOutcome, lang: str) -> Mapping[str, str]:
    first = case.turns[:1]
    return {
        "id": case.id,
        "input": "\n".join(turn.asked for turn in first),
        "actual_output": "\n".join(turn.response for turn in first),
        "expected_output": "\n".join(turn.expected_response or "" for turn in first),
        "score": _mean(case.metrics),
        "reason": "; ".join(
            speak(text, lang) for text in (*(metric.reason for metric in case.metrics), case.failure) if text
        ),
        "status": {"passed": "PASSED", "failed": "FAILURE", "not_evaluated": "NOT_EVALUATED"}[case.status],
        "latency": str(sum(turn.seconds for turn in case.turns) * 1000),
    }


def _mean(metrics: Sequence[MetricOutcome]) -> str:
    scores = [metric.score for metric in metrics if metric.score is not None]
    return str(sum(scores) / len(scores)) if scores else ""


def _registry(figures: Figures) -> "CollectorRegistry":
    """Make a registry of its own, so that nothing of an earlier push is left in it.

    Without an evaluated case there is none that passed or failed: a dashboard that divides by the total shows no 0 %.
    """
    check_installed()
    from prometheus_client import CollectorRegistry, Gauge

    registry = CollectorRegistry()
    counts = (
        ("test_cases_success", "Cases that succeeded", figures.passed),
        ("test_cases_pass", "Cases that passed", figures.passed),
        ("test_cases_failure", "Cases that failed", figures.failed),
    )
    for name, text, value in (
        ("test_cases_total", "Cases in this evaluation", figures.total),
        *(counts if figures.passed or figures.failed else ()),
        ("threshold", "Threshold of a case", figures.threshold),
        ("diff_threshold", "Threshold of a difference", figures.diff_threshold),
    ):
        Gauge(name, text, registry=registry).set(value)
    data = Gauge("test_cases_data", "What each case gave", ["data"], registry=registry)
    for case in figures.cases:
        data.labels(data=str(dict(case))).set(1)
    Gauge("eval_data", "What was evaluated", ["data"], registry=registry).labels(data=str(dict(figures.models))).set(1)
    return registry


def _handler(gateway: Gateway) -> Callable[..., Callable[[], None]]:
    from prometheus_client.exposition import basic_auth_handler, default_handler

    if not gateway.username:
        return default_handler

    def handler(url: str, method: str, timeout: float | None, headers: Any, data: bytes) -> Callable[[], None]:
        return basic_auth_handler(url, method, timeout, headers, data, gateway.username, gateway.password)

    return handler


PART = ExportPart(write=write, suffix=".prom")
