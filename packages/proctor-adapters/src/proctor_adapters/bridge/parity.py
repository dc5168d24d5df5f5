"""Compare a task played alone, by its own program, with the same task played by Proctor: requests, scores, official figures."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.api import evaluate
from proctor.core.parity import Checked
from proctor.core.sample import Message, Sample, Text, ToolCall
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor.core.trajectory import Step, Trajectory
from proctor_adapters.bridge.asked import GuestAsk
from proctor_adapters.bridge.guests.canned import digest_of, reply_to, text_for

FIRST = 10  # samples that are compared
MESSAGES = 20  # in a conversation, as canned replies may never end one
TOLERANCE = 1e-9


class CannedModels:
    """Answers every model of a task with a function of the request."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def close(self) -> None: ...

    def price_name(self, kind: str, name: str) -> str:
        return ""

    async def answer(self, ask: GuestAsk, sample: Sample) -> Step:
        request = msgspec.to_builtins(ask)
        digest = digest_of(request)
        self.asked.append(digest)
        text, call = reply_to(request, digest)
        parts = (Text(text=text),) if call is None else (ToolCall(**call),)
        return Step(message=Message(role="assistant", parts=parts))


class CannedAgent:
    """Replies to prompts of lm-eval, one after the other; the same prompt right after itself is a repeat."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self._repeat = 0

    def run(self, text: str) -> str:
        self._repeat = self._repeat + 1 if self.prompts[-1:] == [text] else 0
        self.prompts.append(text)
        return text_for(text, self._repeat)


def never(question: str) -> str:
    """Represent the agent where canned models answer."""
    raise NotImplementedError(question)


def compare_inspect(name: str, task: Task, models: CannedModels, alone: Mapping[str, Any]) -> Iterator[Checked]:
    """Yield one line for the requests, one for each sample, and one for each official figure.

    Args:
        alone: what Inspect reported of playing the same samples without us.
    """
    store = evaluate(task, agent=never, first=FIRST, store=":memory:")
    yield _same(name, sorted(models.asked), sorted(alone["asked"]), say("requests"))
    verdicts: dict[str, dict[str, Any]] = {}
    for verdict in store.store.verdicts(store.id):
        raw = verdict.result.details.get("inspect")
        verdicts.setdefault(verdict.sample_id, {})[verdict.scorer] = None if raw is None else raw.get("value")
    trials = {trial.sample_id: trial for trial in store.trials()}
    for sample in alone["samples"]:
        id, trial = str(sample["id"]), trials.get(str(sample["id"]))
        scores = {} if trial is None else _scores(trial.trajectory)
        ours = {
            "scores": {key: one.get("value") for key, one in scores.items()},
            "error": trial is None or trial.outcome == "environment_failed",
        }
        theirs = {
            "scores": {key: one.get("value") for key, one in (sample.get("scores") or {}).items()},
            "error": sample.get("error") is not None,
        }
        yield _same(id, ours, theirs, say("scores of a sample"))
    ours = {one.name.removesuffix("@inspect"): one.value for one in store.estimates if one.method == "Inspect"}
    for one in alone["totals"]:
        key = f"{one['scorer']}/{one['metric']}"
        yield _close(key, ours.get(key), one["value"])


def compare_lmeval(name: str, task: Task, alone: Mapping[str, Any]) -> Iterator[Checked]:
    """Yield one line for the prompts, one for each document and filter, and one for each official figure."""
    agent = CannedAgent()
    run = evaluate(replace(task, host=None), agent=agent, first=FIRST, store=":memory:", concurrency=1)
    yield _same(name, sorted(agent.prompts), sorted(alone["prompts"]), say("requests"))
    ours: dict[str, dict[str, Any]] = {}
    for verdict in run.store.verdicts(run.id):
        metric, _, filter_ = verdict.scorer.removesuffix("@lmeval").rpartition(",")
        raw = verdict.result.details.get("lmeval")
        if isinstance(raw, Mapping):
            ours.setdefault(f"{verdict.sample_id},{filter_}", {})[metric] = raw["value"]
    for key, theirs in alone["values"].items():
        yield _same(key, ours.get(key), theirs, say("scores of a sample"))
    figures = {one.name.removesuffix(" (lm-eval)"): one.value for one in run.estimates if one.method == "lm-eval"}
    for key, value in alone["aggregates"].items():
        yield _close(key, figures.get(key), value)


def _scores(trajectory: Trajectory) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (trajectory.state or {}).get("inspect", {}).get("scores", {})
    return found


def _same(id: str, ours: Any, theirs: Any, rule: Any) -> Checked:
    if ours == theirs:
        return Checked(id=id, agrees=True, rule=rule)
    if isinstance(ours, Sequence) and isinstance(theirs, Sequence):
        ours, theirs = _counted(ours, theirs), _counted(theirs, ours)
    return Checked(id=id, agrees=False, ours=str(ours)[:300], official=str(theirs)[:300], rule=rule)


def _counted(these: Sequence[str], others: Sequence[str]) -> str:
    missing = Counter(these) - Counter(others)
    return f"{len(these)}, {missing.total()} of its own"


def _close(id: str, ours: Any, theirs: float | None) -> Checked:
    both_none = ours is None and theirs is None
    close = both_none or (
        ours is not None and theirs is not None and math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    )
    return Checked(id=id, agrees=close, ours=str(ours), official=str(theirs), rule=say("official figure"))
