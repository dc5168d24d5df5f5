"""Log a run to MLflow: numbers with intervals as metrics, conditions as parameters, the report as an artifact.

A run that is logged again is found by its tag `proctor.key`, and only what changed is added.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from proctor.core.errors import BadInput, needs
from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.exports.summary import Summary, conditions, host_of, key_of, metrics, one_line
from proctor.exports.writing import Options
from proctor.runtime.telemetry import switch_off

if TYPE_CHECKING:
    from mlflow import MlflowClient

T = TypeVar("T")
STATUS = {"finished": "FINISHED", "inconclusive": "FINISHED", "stopped": "KILLED"}
AT_ONCE = 500  # metrics and parameters in one request; MLflow takes 1,000
PATIENCE = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "30", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2"}  # its own are many minutes


def write(record: RunRecord, store: Store, path: Path, *, options: Options) -> list[Path]:
    """Log the run to an MLflow database in a file, and return its path.

    Raises:
        BadInput: MLflow cannot write it; `MissingExtra`.
    """
    uri, artifacts = f"sqlite:///{path.absolute()}", path.absolute().parent / "mlartifacts"
    _log(record, store, uri, options["summary"], artifacts=artifacts)
    return [path]


def send(record: RunRecord, store: Store, address: str, *, options: Options) -> Sentence:
    """Log the run to an MLflow server and report its address; `env` is the server of MLFLOW_TRACKING_URI.

    Raises:
        BadInput: the server cannot be reached or refuses; `MissingExtra`.
    """
    uri = os.environ.get("MLFLOW_TRACKING_URI", "") if address == "env" else address
    if not uri:
        raise BadInput("Name the MLflow server with --out http://HOST:5000, or set MLFLOW_TRACKING_URI.")
    experiment, run_id = _log(record, store, uri, options["summary"])
    return say(
        "logged to MLflow at {host}: experiment {experiment}, run {run}",
        host=host_of(uri),
        experiment=experiment,
        run=run_id,
    )


def _log(
    record: RunRecord, store: Store, uri: str, summary: Summary, *, artifacts: Path | None = None
) -> tuple[str, str]:
    switch_off()
    for name, value in PATIENCE.items():
        os.environ.setdefault(name, value)  # read when it is imported
    with needs("mlflow", "MLflow"):
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    try:
        client = MlflowClient(tracking_uri=uri)
        return _log_to(client, record, store, summary, artifacts)
    except (MlflowException, OSError, ImportError) as error:  # it imports what a kind of address needs
        raise BadInput("MLflow at {host}: {error}", host=host_of(uri), error=one_line(error)) from None


def _log_to(
    client: "MlflowClient", record: RunRecord, store: Store, summary: Summary, artifacts: Path | None
) -> tuple[str, str]:
    from mlflow.entities import Metric, Param, RunTag

    name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or record.task
    experiment = client.get_experiment_by_name(name)
    if experiment is not None:
        id = experiment.experiment_id
    else:
        id = client.create_experiment(name, artifact_location=None if artifacts is None else artifacts.as_uri())
    key, now = key_of(record), round(time.time() * 1000)
    begun = round(record.created * 1000) or now  # an imported log may not say when
    runs = client.search_runs([id], filter_string=f"tags.`proctor.key` = '{key}'", max_results=1)
    runs = runs or [client.create_run(id, start_time=begun, run_name=record.id, tags={"proctor.key": key})]
    run_id, before = runs[0].info.run_id, runs[0].data
    numbers = metrics(record, store, summary)
    changed = [Metric(one, value, now, 0) for one, value in numbers.items() if before.metrics.get(one) != value]
    params = [Param(one, text) for one, text in conditions(record, summary).items() if one not in before.params]
    tags = [RunTag("proctor.run", record.id), RunTag("proctor.state", record.state)]
    _in_parts(changed, lambda part: client.log_batch(run_id, metrics=part))
    _in_parts(params, lambda part: client.log_batch(run_id, params=part))
    client.log_batch(run_id, tags=tags)
    with TemporaryDirectory() as folder:
        client.log_artifact(run_id, str(summary.write_report(Path(folder) / "report.html")))
        client.log_artifact(run_id, str(summary.write_report(Path(folder) / "report.json")))
    client.set_terminated(run_id, STATUS.get(record.state, "RUNNING"), end_time=begun + round(record.seconds * 1000))
    return name, run_id


def _in_parts(values: list[T], log: Callable[[list[T]], object]) -> None:
    for start in range(0, len(values), AT_ONCE):
        log(values[start : start + AT_ONCE])


PART = ExportPart(write=write, send=send, has_content=True, has_summary=True)
