"""Play recorded conversations through our own loop: scripted models say what was said, and what they are given is compared."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from proctor.agents.openai import ChatAgent
from proctor.chat.messages import to_tools
from proctor.core.around import around
from proctor.core.errors import AgentFailed, PartFailed
from proctor.core.run import Limits
from proctor.core.sample import JsonObject, Message, Part, Text, Tool, ToolCall
from proctor.engine.acting import entered
from proctor.engine.episode import Episode
from proctor.models.scripted import ScriptedModel
from proctor_benchmarks.tau2.dataset import parsed, sample_of
from proctor_benchmarks.tau2.environment import Tau2Environment
from proctor_benchmarks.tau2.messages import JSON, as_sent
from proctor_benchmarks.tau2.progress import EndRules
from proctor_benchmarks.tau2.rewards import ENDS, rewards
from proctor_benchmarks.tau2.scorer import ended_of
from proctor_benchmarks.tau2.upstream import Upstream
from proctor_benchmarks.tau2.user import Tau2User
from proctor_benchmarks.tau2.wording import Role

ROLES: Mapping[str, Role] = {"llm_agent_gt": "ground_truth", "llm_agent_solo": "solo"}
EMPTY = {"agent": "Anything else?", "user": "###STOP###"}  # what is said when the script is at its end
LONGEST = 160  # characters of a result that stands in the corpus
RAISED = {"empty": "ValueError", "no_reply": "ValueError", "no_call": "ValueError"}

Sha = Callable[[object], str]


class RecordedScript:
    """Recorded replies that scripted models play back, with a log of every query."""

    def __init__(self, steps: Sequence[JsonObject], sha: Sha, *, solo: bool) -> None:
        self.queries: list[JSON] = []
        self._left = {who: [step["reply"] for step in steps if step["who"] == who] for who in EMPTY}
        self._seen = dict.fromkeys(EMPTY, 0)
        self._calls = 0
        self._sha = sha
        self._solo = solo

    def model(self, who: str) -> ScriptedModel:
        return ScriptedModel(lambda messages, tools: self._answer(who, messages, tools), name=who)

    def _answer(self, who: str, messages: Sequence[Message], tools: Sequence[Tool]) -> Message:
        sent, before = as_sent(messages), self._seen[who]
        offered = to_tools(tools, {})
        reply = self._left[who].pop(0) if self._left[who] else {"content": EMPTY[who]}
        self.queries.append(
            {
                "who": who,
                "n_messages": len(sent),
                "messages_sha256": self._sha(sent),
                "new_messages": sent[before:] if before else [],
                "tools_sha256": self._sha(offered) if offered else None,
                "tool_choice": None if not offered else "required" if self._solo else "auto",
                "reply": reply,
            }
        )
        self._seen[who] = len(sent)
        return self._message(reply)

    def _message(self, reply: JsonObject) -> Message:
        content = reply.get("content")
        parts: list[Part] = [] if content is None else [Text(text=content)]
        for name, arguments in reply.get("tool_calls") or ():
            parts.append(ToolCall.from_text(name, arguments, id=f"call_{self._calls}"))
            self._calls += 1
        return Message(role="assistant", parts=tuple(parts))


async def play(upstream: Upstream, line: JsonObject, raw: JsonObject, sha: Sha) -> JSON:
    """Return what a line of the corpus should hold, after playing it."""
    options, task = line["options"], parsed(raw)
    role = ROLES.get(options.get("agent", ""), "agent")
    if (role == "solo" and not task.fits_solo) or (role == "ground_truth" and not task.actions):
        return {"raises": "AssertionError", "steps": []}  # the official agent refuses the task
    rules = EndRules(
        max_steps=options.get("max_steps", EndRules().max_steps),
        max_errors=options.get("max_errors", EndRules().max_errors),
        enforce_protocol=options.get("enforce_communication_protocol", False),
        solo=role == "solo",
    )
    sample = sample_of(line["domain"], raw, msgspec.to_builtins(rules))
    script = RecordedScript(line["steps"], sha, solo=rules.solo)
    environment = Tau2Environment(upstream, sample)
    agent = ChatAgent(script.model("agent"))
    episode = Episode(agent, Tau2User(script.model("user"), role))
    with _limits(rules.max_steps):
        async with entered(lambda _: environment, sample) as acting:
            try:
                trajectory = await episode.play(sample, acting)
            except PartFailed as error:
                ended = ended_of(task, episode.so_far(), rules, upstream.words.greeting)
                count = len(ended.messages) - isinstance(error, AgentFailed)  # officially its message is not kept
                at = {"step_count": environment.progress.steps, "trajectory": count}
                return {"steps": script.queries, "raises": _raised(error, script), "raised_at": at}
    ended = ended_of(task, trajectory, rules, upstream.words.greeting)
    reward: object = 0.0
    if ended.reason in ENDS:
        replay = await upstream.replay(line["domain"], raw, ended.messages, solo=rules.solo)
        reward = f"raises {replay.raised[0]}" if replay.raised else rewards(task, ended.messages, ended.reason, replay, None).reward  # fmt: skip
    result = {
        "termination_reason": ended.reason,
        "reward": reward,
        "messages": [_compact(message) for message in ended.messages],
        "step_count": environment.progress.steps,
        "num_errors": environment.progress.errors,
    }
    return {"steps": script.queries, "result": _shortened(result, line.get("result"))}


@contextmanager
def _limits(steps: int) -> Iterator[None]:
    token = around.set(replace(around.get(), limits=Limits(steps=steps)))
    try:
        yield
    finally:
        around.reset(token)


def _raised(error: PartFailed, script: RecordedScript) -> str:
    """Return the name of what the official code raises at the same place."""
    if error.kind != "bad_arguments":
        return RAISED.get(error.kind, error.kind)
    texts = [arguments for _, arguments in script.queries[-1]["reply"]["tool_calls"]]
    try:
        [json.loads(text) for text in texts]
    except ValueError:
        return "JSONDecodeError"
    return "ValidationError"


def _compact(message: JsonObject) -> JSON:
    usual = {"role": "", "id": "", "requestor": "assistant", "error": False, "content": None, "tool_calls": None}
    kept = {key: value for key, value in message.items() if key in usual and value != usual[key]}
    if "tool_calls" in kept:
        kept["tool_calls"] = [
            {key: value for key, value in call.items() if key != "requestor"} for call in kept["tool_calls"]
        ]
    return kept


def _shortened(result: JSON, recorded: JsonObject | None) -> JSON:
    """Replace the long results of tools by digests, where the corpus does."""
    for ours, theirs in zip(result["messages"], (recorded or {}).get("messages", ()), strict=False):
        if "content_sha256" in theirs and len(ours.get("content", "")) > LONGEST:
            ours["content_sha256"] = hashlib.sha256(ours.pop("content").encode()).hexdigest()[:16]
    return result
