"""One conversation out of its spans: whose turn it was, which calls were made, what came back.

What a call of a model was sent holds all that was said before it, so messages that are not yet known are taken from there:
the words of the user, results of tools, and turns whose own spans were lost. A turn begins with words of the user; within
one run of an agent only its first call can bring them, and below a tool none.
"""

from collections.abc import Iterator, Sequence

import msgspec

from proctor.core.digest import digest
from proctor.core.sample import Message, Part, ToolCall, ToolResult
from proctor.core.trajectory import Step, Stop, Trajectory, Usage
from proctor.traces.attributes import at, items, text
from proctor.traces.context import Placed
from proctor.traces.messages import behind, joined
from proctor.traces.openinference import covers_run
from proctor.trajectory_matching.arguments import canonical

CONTEXT = "For context:"  # how ADK tells an agent what others said, as a message of the user
STOPS: dict[str, Stop] = {
    "length": "length", "max_tokens": "length", "max_output_tokens": "length",
    "content_filter": "filtered", "safety": "filtered", "refusal": "refused",
}  # fmt: skip


class _Made:
    """A call that was made, and whether its tool was seen running and its result is known."""

    def __init__(self, call: ToolCall, turn: int, *, by_span: bool) -> None:
        self.call, self.turn, self.by_span = call, turn, by_span
        self.running = by_span
        self.answered = False


