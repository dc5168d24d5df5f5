"""Change values in a JSON text and leave the rest as it is written: the order of keys, the spelling of numbers, the layout.

People keep these files under version control, so that a change of one word is a difference of one line.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"[\[{]\r?\n([ \t]+)")


def rewrite(text: str, value: object) -> str:
    """Return a JSON text that holds `value`, in which everything that both have in common is written as before.

    Of a key that occurs twice the last one counts, as for the decoder, and the others stay.

    Raises:
        ValueError: the text is no JSON; a new number is not finite.

    >>> rewrite('{"b": 1.50, "a": [1e3, 2]}', {"b": 1.5, "a": [1000.0, 2, 3]})
    '{"b": 1.50, "a": [1e3, 2, 3]}'
    """
    writer = _Writer(text)
    start = _after_space(text, 0)
    old, end = writer.decoder.raw_decode(text, start)
    return text[:start] + writer.value(start, end, old, value) + text[end:]


class _Slot(NamedTuple):
    """A member or an element of the text: the whitespace before it, where its value begins and ends, and what that is."""

    lead: str
    start: int
    value_start: int
    end: int
    key: str
    value: object


class _Writer:
    def __init__(self, text: str) -> None:
        self.decoder = json.JSONDecoder()
        self._text = text
        self._newline = "\r\n" if "\r\n" in text else "\n"
        indent = _INDENT.search(text)
        self._indent = indent[1] if indent else ""
        self._escapes = text.isascii() and "\\u" in text  # as json.dump has it by default
        self._separators = (", ", ": ") if indent or re.search(r'"\s*:\s', text) else (",", ":")

    def value(self, start: int, end: int, old: object, new: object) -> str:
        if _canonical(old) == _canonical(new):
            return self._text[start:end]
        if isinstance(old, dict) and isinstance(new, Mapping):
            return self._object(start, new)
        if isinstance(old, list) and isinstance(new, Sequence) and not isinstance(new, str):
            return self._array(start, new)
        return self._dump(new, self._base(start))

    def _object(self, start: int, new: Mapping[str, object]) -> str:
        slots, tail = self._slots(start, keyed=True)
        last = {slot.key: slot for slot in slots}
        pieces: list[tuple[int | None, str, str]] = []  # the slot's index, its lead, its text
        for index, slot in enumerate(slots):
            if slot.key in new:
                of_key = new[slot.key] if slot is last[slot.key] else slot.value
                text = self.value(slot.value_start, slot.end, slot.value, of_key)
                pieces.append((index, slot.lead, self._text[slot.start : slot.value_start] + text))
        base = self._base(start) + self._indent
        for key, inner in new.items():
            if key not in last:
                text = f"{self._dump(key, '')}{self._separators[1]}{self._dump(inner, self._inner(slots, base))}"
                pieces.append((None, "", text))
        return "{" + self._joined(pieces, slots, tail, base) + "}"

    def _array(self, start: int, new: Sequence[object]) -> str:
        slots, tail = self._slots(start, keyed=False)
        base = self._base(start) + self._indent
        pieces: list[tuple[int | None, str, str]] = []
        taken: set[int] = set()
        for inner, index in zip(new, templates([slot.value for slot in slots], new), strict=True):
            if index is None:
                pieces.append((None, "", self._dump(inner, self._inner(slots, base))))
                continue
            slot = slots[index]
            text = self.value(slot.value_start, slot.end, slot.value, inner)
            pieces.append((None if index in taken else index, slot.lead, text))
            taken.add(index)
        return "[" + self._joined(pieces, slots, tail, base) + "]"

    def _joined(
        self, pieces: Sequence[tuple[int | None, str, str]], slots: Sequence[_Slot], tail: str, base: str
    ) -> str:
        """Join members or elements; each keeps the whitespace it had, new ones get that of their neighbours."""
        if not pieces:
            return ""
        own = self._newline + base if self._indent else ""  # of a container that was empty
        first = slots[0].lead if slots else own
        between = own or ("" if self._separators[0] == "," else " ")
        if slots:
            between = (
                slots[1].lead if len(slots) > 1 else (first if "\n" in first else " " * len(self._separators[0][1:]))
            )
        parts = []
        for position, (index, lead, text) in enumerate(pieces):
            if position == 0:
                parts.append(first + text)
            else:
                parts.append("," + (lead if index else between) + text)
        end = tail if slots or not own else self._newline + base[: len(base) - len(self._indent)]
        return "".join(parts) + end

    def _slots(self, start: int, *, keyed: bool) -> tuple[list[_Slot], str]:
        """Return what is in the container that begins here, and the whitespace before its end."""
        text, slots = self._text, list[_Slot]()
        position = start + 1
        while True:
            begin = _after_space(text, position)
            if text[begin] in "]}":
                return slots, text[position:begin]
            key, value_start = "", begin
            if keyed:
                key, value_start = self.decoder.raw_decode(text, begin)
                value_start = _after_space(text, _after_space(text, value_start) + 1)
            value, end = self.decoder.raw_decode(text, value_start)
            slots.append(_Slot(text[position:begin], begin, value_start, end, key, value))
            after = _after_space(text, end)
            if text[after] in "]}":
                return slots, text[end:after]
            position = after + 1

    def _inner(self, slots: Sequence[_Slot], base: str) -> str | None:
        """Return the indentation of a new member or element; None where the container is on one line."""
        return base if (not slots and self._indent) or any("\n" in slot.lead for slot in slots) else None

    def _base(self, start: int) -> str:
        """Return the indentation of the line that a value begins in."""
        line = self._text[self._text.rfind("\n", 0, start) + 1 : start]
        return "".join(takewhile(lambda sign: sign in " \t", line))

    def _dump(self, value: object, base: str | None) -> str:
        indent = self._indent if self._indent and base is not None else None
        separators = (",", ": ") if indent else self._separators
        text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=self._escapes, allow_nan=False)
        try:
            text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
            text = json.dumps(value, indent=indent, separators=separators, allow_nan=False)
        return text.replace("\n", self._newline + (base or ""))


def templates(old: Sequence[Any], new: Sequence[object]) -> list[int | None]:
    """Return for each new element the old one whose text it begins with: the same, the one of the same id, or a neighbour.

    A wrong choice costs only layout. One old element may serve several times, so that a duplicate is written like its original.
    """
    free: dict[str, list[int]] = {}
    by_name: dict[str, list[int]] = {}
    for index, value in reversed(list(enumerate(old))):
        free.setdefault(_canonical(value), []).append(index)
        by_name.setdefault(_name(value), []).append(index)
    indexes = [indices.pop() if (indices := free.get(_canonical(value))) else None for value in new]
    taken = set(indexes)
    left = dict.fromkeys(index for index in range(len(old)) if index not in taken)
    for position, value in enumerate(new):
        if indexes[position] is None and (name := _name(value)):
            index = next((candidate for candidate in reversed(by_name.get(name, ())) if candidate in left), None)
            if index is not None:
                del left[index]
                indexes[position] = index
    rest = iter(left)
    for position, value in enumerate(new):
        if indexes[position] is None and isinstance(value, (dict, list)):
            indexes[position] = next(rest, indexes[position - 1] if position else None)
    return indexes


def _name(value: object) -> str:
    """Return by what an object names itself: the first text under a key that ends with id; '' without one."""
    if not isinstance(value, dict):
        return ""
    return next(
        (f"{key}={entry}" for key, entry in value.items() if isinstance(entry, str) and key.lower().endswith("id")), ""
    )


def _canonical(value: object) -> str:
    """Return a text that is equal for equal JSON; 1, 1.0 and true are three values."""
    return json.dumps(value)


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place
