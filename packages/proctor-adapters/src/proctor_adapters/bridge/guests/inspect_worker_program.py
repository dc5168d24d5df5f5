"""Run a task of Inspect for Proctor: the program of a worker process, which imports nothing of Proctor.

Both sides write lines of JSON. The parent begins with one of four, and then writes `feed`, `reply` and `end`:

    {"plan": {…}}     → {"plan": {"samples": […], "scorers": […], …}}
    {"alone": {…}}    → {"alone": {…}}: the first samples, played without the parent, for a comparison with it
    {"run": {…}}      → {"ready": {…}}, then for each (id, epoch) of a feed: {"ask": n, …} as often as its solver, tools and
                        scorers ask a model, which the parent answers, and {"trial": {…}} at its end
    {"totals": {…}}   → {"totals": […]}: the official metrics over scores that the parent kept

Public names of inspect_ai 0.3.285 only: solvers, tools and scorers are theirs, unchanged.
"""

import asyncio
import base64
import contextvars
import hashlib
import importlib.metadata
import importlib.util
import json
import math
import mimetypes
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))
from canned import digest_of, reply_to
from guest_caches import link_caches

link_caches()  # before anything is imported that reads where caches are

import inspect_ai
from inspect_ai import SampleSource, Task, enqueue_sample, eval_async, task_with
from inspect_ai import model as models
from inspect_ai.dataset import Sample
from inspect_ai.hooks import Hooks, hooks
from inspect_ai.log import EvalSample, recompute_metrics
from inspect_ai.scorer import Score
from inspect_ai.util import registry_info

PROVIDERS = (
    *("openai", "anthropic", "google", "mistral", "groq", "together", "bedrock", "azureai", "grok", "cloudflare", "hf"),
    *("vllm", "sglang", "ollama", "llama-cpp-python", "openrouter", "perplexity", "openai-api", "fireworks", "deepseek"),
    *("sambanova", "goodfire", "hf-inference-providers", "transformer_lens", "openai-responses", "moonshot", "baseten"),
)  # fmt: skip
CONNECTIONS = 10_000  # the parent's pace decides
REHEARSED_ASKS = 8
REHEARSED_SECONDS = 20.0
UNSET: tuple[Any, ...] = (None, [], {})

current: contextvars.ContextVar[tuple[str, int] | None] = contextvars.ContextVar("sample", default=None)


class ParentFault(Exception):
    """The parent could not answer a request; it knows why."""


class NoSuchTask(Exception):
    """No task of the package or file has that name; its text is the names that there are."""


class RehearsalOver(Exception):
    """A rehearsal has asked often enough."""


