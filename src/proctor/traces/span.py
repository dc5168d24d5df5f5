"""What one span tells, in no dialect."""

from typing import Literal, Protocol

import msgspec

from proctor.core.sample import Message, ToolCall
from proctor.core.trajectory import Usage
from proctor.traces.span_files import Span

Kind = Literal["model", "tool", "agent", "chain", ""]


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that ran; the arguments of the call are `told` or not, and `result` is None where it was not recorded."""

    call: ToolCall
    told: bool = True
    result: str | None = None


class Dialect(Protocol):
    """How one convention writes spans; each dialect is a module with these functions."""

    def kind(self, span: Span) -> Kind: ...

    def sent(self, span: Span) -> list[object]:
        """What a model was sent, from the first message on, as `_messages.message` can read it."""
        ...

    def said(self, span: Span) -> list[Message]:
        """What the model said to it."""
        ...

    def usage(self, span: Span) -> Usage: ...

    def ran(self, span: Span) -> Ran | None:
        """What a tool was called with, and what it gave."""
        ...

    def asked(self, span: Span) -> str:
        """What an agent was asked, in the user's words."""
        ...

    def answered(self, span: Span) -> str:
        """What it answered."""
        ...
