"""Our verdicts and inputs against recorded ones of the official code.

Lines are of two kinds, which differ in their fields. One is a scripted agent, played through the loop that real models are played
through:

    {"id": "banking/user_task_0", "suite": "banking", "user_task": "user_task_0", "injection_task": null, "kind": "exact",
     "replies": [[["get_balance", {}]], "1810.0"], "utility": true, "security": true, "runs": 1, "queries": ["bd43…", …],
     "post_env": "d119…", "messages_sha256": "3262…", "tool_results": ["df83…"]}

The other is what a suite or a task begins with: tools, prompts, environments, the texts of every attack.

Digests of what holds the time of day can agree with nobody's: the official tools write down when a mail was sent or a file was
changed. Those are left out, and all others have to be equal. The official code also changes the model's own message where an
argument is a list written as a text; what our model reads of itself is what it wrote.
"""

import asyncio
import hashlib
import json
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from proctor.agents.openai import ChatAgent
from proctor.core.parity import Checked
from proctor.core.sample import JsonObject, Message, Part, Sample, Text, Tool, ToolCall, ToolResult, Turn
from proctor.engine.acting import entered
from proctor.engine.episode import Episode
from proctor.isolation import WorkerRaised, Workers
from proctor.models.scripted import ScriptedModel
from proctor.runtime.concurrent import run_together
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.agentdojo import official
from proctor_benchmarks.agentdojo.dataset import VERSION
from proctor_benchmarks.agentdojo.environment import PipelineAgain, Worlds, content_of
from proctor_benchmarks.agentdojo.scorer import runs_of

MODEL, ATTACK = "gpt-4o-2024-05-13", "important_instructions"
_GIVEN = {"id", "suite", "user_task", "injection_task", "kind", "replies"}
_AT_ONCE = 256  # lines; their workers are started again for the next ones
STOPPED_CLOCK = ("2025-01-01 12:00:00", "2025-01-01T12:00:00")


class AgentDojoLine(msgspec.Struct, frozen=True):
    """A line of either kind; what it does not have is None."""

    id: str
    suite: str
    user_task: str | None = None
    injection_task: str | None = None
    replies: list[object] | None = None
    utility: bool | None = None
    security: bool | None = None
    raises: str | None = None
    runs: int = 1
    queries: list[str] = []
    post_env: str = ""
    messages_sha256: str = ""
    tool_results: list[str] = []
    injections_sha256: str | None = None
    recorded: dict[str, object] = {}


def check_corpus(path: Path, source: str | None = None) -> Iterator[Checked]:
    """Check every line.

    Args:
        path: the corpus.
        source: where the package is, see `official.locate`.

    Raises:
        BadInput: a line that cannot be read, or no package.
    """
    folder = official.locate(source)
    listing = official.listing(folder, VERSION)
    lines = (raw for _, raw in read_json_lines(path, dict))
    with asyncio.Runner() as runner:
        while several := list(islice(lines, _AT_ONCE)):
            yield from runner.run(_check(several, listing, official.make_workers(folder)))


async def _check(
    lines: Sequence[Mapping[str, object]], listing: official.OfficialListing, workers: Workers
) -> list[Checked]:
    async with workers:
        return await run_together(*(check_line(line, listing, workers) for line in lines))


async def check_line(raw: JsonObject, listing: official.OfficialListing, workers: Workers) -> Checked:
    """Check one line of either kind; every field that can be compared has to be equal."""
    find = _played if "replies" in raw else _inputs
    ours = await find(msgspec.convert(raw, AgentDojoLine), listing, workers)
    wrong = [name for name in (raw.keys() | ours.keys()) - _GIVEN if raw.get(name) != ours.get(name)]
    official_verdict, our_verdict = ({name: of.get(name) for name in wrong} for of in (raw, ours))
    return Checked(id=raw["id"], agrees=not wrong, ours=_shown(our_verdict), official=_shown(official_verdict), rule=str(raw.get("kind", "")))  # fmt: skip


