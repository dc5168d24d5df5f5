"""Place the spans of a trace: in which conversation each is, in which run of an agent, and below which tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from proctor.core.sample import Message
from proctor.core.trajectory import Usage
from proctor_adapters.traces import dialects
from proctor_adapters.traces.attributes import identity
from proctor_adapters.traces.dialects import Kind, TracedToolRun
from proctor_adapters.traces.messages import join_replies, message
from proctor_adapters.traces.span_files import TraceSpan

CONVERSATION = (
    "gen_ai.conversation.id",
    "session.id",
    "gen_ai.session.id",
    "gcp.vertex.agent.session_id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
)
AGENT = ("gen_ai.agent.name", "agent.name", "agent_name", "graph.node.id", "traceloop.entity.name")


@dataclass(kw_only=True, eq=False)
class Node:
    """A span within its trace.

    outer: the nearest span around it that is of a model, a tool, an agent or a chain. unit: the outermost run of an agent
    that it belongs to, '' where there is none. chain: the outermost step of a program that records what it was asked and
    answered. conversation: its id, '' where none is recorded.
    """

    span: TraceSpan
    kind: Kind
    order: int
    outer: "Node | None" = None
    unit: str = ""
    chain: "Node | None" = None
    below_tool: bool = False
    agent: str = ""
    conversation: str = ""

    @cached_property
    def raw_prompt(self) -> list[object]:
        return dialects.prompt_of(self.span)

    @cached_property
    def prompt(self) -> list[Message]:
        """The messages sent to a model, without system messages."""
        read = (message(raw) for raw in self.raw_prompt)
        return join_replies(each for each in read if each is not None and each.role != "system")

    @cached_property
    def reply(self) -> Message | None:
        return next(
            (each for each in join_replies(dialects.reply_of(self.span)) if each.role == "assistant"),
            None,
        )

    @cached_property
    def usage(self) -> Usage:
        return dialects.usage_of(self.span)

    @cached_property
    def tool_run(self) -> TracedToolRun | None:
        return dialects.tool_run_of(self.span) if self.kind == "tool" else None

    @cached_property
    def question(self) -> str:
        return dialects.question_of(self.span)

    @cached_property
    def answer(self) -> str:
        return dialects.answer_of(self.span)


def place_spans(spans: Sequence[TraceSpan]) -> list[Node]:
    """Add the spans of one trace to the tree; of a span that occurs twice, the first counts."""
    by_id: dict[str, Node] = {}
    nodes: list[Node] = []
    for order, span in enumerate(spans):
        if span.id and span.id in by_id:
            continue
        node = Node(span=span, kind=dialects.kind_of(span), order=order)
        if span.id:
            by_id[span.id] = node
        nodes.append(node)
    done: set[int] = set()
    for node in nodes:
        _place(node, by_id, done)
    ids = {node.conversation for node in nodes if node.conversation}
    if len(ids) == 1:
        for node in nodes:
            node.conversation = node.conversation or next(iter(ids))
    return nodes


def _place(node: Node, by_id: Mapping[str, Node], done: set[int]) -> None:
    """Place a span below its parent, which is placed before it; a circle of parents is cut."""
    path = [node]
    seen = {id(node)}
    while (parent := by_id.get(path[-1].span.parent)) is not None and id(parent) not in seen and id(parent) not in done:
        path.append(parent)
        seen.add(id(parent))
    for here in reversed(path):
        if id(here) not in done:
            parent = by_id.get(here.span.parent)
            _inherit(here, parent if parent is not None and id(parent) in done else None)
            done.add(id(here))


def _inherit(node: Node, parent: Node | None) -> None:
    attributes = node.span.attributes
    if parent is not None:
        node.outer = parent if parent.kind else parent.outer
        node.unit, node.chain, node.agent, node.conversation = (
            parent.unit,
            parent.chain,
            parent.agent,
            parent.conversation,
        )
        node.below_tool = parent.below_tool or parent.kind == "tool"
    if not (node.below_tool and node.conversation):  # an agent that is a tool has a session of its own
        node.conversation = identity(attributes, *CONVERSATION) or node.conversation
    if node.kind == "agent":
        node.agent = identity(attributes, *AGENT) or node.span.name
    elif not node.agent:
        node.agent = identity(attributes, *AGENT[:3])
    if node.kind == "agent" and not node.unit and not node.below_tool:
        node.unit = node.span.id
    elif node.kind == "chain" and node.chain is None and node.question and node.answer:
        node.chain = node
    if not node.span.id:  # as little as VeADK's files need to hold: the spans of a trace are one turn
        node.unit = "trace"
