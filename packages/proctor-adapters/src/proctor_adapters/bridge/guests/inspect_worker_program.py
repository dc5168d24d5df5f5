"""Run a task of Inspect for Proctor: the program of a worker process, which imports nothing of Proctor.

Both sides write lines of JSON. The parent begins with one of three, and then writes `feed`, `reply` and `end`:

    {"plan": {…}}     → {"plan": {"samples": […], "scorers": […], …}}
    {"run": {…}}      → {"ready": {…}}, then for each (id, epoch) of a feed: {"ask": n, …} as often as its solver, tools and
                        scorers ask a model, which the parent answers ({"reply": n, "waits": true} while it waits for an
                        endpoint), {"scoring": true} when scoring begins, and {"trial": {…}} at its end
    {"totals": {…}}   → {"totals": […]}: the official metrics over scores that the parent kept

Public names of inspect_ai 0.3.285 only: solvers, tools and scorers are theirs, unchanged.
"""

import asyncio
import contextvars
import math
import os
import sys
import time
from collections.abc import Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))
from guest_caches import link_caches

link_caches()  # before anything is imported that reads where caches are

from guest_models import CONNECTIONS, current, line, name_roles, register
from guest_tasks import described, kind_of, load, plan, samples_of, with_files
from inspect_ai import Epochs, SampleSource, Task, enqueue_sample, eval_async, task_with
from inspect_ai import model as models
from inspect_ai.dataset import Sample
from inspect_ai.hooks import Hooks, hooks
from inspect_ai.log import EvalSample, recompute_metrics
from inspect_ai.scorer import Score, metric
from inspect_ai.util import registry_info

REHEARSED_SECONDS = 20.0


@hooks(name="proctor", description="Say which sample asks, and how it ended.")
class Told(Hooks):
    async def on_sample_init(self, data: Any) -> None:
        current.set((str(data.summary.id), data.summary.epoch))

    async def on_sample_scoring(self, data: Any) -> None:
        if line.rehearsed is None:
            line.write({"scoring": True, "of": current.get()})

    async def on_sample_end(self, data: Any) -> None:
        if line.source is not None and line.rehearsed is None:
            line.source.ended(data.sample)


class Source(SampleSource):
    """Gives Inspect the samples that the parent feeds, each when it comes, and as one epoch of its own."""

    def __init__(self, samples: dict[str, Sample]) -> None:
        self._samples = samples
        self._context: contextvars.Context | None = None
        self._waiting: list[tuple[Sample, int]] = []
        self._feeding: set[asyncio.Future[None]] = set()
        self._woken = asyncio.Event()
        self._is_over = False
        self._cpu = time.process_time()

    def feed(self, id: str, epoch: int) -> None:
        feeding = asyncio.ensure_future(self._feed(id, epoch))
        self._feeding.add(feeding)
        feeding.add_done_callback(self._feeding.discard)

    async def _feed(self, id: str, epoch: int) -> None:
        sample = await with_files(self._samples[id].model_copy(deep=True))
        if self._context is None:
            self._waiting.append((sample, epoch))
        else:
            self._context.run(enqueue_sample, sample, epoch=epoch)
        self._woken.set()

    def end(self) -> None:
        self._is_over = True
        self._woken.set()

    async def next_samples(self) -> list[Sample] | None:
        await self._woken.wait()
        self._woken.clear()
        self._context = contextvars.copy_context()
        waiting, self._waiting = self._waiting, []
        for sample, epoch in waiting:
            enqueue_sample(sample, epoch=epoch)
        return None if self._is_over else []

    def ended(self, sample: EvalSample) -> None:
        now = time.process_time()
        cpu, self._cpu = now - self._cpu, now  # also that of samples played at the same time; the mean is right
        line.write({"trial": {**slim(sample), "cpu": cpu}, "of": [str(sample.id), sample.epoch]})


def slim(sample: EvalSample) -> dict[str, object]:
    """Return what the parent reads of a sample."""
    kept = {"id", "epoch", "messages", "scores", "error", "limit", "total_time"} | (
        set() if sample.messages else {"output"}
    )
    slimmed: dict[str, Any] = sample.model_dump(mode="json", include=kept, fallback=str)
    for name, score in (slimmed.get("scores") or {}).items():
        score.pop("history", None)
        value = (sample.scores or {})[name].value
        parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        score["nan"] = [key for key, part in parts if isinstance(part, float) and math.isnan(part)]  # null in JSON
    return slimmed


