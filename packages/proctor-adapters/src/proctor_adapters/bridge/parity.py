"""Compare a task played alone, by its own program, with the same task played by Proctor: requests, scores, official figures."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.api import evaluate
from proctor.api.run import Run
from proctor.core.errors import MissingScale
from proctor.core.parity import Checked
from proctor.core.sample import JsonObject, Message, Sample, Text, ToolCall
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor.core.trajectory import Step
from proctor.core.trial import Trial, Verdict
from proctor_adapters.bridge.asked import GuestAsk
from proctor_adapters.bridge.guests.canned import digest_of, reply_to, text_for
from proctor_adapters.bridge.host import OWN_LIMITS, TIME_LIMITS
from proctor_adapters.bridge.lmeval_scores import values_of
from proctor_adapters.bridge.scoring import COST, SUFFIX, official_name, rows_of, scored

FIRST = 10  # samples that are compared
MESSAGES = 20  # in a conversation, as canned replies may never end one
TOLERANCE = 1e-9
MISSING = "missing"


class CannedModels:
    """Answers every model of a task with a function of the request."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.roles: set[str] = set()

    async def close(self) -> None: ...

    def price_name(self, kind: str, name: str) -> str:
        return ""

    async def answer(self, ask: GuestAsk, sample: Sample) -> Step:
        request = msgspec.to_builtins(ask)
        digest = digest_of(request)
        self.asked.append(digest)
        self.roles |= {ask.model} if ask.kind == "role" else set()
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
    raise NotImplementedError(f"canned models answer, and nobody asks this agent: {question}")


def compare_inspect(name: str, run: Run, asked: Sequence[str], alone: JsonObject) -> Iterator[Checked]:
    """Yield one line for the requests, one for each sample, and one for each official figure.

    Args:
        asked: the digests of what our canned models were asked.
        alone: what Inspect reported of playing the same samples without us.
    """
    yield _same(name, sorted(asked), sorted(alone["asked"]), say("requests"))
    rows = {(row["id"], row["epoch"]): row["scores"] for row in rows_of(lambda: _judged(run))}
    trials = {(trial.sample_id, trial.attempt + 1): trial for trial in run.trials()}
    theirs = {(sample["id"], sample["epoch"]): _ended(sample) for sample in alone["samples"]}
    ours = {key: _trial(trial, rows.get(key, {})) for key, trial in trials.items()}
    for key in {**theirs, **ours}:
        id, epoch = key
        shown = id if epoch == 1 else f"{id}, {epoch}"
        yield _same(shown, ours.get(key, MISSING), theirs.get(key, MISSING), say("scores of a sample"))
    figures = {estimate.name: estimate.value for estimate in run.estimates if estimate.method == "Inspect"}
    figures.pop(f"{COST}{SUFFIX}", None)
    official = {official_name(figure): figure["value"] for figure in alone["totals"]}
    yield from _figures(figures, official)


def _judged(run: Run) -> Iterator[tuple[Sample, Verdict]]:
    for verdict in run.store.verdicts(run.id):
        sample = run.store.sample(run.id, verdict.sample_id)
        assert sample is not None
        yield sample, verdict


def _trial(trial: Trial, scores: JsonObject) -> Mapping[str, object]:
    """Return what Proctor stored of a sample; the points are those that a scorer without a scale gives."""
    failure = trial.failure
    values = {name: [score.get("value"), _points(name, score.get("value"))] for name, score in scores.items()}
    return {"outcome": trial.outcome, "kind": None if failure is None else failure.kind, "scores": values}


def _ended(sample: JsonObject) -> Mapping[str, object]:
    """Return what has to be stored of a sample that Inspect played alone."""
    if sample["error"] is not None:
        kind = sample["error"].partition("(")[0]
        return {"outcome": "environment_failed", "kind": kind if kind.isidentifier() else "inspect", "scores": {}}
    if sample["limit"] is not None and not sample["scores"]:
        is_agents = sample["limit"] in OWN_LIMITS and sample["limit"] not in TIME_LIMITS  # canned replies take no time
        outcome = "agent_failed" if is_agents else "environment_failed"
        return {"outcome": outcome, "kind": f"{sample['limit']}_limit", "scores": {}}
    return {"outcome": "scored", "kind": None, "scores": sample["scores"]}


def _points(name: str, value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _points(f"{name}.{key}", part) for key, part in value.items()}
    try:
        result = None if isinstance(value, list) else scored(name, value, {}, answer=None)
    except MissingScale:
        result = None
    return result.value if isinstance(result, Score) else None


def compare_lmeval(name: str, task: Task, alone: JsonObject) -> Iterator[Checked]:
    """Yield one line for the prompts, one for each document and filter, and one for each official figure."""
    agent = CannedAgent()
    run = evaluate(replace(task, host=None), agent=agent, first=FIRST, store=":memory:", concurrency=1)
    yield _same(name, sorted(agent.prompts), sorted(alone["prompts"]), say("requests"))
    ours: dict[str, dict[str, object]] = {}
    for verdict in run.store.verdicts(run.id):
        for shown, value in values_of(verdict):
            metric, _, filter_ = shown.rpartition(",")
            ours.setdefault(f"{verdict.sample_id},{filter_}", {})[metric] = value
    theirs = alone["values"]
    for key in {**theirs, **ours}:
        yield _same(key, ours.get(key, MISSING), theirs.get(key, MISSING), say("scores of a sample"))
    figures = {
        estimate.name.removesuffix(" (lm-eval)"): estimate.value
        for estimate in run.estimates
        if estimate.method == "lm-eval"
    }
    yield from _figures(figures, alone["aggregates"])


def _figures(ours: Mapping[str, object], official: Mapping[str, object]) -> Iterator[Checked]:
    """Yield a line for each figure that either side has; one that the other lacks is a difference."""
    for key in {**official, **ours}:
        yield _close(key, ours.get(key, MISSING), official.get(key, MISSING))


def _same(id: str, ours: object, theirs: object, rule: Any) -> Checked:
    if ours == theirs:
        return Checked(id=id, agrees=True, rule=rule)
    if isinstance(ours, list) and isinstance(theirs, list):
        ours, theirs = _counted(ours, theirs), _counted(theirs, ours)
    return Checked(id=id, agrees=False, ours=str(ours)[:300], official=str(theirs)[:300], rule=rule)


def _counted(these: Sequence[str], others: Sequence[str]) -> str:
    missing = Counter(these) - Counter(others)
    return f"{len(these)}, {missing.total()} of its own"


def _close(id: str, ours: object, theirs: object) -> Checked:
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        agrees = math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    else:
        agrees = ours is None and theirs is None  # NaN, for both
    return Checked(id=id, agrees=agrees, ours=str(ours), official=str(theirs), rule=say("official figure"))
