"""Rebuild one conversation from its spans: turns, calls and their results.

The prompt of a model call holds all that was said before it, so messages that are not yet known are taken from there: the words
of the user, results of tools, and turns whose own spans were lost. A turn begins with words of the user; within one run of an
agent only its first model call can bring them, and below a tool none.
"""

from collections.abc import Iterator, Sequence

import msgspec

from proctor.core.digest import digest
from proctor.core.sample import Message, ToolCall, ToolResult
from proctor.core.trajectory import Step, Stop, Trajectory, Usage
from proctor.trajectory_matching.arguments import canonical
from proctor_adapters.traces.attributes import at, items, text
from proctor_adapters.traces.dialects import covers_run
from proctor_adapters.traces.messages import join_replies, split_at_known
from proctor_adapters.traces.span_tree import Node

CONTEXT = "For context:"  # how ADK tells an agent what others said, as a message of the user
STOPS: dict[str, Stop] = {
    "length": "length", "max_tokens": "length", "max_output_tokens": "length",
    "content_filter": "filtered", "safety": "filtered", "refusal": "refused",
}  # fmt: skip


class _Call:
    """A tool call of the conversation: whether only its own span recorded it, whether it runs, whether its result is known."""

    def __init__(self, call: ToolCall, turn: int) -> None:
        self.call, self.turn = call, turn
        self.by_span = self.running = self.answered = False
        self.step: int | None = None  # where its result is


