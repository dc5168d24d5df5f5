"""Where each span stands: in which conversation, in which run of an agent, below which tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec.structs import replace

from proctor.core.sample import Message
from proctor.core.trajectory import Usage
from proctor.traces import adk, genai, openinference
from proctor.traces.attributes import identity
from proctor.traces.messages import joined, message
from proctor.traces.span import Dialect, Kind, Ran
from proctor.traces.span_files import Span

DIALECTS: Sequence[Dialect] = (openinference, genai, adk)
LOOKED_FOR = ", ".join(one.LOOKED_FOR for one in (genai, openinference, adk))
CONVERSATION = (
    "gen_ai.conversation.id",
    "session.id",
    "gen_ai.session.id",
    "gcp.vertex.agent.session_id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
)
AGENT = ("gen_ai.agent.name", "agent.name", "agent_name", "graph.node.id", "traceloop.entity.name")

Key = tuple[str, str]


@dataclass(kw_only=True, eq=False)
class Placed:
    """A span with its place.

    outer: the nearest span around it that is of a model, a tool, an agent or a chain. unit: the outermost run of an agent
    that it belongs to, '' where there is none. chain: the outermost step of a program that tells what it was asked and
    answered. talk: the id of the conversation, '' where none is told.
    """

    span: Span
    kind: Kind
    order: int
    outer: "Placed | None" = None
    unit: str = ""
    chain: "Placed | None" = None
    below_tool: bool = False
    agent: str = ""
    talk: str = ""

    @cached_property
    def raw(self) -> list[object]:
        """What a model was sent, as the span has it."""
        told = (dialect.sent(self.span) for dialect in DIALECTS)
        return next((found for found in told if any(message(one) is not None for one in reversed(found))), [])

    @cached_property
    def sent(self) -> list[Message]:
        """What a model was sent, without system messages."""
        read = (message(one) for one in self.raw)
        return joined(one for one in read if one is not None and one.role != "system")

    @cached_property
    def said(self) -> Message | None:
        """What it said."""
        found = next((found for dialect in DIALECTS if (found := dialect.said(self.span))), [])
        return next((one for one in joined(found) if one.role == "assistant"), None)

    @cached_property
    def usage(self) -> Usage:
        """The tokens it took."""
        used = [dialect.usage(self.span) for dialect in DIALECTS]
        return next((one for one in used if one != Usage()), Usage())

    @cached_property
    def ran(self) -> Ran | None:
        """The call of a tool; what one dialect leaves out another may tell."""
        found = [one for dialect in DIALECTS if dialect.kind(self.span) == "tool" and (one := dialect.ran(self.span))]
        if not found:
            return None
        best = next((one for one in found if one.told), found[0])
        result = next((one.result for one in found if one.result is not None), None)
        return replace(best, result=result)

    @cached_property
    def asked(self) -> str:
        """What an agent was asked, as far as its own span tells."""
        return next((found for dialect in DIALECTS if (found := dialect.asked(self.span).strip())), "")

    @cached_property
    def answered(self) -> str:
        """What it answered."""
        return next((found for dialect in DIALECTS if (found := dialect.answered(self.span).strip())), "")


def kind_of(span: Span) -> Kind:
    """What a span is of, by the first dialect that knows it."""
    return next((found for dialect in DIALECTS if (found := dialect.kind(span))), "")


def placed(spans: Sequence[Span]) -> list[Placed]:
    """The spans of one trace, each with its place; a span that came twice stands once."""
    by_id: dict[str, Placed] = {}
    found: list[Placed] = []
    for order, span in enumerate(spans):
        one = Placed(span=span, kind=kind_of(span), order=order)
        if span.id and span.id in by_id:
            continue
        if span.id:
            by_id[span.id] = one
        found.append(one)
    done: set[int] = set()
    for one in found:
        _place(one, by_id, done)
    ids = {one.talk for one in found if one.talk}
    if len(ids) == 1:
        for one in found:
            one.talk = one.talk or next(iter(ids))
    return found


def _place(one: Placed, by_id: Mapping[str, Placed], done: set[int]) -> None:
    """Place a span below its parent, which is placed before it; a circle of parents is cut."""
    way = [one]
    seen = {id(one)}
    while (parent := by_id.get(way[-1].span.parent)) is not None and id(parent) not in seen and id(parent) not in done:
        way.append(parent)
        seen.add(id(parent))
    for here in reversed(way):
        if id(here) not in done:
            parent = by_id.get(here.span.parent)
            _below(here, parent if parent is not None and id(parent) in done else None)
            done.add(id(here))


def _below(one: Placed, parent: Placed | None) -> None:
    attributes = one.span.attributes
    if parent is not None:
        one.outer = parent if parent.kind else parent.outer
        one.unit, one.chain, one.agent, one.talk = parent.unit, parent.chain, parent.agent, parent.talk
        one.below_tool = parent.below_tool or parent.kind == "tool"
    if not (one.below_tool and one.talk):  # an agent that is a tool has a session of its own
        one.talk = identity(attributes, *CONVERSATION) or one.talk
    if one.kind == "agent":
        one.agent = identity(attributes, *AGENT) or one.span.name
    elif not one.agent:
        one.agent = identity(attributes, *AGENT[:3])
    if one.kind == "agent" and not one.unit and not one.below_tool:
        one.unit = one.span.id
    elif one.kind == "chain" and one.chain is None and one.asked and one.answered:
        one.chain = one
    if not one.span.id:  # as little as VeADK's files need to hold: the spans of a trace are one turn
        one.unit = "trace"
