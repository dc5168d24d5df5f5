"""An agent that speaks the A2A protocol: `a2a:URL`, the address whose agent card says the rest.

    proctor run shop.evalset.json --agent a2a:https://shop.example

A conversation keeps its context id, and its task as long as the agent wants more input. Tool calls are seen where the server
tells them, as those of google-adk and VeADK do.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from proctor.agents.environment_tools import refuse_tools
from proctor.config import converted
from proctor.core.errors import AgentFailed, BadInput, EndpointRefused, needs
from proctor.core.parts import AgentPart
from proctor.core.sample import Message, Part, Sample, Text, Turn
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle, Usage
from proctor.models.addresses import Positive, header_value, policy_of
from proctor.transport.faults import shown
from proctor.transport.pace import CEILING, PaceBounds
from proctor.transport.target import no_address
from proctor.transport.terms import RequestTerms
from proctor_adapters.agents._a2a_messages import message_of, parts_of, plain, steps_of

if TYPE_CHECKING:
    from a2a import types
    from a2a.client import Client

CARD = "/.well-known/agent-card.json"
OLD_CARD = "/.well-known/agent.json"
INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
UNDER_WAY = ("TASK_STATE_UNSPECIFIED", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
ENDED = {
    "TASK_STATE_FAILED": "failed",
    "TASK_STATE_REJECTED": "rejected",
    "TASK_STATE_CANCELED": "canceled",
    "TASK_STATE_AUTH_REQUIRED": "auth_required",
}
FIRST_WAIT, LONGEST_WAIT = 0.2, 5.0


class A2aOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of an agent that is reached over A2A.

    Attributes:
        headers: a value `env:NAME` is read from the environment, so that no key is stored with the run.
        address: where messages go, in place of what the card says.
        stream: True to ask for events one by one, if the agent's card offers that.
        timeout, retries, retry_seconds, concurrency, requests_per_minute: as for `openai:`.
    """

    headers: Mapping[str, str] = {}
    address: str | None = None
    stream: bool = True
    timeout: Positive | None = None
    retries: Annotated[int, msgspec.Meta(ge=0)] | None = None
    retry_seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    concurrency: Annotated[int, msgspec.Meta(ge=1)] | None = None
    requests_per_minute: Positive | None = None


def make(argument: str, options: Mapping[str, object]) -> "A2aAgent":
    """Return the agent `a2a:URL`; the URL is that of the agent, or of its card.

    Raises:
        BadInput: no address, or an unknown option; `MissingExtra`.
    """
    return A2aAgent(argument, converted(options, A2aOptions, "a2a"))


class A2aAgent:
    """An agent that has a card; it keeps its own tools and memory."""

    tools: ToolStyle = "text"

    def __init__(self, url: str, options: A2aOptions = A2aOptions()) -> None:  # noqa: B008 - frozen
        with needs("a2a", "a2a:"):
            import httpx
            from a2a.types import StreamResponse  # noqa: F401 - there since version 1

            from proctor_adapters.agents._a2a_wire import Way
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise no_address(url)
        self.name = f"a2a:{parts.hostname}"
        self.concurrency = options.concurrency or CEILING
        self._url = url.rstrip("/")
        self._options = options
        self._way = httpx.AsyncClient(
            transport=Way(
                options.address or url,
                {name: header_value(name, value) for name, value in options.headers.items()},
                RequestTerms(
                    seconds=options.timeout,
                    bounds=PaceBounds(concurrency=options.concurrency, requests_per_minute=options.requests_per_minute),
                    policy=policy_of(options.retries, options.retry_seconds),
                ),
            )
        )
        self._client: Client | None = None
        self._meeting = asyncio.Lock()  # only one asks for the card

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        """Return a conversation of its own for each sample."""
        async with self._meeting:
            if self._client is None:
                self._client = await self._connect()
        yield A2aSession(self._client, self.name, environment)

    async def _connect(self) -> "Client":
        from a2a.client import ClientConfig, ClientFactory
        from a2a.utils.constants import TransportProtocol

        card = await self._card()
        if self._options.address is not None:
            for interface in card.supported_interfaces:
                interface.url = self._options.address
        config = ClientConfig(
            streaming=self._options.stream,
            httpx_client=self._way,
            supported_protocol_bindings=[TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON],
        )
        try:
            return ClientFactory(config).create(card)
        except ValueError as error:
            raise BadInput(
                "The card of {url} offers no way to talk that we know: {error}", url=self._url, error=error
            ) from None

    async def _card(self) -> "types.AgentCard":
        from a2a.client import A2ACardResolver
        from a2a.client.errors import AgentCardResolutionError

        direct = self._url.endswith(".json")
        base, path = (self._url, "/") if direct else (self._url, CARD)
        try:
            try:
                return await A2ACardResolver(self._way, base).get_agent_card(relative_card_path=path)
            except EndpointRefused as error:
                if direct or error.sentence.values.get("status") != 404:
                    raise
                try:
                    return await A2ACardResolver(self._way, base).get_agent_card(relative_card_path=OLD_CARD)
                except EndpointRefused:
                    raise error from None
        except (AgentCardResolutionError, TypeError) as error:  # TypeError: before a2a-sdk 1.3, for a list
            raise BadInput(
                "{url} has no card of an A2A agent: {error}", url=self._url, error=shown(str(error))
            ) from None


