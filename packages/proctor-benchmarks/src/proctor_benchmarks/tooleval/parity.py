"""Our rules against recorded results of the official code, of both editions, with scripted judges.

A line has an `id`, its `edition`, a `kind` and what that kind needs:

    {"id": "stable-steps-1", "edition": "stable", "kind": "steps", "answer_details": […], "steps": "Step 1: …", "final_step": "…", "finished": true}

Prompts are compared by digest, so the official templates are needed: `--data` names a clone, or several with the separator
of PATH between them; a recorded answer that no clone has is a line of an unsupported part.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.sample import JsonObject, Tool
from proctor.core.sentence import say
from proctor.runtime.json_file import read_json, read_json_lines
from proctor_benchmarks.tooleval import dataset, judging, rates
from proctor_benchmarks.tooleval.answers import ToolEvalExample, is_finished, names_are_offered, steps
from proctor_benchmarks.tooleval.conversion import Unconvertible, alternatives
from proctor_benchmarks.tooleval.dataset import Clone
from proctor_benchmarks.tooleval.judging import Asking, ComparedAnswers, UnusableReply
from proctor_benchmarks.tooleval.official_preference import Outcome, play

RAISES = "RAISES"
LIKELY = 0.25  # an outcome with this chance is among those of 24 seeds, but for one time in a thousand
_FAC_QUERY = "Q?"

Line = JsonObject


def check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:
    """Check every line.

    Raises:
        BadInput: a line that cannot be read, or no clone.
    """
    clones = [dataset.locate(folder) for folder in data.split(os.pathsep)] if data else [dataset.locate(None)]
    for number, line in read_json_lines(path, dict[str, Any]):
        if "kind" in line and line["kind"] not in _CHECKS:
            yield Checked.unknown(line)
            continue
        try:
            agrees, ours, official = asyncio.run(_CHECKS[line["kind"]](line, clones))
        except (KeyError, msgspec.ValidationError) as error:
            raise BadInput("{path}, line {line}: {error}.", path=path, line=number, error=error) from None
        rule = line["kind"] if agrees is not None else say("No clone named by --data has this file.")
        yield Checked(id=line["id"], agrees=agrees, ours=str(ours)[:400], official=str(official)[:400], rule=rule)


Found = tuple[bool | None, object, object]


def _same(ours: object, official: object) -> Found:
    if isinstance(official, str) and official.startswith(RAISES):
        return ours == RAISES, ours, official
    return ours == official, ours, official


async def _steps(line: Line, _: Sequence[Clone]) -> Found:
    try:
        text, final = steps(line["answer_details"])
    except (KeyError, IndexError, TypeError):
        return _same(RAISES, line["steps"])
    return _same([text, final, is_finished(final)], [line["steps"], line["final_step"], line["finished"]])


async def _names(line: Line, _: Sequence[Clone]) -> Found:
    try:
        ours: object = names_are_offered(deepcopy(line["answer_details"]), line["offered"])
    except (KeyError, IndexError, TypeError):
        ours = RAISES
    return _same(ours, line["result"])


async def _is_passed(line: Line, _: Sequence[Clone]) -> Found:
    ours = judging.has_passed(line["answer_status"], line["task_status"])
    return _same({True: "Passed", False: "Failed", None: "Unsure"}[ours], line["result"])


class _Script:
    """A judge that replies as recorded; what it was asked is kept."""

    def __init__(
        self, clone: Clone, reply: Callable[[str, str], object], evaluator: judging.Evaluator = "default"
    ) -> None:
        self.asked: list[list[str]] = []
        self.ask = Asking(clone.wording(evaluator), self._request)
        self._reply = reply

    async def _request(self, function: str, prompt: str, _: Tool) -> str:
        self.asked.append([function, _digest(prompt)])
        reply = self._reply(function, prompt)
        return reply if isinstance(reply, str) else json.dumps(reply)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _next(replies: list[object]) -> Any:
    if not replies:
        raise UnusableReply("the script is over")
    return replies.pop(0)


def _reply(replies: Mapping[str, list[object]], function: str, _: str) -> Any:
    return _next(replies.get(function, []))


async def _judgement(line: Line, clones: Sequence[Clone]) -> Found:
    replies = [*line["replies"]]
    script = _Script(clones[0], lambda *_: _next(replies))
    try:
        if line["kind"] == "is_solved":
            pair: tuple[str, str] = await judging.judge_answer(
                script.ask, line["query"], line["answer"], reason=line["return_reason"]
            )
        else:
            pair = await judging.judge_task(script.ask, line["query"], line["available_tools"], is_solved=line["has_been_solved"], reason=True)  # fmt: skip
        ours: object = [*pair]
    except UnusableReply:
        ours = RAISES
    agrees, _, official = _same(ours, line["result"])
    return agrees and script.asked == line["asked"], (ours, script.asked), (official, line["asked"])


async def _preference_one(line: Line, clones: Sequence[Clone]) -> Found:
    replies = {name: [*some] for name, some in line["replies"].items()}
    script = _Script(clones[0], partial(_reply, replies), line["evaluator"])
    swap = [1, 0] if line["shown_swapped"] else [0, 1]
    answers = [judging.shown(answer) for answer in line["answers"]]
    given = ComparedAnswers(
        query=line["query"],
        tools=[],
        answers=[answers[index] for index in swap],
        statuses=line["answer_statuses"],
        task=line["task_status"],
    )
    rule = judging.prefer if line["evaluator"] == "default" else judging.prefer_normalized
    try:
        ours: object = swap[await rule(script.ask, given, itemgetter(0 if line["random_pick"] == "first" else -1))]
    except UnusableReply:
        ours = RAISES
    agrees, _, official = _same(ours, line["preferred"])
    calls = [name for name, _ in script.asked]
    return agrees and calls == line["calls"], (ours, calls), (official, line["calls"])


async def _pass_rate(line: Line, clones: Sequence[Clone]) -> Found:
    official = (line["result"], line["printed"], bool(line["raises"]))
    ours = await _rated(line, clones[0])
    if official[2]:  # how far it came depends on its threads
        return ours[2], ours, official
    return ours == official, ours, official


async def _rated(line: Line, clone: Clone) -> tuple[object, list[str], bool]:
    """Judge all answers and count, as the official program; coins fall as they did there, as far as they can."""
    edition, times = line["edition"], line["evaluate_times"]
    result: dict[str, Any] = {}
    votes: dict[str, list[rates.PassVote]] = {}
    try:
        for id, raw in deepcopy(line["examples"]).items():
            if id not in line["test_ids"]:
                continue
            example = msgspec.convert(raw, ToolEvalExample)
            replies = {name: [*some] for name, some in line["replies"].get(id, {}).items()}
            script = _Script(clone, partial(_reply, replies))
            is_known = rates.check_names(example) if edition == "toolbench" else True
            pass_votes = [await _vote(script, example, edition, replies) for _ in range(times)]
            votes[id] = _tossed(pass_votes, (line["result"].get(id) or {}).get("passed", 0))
            text, final = steps(example.answer["answer_details"])
            result[id] = {"answer_steps": text, "final_step": final} | _recorded(edition, votes[id], is_known=is_known)
        said = _printed(edition, list(votes.values()), times)
    except (UnusableReply, ZeroDivisionError, IndexError, TypeError, KeyError):
        return result, [], True
    return result, said, False


async def _vote(script: _Script, example: ToolEvalExample, edition: Any, replies: Mapping[str, list[object]]) -> rates.PassVote:  # fmt: skip
    while True:
        try:
            return await rates.vote(script.ask, example, edition, lambda: False)
        except UnusableReply:
            if edition == "toolbench" or not any(replies.values()):  # the newer edition judges again for a while
                raise


def _tossed(votes: Sequence[rates.PassVote], passed: int) -> list[rates.PassVote]:
    """Return the votes with as many coins up as there are passes recorded beyond those that are sure."""
    missing = passed - sum(vote.passed for vote in votes)
    unsure = [number for number, vote in enumerate(votes) if not vote.is_sure][: max(missing, 0)]
    return [replace(vote, passed=True) if number in unsure else vote for number, vote in enumerate(votes)]


def _recorded(edition: str, votes: Sequence[rates.PassVote], *, is_known: bool) -> dict[str, object]:
    if edition == "stable":
        return {"is_solved": {str(number): f"AnswerStatus.{vote.status}" for number, vote in enumerate(votes)}}
    return {
        "passed": sum(vote.passed for vote in votes),
        "failed": sum(not vote.passed for vote in votes),
        "task_solvable": f"TaskStatus.{votes[-1].task}",
        "is_solved": f"AnswerStatus.{votes[-1].status}",
        "not_hallucinate": is_known,
    }


def _printed(edition: str, votes: Sequence[Sequence[rates.PassVote]], times: int) -> list[str]:
    head = "Test set: G1_instruction. Model: m."
    if edition == "toolbench":
        return [f"{head} Pass rate: {sum(map(rates.passes, votes)) / len(votes)}"]
    rate = rates.solvable_pass_rate([[vote.status for vote in some] for some in votes], times)
    return [head, f"Solve rate: {rate.mean * 100:.1f}% Std: {rate.deviation * 100:.1f}%"]


async def _preference(line: Line, clones: Sequence[Clone]) -> Found:
    log = [*line["judge_log"]]

    def reply(function: str, _: str) -> object:
        name, said = _next(log)
        if name != function:
            raise UnusableReply(f"{name} was asked officially, and not {function}")
        return said

    script = _Script(clones[0], reply)
    ours = await play(line, script.ask)
    official = Outcome(votes=line["votes"], labels=line["csv_labels"], printed=line["printed"], raises=bool(line["raises"]))  # fmt: skip
    return ours == official and not log, ours, official


async def _convert(line: Line, _: Sequence[Clone]) -> Found:
    recorded = [RAISES if isinstance(value, str) else _converted(value) for value in line["converted_one_of"]]
    try:
        ours = _chances(line["raw"], line)
    except Unconvertible:
        ours = {RAISES: 1.0}
    return _is_one_of(ours, recorded), ours, recorded


async def _convert_recorded(line: Line, clones: Sequence[Clone]) -> Found:
    path = next((path for clone in clones if (path := clone.root / line["file"]).is_file()), None)
    if path is None:
        return None, "", line["answer_sha256"]
    chances = _chances(read_json(path), line)
    seen = [json.loads(text) for text in chances if _digest(text) in line["answer_sha256"]]
    found = [{example["answer"]["total_steps"] for example in seen}, {is_finished(steps(example["answer"]["answer_details"])[1]) for example in seen}]  # fmt: skip
    ours = {_digest(text): chance for text, chance in chances.items()}
    agrees = _is_one_of(ours, line["answer_sha256"]) and found == [{*line["total_steps"]}, {*line["finished"]}]
    return agrees, (ours, found), (line["answer_sha256"], line["total_steps"], line["finished"])


def _chances(raw: Mapping[str, object], line: Line) -> dict[str, float]:
    """Return all that the conversion may make of a raw answer, as text, each with its chance."""
    chances: dict[str, float] = {}
    for chance, one in alternatives(raw, line["method"], line["edition"]):
        text = RAISES if isinstance(one, Unconvertible) else _converted({"answer": one.answer, "query": one.query})
        chances[text] = chances.get(text, 0.0) + chance
    return chances


def _converted(value: Mapping[str, object]) -> str:
    return json.dumps(value, sort_keys=True)


def _is_one_of(ours: Mapping[str, float], seen: Sequence[str]) -> bool:
    """True if all outcomes seen are possible here, and all that are likely here were seen."""
    return set(seen) <= ours.keys() and {text for text, chance in ours.items() if chance >= LIKELY} <= set(seen)


async def _fac_reply(line: Line, _: Sequence[Clone]) -> Found:
    return _same(int(judging.is_correct(line["text"])), line["score"])


async def _fac_rate(line: Line, _: Sequence[Clone]) -> Found:
    if not line["replies"]:
        return _same(RAISES, line["rate"])
    return _same(sum(map(judging.is_correct, line["replies"])) / len(line["replies"]), line["rate"])


async def _fac_prompt(line: Line, clones: Sequence[Clone]) -> Found:
    """Compare what the judge is asked; the corpus does so for one short query. What ends the official run is shown raw here."""
    official = line["result"]
    if isinstance(official, str):
        return official.startswith(RAISES) and line["final_answer"].startswith("{\\"), RAISES, official
    asked = judging.ask_correctness(clones[0].correctness_prompt(), _FAC_QUERY, line["final_answer"])
    ours: dict[str, object] = {"asked": int(asked is not None)}
    if asked is not None:
        ours |= {"shown_answer": line["final_answer"], "prompt_sha256": hashlib.sha256(asked.encode()).hexdigest()}
    return ours == {name: official[name] for name in ours}, ours, official


async def _test_set(line: Line, clones: Sequence[Clone]) -> Found:
    ids = set(clones[0].ids(line["name"]))
    known = {str(query.query_id) for query in clones[0].queries(line["name"])}
    names = ("queries", "ids", "ids_without_query")
    return _same([len(known), len(ids), len(ids - known)], [line[name] for name in names])


_CHECKS: Mapping[str, Any] = {
    "steps": _steps,
    "not_hallucinate": _names,
    "is_passed": _is_passed,
    "is_solved": _judgement,
    "task_solvable": _judgement,
    "preference_one": _preference_one,
    "pass_rate": _pass_rate,
    "preference": _preference,
    "convert": _convert,
    "convert_recorded": _convert_recorded,
    "fac_reply": _fac_reply,
    "fac_rate": _fac_rate,
    "fac_prompt": _fac_prompt,
    "test_set": _test_set,
}
