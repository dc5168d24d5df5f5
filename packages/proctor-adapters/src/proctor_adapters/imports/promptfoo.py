"""Read results of promptfoo: `promptfoo eval -o out.json` or `-o out.jsonl`; a run for each provider and prompt.

Read as promptfoo 0.121 writes them (summary version 3; version 2 has the same results):

    {"evalId": "…", "results": {"version": 3, "timestamp": "…", "results": [{"provider": {"id": "openai:gpt-4o"}, "promptIdx": 0,
      "testIdx": 0, "vars": {…}, "prompt": {"raw": "…"}, "response": {"output": "…"}, "success": true, "score": 1, "failureReason": 0,
      "gradingResult": {"reason": "…", "componentResults": [{"pass": true, "score": 1, "assertion": {"type": "contains"}}]}}]}}
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.parts import ImportPart
from proctor.core.sample import Message, Sample, Turn
from proctor.core.score import Score, Unscored
from proctor_adapters.imports._foreign import ForeignRun, ForeignTrial, LogReading, Reported
from proctor_adapters.imports._messages import text_of
from proctor_adapters.imports._records import failure_of, number_attempts, question, trajectory
from proctor_adapters.imports._source import ImportSource
from proctor_adapters.imports._values import by_name, mappings, moment, number, scores, seconds, tags, usage

WHOLE = "promptfoo"  # the score of a result over all its assertions
ERROR = 2  # ResultFailureReason of promptfoo's types
MOST_RUNS = 200


class _PromptfooResult(msgspec.Struct, frozen=True, rename="camel"):
    provider: object = None
    prompt: dict[str, object] = {}
    prompt_idx: int = 0
    vars: dict[str, Any] | None = None
    test_case: dict[str, object] | None = None
    response: dict[str, object] | None = None
    error: object = None
    success: bool | None = None
    score: object = None
    failure_reason: int = 0
    grading_result: dict[str, object] | None = None
    latency_ms: object = None
    cost: object = None
    token_usage: dict[str, object] | None = None

    @property
    def agent(self) -> str:
        """Return the name of the provider."""
        if isinstance(self.provider, Mapping):
            return str(self.provider.get("label") or self.provider.get("id") or WHOLE)
        return str(self.provider or WHOLE)


class _Summary(msgspec.Struct, frozen=True):
    results: list[msgspec.Raw]
    timestamp: object = None
    prompts: list[dict[str, object]] = []


class _PromptfooFile(msgspec.Struct, frozen=True, rename="camel"):
    results: _Summary
    eval_id: str | None = None
    config: dict[str, object] | None = None


def knows(source: ImportSource) -> bool:
    return {"evalId", "results"} <= source.head.keys() or {"promptIdx", "testCase", "success"} <= source.head.keys()


def read(source: ImportSource, how: LogReading) -> list[ForeignRun]:
    """Return a run for each provider and prompt, so that they can be compared."""
    file = None if source.is_lines else source.document(_PromptfooFile)
    agents: dict[int, tuple[str, str]] = {}
    for result in _results(source, file):
        agents.setdefault(result.prompt_idx, (result.agent, str(result.prompt.get("label") or result.prompt_idx)))
        if len(agents) > MOST_RUNS:
            raise BadInput("{path} holds more than {count} runs.", path=source.path, count=MOST_RUNS)
    providers = Counter(agent for agent, _ in agents.values())
    description = (file.config or {}).get("description") if file is not None else None
    return [
        ForeignRun(
            format="promptfoo",
            task=str(description or source.stem),
            agent=agent if providers[agent] == 1 else f"{agent} · {label[:60]}",
            created=0.0 if file is None else moment(file.results.timestamp),
            trials=partial(_trials, source, file, how, index),
            reported=() if file is None else tuple(_reported(file.results.prompts, index)),
            provenance={"eval_id": file.eval_id if file is not None else None, "prompt": label[:2_000]},
        )
        for index, (agent, label) in sorted(agents.items())
    ]


def _results(source: ImportSource, file: _PromptfooFile | None) -> Iterator[_PromptfooResult]:
    if file is None:
        yield from source.lines(_PromptfooResult)
    else:
        for index, raw in enumerate(file.results.results):
            yield source.decode(bytes(raw), _PromptfooResult, f"results.results[{index}]")


def _reported(prompts: list[dict[str, object]], index: int) -> Iterator[Reported]:
    """Yield the mean over the results that ended without an error: promptfoo itself counts an error as a zero."""
    metrics = prompts[index].get("metrics") if 0 <= index < len(prompts) else None
    if isinstance(metrics, Mapping):
        total = number(metrics.get("score"))
        ended = sum(number(metrics.get(name)) or 0.0 for name in ("testPassCount", "testFailCount"))
        if total is not None and ended > 0:
            yield Reported(scorer=WHOLE, metric="score", value=total / ended)


@number_attempts
def _trials(source: ImportSource, file: _PromptfooFile | None, how: LogReading, index: int) -> Iterator[ForeignTrial]:
    """Yield the results of one prompt; the same test again (`--repeat`) is a further attempt."""
    id_by_test: dict[str, str] = {}
    for result in _results(source, file):
        test = result.test_case or {}
        key = json.dumps([result.vars, test.get("assert"), test.get("description")], sort_keys=True, default=str)
        id = id_by_test.setdefault(key, str(len(id_by_test)))  # counted over all providers, so that theirs are the same
        if result.prompt_idx == index:
            yield _trial(result, id, how)


def _trial(one: _PromptfooResult, id: str, how: LogReading) -> ForeignTrial:
    test, response = one.test_case or {}, one.response or {}
    metadata = test.get("metadata")
    asked, target = one.prompt.get("raw"), _target(test)
    used = one.token_usage or {}
    is_error = one.failure_reason == ERROR
    return ForeignTrial(
        sample=Sample(
            id=id,
            turns=(Turn(messages=_prompt(asked), reference=target),),
            target=target,
            tags=tags({**(one.vars or {}), **(metadata if isinstance(metadata, Mapping) else {})}, how.tags),
            meta={"metadata": {"vars": one.vars, "description": test.get("description")}},
        ),
        outcome="provider_failed" if is_error else "scored",
        failure=failure_of(one.error) if is_error else None,
        trajectory=trajectory(response.get("output")),
        seconds=seconds(one.latency_ms) / 1000,
        usage=usage(input=used.get("prompt"), output=used.get("completion"), cached=used.get("cached"), cost=one.cost),
        scores={} if is_error else by_name(_scores(one, how)),
    )


def _prompt(raw: object) -> tuple[Message, ...]:
    """Return the prompt, which is a text, or the JSON text of messages."""
    text = text_of(raw)
    if text.lstrip().startswith("["):
        try:
            return question(msgspec.json.decode(text))
        except (msgspec.DecodeError, RecursionError):
            pass
    return (Message.of("user", text),)


def _target(test: Mapping[str, object]) -> object:
    """Return the value of an assertion that states the whole answer."""
    stated = mappings(test.get("assert"))
    return next((each.get("value") for each in stated if each.get("type") == "equals"), None)


def _scores(one: _PromptfooResult, how: LogReading) -> Iterator[tuple[str, Score | Unscored]]:
    graded = one.grading_result or {}
    yield from scores(WHOLE, one.score, how.scales, reason=text_of(graded.get("reason")), passed=one.success)
    for part in mappings(graded.get("componentResults")):
        assertion = part.get("assertion")
        if isinstance(assertion, Mapping):
            name = str(assertion.get("metric") or assertion.get("type") or "assertion")
            passed = part.get("pass")
            yield from scores(
                name, part.get("score"), how.scales, reason=text_of(part.get("reason")),
                passed=passed if isinstance(passed, bool) else None,
            )  # fmt: skip


PART = ImportPart(read=read, knows=knows)