async def play(task: Task, about: dict[str, Any], source: SampleSource | list[Sample]) -> Any:
    roles = {name: models.get_model(f"proctor-role/{name}", memoize=False) for name in about["roles"]}
    epochs = 1 if isinstance(source, list) else Epochs(task.epochs or 1, task.epochs_reducer)
    logs = await eval_async(
        task_with(task, dataset=source, epochs=epochs),
        model=models.get_model("proctor-agent/agent", memoize=False),
        model_roles=roles,
        sandbox=about.get("sandbox"),
        fail_on_error=False,
        retry_on_error=0,
        max_samples=about["at_once"],
        max_connections=CONNECTIONS,
        log_dir=os.environ["HOME"] + "/logs",
        log_realtime=False,
        log_images=False,
        ctl_server=False,
        score_display=False,
        message_limit=about.get("message_limit"),
        log_level="error",
    )
    if not logs:
        raise asyncio.CancelledError  # which Inspect keeps to itself
    return logs[0]


async def run(task: Task, about: dict[str, object]) -> None:
    samples = samples_of(task)
    line.listen(asyncio.get_running_loop())
    heard: dict[str, object] = {}
    if about["rehearse"] and not kind_of(next(iter(samples.values())).sandbox or task.sandbox):
        line.rehearsed = {"agent": set(), "role": set(), "model": set(), "tools": set(), "settings": set()}
        try:
            async with asyncio.timeout(REHEARSED_SECONDS):
                await play(task, about, [next(iter(samples.values())).model_copy(deep=True)])
        except TimeoutError:
            pass
        heard = {key: sorted(values) for key, values in line.rehearsed.items()}
        line.rehearsed, line.asks = None, 0
        task = load(about["task"], about["arguments"])
        samples = samples_of(task)
    line.source = Source(samples)
    digests = {id: described(sample)["digest"] for id, sample in samples.items()}
    line.write({"ready": {"digests": digests, "rehearsed": heard}})
    log = await play(task, about, line.source)
    if log.error is not None:
        line.write({"broken": log.error.message[:2_000]})


def metrics_of(log: Any) -> list[dict[str, object]]:
    return [
        {"scorer": score.name, "reducer": score.reducer, "metric": name, "value": metric.value}
        for score in (log.results.scores if log.results is not None else ())
        for name, metric in score.metrics.items()
    ]


def score_of(kept: dict[str, Any]) -> Score:
    """Return a score as its scorer gave it: what was NaN, or a part of the value that was, is NaN again."""
    score = {"value": math.nan, **kept}
    for key in score.pop("nan", ()):
        score["value"][key] = math.nan
    return Score.model_validate(score)


def register_metrics(task: Task) -> None:
    """Let names of metrics mean those of this task: packages have several of one name, and Inspect finds them by it again.

    Inspect asks for those of the task first, then for those of each scorer, so that metrics of one name come in turn. Created from
    what a log says of them they would be others: a parameter from an enumeration is a text there.
    """
    by_name: dict[str, list[object]] = {}
    for metrics in (task.metrics, *(registry_info(scorer).metadata.get("metrics") for scorer in task.scorer or ())):
        for group in metrics if isinstance(metrics, list) else [metrics or {}]:
            for each in chain.from_iterable(group.values()) if isinstance(group, dict) else [group]:
                by_name.setdefault(registry_info(each).name, []).append(each)
    for name, metrics in by_name.items():
        package, _, own = name.rpartition("/")
        if package != "inspect_ai":
            create = creating(cycle(metrics))
            create.__module__ = package or "__main__"
            metric(own, **registry_info(metrics[0]).metadata)(create)


def creating(metrics: Iterator[object]) -> object:
    def create(**_: object) -> object:
        return next(metrics)

    return create


async def totals(task: Task, about: dict[str, Any]) -> None:
    class Nothing(SampleSource):
        pass

    log = await play(task, about, Nothing())
    register_metrics(task)
    log.samples = [
        EvalSample(
            id=row["id"],
            epoch=row["epoch"],
            input="",
            target="",
            metadata=row["metadata"],
            scores={name: score_of(score) for name, score in row["scores"].items()},
        )
        for row in about["rows"]
    ]
    recompute_metrics(log)
    line.write({"totals": metrics_of(log)})


def talk(requests: object, replies: object) -> None:
    """Do what the first line of the parent says."""
    line.requests, line.replies = requests, replies
    do, about = next(iter(line.first().items()))
    if do == "end":
        return
    try:
        register()
        name_roles(about["roles"])
        task = load(about["task"], about["arguments"])
        if do == "plan":
            line.write({"plan": plan(task, samples_of(task))})
        else:
            asyncio.run({"run": run, "totals": totals}[do](task, about))
    except BaseException as error:  # noqa: BLE001 - the parent says it
        text = "; ".join(dict.fromkeys((str(error), *getattr(error, "__notes__", ()))))
        line.write({"failed": {"type": type(error).__name__, "text": text[:4_000]}})
