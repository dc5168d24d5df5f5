"""Write the results of a run as the metadata of a model card, and as a result file for leaderboards of the Hugging Face hub.

    README.md                   `model-index`; in a card that is there, only results of the same task and metric are replaced
    .eval_results/TASK.yaml     where the samples are of a data set of the hub

Source: huggingface/hub-docs, modelcard.md and eval_results.yaml; huggingface_hub 2.4.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from proctor.core.errors import BadInput, needs
from proctor.core.parts import ExportPart
from proctor.core.run import Estimate, RunRecord
from proctor.core.task import Store
from proctor.exports.summary import Summary
from proctor.exports.writing import Options
from proctor.runtime.files import write_whole
from proctor.runtime.visible import visible
from proctor.transport.redact import quoted
from proctor_adapters.datasets import hub

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

DATA_SET = re.compile(r"[\w.-]+/[\w.-]+")
TASK_TYPE = "text-generation"
MOST_BYTES = 5_000_000


def write(record: RunRecord, store: Store, path: Path, *, options: Options) -> list[Path]:  # noqa: ARG001 - formats are called alike
    """Write both files into a folder, such as a clone of the model's repository, and say where.

    Raises:
        BadInput: nothing was measured; the card there cannot be read or written; `MissingExtra`.
    """
    with needs("hub", "model-card"):
        import yaml
        from huggingface_hub import EvalResult, ModelCard, ModelCardData
    summary: Summary = options["summary"]
    measured = [estimate for estimate in summary.estimates if not estimate.slice and estimate.value is not None]
    if not measured:
        raise BadInput("The run {run} has no number that a model card could show.", run=record.id)
    results = [EvalResult(**_result(record, estimate)) for estimate in measured]
    readme = path / "README.md"
    try:
        if not readme.is_file():
            data = ModelCardData(model_name=visible(summary.model), eval_results=results, tags=["proctor"])
            card = ModelCard(f"---\n{data.to_yaml()}\n---\n\n{_body(record, summary.model, measured)}")
        elif readme.stat().st_size > MOST_BYTES:
            raise BadInput("{path} is larger than {limit} MB.", path=readme, limit=MOST_BYTES // 1_000_000)
        else:
            card = ModelCard(readme.read_text(encoding="utf-8"))
            known = cast("ModelCardData", card.data)
            known.eval_results = [*_others(known.eval_results or [], results), *results]
            known.model_name = known.model_name or visible(summary.model)
        written = [write_whole(readme, str(card))]
    except (ValueError, KeyError, TypeError, AttributeError, OSError, yaml.YAMLError) as error:  # another kind of card
        raise BadInput(
            "{path} is no model card that results can be added to: {error}", path=readme, error=quoted(error)
        ) from None
    data_set = str(record.provenance.get("data_set", ""))
    if DATA_SET.fullmatch(data_set):
        entry = _entry(record, data_set, measured[0])
        name = re.sub(r"[^\w-]+", "-", record.task).strip("-")[:80] or "task"
        text = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True)
        written.append(write_whole(path / ".eval_results" / f"{name}.yaml", text))
    return written


def _others(known: "list[EvalResult]", new: "list[EvalResult]") -> "Iterator[EvalResult]":
    replaced = {(*result.unique_identifier, result.metric_type) for result in new}
    return (result for result in known if (*result.unique_identifier, result.metric_type) not in replaced)


def _result(record: RunRecord, one: Estimate) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "task_type": TASK_TYPE,
        "task_name": visible(record.task),
        "dataset_type": str(record.provenance.get("data_set") or visible(record.task)),
        "dataset_name": visible(record.task),
        "dataset_config": _part(record),
        "dataset_split": record.spec.task_options.get("split"),
        "dataset_revision": record.provenance.get("revision"),
        "metric_type": one.name,
        "metric_name": f"{one.name} ({_evidence(one)})",
        "metric_value": one.value,
        "metric_args": {"scored": one.scored, "planned": one.planned, "attempts": record.spec.attempts},
    }
    if one.low is not None and one.high is not None:
        fields["metric_args"] |= {"level": one.level, "low": one.low, "high": one.high}
    return fields


def _part(record: RunRecord) -> str | None:
    """Return which part of a data set the task is of, as the hub keeps results of different parts apart."""
    if not record.provenance.get("data_set"):
        return None
    of_hub = hub.NAME.fullmatch(record.task)
    return of_hub["config"] if of_hub else record.task.partition("/")[2] or None


def _entry(record: RunRecord, data_set: str, main: Estimate) -> dict[str, object]:
    dataset = {"id": data_set, "task_id": str(record.spec.task_options.get("config") or "default")}
    if revision := record.provenance.get("revision"):
        dataset["revision"] = str(revision)
    date = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="seconds")
    return {
        "dataset": dataset,
        "value": main.value,
        **({"date": date} if record.created else {}),  # an imported log may not say when
        "notes": f"{main.name}, {_evidence(main)}; {record.task}, Proctor {record.proctor_version}",
    }


def _evidence(one: Estimate) -> str:
    counted = f"{one.scored} of {one.planned} scored"
    if one.low is None or one.high is None:
        return counted
    return f"{one.level:.0%} interval {one.low:.4g} to {one.high:.4g}, {counted}"


def _body(record: RunRecord, model: str, measured: list[Estimate]) -> str:
    rows = "".join(
        f"| {_cell(record.task)} | {_cell(estimate.name)} | {estimate.value:.4g} | {_cell(_evidence(estimate))} |\n"
        for estimate in measured
    )
    day = f" on {datetime.fromtimestamp(record.created, UTC).date().isoformat()}" if record.created else ""
    by = str(record.provenance["imported_from"]) if record.is_imported else f"Proctor {record.proctor_version}"
    return (
        f"# {_cell(model)}\n\n## Evaluation\n\n| task | metric | value | evidence |\n|---|---|---|---|\n{rows}\n"
        f"Measured{day} with {_cell(by)}, run {_cell(record.id)}.\n"
    )


def _cell(text: str) -> str:
    """Return a text for a table in Markdown: neither markup nor HTML in it counts, and no character is hidden."""
    return re.sub(r"([\\`*_\[\]<>|&#])", r"\\\1", " ".join(visible(text).split()))


PART = ExportPart(write=write, suffix="-model-card", has_summary=True)
