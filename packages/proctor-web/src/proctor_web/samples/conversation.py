"""Cut the conversation of a trial into numbered entries, so that a page shows some of them, however many there are."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from proctor.core.known import KnownDetails
from proctor.core.sample import File, Message, Reasoning, Sample, Text, ToolCall, ToolResult
from proctor.core.sample import Part as MessagePart
from proctor.core.trajectory import Approval, StateChange, Step, Stop, Trajectory
from proctor.reports.pairs import value_text
from proctor.reports.story import approval_line, expected_in_turn, played_turns, turn_mark
from proctor.runtime.visible import one_line
from proctor_web.samples.attachments import describe_attachment

PAGE = 50  # entries
MOST_PIECES = 100  # of one entry
SHOWN_CHARACTERS = 2_000  # of one text; the rest is sent when it is asked for
MOST_CHARACTERS = 1_000_000  # of one text, when it is
LINE_CHARACTERS = 100  # of JSON that is shown in one line
INDENTED_CHARACTERS = 100_000  # of JSON that is shown with indentation
EXCERPT = 60  # characters on both sides of what was found

ESCAPED = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.")

Kind = Literal["text", "reasoning", "call", "result", "file", "change", "expected", "approval"]
Role = Literal["system", "user", "assistant", "tool", "environment", "expected", "policy", "nobody"]


class EntryPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an entry; of a long text its beginning, `characters` says how long it is.

    `name` is that of the tool, the file, the path in the state, or the decision about a call; `before` is what a changed value was. `bytes` is the size of
    a file that can be sent; of another, `text` is its address.
    """

    kind: Kind
    text: str = ""
    characters: int = 0
    name: str = ""
    id: str = ""
    media_type: str = ""
    is_error: bool = False
    before: str = ""
    bytes: int | None = None
    is_picture: bool = False
    is_sound: bool = False

    @property
    def is_cut(self) -> bool:
        return self.characters > len(self.text)


class ConversationEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A message, a tool's result, or what a turn changed; `number` counts from 0. `mark` says how its turn was judged.

    Attributes:
        opens_turn: it is the first of its turn.
        left_out: how many more parts it has.
        started: Unix time, 0 where it is not known; the other times are lengths.
        step: the number of its step in the trial, from 1, as `proctor runs explain` and `runs fork` count; 0 for what is no step.
    """

    number: int
    turn: int
    role: Role
    pieces: tuple[EntryPart, ...]
    author: str = ""
    opens_turn: bool = False
    mark: str = ""
    left_out: int = 0
    started: float = 0.0
    seconds: float = 0.0
    first_token_seconds: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    stop: Stop = "done"
    step: int = 0


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in which a text was found, with what is around it."""

    number: int
    role: Role
    excerpt: str


Source = Message | Step | Approval | Sequence[StateChange] | Sequence[EntryPart]


class Conversation:
    """The entries of one trial. Making it reads every step once; entries are made when they are asked for."""

    def __init__(self, sample: Sample | None, trajectory: Trajectory, judged: Sequence[KnownDetails] = ()) -> None:
        self._judged = judged
        self._sources: list[tuple[int, Source]] = []
        self.number_of_step: list[int] = []  # the entry of each step, in the order of the turns
        expects = sample is not None and len(sample.turns) > 1
        turns = played_turns(sample, trajectory)
        self.turns = len(turns)
        for turn in turns:
            self._sources += [(turn.number, message) for message in turn.messages]
            for index, step in enumerate(turn.steps):
                self._sources += [(turn.number, approval) for approval in turn.approvals.get(index, ())]
                self.number_of_step.append(len(self._sources))
                self._sources.append((turn.number, step))
            self._sources += [(turn.number, approval) for approval in turn.approvals.get(len(turn.steps), ())]
            if turn.changes:
                self._sources.append((turn.number, turn.changes))
            expected = expected_in_turn(turn.number, turn.reference, judged) if expects else ()
            pieces = [
                EntryPart(kind="expected", text=line.text, characters=len(line.text), is_error=line.kind != "call")
                for line in expected
            ]
            if pieces:
                self._sources.append((turn.number, pieces))
        by_turn = sorted(range(len(trajectory.steps)), key=lambda index: trajectory.steps[index].turn)
        self._step_by_entry = dict(zip(self.number_of_step, (index + 1 for index in by_turn), strict=True))

    def __len__(self) -> int:
        return len(self._sources)

    def entries(self, first: int = 0, count: int = PAGE) -> tuple[ConversationEntry, ...]:
        """Return some entries; none after the last."""
        return tuple(map(self._entry, range(max(0, first), min(first + count, len(self)))))

    def text(self, number: int, piece: int) -> str | None:
        """Return the whole text of a piece; None if there is no such piece."""
        if not (0 <= number < len(self) and piece >= 0):
            return None
        pieces = self._pieces(self._sources[number][1], MOST_CHARACTERS)
        return next((part.text for index, part in enumerate(pieces) if index == piece), None)

    def file(self, number: int, piece: int) -> File | None:
        """Return the file that a piece shows; None if it shows none."""
        if not (0 <= number < len(self) and piece >= 0):
            return None
        parts = _parts(self._sources[number][1])
        part = parts[piece] if piece < len(parts) else None
        return part if isinstance(part, File) else None

    def find(self, words: str, most: int = PAGE) -> tuple[Match, ...]:
        """Return the first entries that hold a text, whatever its case."""
        wanted = words.casefold()
        matches: list[Match] = []
        for number, (_, source) in enumerate(self._sources):
            for piece in self._pieces(source, MOST_CHARACTERS, indented=False):
                text = f"{piece.name} {piece.before} {piece.text}"
                at = text.casefold().find(wanted)
                if at >= 0:
                    around = text[max(0, at - EXCERPT) : at + len(words) + EXCERPT]
                    matches.append(Match(number=number, role=_role(source), excerpt=one_line(around, 3 * EXCERPT)))
                    break
            if len(matches) >= most:
                break
        return tuple(matches)

    def _entry(self, number: int) -> ConversationEntry:
        turn, source = self._sources[number]
        pieces = tuple(self._pieces(source, SHOWN_CHARACTERS))
        opens = number == 0 or self._sources[number - 1][0] != turn
        entry = ConversationEntry(
            number=number,
            turn=turn,
            role=_role(source),
            pieces=pieces,
            opens_turn=opens,
            mark=turn_mark(turn, self._judged) if opens else "",
            left_out=len(_parts(source)) - len(pieces),
        )
        if not isinstance(source, Step):
            return entry
        usage = source.usage
        return msgspec.structs.replace(
            entry,
            author=source.author if source.author not in ("agent", source.message.role) else "",
            started=source.started,
            seconds=source.seconds,
            first_token_seconds=source.first_token_seconds,
            input_tokens=usage.input_tokens if usage is not None else 0,
            output_tokens=usage.output_tokens if usage is not None else 0,
            cost=usage.cost if usage is not None else None,
            stop=source.stop,
            step=self._step_by_entry[number],
        )

    def _pieces(self, source: Source, characters: int, *, indented: bool = True) -> Iterator[EntryPart]:
        for part in _parts(source)[:MOST_PIECES]:
            yield _piece(part, characters, indented=indented)