class Dialogue:
    """A conversation while it is rebuilt; `users` holds None for a turn whose question is unknown."""

    def __init__(self) -> None:
        self.users: list[Message | None] = []
        self.steps: list[Step] = []
        self.seen = False
        self.failed: str | None = None
        self._last: tuple[Node, Message] | None = None
        self._calls: list[_Call] = []  # of the turn under way
        self._by_id: dict[str, _Call] = {}
        self._known: set[str] = set()
        self._units: set[tuple[str, str]] = set()
        self._opened_by = ""
        self._running: dict[int, _Call] = {}

    def add(self, spans: Sequence[Node]) -> None:
        """Add the spans of one trace."""
        handle = {
            "run begins": self._open_run,
            "model": self._add_model_call,
            "tool begins": self._begin_tool,
            "tool ends": self._end_tool,
            "agent ends": self._end_agent,
        }
        for event, node in _in_time(spans):
            handle[event](node)

    @property
    def trajectory(self) -> Trajectory:
        """The agent's steps. Without a call of a model or a tool in the trace, it is unknown whether tools were called."""
        return Trajectory(steps=tuple(self.steps), tools="native" if self.seen else "text")

    def end(self) -> str:
        """Return a digest of all messages, by which a later trace continues this one; '' without messages."""
        if self._last is None:
            return ""
        node, reply = self._last
        return history(join_replies([*node.prompt, reply]))

    def is_unanswered(self) -> bool:
        """True if a turn has no answer."""
        answered = {step.turn for step in self.steps if step.message.role == "assistant" and step.message.text.strip()}
        return any(turn not in answered for turn in range(len(self.users)))

    def _open_run(self, node: Node) -> None:
        """Begin the turn of a run that only its last model call records."""
        words = next((message for message in reversed(node.prompt) if message.role == "user"), None)
        if words is not None and not node.below_tool:
            self._open([words], node)

    def _add_model_call(self, node: Node) -> None:
        used = node.usage != Usage()
        usage = msgspec.structs.replace(node.usage, requests=1)
        if node.below_tool:  # the result of the tool has the words of an agent that is a tool; its tokens count
            if used:
                self._say(Message(role="assistant"), node, usage=usage)
            return
        reply = node.reply
        self._read_prompt(node)
        self.failed = node.span.failed if reply is None else None
        if reply is not None:
            self.seen = True
            self._known.add(_mark(reply))
            self._last = node, reply
        if reply is not None or used:
            self._say(reply or Message(role="assistant"), node, usage=usage, stop=_stop(node))

    def _read_prompt(self, node: Node) -> None:
        """Take what is new in a prompt: all after the last message of the assistant that is known."""
        known, sent = split_at_known(node.raw_prompt, lambda message: _mark(message) in self._known)
        fresh = self._is_first(node)
        speaks = fresh or not _unit(node)
        tail = next((index + 1 for index in reversed(range(len(sent))) if sent[index].role != "user"), 0)
        if known is None and self.users:  # another view of what was said before
            self._add_results([part for message in sent for part in message.parts if isinstance(part, ToolResult)])
        else:
            self._catch_up(node, sent[:tail], speaks=speaks)
        words = sent[tail:]
        before = sent[tail - 1] if tail else known
        if words and before is not None and before.calls:  # after calls there can only be their results
            self._add_results([ToolResult(name="", content=message.text) for message in words])
        elif fresh and (words or not node.raw_prompt) and (question := self._question_of(node)):
            self._open([Message.of("user", question)], node)
        elif words and speaks:
            self._open([message for message in words if not message.text.startswith(CONTEXT)] or words, node)

    def _catch_up(self, node: Node, sent: Sequence[Message], *, speaks: bool) -> None:
        """Add earlier messages whose own spans are missing."""
        words: list[Message] = []
        for message in sent:
            if message.role == "user":
                words.append(message)
                continue
            if words and speaks:
                self._open(words, node)
            words = []
            self._remember(message, node)

    def _question_of(self, node: Node) -> str:
        """Return what the outermost run of an agent, or step of a program, records as its question."""
        question = node.chain.question if node.chain is not None else ""
        here: Node | None = node
        while here is not None:
            if here.kind == "agent" and here.question:
                question = here.question
            here = here.outer
        return question

    def _is_first(self, node: Node) -> bool:
        unit = (node.span.trace, _unit(node))
        fresh = unit not in self._units
        self._units.add(unit)
        return fresh

    def _open(self, words: Sequence[Message], node: Node) -> None:
        message = Message(role="user", parts=tuple(part for word in words for part in word.parts))
        now = self.users[-1] if self.users else None
        if self.users and now is None and self._opened_by == node.span.trace:
            self.users[-1] = message
            return
        silent = bool(self.users) and not any(step.turn == len(self.users) - 1 for step in self.steps)
        same = now is not None and now.text.strip() == message.text.strip()
        if not (same and (silent or self._opened_by == node.span.trace)):
            self.users.append(message)
            self._calls = []
        self._opened_by = node.span.trace

    def _turn(self, node: Node) -> int:
        """Return the turn under way; begin one where there is none, without a question if none is recorded."""
        if not self.users:
            question = self._question_of(node)
            self.users.append(Message.of("user", question) if question else None)
            self._opened_by = node.span.trace
        return len(self.users) - 1

    def _remember(self, message: Message, node: Node) -> None:
        """Add an earlier message of the assistant or a tool whose own span is missing."""
        if message.role == "tool":
            self._add_results([part for part in message.parts if isinstance(part, ToolResult)])
            return
        self._known.add(_mark(message))
        self.seen = True
        if parts := tuple(part for part in message.parts if not (isinstance(part, ToolCall) and self._claims(part))):
            self._say(Message(role="assistant", parts=parts), node, timed=False)

    def _claims(self, call: ToolCall) -> bool:
        """True if the call was first seen as a running tool, which now has the message it belongs to."""
        for known in self._calls:
            if known.by_span and _fits(known.call, call):
                known.by_span = False
                return True
        return False

    def _say(
        self, message: Message, node: Node, *, usage: Usage | None = None, stop: Stop = "done", timed: bool = True
    ) -> None:
        turn = self._turn(node)
        author, start = node.agent or "agent", node.span.start if timed else 0.0
        seconds = node.span.end - start if timed else 0.0
        self.steps.append(
            Step(message=message, turn=turn, author=author, started=start, seconds=seconds, usage=usage, stop=stop)
        )
        for call in message.calls:
            self._calls.append(_Call(call, turn))
            if call.id:
                self._by_id[call.id] = self._calls[-1]

    def _begin_tool(self, node: Node) -> None:
        if node.tool_run is None:
            return
        self.seen = True
        call = self._waiting(node.tool_run.call)
        if call is None:
            self._say(Message(role="assistant", parts=(node.tool_run.call,)), node)
            self.steps[-1] = msgspec.structs.replace(self.steps[-1], seconds=0.0)
            call = self._calls[-1]
            call.by_span = True
        call.running = True
        self._running[id(node)] = call

    def _waiting(self, call: ToolCall) -> _Call | None:
        """Return the call of a model that a running tool belongs to: by id, else by arguments, else the first of that name."""
        if call.id and (known := self._by_id.get(call.id)) is not None and not known.running:
            return known
        waiting = [known for known in self._calls if not known.running and known.call.name == call.name]
        wanted = canonical(call.arguments) if call.raw is None else None
        for known in waiting if len(waiting) > 1 else ():
            arguments = known.call.arguments
            if canonical(arguments) == wanted if call.raw is None else call.raw in arguments.values():
                return known
        return next(iter(waiting), None)

    def _end_tool(self, node: Node) -> None:
        call, run, failed = self._running.pop(id(node), None), node.tool_run, node.span.failed
        if call is None or run is None or (run.result is None and failed is None):
            return
        content = run.result if run.result is not None else failed or ""
        result = ToolResult(name=call.call.name, content=content, id=call.call.id, is_error=failed is not None)
        self._answer(call, result, started=node.span.start, seconds=node.span.end - node.span.start)

    def _add_results(self, results: Sequence[ToolResult]) -> None:
        """Add results out of a prompt; those that a tool's own span recorded are known."""
        for result in results:
            call = self._by_id.get(result.id)
            if call is None and not (result.id and self._by_id):
                fitting = (one for one in self._calls if not one.answered and result.name in ("", one.call.name))
                call = next(fitting, None)
            if call is not None:
                self._answer(call, msgspec.structs.replace(result, name=call.call.name, id=call.call.id))

    def _answer(self, call: _Call, result: ToolResult, *, started: float = 0.0, seconds: float = 0.0) -> None:
        if not call.answered:
            call.answered, call.step = True, len(self.steps)
            message = Message(role="tool", parts=(result,))
            self.steps.append(Step(message=message, turn=call.turn, author="tool", started=started, seconds=seconds))
        elif result.files and call.step is not None:  # the tool's own span has its text only
            step = self.steps[call.step]
            parts = (
                msgspec.structs.replace(part, files=result.files) if isinstance(part, ToolResult) else part
                for part in step.message.parts
            )
            self.steps[call.step] = msgspec.structs.replace(step, message=Message(role="tool", parts=tuple(parts)))

    def _end_agent(self, node: Node) -> None:
        """Add what a run of an agent answered, where no model call recorded it."""
        turn = self._turn(node)
        if not any(step.turn == turn and step.message.role == "assistant" and step.message.text for step in self.steps):
            if node.answer:
                self._say(Message.of("assistant", node.answer), node, timed=not self.steps)
            elif node.span.failed is not None:
                self.failed = node.span.failed