class Talk:
    """A conversation as it is put together; `users` holds None for a turn whose question is not known."""

    def __init__(self) -> None:
        self.users: list[Message | None] = []
        self.steps: list[Step] = []
        self.seen = False
        self.failed: str | None = None
        self._last: tuple[Placed, Message] | None = None
        self._made: list[_Made] = []  # of the turn under way
        self._by_id: dict[str, _Made] = {}
        self._known: set[str] = set()
        self._units: set[tuple[str, str]] = set()
        self._opened_by = ""
        self._running: dict[int, _Made] = {}

    def add(self, spans: Sequence[Placed]) -> None:
        """The spans of a trace that belong to it."""
        for what, one in _in_time(spans):
            match what:
                case "opened":
                    self._opened(one)
                case "asked":
                    self._asked(one)
                case "began":
                    self._began(one)
                case "ended":
                    self._ended(one)
                case "closed":
                    self._closed(one)

    @property
    def trajectory(self) -> Trajectory:
        """What the agent did. Without a call of a model or a tool in it, nobody knows whether tools were called."""
        return Trajectory(steps=tuple(self.steps), tools="native" if self.seen else "text")

    def end(self) -> str:
        """What had been said at its end, for a trace that goes on from there; '' where nothing is known."""
        if self._last is None:
            return ""
        one, said = self._last
        return history(joined([*one.sent, said]))

    def unanswered(self) -> bool:
        """Whether a turn has no answer."""
        answered = {step.turn for step in self.steps if step.message.role == "assistant" and step.message.text.strip()}
        return any(turn not in answered for turn in range(len(self.users)))

    def _opened(self, one: Placed) -> None:
        """Begin the turn of a run that is told by its last call only."""
        words = next((message for message in reversed(one.sent) if message.role == "user"), None)
        if words is not None and not one.below_tool:
            self._open([words], one)

    def _asked(self, one: Placed) -> None:
        if one.below_tool:  # what an agent says that is a tool is told by the result of the tool; its tokens count
            if one.usage != Usage():
                self._say(Message(role="assistant"), one, usage=msgspec.structs.replace(one.usage, requests=1))
            return
        said = one.said
        self._heard(one)
        self.failed = one.span.failed if said is None else None
        if said is None and one.usage == Usage():
            return
        if said is not None:
            self.seen = True
            self._known.add(_mark(said))
            self._last = one, said
        else:
            said = Message(role="assistant")
        self._say(said, one, usage=msgspec.structs.replace(one.usage, requests=1), stop=_stop(one))

    def _heard(self, one: Placed) -> None:
        """What is new in what a model was sent: behind the last message of the assistant that is known."""
        said, sent = behind(one.raw, lambda message: _mark(message) in self._known)
        fresh = not one.below_tool and self._is_first(one)
        speaks = fresh or not (one.below_tool or _unit(one))
        tail = next((place + 1 for place in reversed(range(len(sent))) if sent[place].role != "user"), 0)
        if (said is None and self.users) or one.below_tool:  # another view of what was said before
            self._results([part for message in sent for part in message.parts if isinstance(part, ToolResult)])
        else:
            self._caught_up(one, sent[:tail], speaks=speaks)
        words = sent[tail:]
        before = sent[tail - 1] if tail else said
        if words and before is not None and before.calls:  # behind calls only their results can stand
            self._results([ToolResult(name="", content=message.text) for message in words])
        elif words and speaks:
            told = self._asked_of(one) if fresh else ""
            own = [message for message in words if not message.text.startswith(CONTEXT)]
            self._open([Message.of("user", told)] if told else own or words, one)
        elif fresh and not one.raw and (told := self._asked_of(one)):
            self._open([Message.of("user", told)], one)

    def _caught_up(self, one: Placed, sent: Sequence[Message], *, speaks: bool) -> None:
        """Earlier messages whose own spans are not there."""
        words: list[Message] = []
        for message in sent:
            if message.role == "user":
                words.append(message)
                continue
            if words and speaks:
                self._open(words, one)
            words = []
            self._remember(message, one)

    def _asked_of(self, one: Placed) -> str:
        """What the outermost run of an agent, or step of a program, says it was asked."""
        asked = one.chain.asked if one.chain is not None else ""
        here: Placed | None = one
        while here is not None:
            if here.kind == "agent" and here.asked:
                asked = here.asked
            here = here.outer
        return asked

    def _is_first(self, one: Placed) -> bool:
        unit = (one.span.trace, _unit(one))
        fresh = unit not in self._units
        self._units.add(unit)
        return fresh

    def _open(self, words: Sequence[Message], one: Placed) -> None:
        message = Message(role="user", parts=tuple(part for word in words for part in word.parts))
        now = self.users[-1] if self.users else None
        if self.users and now is None and self._opened_by == one.span.trace:
            self.users[-1] = message
            return
        silent = bool(self.users) and not any(step.turn == len(self.users) - 1 for step in self.steps)
        same = now is not None and now.text.strip() == message.text.strip()
        if not (same and (silent or self._opened_by == one.span.trace)):
            self.users.append(message)
            self._made = []
        self._opened_by = one.span.trace

    def _turn(self, one: Placed) -> int:
        """The turn that is under way; one without a question where none was heard."""
        if not self.users:
            asked = self._asked_of(one)
            self.users.append(Message.of("user", asked) if asked else None)
            self._opened_by = one.span.trace
        return len(self.users) - 1

    def _remember(self, message: Message, one: Placed) -> None:
        """A message of the assistant or a tool that was said before, and whose own span is not there."""
        if message.role == "tool":
            self._results([part for part in message.parts if isinstance(part, ToolResult)])
            return
        self._known.add(_mark(message))
        self.seen = True
        parts: list[Part] = []
        for part in message.parts:
            told = self._claimed(part) if isinstance(part, ToolCall) else None
            if told is None:
                parts.append(part)
        if parts:
            self._say(Message(role="assistant", parts=tuple(parts)), one, timed=False)

    def _claimed(self, call: ToolCall) -> _Made | None:
        """The call, where it was first seen as a running tool."""
        for made in self._made:
            if made.by_span and _fits(made.call, call):
                made.by_span = False
                return made
        return None

    def _say(
        self, message: Message, one: Placed, *, usage: Usage | None = None, stop: Stop = "done", timed: bool = True
    ) -> None:
        turn = self._turn(one)
        start, end = (one.span.start, one.span.end) if timed else (0.0, 0.0)
        self.steps.append(
            Step(
                message=message,
                turn=turn,
                author=one.agent or "agent",
                started=start,
                seconds=end - start,
                usage=usage,
                stop=stop,
            )
        )
        for call in message.calls:
            made = _Made(call, turn, by_span=False)
            self._made.append(made)
            if call.id:
                self._by_id[call.id] = made

    def _began(self, one: Placed) -> None:
        ran = one.ran
        assert ran is not None
        self.seen = True
        made = self._waiting(ran.call)
        if made is None:
            self._say(Message(role="assistant", parts=(ran.call,)), one)
            self.steps[-1] = msgspec.structs.replace(self.steps[-1], seconds=0.0)
            made = self._made[-1]
            made.by_span = True
        made.running = True
        self._running[id(one)] = made

    def _waiting(self, call: ToolCall) -> _Made | None:
        """The call of a model that a running tool belongs to: by id, else by arguments, else the first of that name."""
        if call.id and (made := self._by_id.get(call.id)) is not None and not made.running:
            return made
        waiting = [made for made in self._made if not made.running and made.call.name == call.name]
        wanted = canonical(call.arguments) if call.raw is None else None
        for made in waiting if len(waiting) > 1 else ():
            values = made.call.arguments.values()
            if canonical(made.call.arguments) == wanted if call.raw is None else call.raw in values:
                return made
        return next(iter(waiting), None)

    def _ended(self, one: Placed) -> None:
        made, ran = self._running.pop(id(one), None), one.ran
        if made is None or ran is None or made.answered or (ran.result is None and one.span.failed is None):
            return
        made.answered = True
        result = ToolResult(
            name=made.call.name,
            content=ran.result if ran.result is not None else one.span.failed or "",
            id=made.call.id,
            is_error=one.span.failed is not None,
        )
        self._result(result, made, started=one.span.start, seconds=one.span.end - one.span.start)

    def _results(self, results: Sequence[ToolResult]) -> None:
        """Results as the model was told them; those that a tool's own span told are known."""
        for result in results:
            made = self._by_id.get(result.id)
            if made is None and not (result.id and self._by_id):
                fitting = (one for one in self._made if not one.answered and result.name in ("", one.call.name))
                made = next(fitting, None)
            if made is not None and not made.answered:
                made.answered = True
                self._result(msgspec.structs.replace(result, name=made.call.name, id=made.call.id), made)

    def _result(self, result: ToolResult, made: _Made, *, started: float = 0.0, seconds: float = 0.0) -> None:
        message = Message(role="tool", parts=(result,))
        self.steps.append(Step(message=message, turn=made.turn, author="tool", started=started, seconds=seconds))

    def _closed(self, one: Placed) -> None:
        """The end of a run of an agent: what it answered, where no call of a model told."""
        turn = self._turn(one)
        if not any(step.turn == turn and step.message.role == "assistant" and step.message.text for step in self.steps):
            answer = one.answered
            if answer:
                self._say(Message.of("assistant", answer), one, timed=not self.steps)
            elif one.span.failed is not None:
                self.failed = one.span.failed


