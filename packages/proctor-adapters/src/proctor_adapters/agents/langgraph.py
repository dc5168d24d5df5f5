"""`langgraph:./agent.py:graph`: a compiled graph of LangGraph, or any runnable of LangChain.

A graph with `messages` in its state gets the messages of a turn, and the messages added to its state are its steps: replies with
their calls, results, the agents that spoke, those of graphs inside it too. A checkpointer keeps the state from turn to
turn under a thread of the sample's own; without one the state goes in again. Any other runnable gets the text or the
messages, whichever its input schema asks for, and callbacks tell which models and tools it called.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeGuard
from uuid import uuid4

from msgspec.structs import replace

from proctor.agents.agent_errors import map_agent_errors
from proctor.agents.environment_tools import EnvironmentTools, cannot_be_given, schema_of_parameters
from proctor.chat.message_text import text_of
from proctor.chat.messages import to_messages
from proctor.core.parts import AgentPart
from proctor.core.sample import JsonObject, Tool, Turn
from proctor.core.task import Agent
from proctor.core.trajectory import Approval, Step
from proctor.runtime.threads import in_thread
from proctor_adapters.agents._langchain import OUTPUT_KEYS, LangchainRecord, handler_of, input_of
from proctor_adapters.agents._langchain_interrupts import (
    Interrupted,
    calls_at_breakpoint,
    denied_results,
    read_interrupts,
    resume_value,
)
from proctor_adapters.agents._library_agents import (
    FrameworkAgent,
    LibraryOptions,
    as_text,
    load_agent,
    require_parts,
    with_answer,
    with_stop,
)

SPARE_STEPS = 2  # of a graph beyond a reply and its tools each, so that it is we who say when it is enough


def make(argument: str, options: Mapping[str, object]) -> Agent:
    """Return the agent `langgraph:./file.py:object` or `langgraph:package.module:object`."""
    return load_agent("langgraph", argument, options, package="langchain_core", can_be_made=_takes_tools)


def wrap(target: object, *, name: str, options: LibraryOptions = LibraryOptions()) -> Agent:  # noqa: B008 - frozen
    """Return the agent of a graph or runnable that is there already, or of a function that makes one with the tools it is given."""
    if _takes_tools(target):
        return FrameworkAgent(name, partial(MadeSession, target, name, options))
    require_parts(target, name, "langchain_core", "ainvoke")
    return FrameworkAgent(name, partial(_session, target, name, options))


class _Session(ABC):
    """One thread of a graph or runnable."""

    replies_join = True  # what models reply are steps; of a graph it is what joins its state
    waiting: Sequence[Approval] = ()

    def __init__(self, target: Any, name: str, options: LibraryOptions, tools: EnvironmentTools) -> None:
        self.tools = tools.style
        self._tools = tools
        self._target = target
        self._name = name
        self._options = options
        self._thread = uuid4().hex
        self._record = LangchainRecord(options.steps())

    @property
    def received(self) -> Sequence[Step]:
        return self._record.steps()

    async def send(self, turn: Turn) -> Sequence[Step]:
        if self._tools.offer(turn):
            raise cannot_be_given(self._name, "langgraph")
        return await self.run(turn)

    async def run(self, given: object) -> Sequence[Step]:
        """Play a turn, or resume an interrupted one; the target has its own tools."""
        self._record = record = LangchainRecord(self._options.steps(), self._record if self.waiting else None)
        with self._tools.ended(), map_agent_errors():
            try:
                return await self._play(given, record)
            except Exception as error:
                if record.over or type(error).__name__ == "GraphRecursionError":
                    return with_stop(record.steps(), "step_limit")
                raise

    @abstractmethod
    async def _play(self, given: Any, record: LangchainRecord) -> Sequence[Step]: ...

    @abstractmethod
    def go_on(self, before: object) -> None:
        """Take over a conversation from a session with other tools."""

    def _config(self, record: LangchainRecord) -> object:
        return {
            "callbacks": [handler_of(record, joins=self.replies_join)],
            "configurable": {"thread_id": self._thread, "session_id": self._thread},
            "recursion_limit": 2 * record.most + SPARE_STEPS,
        }


class GraphSession(_Session):
    """A thread of a graph that has messages in its state."""

    replies_join = False

    def __init__(self, target: object, name: str, options: LibraryOptions, tools: EnvironmentTools) -> None:
        super().__init__(target, name, options, tools)
        checkpointer = getattr(target, "checkpointer", None)
        self._is_kept = checkpointer is not None and not isinstance(checkpointer, bool)
        self._state: JsonObject = {}
        self._took_over = False  # its own thread knows nothing of the state yet
        self._interrupts: Sequence[Interrupted] = ()
        self._next = ""  # the node before which it stopped at a breakpoint

    async def decide(self, approvals: Sequence[Approval]) -> Sequence[Step]:
        from langgraph.types import Command

        if self._interrupts:
            return await self.run(Command(resume=resume_value(self._interrupts, approvals)))
        if all(approval.approved for approval in approvals):
            return await self.run(None)
        denied, before = denied_results(approvals), len(self._record.steps())
        if not denied:  # the node is not to run
            self.waiting = ()
            return ()
        await self._ask_target("update_state", {"messages": denied}, self._next)
        self._record.add_messages(denied)
        return [*self._record.steps()[before:], *await self.run(None)]

    async def _stopped_at(self) -> Sequence[Approval]:
        """Return what waits where the graph stopped at a breakpoint: the calls of the last message, or the next node."""
        target = self._target
        if not self._is_kept or not (target.interrupt_before_nodes or target.interrupt_after_nodes):
            return ()
        state = await self._ask_target("get_state")
        if not state.next:
            return ()
        self._next = state.next[0]
        return calls_at_breakpoint(state.values.get("messages") or (), self._next)

    async def _ask_target(self, method: str, *given: object) -> Any:
        config = {"configurable": {"thread_id": self._thread}}
        try:
            return await getattr(self._target, f"a{method}")(config, *given)
        except NotImplementedError:  # its checkpointer is not async
            return await in_thread(partial(getattr(self._target, method), config, *given))

    async def _play(self, given: Any, record: LangchainRecord) -> Sequence[Step]:
        config = self._config(record)
        if isinstance(given, Turn):
            given = self._input(given)
        self.waiting = self._interrupts = ()
        modes = {"stream_mode": ["updates", "values"], "subgraphs": True}
        try:
            async for event in self._target.astream(given, config, **modes):
                record.add_event(*event)
        except NotImplementedError:
            if record.has_begun:
                raise
            await in_thread(partial(self._play_plain, given, config, modes, record))  # its checkpointer is not async
        self._state, steps = record.state, record.steps()
        self._interrupts = read_interrupts(record.interrupts)
        self.waiting = [
            approval for interrupt in self._interrupts for approval in interrupt.approvals
        ] or await self._stopped_at()
        if self.waiting and all(one.awaits == "turn" for one in self.waiting):
            return with_answer(steps, "\n".join(interrupt.text for interrupt in self._interrupts))
        return steps

    def go_on(self, before: Any) -> None:
        self._state, self._took_over = before._state, True

    def _play_plain(self, given: object, config: object, modes: Mapping[str, object], record: LangchainRecord) -> None:
        for event in self._target.stream(given, config, **modes):
            record.add_event(*event)

    def _input(self, turn: Turn) -> object:
        from langchain_core.messages import convert_to_messages

        if self._interrupts and self._is_kept:
            from langgraph.types import Command

            words = text_of(turn.messages)
            return Command(
                resume=resume_value(self._interrupts, [replace(approval, words=words) for approval in self.waiting])
            )
        new = convert_to_messages(to_messages(turn.messages, {}))
        is_known = self._is_kept and not self._took_over
        self._took_over = False
        if is_known or not self._state:
            return {"messages": new}
        return {**self._state, "messages": [*self._state["messages"], *new]}


class RunnableSession(_Session):
    """A conversation with any other runnable; its history is kept here."""

    def __init__(self, target: object, name: str, options: LibraryOptions, tools: EnvironmentTools) -> None:
        super().__init__(target, name, options, tools)
        self._history: list[object] = []

    async def _play(self, given: Turn, record: LangchainRecord) -> Sequence[Step]:
        from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages

        new = convert_to_messages(to_messages(given.messages, {}))
        asked = input_of(self._target, text_of(given.messages), self._history, new)
        output = await self._target.ainvoke(asked, self._config(record))
        if isinstance(output, Mapping):
            output = next((output[key] for key in OUTPUT_KEYS if key in output), output)
        if isinstance(output, list) and output and isinstance(output[-1], BaseMessage):
            record.add_messages([each for each in output if not any(each is other for other in (*self._history, *new))])
            output = output[-1]
        if isinstance(output, BaseMessage):
            record.add_messages([output])
            steps = record.steps()
            said: BaseMessage = output
        else:
            steps = with_answer(record.steps(), output)
            said = AIMessage(as_text(output))
        self._history += [*new, said]
        return steps

    def go_on(self, before: Any) -> None:
        self._history = before._history


class MadeSession:
    """A conversation with what a function makes of the tools, made again when a turn brings others."""

    def __init__(
        self, make_target: Callable[..., object], name: str, options: LibraryOptions, tools: EnvironmentTools
    ) -> None:
        self.tools = tools.style
        self._make = make_target
        self._name = name
        self._options = options
        self._tools = tools
        self._inner: _Session | None = None

    @property
    def received(self) -> Sequence[Step]:
        return self._inner.received if self._inner is not None else ()

    async def send(self, turn: Turn) -> Sequence[Step]:
        if self._tools.offer(turn) or self._inner is None:
            with map_agent_errors():
                target = await in_thread(partial(self._make, _structured_tools(self._tools)))  # it may load a model
            require_parts(target, self._name, "langchain_core", "ainvoke")
            session = _session(target, self._name, self._options, self._tools)
            if self._inner is not None:
                session.go_on(self._inner)
            self._inner = session
        return self._tools.with_errors(await self._inner.run(turn))

    @property
    def waiting(self) -> Sequence[Approval]:
        return self._inner.waiting if isinstance(self._inner, GraphSession) else ()

    async def decide(self, approvals: Sequence[Approval]) -> Sequence[Step]:
        assert isinstance(self._inner, GraphSession), "nothing else waits"
        return self._tools.with_errors(await self._inner.decide(approvals))


def _session(target: object, name: str, options: LibraryOptions, tools: EnvironmentTools) -> "_Session":
    has_state = "messages" in getattr(target, "channels", ()) and "messages" in _keys(target, "output_channels")
    return (GraphSession if has_state else RunnableSession)(target, name, options, tools)


def _takes_tools(target: object) -> TypeGuard[Callable[..., object]]:
    """True for a function that makes an agent of the tools it is given."""
    return inspect.isfunction(target) and [*inspect.signature(target).parameters] == ["tools"]


def _structured_tools(tools: EnvironmentTools) -> list[object]:
    from langchain_core.tools import StructuredTool

    def tool_of(tool: Tool) -> object:
        async def invoke(**arguments: object) -> str:
            return (await tools.call(tool.name, arguments)).content

        def invoke_in_thread(**arguments: object) -> str:
            return tools.call_in_thread(tool.name, arguments).content

        return StructuredTool(
            name=tool.name,
            description=tool.description,
            args_schema=schema_of_parameters(tool),
            func=invoke_in_thread,
            coroutine=invoke,
        )

    return [tool_of(tool) for tool in tools.tools]


def _keys(target: object, attribute: str) -> Sequence[str]:
    keys = getattr(target, attribute, ())
    return (keys,) if isinstance(keys, str) else keys


PART = AgentPart(make=make, options=LibraryOptions, wrap=wrap)
