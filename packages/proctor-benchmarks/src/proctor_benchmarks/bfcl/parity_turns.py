"""Check what is sent, and play recorded conversations: the replies are given by a scripted model in the loop of a real run."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor import registry
from proctor.agents.openai import ChatAgent
from proctor.chat.messages import to_messages, to_tools
from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.sample import Message, Part, Sample, Text, Tool, ToolCall
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor.core.trajectory import Step
from proctor.engine.acting import entered
from proctor.engine.episode import Episode
from proctor.runtime.concurrent import run_together
from proctor_benchmarks.bfcl import dataset, tools
from proctor_benchmarks.bfcl.agentic_checker import check_answer
from proctor_benchmarks.bfcl.decode import Mode
from proctor_benchmarks.bfcl.environment import described
from proctor_benchmarks.bfcl.parity_lines import RecordedQuery, RecordedVerdict, verdict
from proctor_benchmarks.bfcl.turn_scorer import ScorerOfAll, check_all, result_of

_BATCH = 25  # verdicts that a worker gives at once
_UNLIMITED = 1_000  # steps of a turn; those of the task are fewer


class Player:
    """Checks the lines of a corpus; it keeps the tasks and workers that it needs until it is closed."""

    def __init__(self, source: str | None) -> None:
        self._source = source
        self._tasks: dict[tuple[str, str], _Loaded] = {}
        self._memories: dict[tuple[str, str, str, str], object] = {}  # as the last conversation of a scenario left it

    async def check(self, lines: Sequence[RecordedVerdict]) -> list[Checked]:
        checked: dict[int, Checked] = {}
        verdicts: dict[_Loaded, list[int]] = {}
        for index, line in enumerate(lines):
            loaded = await self._loaded(line)
            if line.id not in loaded.samples:
                rule = say("{category} has no sample '{id}'.", category=line.category, id=line.id)
                checked[index] = Checked(id=line.id, agrees=False, rule=rule)
            elif line.replies or line.queries:
                checked[index] = await self._play(line, loaded)
            elif line.messages_sha256:
                checked[index] = _compare_first(line, loaded)
            elif line.model_output is msgspec.UNSET:
                rule = say("The line holds neither a verdict nor what was sent.")
                checked[index] = Checked(id=line.id, agrees=False, rule=rule)
            elif line.category in dataset.AGENTIC:
                checked[index] = _judge_answer(line, loaded)
            else:
                verdicts.setdefault(loaded, []).append(index)
        batches = [(loaded, batch) for loaded, indexes in verdicts.items() for batch in _batches(indexes)]
        found = await run_together(*(_judge(loaded, [lines[index] for index in batch]) for loaded, batch in batches))
        for (_, batch), results in zip(batches, found, strict=True):
            checked.update(zip(batch, results, strict=True))
        return [checked[index] for index in range(len(lines))]

    async def close(self) -> None:
        """End the workers."""
        for loaded in self._tasks.values():
            await loaded.leave()

    async def _play(self, line: RecordedVerdict, loaded: "_Loaded") -> Checked:
        """Play a conversation; those with a memory share it with the others of their category, mode and script, in order."""
        sample = loaded.samples[line.id]
        key = (line.category, line.mode, line.script, str(sample.meta.get("scenario")))
        if "after" in sample.meta:
            sample = replace(sample, meta={**sample.meta, "start": self._memories.get(key)})
        checked, state = await _play(line, loaded, sample)
        if dataset.WRITE_PHASE in sample.meta["category"]:
            self._memories[key] = state
        return checked

    async def _loaded(self, line: RecordedVerdict) -> "_Loaded":
        mode = "auto" if line.messages_sha256 else _mode(line)
        if (line.category, mode) not in self._tasks:
            loaded = _Loaded(registry.BENCHMARKS.find("bfcl").task(line.category, data=self._source, mode=mode))
            await loaded.enter()
            self._tasks[line.category, mode] = loaded
        return self._tasks[line.category, mode]


class _Loaded:
    def __init__(self, task: Task) -> None:
        assert isinstance(task.samples, list)
        self.task = task
        self.samples: Mapping[str, Sample] = {sample.id: sample for sample in task.samples}
        [scorer] = task.scorers
        self.scorer = scorer if isinstance(scorer, ScorerOfAll) else None

    async def enter(self) -> None:
        if self.scorer is not None:
            await self.scorer.__aenter__()

    async def leave(self) -> None:
        if self.scorer is not None:
            await self.scorer.__aexit__(None, None, None)

    def shown(self, sample: Sample) -> Sample:
        assert self.task.present is not None
        return self.task.present(sample)


class _Script:
    """A model that gives recorded replies, and keeps the digests of what it was asked."""

    name = "script"
    concurrency = 1

    def __init__(self, replies: Sequence[object]) -> None:
        self.asked: list[RecordedQuery] = []
        self._replies = replies

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Step:
        number = len(self.asked)
        self.asked.append(RecordedQuery(digest(_messages(messages)), digest(to_tools(tools, {}))))
        if number >= len(self._replies):
            raise BadInput("The conversation goes on after the last recorded reply.")
        return Step(message=Message(role="assistant", parts=_parts(self._replies[number], number)))


async def _play(line: RecordedVerdict, loaded: _Loaded, sample: Sample) -> tuple[Checked, Mapping[str, object] | None]:
    """Return what came of the conversation, and the state that it leaves."""
    model = _Script(line.replies)
    agent = ChatAgent(model, max_steps=_UNLIMITED)
    shown = loaded.shown(sample)
    assert loaded.task.environment is not None
    try:
        async with entered(loaded.task.environment, shown) as environment:
            trajectory = await Episode(agent).play(shown, environment)
    except BadInput as error:
        return Checked(id=line.id, agrees=False, rule=error.sentence), None
    result = result_of(trajectory)
    rule = _first_difference(line, model.asked)
    if not rule and _without_empty(result) != _without_empty(line.result):
        rule = say("The result differs: {result}.", result=json.dumps(result)[:300])
    return Checked(id=line.id, agrees=not rule, rule=rule), trajectory.state


def _without_empty(result: Any) -> object:
    """Return a result where a reply of neither words nor calls is null; endpoints also send an empty list of calls."""
    return [[None if step == [] else step for step in turn] for turn in result]


def _first_difference(line: RecordedVerdict, asked: Sequence[RecordedQuery]) -> Sentence | str:
    for number, (ours, official) in enumerate(zip(asked, line.queries, strict=False), 1):
        for what, differ in (
            ("messages", ours.messages_sha256 != official.messages_sha256),
            ("tools", ours.tools_sha256 != official.tools_sha256),
        ):
            if differ:
                return say(
                    "{mode}, {script}: the {what} of request {number} differ.",
                    mode=line.mode,
                    script=line.script,
                    what=what,
                    number=number,
                )
    if len(asked) != len(line.queries):
        return say("{ours} requests were made, officially {official}.", ours=len(asked), official=len(line.queries))
    return ""


def _compare_first(line: RecordedVerdict, loaded: _Loaded) -> Checked:
    sample = loaded.samples[line.id]
    # recorded before the official code adds what is in memory, which conversations show
    meta = {key: value for key, value in sample.meta.items() if key != "scenario"}
    turn = loaded.shown(replace(sample, meta=meta)).turns[0]
    offered = turn.tools  # in format sensitivity, tools are words only
    if not offered and meta.get("functions"):
        offered = tools.native_tools(tools.add_hints(meta["functions"], meta["category"]))
    ours = RecordedQuery(digest(_messages(turn.as_text or ())), digest(to_tools(offered, {})))
    official = RecordedQuery(line.messages_sha256, line.tools_sha256)
    rule = _first_difference(replace(line, queries=[official]), [ours])
    return Checked(id=line.id, agrees=not rule, rule=rule)


def _judge_answer(line: RecordedVerdict, loaded: _Loaded) -> Checked:
    result = check_answer(line.model_output, loaded.samples[line.id].target, _mode(line))
    return _compared(line, result.error_type, result.reason)


async def _judge(loaded: _Loaded, lines: Sequence[RecordedVerdict]) -> list[Checked]:
    assert loaded.scorer is not None
    items = [(described(loaded.samples[line.id]), line.model_output, _mode(line)) for line in lines]
    results = await check_all(loaded.scorer.workers, items)
    return [_compared(line, result.error_type, result.reason) for line, result in zip(lines, results, strict=True)]


def _compared(line: RecordedVerdict, error_type: str | None, reason: Sentence | str) -> Checked:
    ours, official = verdict(error_type is None, error_type), verdict(line.valid, line.error_type)
    return Checked(
        id=line.id, agrees=ours == official, ours=ours, official=official, rule=reason if ours != official else ""
    )


def _batches(indexes: Sequence[int]) -> list[Sequence[int]]:
    return [indexes[start : start + _BATCH] for start in range(0, len(indexes), _BATCH)]


def _mode(line: RecordedVerdict) -> Mode:
    return "prompt" if line.mode == "prompt" else "native"


def _parts(reply: Any, number: int) -> tuple[Part, ...]:
    """Return a recorded reply as it would have been read; the ids of calls count requests and calls."""
    if isinstance(reply, str):
        return (Text(text=reply),)
    calls = [next(iter(call.items())) for call in reply or ()]
    return tuple(
        ToolCall.from_text(name, arguments, id=f"call_{number}_{index}")
        for index, (name, arguments) in enumerate(calls)
    )


def _messages(messages: Sequence[Message]) -> list[dict[str, object]]:
    """Return messages as they are sent, without nulls; one that says nothing at all has no content in the corpus."""
    sent: list[dict[str, object]] = []
    for message in messages:
        if message.parts:
            sent += to_messages([message], {})
        else:
            sent.append({"role": message.role})
    return [{key: value for key, value in message.items() if value is not None} for message in sent]


def digest(value: object) -> str:
    """Return the SHA-256 of a value as the corpora have it."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