async def _played(line: AgentDojoLine, listing: official.OfficialListing, workers: Workers) -> dict[str, object]:
    """Play a scripted agent, and return the fields of its line as they are here."""
    suite = listing.suites[line.suite]
    tasks = {**suite.user_tasks, **suite.injection_tasks}
    assert line.user_task is not None
    assert line.replies is not None
    scene = {"version": VERSION, "suite": line.suite, "user_task": line.user_task}
    if line.injection_task is not None:
        scene |= {"injection_task": line.injection_task, "attack": ATTACK, "model": MODEL}
    asked = (Message.of("system", listing.system), Message.of("user", tasks[line.user_task]))
    sample = Sample(id=line.id, turns=(Turn(messages=asked),), meta={"scene": scene})
    model = ScriptedModel(_Script(line.replies))
    async with entered(Worlds(workers, {line.suite: suite.tools}), sample) as environment:
        trajectory = await Episode(ChatAgent(model), PipelineAgain()).play(sample, environment)
    last = [step.message for step in trajectory.steps if step.turn == trajectory.steps[-1].turn and step.message.role in ("assistant", "tool")]  # fmt: skip
    ours: dict[str, object] = {"runs": trajectory.steps[-1].turn + 1}
    try:
        verdict = await workers.run("judge", runs=runs_of(trajectory), **scene)
        ours |= {"utility": verdict["utility"], "security": verdict["security"]}
        if verdict["injections"]:
            ours["injections_sha256"] = digest(verdict["injections"])
    except WorkerRaised as error:
        ours["raises"] = error.type
        ours["injections_sha256"] = line.injections_sha256
    ours["queries"] = _compared([rendered(messages) for messages in model.asked], line.queries)
    ours["messages_sha256"] = _compared([rendered([*asked, *last])], [line.messages_sha256])[0]
    results = [[message["content"], message.get("error")] for message in rendered(last) if message["role"] == "tool"]
    ours["tool_results"] = _compared(results, line.tool_results)
    state = trajectory.state or {}
    ours["post_env"] = line.post_env if _has_time(state["changed"]) else state["digest"]
    return ours


async def _inputs(line: AgentDojoLine, listing: official.OfficialListing, workers: Workers) -> dict[str, object]:
    """Return the fields of a line about a suite or a task as they are here."""
    suite = listing.suites[line.suite]
    task = line.user_task or line.injection_task
    if task is None:
        first = await workers.run("inputs", version=VERSION, suite=line.suite, task="injection_task_1", model=MODEL)
        return {
            "tools": len(suite.tools),
            "tools_sha256": sha256(_compact([_rendered_tool(tool) for tool in suite.tools])),
            "env": first["environment"],
            "vectors": dict(suite.vectors),
            "system_sha256": sha256(listing.system),
            "user_tasks": len(suite.user_tasks),
            "injection_tasks": len(suite.injection_tasks),
        }
    inputs = await workers.run("inputs", version=VERSION, suite=line.suite, task=task, model=MODEL)
    solution = {"ground_truth_output": inputs["output"], "ground_truth_calls": len(inputs["steps"])}
    if line.injection_task is not None:
        return {**solution, "goal_sha256": sha256(suite.injection_tasks[task])}
    attacks = {attack: {goal: digest(texts) for goal, texts in by_goal.items()} for attack, by_goal in inputs["attacks"].items()}  # fmt: skip
    return {
        **solution,
        "prompt_sha256": sha256(suite.user_tasks[task]),
        "pre_env": inputs["environment"],
        "candidates": inputs["candidates"],
        "attacks": attacks,
    }


def _rendered_tool(tool: Tool) -> dict[str, object]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


class _Script:
    """Answers from the line: a list is calls, a text is one, null is neither; "" when there are no more."""

    def __init__(self, replies: Sequence[object]) -> None:
        self._replies = iter(replies)
        self._calls = 0

    def __call__(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Message:
        said = next(self._replies, "")
        parts: list[Part] = [Text(text=said)] if isinstance(said, str) else []
        for name, arguments in said if isinstance(said, list) else ():
            parts.append(ToolCall(name=name, arguments=arguments, id=f"call_{self._calls}"))
            self._calls += 1
        return Message(role="assistant", parts=tuple(parts))


def rendered(messages: Sequence[Message]) -> list[dict[str, object]]:
    """Return messages in the form of the corpus: role, content, the calls made, and a tool's error."""
    entries: list[dict[str, object]] = []
    for index, message in enumerate(messages):
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        for result in results:
            content, error = ("", result.content) if result.is_error else (result.content, None)
            entries.append({"role": "tool", "content": content, "error": error})
        if message.role != "tool":
            executed = index + 1 < len(messages) and messages[index + 1].role == "tool"
            calls = [{"function": call.name, "args": _lists(call.arguments) if executed else call.arguments} for call in message.calls]  # fmt: skip
            entries.append({"role": message.role, "content": content_of(message), **({"tool_calls": calls} if calls else {})})  # fmt: skip
    return entries


def _lists(arguments: Mapping[str, object]) -> dict[str, object]:
    return {name: _list_in(value) if isinstance(value, str) and "[" in value else value for name, value in arguments.items()}  # fmt: skip


def _list_in(text: str) -> object:
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, list) else text


def _compared(ours: Sequence[object], theirs: Sequence[str]) -> list[str]:
    """Return our digests, where one cannot be compared the recorded one."""
    known = [*theirs, *[""] * (len(ours) - len(theirs))]
    return [other if _has_time(value) else digest(value) for value, other in zip(ours, known, strict=False)]


def _has_time(value: object) -> bool:
    text = _compact(value)
    return any(time in text for time in STOPPED_CLOCK)


def digest(value: object) -> str:
    """Return the first 16 hex digits of SHA-256 over compact JSON."""
    return sha256(_compact(value))[:16]


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _shown(fields: Mapping[str, object]) -> str:
    return _compact(fields)[:400]
