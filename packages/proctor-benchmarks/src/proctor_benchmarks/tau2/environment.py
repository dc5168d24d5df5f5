"""The official environment of a task, as agents and the simulated user act on it."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from proctor.core.errors import AgentFailed, EpisodeOver, PartFailed, UserFailed
from proctor.core.sample import JsonObject, Message, Sample, Tool, ToolCall, ToolResult
from proctor.isolation import Instance
from proctor_benchmarks.tau2.dataset import Tau2Task, parsed
from proctor_benchmarks.tau2.messages import arguments_of
from proctor_benchmarks.tau2.progress import ConversationProgress, rules_of
from proctor_benchmarks.tau2.upstream import DescribedDomain, Upstream


class Tau2Environment:
    """Tools of the agent and of the user on the databases of one attempt, and the count of what was said and done.

    Attributes:
        task, described, progress: what the simulated user needs of it.
    """

    task: Tau2Task
    described: DescribedDomain

    def __init__(self, upstream: Upstream, sample: Sample) -> None:
        self.rules = rules_of(sample)
        self.progress = ConversationProgress(self.rules)
        self.domain: str = sample.meta["domain"]
        self._raw: Mapping[str, object] = sample.meta["task"]
        self.task = parsed(self._raw)
        self.upstream = upstream
        self._instance: Instance | None = None

    async def __aenter__(self) -> Self:
        await self.upstream.__aenter__()
        solo = self.rules.solo
        self.described = await self.upstream.describe(self.domain, solo=solo)
        self._instance = await self.upstream.start(self.domain, self._raw, solo=solo)
        return self

    async def __aexit__(self, *raised: object) -> None:
        if self._instance is not None:
            await self._instance.close()
        await self.upstream.__aexit__(*raised)

    @property
    def tools(self) -> Sequence[Tool]:
        """Return what the agent is offered: without a user also the user's tools, and one that ends the task."""
        schemas = self.described.tools
        if self.rules.solo:
            schemas = (*schemas, *self.described.user_tools, self.upstream.words.done_tool())
        return tools_of(schemas)

    @property
    def user_tools(self) -> Sequence[Tool]:
        """Return the tools that the user has in this task."""
        names = self.task.user_tools
        tools = tools_of(self.described.user_tools)
        return [tool for tool in tools if names is None or tool.name in names]

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call of the agent as a message of its own."""
        results = await self.call_all([call])
        if results is None:
            raise EpisodeOver(self.progress.reason or "")
        return results[0]

    async def call_all(self, calls: Sequence[ToolCall]) -> Sequence[ToolResult] | None:
        """Run the calls of one message of the agent; None where they end the task.

        Raises:
            AgentFailed: arguments that are no JSON object, which stops the official run too.
            EpisodeOver: a limit of the conversation is reached; what the calls did is in it.
        """
        requests = _requests(calls, "assistant", AgentFailed)
        self.progress.note_message("assistant", "", [call.name for call in calls])
        if self.progress.reason is not None:
            return None
        return await self._run(calls, requests)

    async def call_for_user(self, said: Message) -> Sequence[ToolResult]:
        """Run the calls of a message of the user, which was counted; see `call_all`."""
        return await self._run(said.calls, _requests(said.calls, "user", UserFailed))

    async def _run(self, calls: Sequence[ToolCall], requests: Sequence[Mapping[str, object]]) -> Sequence[ToolResult]:
        assert self._instance is not None, "the environment was not entered"
        answers = await self._instance.call("run", calls=requests)
        results = [
            ToolResult(name=call.name, content=answer["content"], id=call.id, is_error=answer["error"])
            for call, answer in zip(calls, answers, strict=True)
        ]
        self.progress.note_results(sum(result.is_error for result in results))
        if self.progress.reason is not None:
            raise EpisodeOver(self.progress.reason, results=results)
        return results

    def check(self, message: Message) -> None:
        """Look at a message of the agent before its calls are run.

        Raises:
            EpisodeOver: the protocol is enforced, and the message has both text and calls.
        """
        if self.rules.enforce_protocol and message.calls and message.text.strip():
            self.progress.note_message("assistant", message.text, [call.name for call in message.calls])
            raise EpisodeOver("agent_error")

    async def state(self) -> Mapping[str, object]:
        """Return digests of both databases, and the counts."""
        assert self._instance is not None, "the environment was not entered"
        agent, user = await self._instance.call("hashes")
        return {"agent_db": agent, "user_db": user, "steps": self.progress.steps, "errors": self.progress.errors}


def _requests(calls: Sequence[ToolCall], requestor: str, failed: type[PartFailed]) -> list[dict[str, Any]]:
    requests = []
    for call in calls:
        arguments = arguments_of(call)
        if arguments is None:
            raise failed("The arguments of the call '{name}' are no JSON object.", name=call.name, kind="bad_arguments")
        requests.append({"id": call.id, "name": call.name, "arguments": arguments, "requestor": requestor})
    return requests


def tools_of(schemas: Sequence[JsonObject]) -> list[Tool]:
    """Return tools given as chat completions have them."""
    return [Tool(**schema["function"]) for schema in schemas]
