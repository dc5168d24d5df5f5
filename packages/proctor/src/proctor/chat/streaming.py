"""Put a streamed reply together again, and note when its first token came."""

import time
from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.chat.dialect import TimedReply
from proctor.chat.messages import (
    CallReply,
    ChatReply,
    ChoiceReply,
    FunctionReply,
    MessageReply,
    UsageReply,
    read,
    to_reply,
)
from proctor.core.around import around
from proctor.transport.events import END
from proctor.transport.faults import RequestFault, not_json
from proctor.transport.redact import HIDDEN
from proctor.transport.repair import repaired


class Ear:
    """Passes on the text of a stream while it comes, and keeps the time until its first token.

    Args:
        secrets: keys to remove: an echo of a key may come in two pieces.
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self.first_token_seconds: float | None = None
        self._secrets = secrets
        self._began = time.perf_counter()
        self._hear = around.get().hear
        self._held = {True: "", False: ""}  # what may be the beginning of a secret
        if self._hear is not None:
            self._hear("", False, True)

    def note_token(self) -> None:
        """Note that a token came."""
        if self.first_token_seconds is None:
            self.first_token_seconds = time.perf_counter() - self._began

    def joined(self, pieces: Sequence[str]) -> str:
        """Return the whole text of pieces without keys."""
        text = "".join(pieces)
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def tell(self, text: str, *, is_thought: bool) -> None:
        """Pass on a piece of text; what may be the beginning of a secret waits for the next piece."""
        if self._hear is None or not text:
            return
        text = self._held[is_thought] + text
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        held = max((n for one in self._secrets for n in range(1, len(one)) if text.endswith(one[:n])), default=0)
        self._held[is_thought] = text[len(text) - held :]
        if passed := text[: len(text) - held]:
            self._hear(passed, is_thought, False)

    def end(self) -> None:
        """Pass on what waited: nothing follows that would make a secret of it."""
        if self._hear is not None:
            for is_thought, text in self._held.items():
                if text:
                    self._hear(text, is_thought, False)
            self._held = {True: "", False: ""}


class Stream:
    """Folds the events of a stream into one reply, and keeps the time until the first token."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._ear = Ear(secrets)
        self._text: list[str] = []
        self._thought: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, CallReply] = {}
        self._arguments: dict[int, list[Any]] = {}  # text in pieces, or one object
        self._reason: str | None = None
        self._usage: UsageReply | None = None
        self._ended = self._began_to_answer = False
        self._whole: ChatReply | None = None

    def add(self, data: bytes) -> bool:
        """Add one event; True at the last one."""
        if data == END:
            self._ended = True
            return True
        event = _decoded(data)
        self._usage = event.usage or self._usage
        if event.error or event.choices:
            choice = event.first()
            self._began_to_answer = True
            self._reason = choice.finish_reason or self._reason
            if choice.delta is not None:
                self._take(choice.delta)
        return False

    def whole(self, body: bytes) -> None:
        self._whole = _decoded(body)

    def done(self) -> TimedReply:
        """Return the reply, and the seconds until its first token.

        Raises:
            Fault: the stream ended before the model did, or holds no reply.
        """
        if self._whole is not None:
            return TimedReply(to_reply(self._whole))
        if not self._ended and self._reason is None:
            raise RequestFault("truncated", "the stream ended before the model did")
        self._ear.end()
        message = MessageReply(
            content=self._joined(self._text),
            tool_calls=[self._call(index) for index in sorted(self._calls)] or None,
            reasoning_content=self._joined(self._thought),
            refusal=self._joined(self._refusal),
        )
        choices = [ChoiceReply(message=message, finish_reason=self._reason)] if self._began_to_answer else None
        reply = ChatReply(choices=choices, usage=self._usage)
        return TimedReply(to_reply(reply), self._ear.first_token_seconds)

    def _joined(self, pieces: Sequence[str]) -> str | None:
        return self._ear.joined(pieces) or None

    def _take(self, delta: MessageReply) -> None:
        text = delta.content
        said = text if isinstance(text, str) else "".join(part.text or "" for part in text or ())
        if said:
            self._text.append(said)
        thought = delta.reasoning_content or delta.reasoning
        if isinstance(thought, str):
            self._thought.append(thought)
            self._ear.tell(thought, is_thought=True)
        self._ear.tell(said, is_thought=False)
        if delta.refusal:
            self._refusal.append(delta.refusal)
        for index, piece in enumerate(delta.tool_calls or ()):
            self._take_call(piece, piece.index if piece.index is not None else index)
        if delta.content or thought or delta.tool_calls:
            self._ear.note_token()

    def _take_call(self, piece: CallReply, index: int) -> None:
        call = self._calls.setdefault(index, CallReply(function=FunctionReply()))
        call.id = piece.id or call.id
        if piece.function is None or call.function is None:
            return
        call.function.name = piece.function.name or call.function.name
        more = piece.function.arguments
        if more is None:
            return
        pieces = self._arguments.setdefault(index, [])
        pieces.append(more)
        if len(pieces) > 1 and not (isinstance(pieces[0], str) and isinstance(more, str)):
            raise RequestFault("no_reply", "the arguments of a tool call came as text and as something else")

    def _call(self, index: int) -> CallReply:
        call = self._calls[index]
        pieces = self._arguments.get(index)
        if pieces and call.function is not None:
            call.function.arguments = self._joined(pieces) if isinstance(pieces[0], str) else pieces[0]
        return call


def _decoded(data: bytes) -> ChatReply:
    try:
        return read(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return read(repaired(data))
    except (ValueError, RecursionError) as error:
        raise RequestFault("not_json", not_json(data, error)) from error
