"""Build the prompts of a task of lm-eval and score replies to them: a program for worker processes, which imports nothing of Proctor.

Names of lm_eval 0.4.13. Prompts are always built for the whole split, as few-shots are drawn from one generator in the order of
the documents. One private write: `task._instances` holds the instances of one document while its filters run.
"""

import json
import math
import os
import random
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))
from canned import text_for
from guest_caches import link_caches
from guest_data import note_sources, sources

link_caches()  # before anything is imported that reads where caches are

import numpy as np
from lm_eval import simple_evaluate
from lm_eval import tasks as lm_tasks
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

note_sources()

FEWSHOT_SEED = 1234  # DEFAULT_OTHER_SEED of lm_eval/evaluator.py
INCLUDED = re.compile(r"^task:\s*(['\"]?)(\S+)\1\s*$", re.MULTILINE)


class Refusal(Exception):
    """The task cannot be run; its text is JSON, which the parent turns into a sentence."""


def plan(task: str, arguments: dict[str, object]) -> dict[str, Any]:
    """Return the prompts of a task, document by document, and how they are scored."""
    loaded = _task(task, json.dumps(arguments))
    aggregations, better = loaded.aggregation(), loaded.higher_is_better()
    filters = [each["name"] for each in loaded.get_config("filter_list") or ()] or ["none"]
    return {
        "documents": [_document(loaded, instance) for instance in loaded.instances],
        "metrics": [
            {"name": metric, "filter": name, "higher_is_better": better.get(metric), "is_mean": _is_mean(of)}
            for name in filters
            for metric, of in {**dict.fromkeys(_unlisted(loaded)), **aggregations}.items()
        ],
        "version": str(getattr(loaded, "VERSION", 0)),
        "few_shots": loaded.get_config("num_fewshot") or 0,
        "data": {key: str(loaded.get_config(key)) for key in ("dataset_path", "dataset_name", "dataset_kwargs")},
        "sources": sources(),
    }


def score(task: str, arguments: dict[str, object], id: str, replies: list[str]) -> dict[str, dict[str, object]]:
    """Return what each filter makes of the replies to a document, and what `process_results` says of that."""
    return _values(_task(task, json.dumps(arguments)), _by_id(task, json.dumps(arguments))[id], replies)


def _values(made: Any, instance: Any, replies: list[str]) -> dict[str, dict[str, object]]:
    everything, made._instances = made.instances, [instance]
    try:
        instance.resps, instance.filtered_resps = list(replies), {}
        made.apply_filters()
        return {
            name: _plain(made.process_results(instance.doc, [reply])) for name, reply in instance.filtered_resps.items()
        }
    finally:
        instance.resps, made._instances = [], everything


def totals(task: str, arguments: dict[str, object], values: dict[str, list[object]]) -> dict[str, dict[str, object]]:
    """Return the official aggregate of each metric, or the error of one that could not be computed."""
    loaded = _task(task, json.dumps(arguments))
    figures: dict[str, dict[str, object]] = {}
    for name, items in values.items():
        aggregate = loaded.aggregation().get(name.rpartition(",")[0], np.mean)
        try:
            figures[name] = {"value": _plain(float(aggregate([_as_given(item) for item in items])))}
        except Exception as error:  # noqa: BLE001 - of one metric; the others are still there
            figures[name] = {"error": f"{type(error).__name__}: {error}"[:500]}
    return figures


def _as_given(item: object) -> object:
    """Return the value of a document as `process_results` gave it: NaN came as null, a tuple as a list."""
    return math.nan if item is None else tuple(item) if isinstance(item, list) else item


def alone(task: str, arguments: dict[str, object], first: int) -> dict[str, object]:
    """Evaluate the first documents with lm-eval alone, and return prompts, values by document and filter, and aggregates."""
    given = dict(arguments)
    given.pop("unsafe", None)
    lm = _Canned(_stops(_task(task, json.dumps(arguments)).instances[0].args[1]))
    results = simple_evaluate(
        model=lm, tasks=[task], task_manager=_manager(task), limit=first, log_samples=True, bootstrap_iters=0, confirm_run_unsafe_code=True, **given
    )  # fmt: skip
    (rows,) = results["samples"].values()
    (figures,) = results["results"].values()
    values = {f"{row['doc_id']},{row['filter']}": {name: _plain(row[name]) for name in row["metrics"]} for row in rows}
    aggregates = {key: _plain(value) for key, value in figures.items() if "," in key and "_stderr," not in key}
    return {"prompts": lm.prompts, "values": values, "aggregates": aggregates}