class Line:
    """The pipes to the parent, the requests that wait for a reply, and the samples that are fed."""

    def __init__(self) -> None:
        self.requests: Any = None
        self.replies: Any = None
        self.asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.source: Source | None = None
        self.rehearsed: dict[str, set[str]] | None = None
        self.canned: list[str] | None = None  # digests of the requests that were answered here
        self.asks = 0
        self._lock = threading.Lock()

    def first(self) -> dict[str, Any]:
        first: dict[str, Any] = json.loads(self.requests.readline() or b'{"end": true}')
        return first

    def write(self, message: dict[str, Any]) -> None:
        line = json.dumps(clean(message), ensure_ascii=False, separators=(",", ":"), default=str)
        with self._lock:
            self.replies.write(line.encode("utf-8", "replace") + b"\n")
            self.replies.flush()

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take what the parent writes, in a thread; this process ends when the parent's pipe does."""

        def read() -> None:
            for line in self.requests:
                loop.call_soon_threadsafe(self._take, json.loads(line))
            os._exit(0)

        threading.Thread(target=read, daemon=True).start()

    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the parent's reply to a request of a model.

        Raises:
            ParentFault: there is none.
        """
        self.asks += 1
        number, of = self.asks, current.get()
        if self.rehearsed is not None:
            return self._rehearse(request)
        if self.canned is not None:
            self.canned.append(digest_of(request))
            return canned_output(request, self.canned[-1])
        future = self.asked[number] = asyncio.get_running_loop().create_future()
        self.write({"ask": number, "of": of, **request})
        try:
            reply = await future
        except asyncio.CancelledError:
            self.write({"cancel": number, "of": of})
            raise
        finally:
            del self.asked[number]
        if "fault" in reply:
            raise ParentFault(number, reply["fault"])
        output: dict[str, Any] = reply["output"]
        return output

    def _rehearse(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.rehearsed is not None
        self.rehearsed[request["kind"]].add(request["model"])
        self.rehearsed["tools"] |= {tool["name"] for tool in request["tools"]} if request["kind"] == "agent" else set()
        self.rehearsed["settings"] |= set(request["config"])
        if self.asks > REHEARSED_ASKS:
            raise RehearsalOver
        message = {"role": "assistant", "content": "4"}
        return {"model": "rehearsal", "choices": [{"message": message, "stop_reason": "stop"}]}

    def _take(self, message: dict[str, Any]) -> None:
        if "reply" in message:
            future = self.asked.get(message["reply"])
            if future is not None and not future.done():
                future.set_result(message)
        elif "feed" in message and self.source is not None:
            self.source.feed(*message["feed"])
        elif "end" in message and self.source is not None:
            self.source.end()


line = Line()


class Asks(models.ModelAPI):
    """A model whose requests go to the parent."""

    kind, provider = "agent", "proctor"

    def __init__(
        self, model_name: str, base_url: Any = None, api_key: Any = None, config: Any = None, **_: Any
    ) -> None:
        super().__init__(model_name, config=config or models.GenerateConfig())

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> models.ModelOutput:
        name = self.model_name if self.kind != "model" else f"{self.provider}/{self.model_name}"
        request = {
            "kind": self.kind,
            "model": name,
            "messages": [embedded(dumped(message)) for message in input],
            "tools": [dumped(tool) for tool in tools],
            "tool_choice": tool_choice if isinstance(tool_choice, str) else {"name": tool_choice.name},
            "config": {key: value for key, value in dumped(config).items() if value not in UNSET},
        }
        output = models.ModelOutput.model_validate(await line.ask(request))
        output.model = name
        return output

    def max_connections(self) -> int:
        return CONNECTIONS

    def connection_key(self) -> str:
        return "proctor"

    def should_retry(self, ex: Exception) -> bool:
        return False

    async def count_text_tokens(self, text: str) -> int:
        return len(text) // 4 + 1

    def tool_result_images(self) -> bool:
        return True


def register() -> None:
    """Let every model of a task ask the parent: the agent, the roles, and those with a provider's name."""
    for kind in ("agent", "role"):
        models.modelapi(name=f"proctor-{kind}")(type(f"Asks_{kind}", (Asks,), {"kind": kind}))
    for provider in PROVIDERS:
        fields = {"kind": "model", "provider": provider, "__module__": inspect_ai.__name__}
        models.modelapi(name=provider)(type("Asks_model", (Asks,), fields))
    os.environ["INSPECT_EVAL_MODEL"] = "proctor-agent/agent"  # a task may ask for it while it is loaded
    if not isinstance(models.get_model("openai/x", memoize=False).api, Asks):
        raise RuntimeError("models of providers cannot be answered by Proctor in this version of Inspect")


def name_roles(given: list[str]) -> None:
    """Let a role that nobody was named for ask as that role, where Inspect would take the evaluated model without a word."""
    original = models.get_model

    @wraps(original)
    def get_model(model: Any = None, *, role: str | None = None, default: Any = None, **more: Any) -> Any:
        if role is not None and model is None and default is None and role not in given:
            model = f"proctor-role/{role}"
        return original(model, role=role, default=default, **more)

    for name, module in [*sys.modules.items()]:
        if name.startswith("inspect_ai") and vars(module).get("get_model") is original:
            vars(module)["get_model"] = get_model


