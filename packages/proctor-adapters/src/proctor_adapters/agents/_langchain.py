"""Turn the callbacks and events of a LangChain run into steps: messages that join a graph's state, and calls of models and tools."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.chat.agent_replies import call_of
from proctor.core.errors import BadInput
from proctor.core.sample import Message, ToolCall
from proctor.core.trajectory import Step, Stop, Usage
from proctor_adapters.agents._library_agents import as_text, reply_message, result_message

OUTPUT_KEYS = ("messages", "output", "answer", "result", "text", "response")  # of what a chain gives back
QUESTION_KEYS = ("input", "question", "query", "text", "messages")
HISTORY_KEYS = ("chat_history", "history", "messages")
STOP_BY_REASON: Mapping[str, Stop] = {
    "length": "length",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
    "content_filter": "filtered",
    "SAFETY": "filtered",
    "refusal": "refused",
}


class StepLimitReached(Exception):
    """Raised in place of one reply too many, so that a run ends wherever it is."""


class LangchainReply(msgspec.Struct, kw_only=True):
    """One call of a model: its start, its duration and its usage."""

    started: float
    clock: float
    seconds: float = 0.0
    usage: Usage = Usage(requests=1)
    message: Any = None
    ended: bool = False
    counted: bool = False


class LangchainToolRun(msgspec.Struct, kw_only=True):
    """One call of a tool."""

    call: ToolCall
    started: float
    clock: float
    seconds: float = 0.0
    output: object = None
    is_error: bool = False
    ended: bool = False


class Joined(msgspec.Struct):
    """A message of the agent, and the name of its author."""

    message: Any
    author: str
    at: float


class LangchainRecord:
    """Records what happened in one turn, in order; tools run in threads too, hence the lock.

    Args:
        before: what happened earlier in the turn, before it was interrupted.

    Attributes:
        most: replies of models at most; `over` is set when one more was asked for.
        state: the state of the outermost graph, at last.
        interrupts: what it waits for: the id and the value of each, and the call of the tool that it came from, if any.
    """

    def __init__(self, most: int, before: "LangchainRecord | None" = None) -> None:
        self.most = most
        self.over = self.has_begun = False
        self.state: Mapping[str, object] = {}
        self.interrupts: list[tuple[str, object, ToolCall | None]] = []
        self._told: set[str] = set() if before is None else before.ids  # messages that are steps already
        self._asked: set[str] = set() if before is None else before.asked  # calls in them
        self._interrupted: list[tuple[object, ToolCall]] = []
        self._events: list[Joined | LangchainToolRun] = []
        self._reply_by_run: dict[object, LangchainReply] = {}
        self._tool_by_run: dict[object, LangchainToolRun] = {}
        self._tool_at: dict[object, str] = {}
        self._parents: dict[object, object] = {}
        self._known: dict[tuple[str, ...], dict[object, Any]] = {}
        self._node_of: dict[Any, str] = {}
        self._lock = threading.RLock()

    @property
    def ids(self) -> set[str]:
        """Return the ids of all messages of the turn so far."""
        return self._told | {message.id for message in self._messages() if message.id}

    @property
    def asked(self) -> set[str]:
        """Return the ids of the calls that models asked for in the turn so far."""
        return self._asked | {call["id"] for message in self._messages() for call in getattr(message, "tool_calls", ())}

    def _messages(self) -> list[Any]:
        return [event.message for event in self._events if isinstance(event, Joined)]

    # From the stream of a graph.

    def add_event(self, place: tuple[str, ...], mode: str, values: Any) -> None:
        """Add an event of a graph: updates name the nodes that messages come from, values hold all messages."""
        with self._lock:
            if self._is_in_tool(place):
                return
            if mode == "updates":
                self._note_nodes(values)
            elif isinstance(values, Mapping):
                self._add_new_messages(place, values)

    def _note_nodes(self, updates: Mapping[str, object]) -> None:
        for node, update in updates.items():
            for change in update if isinstance(update, list | tuple) else (update,):
                messages = change.get("messages") if isinstance(change, Mapping) else None
                for message in messages if isinstance(messages, list | tuple) else (messages,):
                    self._node_of |= dict.fromkeys(_keys(message), node)

    def _add_new_messages(self, place: tuple[str, ...], values: Mapping[str, Any]) -> None:
        first = place not in self._known
        known = self._known.setdefault(place, {})
        messages = values.get("messages")
        for message in messages if isinstance(messages, list | tuple) else ():
            keys = list(_keys(message))
            if any(key in known for key in keys):
                continue
            known |= dict.fromkeys(keys, message)
            if not first:  # the first values are what goes in
                node = next((self._node_of[key] for key in keys if key in self._node_of), "agent")
                self.add_messages([message], place[-1].partition(":")[0] if place else node)
        if not place:
            self.has_begun = self.has_begun or not first
            self.state = {key: value for key, value in values.items() if key != "__interrupt__"}
            self.interrupts = [self._found(interrupt) for interrupt in values.get("__interrupt__") or ()]

    def _found(self, interrupt: object) -> tuple[str, object, ToolCall | None]:
        call = next((call for known, call in self._interrupted if known == interrupt), None)
        return str(getattr(interrupt, "id", "")), getattr(interrupt, "value", interrupt), call

    def add_messages(self, messages: Sequence[Any], author: str = "agent") -> None:
        """Add messages of the agent, unless they are there already (a graph inside another reports them too)."""
        from langchain_core.messages import convert_to_messages

        with self._lock:
            for message in convert_to_messages(list(messages)):
                if message.type == "human" and not message.name:
                    continue  # a node that speaks as the person would
                if message.id in self._told:
                    continue
                if not any(
                    earlier is message or (earlier.id and earlier.id == message.id) for earlier in self._messages()
                ):
                    self._events.append(Joined(message, message.name or author, time.time()))

    # From callbacks. An agent that is a tool is one call: what it does inside is no step, but its tokens count.

    def note_parent(self, run: object, parent: object) -> None:
        """Note which part of the agent started another one."""
        with self._lock:
            self._parents[run] = parent

    def _is_in_tool(self, place: tuple[str, ...]) -> bool:
        """True for a graph that a tool runs which is under way."""
        busy = {self._tool_at[run] for run, tool in self._tool_by_run.items() if not tool.ended}
        return any("|".join(place[:depth]) in busy for depth in range(1, len(place) + 1))

    def _is_below_tool(self, run: object) -> bool:
        above = self._parents.get(run)
        while above is not None and above not in self._tool_by_run:
            above = self._parents.get(above)
        return above is not None

    def begin_reply(self, run: object, parent: object) -> None:
        """Note that a model is called, and in which run of LangChain."""
        with self._lock:
            self._parents[run] = parent
            self.has_begun = True
            if len(self._reply_by_run) >= self.most:
                self.over = True
                raise StepLimitReached(f"more than {self.most} replies")
            self._reply_by_run[run] = LangchainReply(started=time.time(), clock=time.perf_counter())

    def end_reply(self, run: object, message: object, *, joins: bool) -> None:
        """Record the reply of a model; with `joins` it becomes a step, because no state of the graph contains it."""
        with self._lock:
            reply = self._reply_by_run.get(run)
            if reply is None:
                return
            reply.seconds, reply.ended = time.perf_counter() - reply.clock, True
            if message is not None:
                reply.message, reply.usage = message, usage_of(message)
                if joins and not self._is_below_tool(run):
                    self.add_messages([message])

    def begin_tool(
        self, run: object, name: str, inputs: object, text: str, call_id: str | None, place: str = ""
    ) -> None:
        """Note that a tool is called; `place` is its namespace in the graph."""
        with self._lock:
            self.has_begun = True
            if self._is_below_tool(run):
                return
            self._tool_at[run] = place
            call = call_of(name, inputs if isinstance(inputs, Mapping) else {"input": text}, call_id or f"run-{run}")
            self._tool_by_run[run] = tool = LangchainToolRun(call=call, started=time.time(), clock=time.perf_counter())
            self._events.append(tool)

    def end_tool(self, run: object, output: object, *, is_error: bool = False) -> None:
        with self._lock:
            tool = self._tool_by_run.get(run)
            if tool is not None:
                tool.seconds = time.perf_counter() - tool.clock
                tool.output, tool.is_error, tool.ended = output, is_error, True

    def interrupt_tool(self, run: object, interrupts: Sequence[object]) -> None:
        """Note that a tool stopped at these interrupts: it has no result, and runs again when the graph is resumed."""
        with self._lock:
            tool = self._tool_by_run.pop(run, None)
            if tool is not None:
                self._events.remove(tool)
                self._interrupted += [(interrupt, tool.call) for interrupt in interrupts]

    # What became of it.

    def steps(self) -> list[Step]:
        """Return everything so far as steps; tokens used for messages that never joined count at the last step."""
        with self._lock:
            for reply in self._reply_by_run.values():
                reply.counted = False
            steps = list(self._steps())
            rest = [reply.usage for reply in self._reply_by_run.values() if reply.ended and not reply.counted]
        if steps and rest:
            last = steps[-1]
            steps[-1] = msgspec.structs.replace(last, usage=sum(rest, last.usage or Usage()))
        return steps

    def _steps(self) -> Iterator[Step]:
        asked = self.asked
        answered = {message.tool_call_id for message in self._messages() if message.type == "tool"}
        runs_by_call: dict[str, list[LangchainToolRun]] = {}
        early: list[LangchainToolRun] = []  # that ran before the message that asks for them joined
        shown = {*self._asked}
        for event in self._events:
            if isinstance(event, LangchainToolRun):
                runs_by_call.setdefault(event.call.id, []).append(event)
                if event.call.id not in asked:  # called by a node itself, not by a model
                    yield Step(message=reply_message("", calls=[event.call]), started=event.started)
                elif event.call.id in answered:
                    continue  # its message says what it gave
                elif event.call.id not in shown:
                    early.append(event)
                    continue
                yield from _result_steps(event)
            elif event.message.type == "tool":
                runs = runs_by_call.get(event.message.tool_call_id)
                yield _message_step(event, runs.pop(0) if runs else None)
            else:
                yield self._reply_step(event)
                shown |= {call["id"] for call in getattr(event.message, "tool_calls", ())}
                for run in [run for run in early if run.call.id in shown]:
                    early.remove(run)
                    yield from _result_steps(run)

    def _reply_step(self, event: Joined) -> Step:
        message, stop, reply = to_message(event.message), stop_of(event.message), self._reply_of(event.message)
        if reply is None:
            return Step(message=message, author=event.author, started=event.at, stop=stop)
        reply.counted = True
        return Step(
            message=message,
            author=event.author,
            started=reply.started,
            seconds=reply.seconds,
            usage=reply.usage,
            stop=stop,
        )

    def _reply_of(self, message: Any) -> LangchainReply | None:
        """Return the call of a model that a message came from; nodes may put its text into a message of their own."""
        free = [reply for reply in self._reply_by_run.values() if reply.message is not None and not reply.counted]
        for reply in free:
            if reply.message is message or (message.id and reply.message.id == message.id):
                return reply
        return next(
            (reply for reply in free if message.content and reply.message.content == message.content),
            None,
        )


def handler_of(record: LangchainRecord, *, joins: bool = False) -> object:
    """Return callbacks that report every model and tool to a record, however deep inside."""
    from langchain_core.callbacks import BaseCallbackHandler

    class Handler(BaseCallbackHandler):
        run_inline = True
        raise_error = True  # for the step limit alone

        def on_chain_start(self, serialized: object, inputs: object, *, run_id: object, **given: object) -> None:
            record.note_parent(run_id, given.get("parent_run_id"))

        def on_chat_model_start(self, serialized: object, messages: object, *, run_id: object, **given: object) -> None:
            record.begin_reply(run_id, given.get("parent_run_id"))

        def on_llm_start(self, serialized: object, prompts: object, *, run_id: object, **given: object) -> None:
            record.begin_reply(run_id, given.get("parent_run_id"))

        def on_llm_end(self, response: Any, *, run_id: object, **_: object) -> None:
            generations = response.generations[0] if response.generations else ()
            record.end_reply(
                run_id, next((getattr(generation, "message", None) for generation in generations), None), joins=joins
            )

        def on_tool_start(self, serialized: Any, input_str: str, *, run_id: object, **given: Any) -> None:
            name = (serialized or {}).get("name") or given.get("name") or ""
            namespace = str((given.get("metadata") or {}).get("langgraph_checkpoint_ns") or "")
            record.note_parent(run_id, given.get("parent_run_id"))
            record.begin_tool(run_id, name, given.get("inputs"), input_str, given.get("tool_call_id"), namespace)

        def on_tool_end(self, output: object, *, run_id: object, **_: object) -> None:
            record.end_tool(run_id, output)

        def on_tool_error(self, error: BaseException, *, run_id: object, **_: object) -> None:
            if type(error).__name__ == "GraphInterrupt":
                record.interrupt_tool(run_id, [interrupt for argument in error.args for interrupt in argument])
            else:
                record.end_tool(run_id, f"{type(error).__name__}: {error}", is_error=True)

    return Handler()


def to_message(message: Any) -> Message:
    """Convert a message of LangChain to one of the assistant."""
    text, thoughts = _text(message.content)
    thought = getattr(message, "additional_kwargs", {}).get("reasoning_content")
    calls = [
        call_of(call["name"] or "", call["args"], call["id"] or "")
        for call in (*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ()))
    ]
    return reply_message(text, thoughts=[*thoughts, *([thought] if isinstance(thought, str) else [])], calls=calls)


def usage_of(message: object) -> Usage:
    used = getattr(message, "usage_metadata", None) or {}
    cache = used.get("input_token_details") or {}
    return Usage(
        input_tokens=used.get("input_tokens") or 0,
        output_tokens=used.get("output_tokens") or 0,
        cached_tokens=cache.get("cache_read") or 0,
        reasoning_tokens=(used.get("output_token_details") or {}).get("reasoning") or 0,
        requests=1,
        cache_write_tokens=cache.get("cache_creation") or 0,
    )


def stop_of(message: object) -> Stop:
    told = getattr(message, "response_metadata", None) or {}
    reason = told.get("finish_reason") or told.get("stop_reason")
    return STOP_BY_REASON.get(reason, "done") if isinstance(reason, str) else "done"


def input_of(runnable: Any, text: str, history: Sequence[object], new: Sequence[object]) -> object:
    """Return the input of a runnable: the text or the messages, alone or under the keys of its input schema.

    Raises:
        BadInput: it wants values we do not have.
    """
    try:
        schema = runnable.get_input_jsonschema()
    except Exception:  # noqa: BLE001 - no schema can be made of its types
        return text
    forms = [form.get("type") for form in (schema, *schema.get("anyOf", ())) if isinstance(form, Mapping)]
    if "object" not in forms[:1]:
        return [*history, *new] if "array" in forms else text
    keys = list(schema.get("properties", {}))
    if not keys:
        return {"input": text, "question": text, "messages": [*history, *new], "chat_history": list(history)}
    lists = [key for key in keys if key in HISTORY_KEYS or schema["properties"][key].get("type") == "array"]
    needed = [key for key in keys if key not in lists and key in schema.get("required", keys)]
    plain = needed if len(needed) == 1 else [key for key in keys if key in QUESTION_KEYS and key not in lists][:1]
    missing = [key for key in needed if key not in plain]
    if missing or len(lists) > 1 or not (plain or lists):
        raise BadInput(
            "The runnable wants {keys}; a turn has one text and the messages before it. Put a function in front of it that makes the rest.",
            keys=", ".join(keys),
        )
    return dict.fromkeys(plain, text) | dict.fromkeys(lists, list(history) if plain else [*history, *new])


def _message_step(event: Joined, run: LangchainToolRun | None) -> Step:
    message = event.message
    is_error = getattr(message, "status", "") == "error" or (run is not None and run.is_error)
    name = message.name or (run.call.name if run is not None else "")
    result = result_message(name, _text(message.content)[0], id=message.tool_call_id, is_error=is_error)
    if run is None:
        return Step(message=result, author="tool", started=event.at)
    return Step(message=result, author="tool", started=run.started, seconds=run.seconds)


def _result_steps(run: LangchainToolRun) -> Iterator[Step]:
    if run.ended:
        output = run.output
        content = _text(output.content)[0] if hasattr(output, "content") else output
        is_error = run.is_error or getattr(output, "status", "") == "error"
        message = result_message(run.call.name, content, id=run.call.id, is_error=is_error)
        yield Step(message=message, author="tool", started=run.started, seconds=run.seconds)


def _text(content: object) -> tuple[str, list[str]]:
    """Return the text in the content of a message, and the thoughts; other blocks (images) are left out."""
    if not isinstance(content, list):
        return as_text(content), []
    texts: list[str] = []
    thoughts: list[str] = []
    for block in content:
        match block:
            case str():
                texts.append(block)
            case {"text": str() as text, **rest} if rest.get("type", "text") in ("text", "output_text"):
                texts.append(text)
            case {"type": "thinking" | "reasoning"}:
                summary = block.get("summary")
                pieces = [block.get("thinking") or block.get("reasoning") or block.get("text")]
                pieces += [part.get("text") for part in summary] if isinstance(summary, list) else []
                thoughts.extend(piece for piece in pieces if isinstance(piece, str))
    return "".join(texts), thoughts


def _keys(message: object) -> Iterator[object]:
    """Yield what identifies a message: itself, and its id, which may be assigned later."""
    if message is not None:
        yield id(message)
        own_id = message.get("id") if isinstance(message, Mapping) else getattr(message, "id", None)
        if own_id:
            yield own_id