class _Canned(LM):
    """Replies by the prompt, cut where the task says that a reply ends."""

    def __init__(self, stops: list[str]) -> None:
        super().__init__()
        self.prompts: list[str] = []
        self._stops = stops

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        replies, repeat = [], 0
        for request in requests:
            prompt = request.args[0]
            repeat = repeat + 1 if self.prompts and self.prompts[-1] == prompt else 0
            self.prompts.append(prompt)
            text = text_for(prompt, repeat)
            for stop in self._stops:
                text = text.split(stop, 1)[0]
            replies.append(text)
        return replies

    def loglikelihood(self, requests: object) -> object:
        raise NotImplementedError("canned replies have texts, no likelihoods")

    def loglikelihood_rolling(self, requests: object) -> object:
        raise NotImplementedError("canned replies have texts, no likelihoods")


def _unlisted(made: Any) -> list[str]:
    """Return what `process_results` gives besides the metrics of the task: lm-eval takes the mean, and nobody says what is better."""
    instance = made.instances[0]
    try:
        given = _values(made, instance, [""] * (instance.repeats or 1))
    except Exception:  # noqa: BLE001 - of an empty reply; then only those are known that the task lists
        return []
    return [name for values in given.values() for name in values if name not in made.aggregation()]


def _stops(settings: dict[str, Any]) -> list[str]:
    until = settings.get("until") or []
    return [until] if isinstance(until, str) else [str(stop) for stop in until if stop]


def _document(made: Any, instance: Any) -> dict[str, object]:
    prompt, settings, *more = instance.args
    if more:
        raise Refusal(json.dumps({"kind": "files"}))
    return {
        "id": str(instance.doc_id),
        "prompt": prompt,
        "settings": _plain(settings),
        "repeats": instance.repeats or 1,
        "target": _plain(made.doc_to_target(instance.doc)),
    }


@cache
def _by_id(task: str, arguments: str) -> dict[str, object]:
    return {str(instance.doc_id): instance for instance in _task(task, arguments).instances}


@cache
def _task(name: str, arguments: str) -> Any:
    """Load a task and build its prompts, as `simple_evaluate` does."""
    given = json.loads(arguments)
    random.seed(0)
    np.random.seed(FEWSHOT_SEED)
    manager = _manager(name)
    if not name.endswith((".yaml", ".yml")) and name not in manager.all_tasks:
        raise Refusal(json.dumps({"kind": "unknown", "known": _near(name, manager.all_tasks)}))
    tasks = manager.load([name])["tasks"]
    if len(tasks) != 1:
        raise Refusal(json.dumps({"kind": "group", "tasks": list(tasks)[:20], "count": len(tasks)}))
    (task,) = tasks.values()
    _check(task, unsafe=given.pop("unsafe", False))
    for key, value in given.items():
        task.set_config(key=key, value=value)
    task.set_fewshot_seed(seed=FEWSHOT_SEED)
    task.build_all_requests(rank=0, world_size=1)
    return task


@cache
def _manager(name: str) -> TaskManager:
    if name.endswith((".yaml", ".yml")):
        os.chdir(Path(name).parent)
        return TaskManager(include_defaults=False)
    folder = _folder_of(name)
    return TaskManager() if folder is None else TaskManager(include_defaults=False, include_path=str(folder))


def _check(made: Any, *, unsafe: bool) -> None:
    if made.OUTPUT_TYPE != "generate_until":
        raise Refusal(json.dumps({"kind": "likelihood", "type": made.OUTPUT_TYPE}))
    if getattr(made, "UNSAFE_CODE", False):
        if not unsafe:
            raise Refusal(json.dumps({"kind": "unsafe"}))
        os.environ["HF_ALLOW_CODE_EVAL"] = "1"
    if getattr(made, "MULTIMODAL", False):
        raise Refusal(json.dumps({"kind": "files"}))


def _folder_of(name: str) -> Path | None:
    """Return the folder whose YAML files define a task; to read all of lm-eval's takes 15 s."""
    root = Path(lm_tasks.__file__).parent
    for path in root.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8", errors="replace")
        if name in text and any(match[2] == name for match in INCLUDED.finditer(text)) and "group:" not in text:
            return path.parent
    return None


def _near(name: str, known: list[str]) -> list[str]:
    words = set(re.split(r"[_\W]+", name.lower()))
    return sorted(known, key=lambda one: -len(words & set(re.split(r"[_\W]+", one.lower()))))[:5]


def _is_mean(aggregate: object) -> bool:
    """True if the values of documents are averaged, as those of a metric that has no aggregate of its own are."""
    return aggregate is None or getattr(aggregate, "__name__", "") in ("mean", "nanmean")


def _plain(value: object) -> Any:
    """Return a value as JSON: NumPy's numbers are numbers, tuples lists, NaN null."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | bool) or value is None else str(value)
