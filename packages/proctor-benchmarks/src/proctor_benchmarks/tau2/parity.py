"""Our verdicts, prompts and conversations against recorded ones of the official code.

Three kinds of corpora, distinguished by their fields; lines may be gzipped:

    {"domain": "mock", "task_id": "…", "kind": "…", "messages": […], "rewards": {"all": 1.0, …}, "replay_hashes": […], …}
    {"domain": "mock", "task_id": "…", "agent_system_sha256": "…", "agent_tools_sha256": "…", "gold_hashes": […], …}
    {"domain": "mock", "task_id": "…", "script": "…", "options": {…}, "steps": [{"who": "agent", "reply": {…}, …}], "result": {…}}

A digest is the SHA-256 of a text, or of canonical JSON. Conversations are played by the engine, with scripted models.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.sample import JsonObject
from proctor.core.sentence import say
from proctor.models.named import OpenedModels
from proctor.runtime.concurrent import run_together
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.tau2 import dataset, wording
from proctor_benchmarks.tau2.messages import JSON
from proctor_benchmarks.tau2.rewards import ENDS, NL, Replayed, judged, partial_actions, rewards, transcript
from proctor_benchmarks.tau2.upstream import Upstream

Line = dict[str, Any]
Differences = dict[str, tuple[object, object]]
AT_ONCE = 16


def check_corpus(path: Path, source: str | None = None) -> Iterator[Checked]:
    """Check every line.

    Args:
        path: the corpus.
        source: a copy of the official repository, see `dataset.locate`.

    Raises:
        BadInput: a line that cannot be read, or no copy of the repository.
    """
    corpus = Corpus(dataset.locate(source))
    with asyncio.Runner() as runner:
        runner.run(corpus.__aenter__())
        try:
            lines = read_json_lines(path, dict)
            while batch := list(islice(lines, AT_ONCE)):
                yield from runner.run(corpus.check_all(path, batch))
        finally:
            runner.run(corpus.__aexit__(None, None, None))


class Corpus(OpenedModels):
    """Checks the lines of corpora against one copy of the repository; `async with` it."""

    def __init__(self, root: Path) -> None:
        self.upstream = Upstream(root)
        super().__init__([self.upstream])
        self._tasks: dict[str, dict[str, Any]] = {}
        self._said: dict[str, Sequence[JSON]] = {}  # only the first line of a task that is judged holds the messages
        self._replays: dict[str, asyncio.Task[tuple[Sequence[JSON], Replayed]]] = {}

    def task(self, domain: str, id: str) -> JsonObject:
        if domain not in self._tasks:
            self._tasks[domain] = {task["id"]: task for task in dataset.raw_tasks(self.upstream.root, domain, None)}
        if id not in self._tasks[domain]:
            raise BadInput("{domain} has no task '{id}'.", domain=domain, id=id)
        task: JsonObject = self._tasks[domain][id]
        return task

    async def check_all(self, path: Path, lines: Sequence[tuple[int, Line]]) -> list[Checked]:
        for _, line in lines:
            if "judge_reply" in line and "messages" in line:
                self._said[line["id"]] = line["messages"]
        return await run_together(*(self.check(path, number, line) for number, line in lines))

    async def check(self, path: Path, number: int, line: Line) -> Checked:
        kinds = {"agent_system_sha256": self._inputs, "script": self._transcript, "judge_reply": self._judged, "messages": self._verdict}  # fmt: skip
        if not {"id", "domain", "task_id"} <= line.keys():
            raise BadInput("{path}, line {line}: no line of a corpus of tau2.", path=path, line=number)
        if (kind := next((name for name in kinds if name in line), None)) is None:
            return Checked.unknown(line)
        raw = self.task(line["domain"], line["task_id"])
        return _checked(line, await kinds[kind](line, raw))

    async def _inputs(self, line: Line, raw: Mapping[str, object]) -> Differences:
        upstream, domain, task = self.upstream, line["domain"], dataset.parsed(raw)
        words, usual = upstream.words, await upstream.describe(domain)
        names = task.user_tools
        user_tools = [tool for tool in usual.user_tools if names is None or tool["function"]["name"] in names]
        gold = await upstream.gold(domain, raw)
        ours = {
            "agent_system_sha256": sha256(words.agent_system("agent", usual.policy, task)),
            "user_system_sha256": sha256(words.user_system(task.user_scenario, tools=bool(user_tools))),
            "user_instructions_sha256": sha256(wording.scenario_text(task.user_scenario)),
            "agent_tools": len(usual.tools),
            "agent_tools_sha256": sha256(usual.tools),
            "user_tools": len(user_tools),
            "user_tools_sha256": sha256(user_tools) if user_tools else None,
            "start_hashes": gold["start"],
            "gold_hashes": gold["hashes"],
            "gold_errors": [f"{name}: {text}" for name, text in gold["errors"]] or None,
            "reward_basis": list((task.evaluation_criteria or dataset.RewardCriteria()).reward_basis),
            "gt_system_sha256": sha256(words.agent_system("ground_truth", usual.policy, task))
            if task.actions
            else None,
        }
        if domain.startswith(("telecom", "mock")) and task.fits_solo:
            alone = await upstream.describe(domain, solo=True)
            tools = [*alone.tools, *alone.user_tools, words.done_tool()]
            ours |= {
                "solo_system_sha256": sha256(words.agent_system("solo", alone.policy, task)),
                "solo_tools": len(tools),
                "solo_tools_sha256": sha256(tools),
            }
        elif domain.startswith(("telecom", "mock")):
            ours["solo_error"] = "AssertionError"
        return _differences(line, ours)

    async def _verdict(self, line: Line, raw: Mapping[str, object]) -> Differences:
        domain, task, reason = line["domain"], dataset.parsed(raw), line["termination_reason"]
        messages, hashes = line["messages"], None
        for message in messages:
            for call in message.get("tool_calls") or ():
                call.setdefault("requestor", message["role"])
        if "live_hashes" in line or any("content_sha256" in message for message in messages):
            filled = await self.upstream.complete(domain, raw, messages)
            messages, hashes = filled["messages"], filled["hashes"]
        replay = await self.upstream.replay(domain, raw, messages) if reason in ENDS else Replayed()
        result = rewards(task, messages, reason, replay, None)
        values: dict[str, object] = {
            "all": result.reward,
            "env": result.env,
            "action": result.action,
            "communicate": result.communicate,
            "all_ignore_basis": result.ignoring_basis,
        }
        if replay.raised is not None:
            values |= dict.fromkeys(("all", "env", "all_ignore_basis"), f"raises {replay.raised[0]}")
            again = await self.upstream.replay(domain, raw, messages, strict=False)
            lenient = rewards(task, messages, reason, again, None).reward
            values["all_lenient"] = lenient if again.raised is None else f"raises {again.raised[0]}"
            replay = again if again.raised is None else replay
        ours: dict[str, object] = {"rewards": values, "live_hashes": _short(hashes)}
        if "live_hashes" not in line:
            del ours["live_hashes"]
        if "gold_hashes" in line:
            ours |= {"replay_hashes": _short(replay.hashes), "gold_hashes": _short(replay.gold)}
        if "breakdown" in line:
            types = (await self.upstream.describe(domain)).types
            is_checked = replay.hashes is not None
            ours |= {
                "db_match": replay.db_match,
                "env_assertions": list(replay.assertions or ()) if is_checked else line["env_assertions"],
                "actions": list(result.actions) if result.actions else None,
                "communicate": list(result.communicated) if result.communicated else None,
                "breakdown": {
                    **result.parts,
                    **({NL: 1.0} if result.needs_judge else {}),
                },  # the judge met all
                "partial_action_reward": partial_actions(result.actions, task, types),
            }
        return _differences(line, ours)

    async def _judged(self, line: Line, raw: Mapping[str, object]) -> Differences:
        domain, task = line["domain"], dataset.parsed(raw)
        if line["id"] not in self._replays:
            self._replays[line["id"]] = asyncio.create_task(self._replay(domain, raw, self._said[line["id"]]))
        messages, replay = await self._replays[line["id"]]
        criteria = task.evaluation_criteria or dataset.RewardCriteria()
        system, request = self.upstream.words.judge_messages(transcript(messages), criteria.nl_assertions or ())
        ours: dict[str, object] = {"judge_messages_sha256": sha256([["system", system], ["user", request]])}
        without = rewards(task, messages, "user_stop", replay, None)
        try:
            met = judged(line["judge_reply"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raised = f"raises {type(error).__name__}"
            values: dict[str, object] = dict.fromkeys(line["rewards"], raised)
            values["all"] = raised if task.judged_assertions else without.reward
        else:
            result = rewards(task, messages, "user_stop", replay, met)
            nl = float(all(met))
            values = {
                "nl_assertions": nl,
                "all": result.reward,
                "all_with_nl_assertions": result.reward,
                "all_with_nl_assertions_ignore_basis": result.ignoring_basis * nl,
            }
            ours["met"] = met
        ours["rewards"] = values
        return _differences(line, ours)

    async def _replay(self, domain: str, raw: JsonObject, messages: Sequence[JSON]) -> tuple[Sequence[JSON], Replayed]:
        whole = (await self.upstream.complete(domain, raw, messages))["messages"]
        return whole, await self.upstream.replay(domain, raw, whole)

    async def _transcript(self, line: Line, raw: Mapping[str, object]) -> Differences:
        from proctor_benchmarks.tau2.transcripts import play

        ours = await play(self.upstream, line, raw, sha256)
        return _differences(line, ours)


def sha256(value: object) -> str:
    """Return the digest of a text, or of a value as canonical JSON."""
    text = (
        value
        if isinstance(value, str)
        else json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _short(hashes: Sequence[str | None] | None) -> list[str | None] | None:
    return None if hashes is None else [each and each[:16] for each in hashes]


def _differences(line: Line, ours: Mapping[str, object]) -> Differences:
    found: Differences = {}
    for key, value in ours.items():
        plain = json.loads(json.dumps(value))
        if plain != line.get(key):
            found[key] = (line.get(key), plain)
    return found


def _checked(line: Line, differences: Differences) -> Checked:
    name = " ".join(str(line[key]) for key in ("id", "kind", "script") if key in line)
    if not differences:
        return Checked(id=name, agrees=True)
    official = "; ".join(f"{key}={_shown(pair[0])}" for key, pair in differences.items())
    ours = "; ".join(f"{key}={_shown(pair[1])}" for key, pair in differences.items())
    return Checked(id=name, agrees=False, official=official, ours=ours, rule=say("They differ in {fields}.", fields=", ".join(differences)))  # fmt: skip


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 400 else f"{text[:400]}…"
