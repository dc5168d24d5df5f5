"""Load a task of Inspect, and describe what it holds."""

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import inspect_ai
from guest_data import note_sources, sources
from guest_values import FILES, clean, dumped, embedded, without_ids
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.util import materialize_media, registry_info

IMAGE_FILES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml", "Dockerfile")


class NoSuchTask(Exception):
    """No task of the package or file has that name; its text is the names that there are."""


def load(name: str, arguments: dict[str, object]) -> Task:
    """Make the task `PACKAGE/TASK`, or `FILE.py@TASK`."""
    file, wanted = ("", name) if ".py" not in name else name.rsplit("@", 1) if "@" in name else (name, "")
    tasks = tasks_of_file(Path(file)) if file else tasks_of_package(name.partition("/")[0])
    if not wanted and len(tasks) == 1:
        wanted = next(iter(tasks))
    if wanted not in tasks:
        raise NoSuchTask(", ".join(sorted(tasks)))
    note_sources()
    with without_waiting():
        task = tasks[wanted](**arguments)
    if not isinstance(task, Task):
        raise TypeError(f"{wanted} returned {type(task).__name__}")
    return task


@contextmanager
def without_waiting() -> Iterator[None]:
    """Let nobody wait for the network to come back, where there is none: the hub's client would for minutes."""
    sleep = time.sleep
    if os.environ.get("HF_HUB_OFFLINE"):
        time.sleep = lambda _: None
    try:
        yield
    finally:
        time.sleep = sleep


def tasks_of_file(path: Path) -> dict[str, Any]:
    os.chdir(path.parent)
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return tasks_of(module)


def tasks_of_package(package: str) -> dict[str, Any]:
    tasks: dict[str, object] = {}
    for point in importlib.metadata.entry_points(group="inspect_ai"):
        if point.name == package or point.value.partition(".")[0] == package:
            tasks |= tasks_of(point.load())
    return tasks


def tasks_of(module: object) -> dict[str, object]:
    tasks = {}
    for value in [*vars(module).values()]:
        try:
            about = registry_info(value)
        except (ValueError, AttributeError, TypeError):
            continue
        if about.type == "task" and callable(value):
            tasks[about.name] = value
    return tasks


def samples_of(task: Task) -> dict[str, Sample]:
    """Return the samples by id; those without one are numbered from 1, as Inspect does."""
    samples: dict[str, Sample] = {}
    for number, sample in enumerate(task.dataset, 1):
        if sample.id is None:
            sample.id = number
        if str(sample.id) in samples:
            raise ValueError(f"two samples have the id {sample.id}")
        samples[str(sample.id)] = sample
    return samples


def described(sample: Sample) -> dict[str, object]:
    """Return what the parent reads of a sample; the digest is of the files that it names, as their folder is another in each worker."""
    about = {"input": asked(sample), "target": sample.target, "choices": sample.choices, "metadata": sample.metadata}
    shown = sample.input if isinstance(sample.input, str) else [embedded(message) for message in asked(sample)]
    text = json.dumps(clean({**about, "input": shown}), ensure_ascii=False, sort_keys=True, default=str)
    return {"id": str(sample.id), **about, "digest": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]}


def asked(sample: Sample) -> Any:
    return sample.input if isinstance(sample.input, str) else [without_ids(dumped(message)) for message in sample.input]


async def with_files(sample: Sample) -> Sample:
    """Put the files that a sample names into its messages: Inspect does so for those of a data set, but not for one that is fed."""
    for message in () if isinstance(sample.input, str) else sample.input:
        for part in () if isinstance(message.content, str) else message.content:
            if part.type in FILES:
                try:
                    embedded_file = await materialize_media(getattr(part, part.type), getattr(part, "mime_type", None))
                except Exception:  # noqa: BLE001, S112 - Inspect then says of the sample that it has no such file
                    continue
                setattr(part, part.type, embedded_file)
    return sample


def plan(task: Task, samples: dict[str, Sample]) -> dict[str, object]:
    sandboxes = [kind_of(sample.sandbox or task.sandbox) for sample in samples.values()]
    limits = {
        name: getattr(task, name, None) for name in ("message_limit", "token_limit", "time_limit", "working_limit")
    }
    return {
        "samples": [described(sample) for sample in samples.values()],
        "scorers": [scorer_of(scorer) for scorer in task.scorer or ()],
        "epochs": task.epochs or 1,
        "images": sum(names_an_image(sample.sandbox or task.sandbox) for sample in samples.values()),
        "sandboxes": {kind: sandboxes.count(kind) for kind in set(sandboxes) if kind},
        "limits": {name: value for name, value in limits.items() if value is not None},
        "roles": sorted(task.model_roles or ()),
        "version": task.version,
        "data": sources(),
        "package": getattr(inspect_ai, "__version__", ""),
    }


def kind_of(sandbox: object) -> str:
    return "" if sandbox is None else str(getattr(sandbox, "type", sandbox))


def names_an_image(sandbox: object) -> bool:
    """True if a sandbox is that of an image or a compose file, named or next to the file of the task."""
    found = getattr(sandbox, "config", None) or any(Path(name).is_file() for name in IMAGE_FILES)
    return sandbox is not None and kind_of(sandbox) != "local" and bool(found)


def scorer_of(scorer: object) -> dict[str, object]:
    """Return the name of a scorer, the keys of its value where its metrics name them, and for which of these 1 is full marks.

    That is so where a metric is `accuracy`, the share of right answers; the key of a value without parts is "".
    """
    about = registry_info(scorer)
    metrics = about.metadata.get("metrics")
    groups = metrics if isinstance(metrics, list) else [metrics]
    by_key = {key: each for group in groups if isinstance(group, dict) for key, each in group.items()}
    by_key[""] = [each for group in groups for each in ([] if isinstance(group, dict) else [group])]
    shares = [key for key, each in by_key.items() if any(map(is_accuracy, each if isinstance(each, list) else [each]))]
    keys = [key for key in by_key if key]
    return {
        "name": about.name.rpartition("/")[2],
        "keys": [] if "*" in keys else keys,
        "open": "*" in keys,
        "shares": shares,
    }


def is_accuracy(metric: object) -> bool:
    try:
        name: str = registry_info(metric).name
    except (ValueError, AttributeError, TypeError):
        return False
    return name.rpartition("/")[2] == "accuracy"