@hooks(name="proctor", description="Say which sample asks, and how it ended.")
class Told(Hooks):
    async def on_sample_init(self, data: Any) -> None:
        current.set((str(data.summary.id), data.summary.epoch))

    async def on_sample_end(self, data: Any) -> None:
        if line.source is not None and line.rehearsed is None:
            line.source.ended(data.sample)


class Source(SampleSource):
    """Gives Inspect the samples that the parent feeds, each when it comes, and as one epoch of its own."""

    def __init__(self, samples: dict[str, Sample]) -> None:
        self._samples = samples
        self._context: contextvars.Context | None = None
        self._waiting: list[tuple[Sample, int]] = []
        self._woken = asyncio.Event()
        self._is_over = False
        self._cpu = time.process_time()

    def feed(self, id: str, epoch: int) -> None:
        sample = self._samples[id].model_copy(deep=True)
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


def slim(sample: EvalSample) -> dict[str, Any]:
    """Return what the parent reads of a sample."""
    kept = {"id", "epoch", "messages", "scores", "error", "limit", "total_time"} | (
        set() if sample.messages else {"output"}
    )
    found: dict[str, Any] = sample.model_dump(mode="json", include=kept, fallback=str)
    for score in (found.get("scores") or {}).values():
        score.pop("history", None)
    return found


# ── tasks ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def load(name: str, arguments: dict[str, Any]) -> Task:
    """Make the task `PACKAGE/TASK`, or `FILE.py@TASK`."""
    file, wanted = ("", name) if ".py" not in name else name.rsplit("@", 1) if "@" in name else (name, "")
    made = tasks_of_file(Path(file)) if file else tasks_of_package(name.partition("/")[0])
    if not wanted and len(made) == 1:
        wanted = next(iter(made))
    if wanted not in made:
        raise NoSuchTask(", ".join(sorted(made)))
    with without_waiting():
        task = made[wanted](**arguments)
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
    found: dict[str, Any] = {}
    for point in importlib.metadata.entry_points(group="inspect_ai"):
        if point.name == package or point.value.partition(".")[0] == package:
            found |= tasks_of(point.load())
    return found


def tasks_of(module: Any) -> dict[str, Any]:
    found = {}
    for value in [*vars(module).values()]:
        try:
            about = registry_info(value)
        except (ValueError, AttributeError, TypeError):
            continue
        if about.type == "task" and callable(value):
            found[about.name] = value
    return found


def samples_of(task: Task) -> dict[str, Sample]:
    """Return the samples by id; those without one are numbered from 1, as Inspect does."""
    found: dict[str, Sample] = {}
    for number, sample in enumerate(task.dataset, 1):
        if sample.id is None:
            sample.id = number
        if str(sample.id) in found:
            raise ValueError(f"two samples have the id {sample.id}")
        found[str(sample.id)] = sample
    return found


def described(sample: Sample) -> dict[str, Any]:
    asked = sample.input if isinstance(sample.input, str) else [without_ids(dumped(one)) for one in sample.input]
    about = {"input": asked, "target": sample.target, "choices": sample.choices, "metadata": sample.metadata}
    text = json.dumps(clean(about), ensure_ascii=False, sort_keys=True, default=str)
    return {"id": str(sample.id), **about, "digest": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]}


def plan(task: Task, samples: dict[str, Sample]) -> dict[str, Any]:
    sandboxes = [kind_of(sample.sandbox or task.sandbox) for sample in samples.values()]
    limits = {
        name: getattr(task, name, None) for name in ("message_limit", "token_limit", "time_limit", "working_limit")
    }
    return {
        "samples": [described(sample) for sample in samples.values()],
        "scorers": [scorer_of(scorer) for scorer in task.scorer or ()],
        "epochs": task.epochs or 1,
        "sandboxes": {kind: sandboxes.count(kind) for kind in set(sandboxes) if kind},
        "limits": {name: value for name, value in limits.items() if value is not None},
        "roles": sorted(task.model_roles or ()),
        "version": task.version,
        "package": getattr(inspect_ai, "__version__", ""),
    }