def _in_time(spans: Sequence[Node]) -> Iterator[tuple[str, Node]]:
    """Yield the events in chronological order; in the order of the file where a time is missing."""
    relevant = [node for node in spans if node.kind]
    timed = all(node.span.start for node in relevant)
    events: list[tuple[float, int, int, str, Node]] = []
    for node in relevant:
        order = node.order
        start, end = (node.span.start, node.span.end) if timed else (float(order), float(order))
        if node.kind == "model" and not (node.outer is not None and node.outer.kind == "model"):
            if covers_run(node.span):  # the last of its calls came after the tools
                events.append((start, 2, order, "run begins", node))
                start = end
            events.append((start, 2, order, "model", node))
        elif node.kind == "tool" and node.tool_run is not None and not node.below_tool:
            events.append((start, 3, order, "tool begins", node))
            events.append((end, 1 if end > start else 4, order, "tool ends", node))
        elif (node.kind == "agent" and node.unit == node.span.id) or node.chain is node:
            events.append((end, 5, order, "agent ends", node))
    for _, _, _, event, node in sorted(events, key=lambda event: event[:3]):
        yield event, node


def _unit(node: Node) -> str:
    return node.unit or (node.chain.span.id if node.chain is not None else "")


def _fits(known: ToolCall, call: ToolCall) -> bool:
    return known.name == call.name and (known.id == call.id or canonical(known.arguments) == canonical(call.arguments))


def _mark(message: Message) -> str:
    """Return a digest that is equal for a message as it was said and as it was sent later."""
    return digest([message.text.strip(), [(call.name, call.arguments, call.raw) for call in message.calls]])


def history(messages: Sequence[Message]) -> str:
    """Return a digest that is equal for equal conversations."""
    results = [[part.content for part in message.parts if isinstance(part, ToolResult)] for message in messages]
    return digest([(message.role, _mark(message), texts) for message, texts in zip(messages, results, strict=True)])


def _stop(node: Node) -> Stop:
    attributes = node.span.attributes
    reasons = [
        *items(at(attributes, "gen_ai.response.finish_reasons")),
        text(attributes, "gen_ai.response.finish_reason", "llm.finish_reason", "gen_ai.completion.0.finish_reason"),
    ]
    return next((STOPS[word] for reason in reasons if (word := str(reason).lower()) in STOPS), "done")
