"""Read what a player does in a turn, and word it for the other players and the judge.

    {"action_type": "speak", "argument": "I can offer 20.", "to": []}

Two editions differ: `package` is sotopia 0.1.5 as released, `main` the repository at a0aaafb440e5. Both turn what they
cannot read into silence.

Source: `messages/message_classes.py` (AgentAction, ScriptInteraction), `generation_utils/output_parsers.py`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import msgspec

from proctor_judging.replies import loose_json

Edition = Literal["package", "main"]
ActionType = Literal["none", "speak", "non-verbal communication", "action", "leave"]
ACTION_TYPES: tuple[ActionType, ...] = get_args(ActionType)
NOTHING = "did nothing"
LEFT = "left the conversation"
MOST_CHARACTERS = 20_000  # of a reply that is read
_FENCE = re.compile(r"^```json\s*")
_QUOTE = re.compile(r'(?P<begins>[{\[,:]\s{0,40})?"(?=(?P<ends>\s{0,40}[,:}\]])?)')
_TURN = re.compile(r"Turn #?(\d+):?\s*\n((?:[A-Z]['a-z]* ?)+)")
_SPLIT = re.compile(r"(?=Turn #?\d+)")
_SAID = re.compile(r'(?:\[speak\] )?said: "(.*?)"')
_DONE = re.compile(r"\[(non-verbal communication|action)\] (.*)")


class PlayerAction(msgspec.Struct, frozen=True):
    """What a player does in a turn; `to` are those who see it, all if it is empty."""

    action_type: ActionType = "none"
    argument: str = ""
    to: tuple[str, ...] = ()

    def words(self, edition: Edition) -> str:
        """Return the action in words, after the name of the player."""
        match self.action_type:
            case "none":
                text = NOTHING
            case "speak":
                text = f'said: "{self.argument}"'
            case "leave":
                text = LEFT
            case _:
                text = f"[{self.action_type}] {self.argument}"
        if edition == "package":
            return text
        return f"[private to {list(self.to)}]  {text}" if self.to else f" {text}"

    def is_seen_by(self, viewer: str, sender: str) -> bool:
        """True if a player sees it."""
        return not self.to or viewer in self.to or viewer == sender


SILENCE = PlayerAction()


class UnreadAction(ValueError):
    """A reply that is no action."""


def read_action(reply: str, edition: Edition, names: Sequence[str] = (), sender: str = "") -> PlayerAction:
    """Return the action in a reply.

    Args:
        names, sender: the players, and the one who acts; in `main` it may address the others only.

    Raises:
        Unread: there is none.
    """
    value, is_wrapped = read_object(reply, edition, with_repairs=edition == "main")
    kind, argument, to = value.get("action_type"), value.get("argument"), value.get("to")
    if edition == "package":
        to = []
    elif value.keys() != {"action_type", "argument", "to"}:
        raise UnreadAction("other fields than action_type, argument and to")
    else:
        kind = _by_index(kind, is_wrapped=is_wrapped)
    if not isinstance(to, list) or not all(isinstance(name, str) for name in to):
        raise UnreadAction("'to' is no list of names")
    if not is_wrapped and names and any(name not in names or name == sender for name in to):
        raise UnreadAction("'to' names nobody else who is here")
    if not isinstance(kind, str) or kind not in ACTION_TYPES or not isinstance(argument, str):
        raise UnreadAction("no action of a known type with an argument")
    return PlayerAction(msgspec.convert(kind, ActionType), argument, tuple(to))


def read_object(reply: str, edition: Edition, *, with_repairs: bool = False) -> tuple[dict[str, object], bool]:
    """Return the JSON object of a reply, and True if it was the one under `properties`.

    That one is found in whatever can be repaired; any other object is to be plain JSON unless `with_repairs`.

    Raises:
        Unread: there is none.
    """
    if len(reply) > MOST_CHARACTERS:
        raise UnreadAction("the reply is too long")
    text = _FENCE.sub("", reply.strip()).strip(" \n")
    plain = value = _plain(text)
    if value is None and edition == "main":
        value = _plain(_with_escaped_quotes(text))
    if value is None:
        value = _repaired(text)
    if edition == "main":
        value = _without_wrappers(value)
    if isinstance(value, dict) and "properties" in value:
        plain, is_wrapped = value["properties"], True
    else:
        plain, is_wrapped = value if with_repairs else plain, False
    if not isinstance(plain, dict):
        raise UnreadAction("no object")
    return plain, is_wrapped


def _plain(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _with_escaped_quotes(text: str) -> str:
    r"""Return the text with the quotes escaped that neither begin nor end a string, as `json_repair` reads them.

    >>> _with_escaped_quotes('{"argument": "an un"quoted word"}')
    '{"argument": "an un\\"quoted word"}'
    """
    return _QUOTE.sub(lambda quote: quote[0] if quote["begins"] or quote["ends"] else '\\"', text)


def _repaired(text: str) -> object:
    try:
        if len(loose_json.read_all(text)) > 1:
            raise UnreadAction("several objects")
        return loose_json.read(text)
    except (loose_json.Unreadable, RecursionError) as error:
        raise UnreadAction(str(error)) from None


def _without_wrappers(value: object) -> object:
    """Return a value with {"value": x} replaced by x."""
    if isinstance(value, Mapping):
        return value["value"] if "value" in value else {name: _without_wrappers(entry) for name, entry in value.items()}
    return [_without_wrappers(item) for item in value] if isinstance(value, list) else value


def _by_index(kind: object, *, is_wrapped: bool) -> object:
    """Return the type of an action, given also by its index, but not in an object that was wrapped."""
    if isinstance(kind, str):
        return kind.strip()
    return ACTION_TYPES[kind] if isinstance(kind, int) and not is_wrapped and 0 <= kind < len(ACTION_TYPES) else kind


class ScriptLine(msgspec.Struct, frozen=True):
    """A turn of a script that a model wrote at one go; an action that cannot be read is None."""

    turn: int
    name: str
    action: str | None
    argument: str | None


def read_script_line(text: str) -> ScriptLine:
    """Read one turn of a script.

    Raises:
        ValueError: it does not begin with a turn and a name.
    """
    begins = _TURN.match(text)
    if begins is None:
        raise ValueError(f"The dialogue does not match the expected format: {text}")
    turn, name = int(begins.group(1)), begins.group(2).strip()
    rest = text[begins.end() :].strip()
    if NOTHING in rest:
        return ScriptLine(turn, name, "none", "")
    if said := _SAID.match(rest):
        return ScriptLine(turn, name, "speak", said.group(1).strip())
    if done := _DONE.match(rest):
        return ScriptLine(turn, name, *done.groups())
    return ScriptLine(turn, name, "leave", "") if LEFT in rest else ScriptLine(turn, name, None, None)


def read_script(text: str, names: Sequence[str]) -> list[tuple[str, PlayerAction]]:
    """Return who does what in a script; an unknown name is that of the player whose line it is, counted from the first.

    Raises:
        ValueError: a turn with several players, or one that cannot be read.
        IndexError: no turn at all.
    """
    parts = [part.strip() for part in _SPLIT.split(text) if part.strip()]
    turns = [part for part in parts if part.startswith("Turn")]
    turns[-1] = "\n".join(turns[-1].split("\n")[:2])
    if any(len(turn.split("\n")) >= 3 for turn in turns):
        raise ValueError("Only one agent can act per turn.")
    pairs: list[tuple[str, PlayerAction]] = []
    for number, turn in enumerate(turns):
        line = read_script_line(turn)
        if line.action is None or line.argument is None:
            raise ValueError("no known action")
        name = line.name if line.name in names else names[number % 2]
        pairs.append((name, PlayerAction(msgspec.convert(line.action, ActionType), line.argument)))
    return pairs