class A2aSession:
    """One conversation.

    Attributes:
        tools: "native" once the server has reported calls, or is known to.
    """

    def __init__(self, client: "Client", name: str = "a2a", environment: Environment | None = None) -> None:
        self.tools: ToolStyle = "text"
        self._name = name
        self._environment = environment
        self._client = client
        self._context_id = ""
        self._task_id = ""
        self._seen: set[str] = set()
        self._artifacts: dict[str, _Artifact] = {}

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Send one message, and return all that the agent said until it was done or needs more input."""
        refuse_tools(self._name, turn, self._environment, "a2a")
        from a2a.types import SendMessageRequest
        from a2a.utils.errors import A2AError

        message = message_of(turn, messageId=secrets.token_hex(16), contextId=self._context_id, taskId=self._task_id)
        replies = _Replies(self._seen, self._artifacts)
        started, clock = time.time(), time.perf_counter()
        try:
            async for response in self._client.send_message(SendMessageRequest(message=message)):
                replies.take(response)
            await self._wait(replies)
        except A2AError as error:
            raise AgentFailed("The agent answered with an error: {text}", kind="a2a", text=shown(str(error))) from error
        self._context_id = replies.context_id or self._context_id
        self._task_id = replies.task_id if replies.state == INPUT_REQUIRED else ""
        steps = replies.finish()
        if replies.tells_calls or any(step.message.calls for step in steps):
            self.tools = "native"
        if (how := ENDED.get(replies.state)) is not None:
            raise AgentFailed(
                "The agent's task ended as '{state}': {text}",
                kind=f"task_{how}",
                state=how,
                text=shown(next((step.message.text for step in reversed(steps) if step.message.text), "")) or "-",
            )
        return _with_times(steps, started, time.perf_counter() - clock)

    async def _wait(self, replies: "_Replies") -> None:
        """Ask for the task until it is done; some servers answer before."""
        from a2a.types import GetTaskRequest

        wait = FIRST_WAIT
        while replies.task_id and replies.state in UNDER_WAY:
            await asyncio.sleep(wait)
            wait = min(wait * 1.5, LONGEST_WAIT)
            replies.take_task(await self._client.get_task(GetTaskRequest(id=replies.task_id)))


class _Artifact:
    """Holds what the agent made: its parts, and how many of them were reported in earlier turns."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.reported = 0

    def take(self, parts: Sequence[Part], *, append: bool) -> None:
        if not append:
            self.parts = list(parts)
        elif self.parts and parts and isinstance(last := self.parts[-1], Text) and isinstance(first := parts[0], Text):
            self.parts[-1:] = [Text(text=last.text + first.text), *parts[1:]]  # a text that comes in pieces
        else:
            self.parts.extend(parts)


class _Replies:
    """What is replies during one turn."""

    def __init__(self, seen: set[str], artifacts: dict[str, _Artifact]) -> None:
        self.context_id = ""
        self.task_id = ""
        self.state = ""
        self.tells_calls = False
        self._seen = seen
        self._artifacts = artifacts
        self._steps: list[Step] = []

    def take(self, response: "types.StreamResponse") -> None:
        match response.WhichOneof("payload"):
            case "message":
                self._note_ids(response.message)
                self._add_message(response.message)
            case "task":
                self.take_task(response.task)
            case "status_update":
                self._note_ids(response.status_update)
                self._set_state(response.status_update.status, plain(response.status_update.metadata))
            case "artifact_update":
                self._note_ids(response.artifact_update)
                self._add_artifact(response.artifact_update.artifact, append=response.artifact_update.append)

    def take_task(self, task: "types.Task") -> None:
        self._note_ids(task)
        for message in task.history:
            self._add_message(message)
        for artifact in task.artifacts:
            self._add_artifact(artifact)
        self._set_state(task.status)

    def finish(self) -> list[Step]:
        """Return the steps of the turn: artifacts come last, but for a question; one that repeats the last message is none."""
        asked = self._steps[-1:] if self.state == INPUT_REQUIRED else []
        steps = self._steps[: len(self._steps) - len(asked)]
        for artifact in self._artifacts.values():
            more = steps_of(artifact.parts[artifact.reported :])
            artifact.reported = len(artifact.parts)
            if not (steps and more and _same(more[0].message, steps[-1].message)):
                steps.extend(more)
        return [*steps, *asked]

    def _note_ids(self, update: Any) -> None:
        self.context_id = update.context_id or self.context_id
        self.task_id = getattr(update, "id", "") or getattr(update, "task_id", "") or self.task_id
        self.tells_calls |= any(key.startswith("adk_") for key in plain(update.metadata))

    def _set_state(self, status: "types.TaskStatus", metadata: Mapping[str, object] | None = None) -> None:
        from a2a.types import TaskState

        self.state = TaskState.Name(status.state)
        if status.HasField("message"):
            self._add_message(status.message, metadata)

    def _add_message(self, message: "types.Message", metadata: Mapping[str, object] | None = None) -> None:
        from a2a.types import Role

        about = {**plain(message.metadata), **(metadata or {})}
        key = message.message_id or str(message)
        if message.role == Role.ROLE_USER or key in self._seen or about.get("adk_partial"):
            return
        self._seen.add(key)
        self._steps.extend(steps_of(parts_of(message.parts), about))

    def _add_artifact(self, artifact: "types.Artifact", *, append: bool = False) -> None:
        known = self._artifacts.setdefault(artifact.artifact_id, _Artifact())
        known.take(parts_of(artifact.parts), append=append)


def _same(one: Message, other: Message) -> bool:
    return one.parts == other.parts or (one.text != "" and one.text == other.text and not one.calls)


def _with_times(steps: list[Step], started: float, seconds: float) -> list[Step]:
    """Return the steps of one request; the last one gets its duration and counts as the request."""
    timed = [replace(step, started=started) for step in steps]
    if timed:
        usage = (timed[-1].usage or Usage()) + Usage(requests=1)
        timed[-1] = replace(timed[-1], seconds=seconds, usage=usage)
    return timed


PART = AgentPart(make=make, options=A2aOptions)