def _in_time(spans: Sequence[Placed]) -> Iterator[tuple[str, Placed]]:
    """What happened, one after the other; in the order of the file where a time is missing."""
    relevant = [one for one in spans if one.kind]
    timed = all(one.span.start for one in relevant)
    events: list[tuple[float, int, int, str, Placed]] = []
    for one in relevant:
        start, end = (one.span.start, one.span.end) if timed else (float(one.order), float(one.order))
        if one.kind == "model" and not _within(one, "model"):
            if covers_run(one.span):  # the last of its calls came after the tools
                events.append((start, 2, one.order, "opened", one))
                events.append((end, 2, one.order, "asked", one))
            else:
                events.append((start, 2, one.order, "asked", one))
        elif one.kind == "tool" and one.ran is not None and not one.below_tool:
            events.append((start, 3, one.order, "began", one))
            events.append((end, 1 if end > start else 4, one.order, "ended", one))
        elif (one.kind == "agent" and one.unit == one.span.id) or one.chain is one:
            events.append((end, 5, one.order, "closed", one))
    for _, _, _, what, one in sorted(events, key=lambda event: event[:3]):
        yield what, one


def _within(one: Placed, kind: str) -> bool:
    return one.outer is not None and one.outer.kind == kind


def _unit(one: Placed) -> str:
    return one.unit or (one.chain.span.id if one.chain is not None else "")


def _fits(made: ToolCall, call: ToolCall) -> bool:
    return made.name == call.name and (made.id == call.id or canonical(made.arguments) == canonical(call.arguments))


def _mark(message: Message) -> str:
    """The same for a message as it was said and as it was sent later."""
    return digest([message.text.strip(), [(call.name, call.arguments, call.raw) for call in message.calls]])


def history(messages: Sequence[Message]) -> str:
    """The same for equal conversations so far."""
    results = [[part.content for part in message.parts if isinstance(part, ToolResult)] for message in messages]
    return digest([(message.role, _mark(message), found) for message, found in zip(messages, results, strict=True)])


def _stop(one: Placed) -> Stop:
    attributes = one.span.attributes
    given = at(attributes, "gen_ai.response.finish_reasons")
    reasons = [
        *items(given),
        text(attributes, "gen_ai.response.finish_reason", "llm.finish_reason", "gen_ai.completion.0.finish_reason"),
    ]
    return next((STOPS[word] for reason in reasons if (word := str(reason).lower()) in STOPS), "done")