def _message(source: Source) -> Message | None:
    if isinstance(source, Step):
        return source.message
    return source if isinstance(source, Message) else None


def _parts(source: Source) -> Sequence[MessagePart | EntryPart | StateChange]:
    if isinstance(source, Approval):
        line = approval_line(source)
        return [EntryPart(kind="approval", name=line.kind, text=line.text, characters=len(line.text))]
    message = _message(source)
    if message is None:
        assert not isinstance(source, Step | Message)
        return source
    return [part for part in message.parts_with_files if not (isinstance(part, Reasoning) and not part.text)]


def _role(source: Source) -> Role:
    if isinstance(source, Approval):
        return source.by or "nobody"
    if (message := _message(source)) is not None:
        return message.role
    return "expected" if isinstance(_parts(source)[0], EntryPart) else "environment"


def _piece(part: MessagePart | StateChange | EntryPart, characters: int, *, indented: bool) -> EntryPart:
    match part:
        case EntryPart():
            return part
        case Text(text=text):
            return EntryPart(kind="text", text=text[:characters], characters=len(text))
        case Reasoning(text=text):
            return EntryPart(kind="reasoning", text=text[:characters], characters=len(text))
        case ToolCall():
            text = part.arguments_text()
            if indented and part.raw is None:
                text = "" if not part.arguments else _indent(text)
            return EntryPart(
                kind="call",
                name=part.name,
                id=part.id,
                text=text[:characters],
                characters=len(text),
                is_error=part.raw is not None,
            )
        case ToolResult(content=text):
            text = _indent(text) if indented else text
            return EntryPart(
                kind="result",
                name=part.name,
                id=part.id,
                text=text[:characters],
                characters=len(text),
                is_error=part.is_error,
            )
        case File():
            return _file(part, characters)
        case StateChange():
            return EntryPart(kind="change", name=part.path, before=_value(part.before), text=_value(part.after))


def _value(value: object) -> str:
    return "" if value is None else value_text(value)


def _file(part: File, characters: int) -> EntryPart:
    known = describe_attachment(part)
    shown = known.shown if known is not None else ""
    return EntryPart(
        kind="file",
        name=part.name or (part.path or "").rpartition("/")[2],
        media_type=part.media_type,
        text=(part.url or part.path or "")[:characters] if known is None else "",
        bytes=known.size if known is not None else None,
        is_picture=shown.startswith("image/"),
        is_sound=shown.startswith("audio/"),
    )


def _indent(text: str) -> str:
    """Return JSON without needless escapes, its numbers as they were written, long JSON with indentation; any other text unchanged.

    >>> _indent('{"city":"\\u5317\\u4eac","price":1.10}')
    '{"city": "北京", "price": 1.10}'
    """
    if not text.startswith(("{", "[")) or len(text) > INDENTED_CHARACTERS:
        return text
    try:
        made = msgspec.json.format(text, indent=2 if len(text) > LINE_CHARACTERS else 0)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return text
    return ESCAPED.sub(_unescaped, made)


def _unescaped(found: re.Match[str]) -> str:
    if not found[0].startswith("\\u"):
        return found[0]
    character: str = json.loads(f'"{found[0]}"')
    return found[0] if character < "\xa0" or "\ud800" <= character <= "\udfff" else character