def kind_of(sandbox: Any) -> str:
    return "" if sandbox is None else str(getattr(sandbox, "type", sandbox))


def scorer_of(scorer: Any) -> dict[str, Any]:
    """Return the name of a scorer, and the keys of its value where its metrics name them."""
    about = registry_info(scorer)
    metrics = about.metadata.get("metrics")
    groups = metrics if isinstance(metrics, list) else [metrics]
    keys = [key for group in groups if isinstance(group, dict) for key in group]
    return {"name": about.name.rpartition("/")[2], "keys": [] if "*" in keys else keys, "open": "*" in keys}


# ── the four things to do ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def play(task: Task, about: dict[str, Any], source: SampleSource | list[Sample], *, score: bool = True) -> Any:
    roles = {name: models.get_model(f"proctor-role/{name}", memoize=False) for name in about["roles"]}
    logs = await eval_async(
        task_with(task, dataset=source, epochs=1),
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
        score=score,
        score_display=False,
        message_limit=about.get("message_limit"),
        log_level="error",
    )
    return logs[0]


async def run(task: Task, about: dict[str, Any]) -> None:
    samples = samples_of(task)
    line.listen(asyncio.get_running_loop())
    heard: dict[str, Any] = {}
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


async def alone(task: Task, about: dict[str, Any]) -> None:
    """Play the first samples as Inspect does by itself, and report what was asked and what came out."""
    line.canned = []
    log = await play(task, about, [*samples_of(task).values()][: about["first"]])
    played = [slim(sample) for sample in log.samples or ()]
    line.write({"alone": {"asked": line.canned, "samples": played, "totals": metrics_of(log)}})


def canned_output(request: dict[str, Any], digest: str) -> dict[str, Any]:
    text, call = reply_to(request, digest)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if call is not None:
        message["tool_calls"] = [
            {"id": call["id"], "function": call["name"], "arguments": call["arguments"], "type": "function"}
        ]
    return {"model": "", "choices": [{"message": message, "stop_reason": "tool_calls" if call else "stop"}]}


def metrics_of(log: Any) -> list[dict[str, Any]]:
    return [
        {"scorer": score.name, "reducer": score.reducer, "metric": name, "value": metric.value}
        for score in (log.results.scores if log.results is not None else ())
        for name, metric in score.metrics.items()
    ]


async def totals(task: Task, about: dict[str, Any]) -> None:
    class Nothing(SampleSource):
        pass

    log = await play(task, about, Nothing())
    log.samples = [
        EvalSample(
            id=row["id"],
            epoch=row["epoch"],
            input="",
            target="",
            metadata=row["metadata"],
            scores={name: Score.model_validate({"value": math.nan} | score) for name, score in row["scores"].items()},
        )
        for row in about["rows"]
    ]
    log.eval.config.epochs = task.epochs
    recompute_metrics(log)
    line.write({"totals": metrics_of(log)})


def talk(requests: Any, replies: Any) -> None:
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
            asyncio.run({"run": run, "totals": totals, "alone": alone}[do](task, about))
    except BaseException as error:  # noqa: BLE001 - the parent says it
        line.write({"failed": {"type": type(error).__name__, "text": str(error)[:4_000]}})


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def dumped(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = value.model_dump(mode="json", exclude_none=True, fallback=str)
    return found


def without_ids(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in ("id", "source", "metadata")}


def embedded(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with the bytes of the files that it names."""
    for part in message["content"] if isinstance(message.get("content"), list) else ():
        kind = part.get("type")
        path = part.get(kind)
        if kind in ("image", "audio", "video", "document") and isinstance(path, str) and Path(path[:4_000]).is_file():
            media = mimetypes.guess_type(path)[0] or "application/octet-stream"
            part[kind] = f"data:{media};base64,{base64.b64encode(Path(path).read_bytes()).decode()}"
    return message


def clean(value: Any) -> Any:
    """Return a value without what JSON cannot hold: NaN and infinities are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): clean(entry) for key, entry in value.items()}
    return [clean(entry) for entry in value] if isinstance(value, list | tuple) else value
