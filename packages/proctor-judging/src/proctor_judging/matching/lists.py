"""The rule for lists: split both, compare element by element, in order where order counts."""

import re
from collections.abc import Callable, Sequence

import msgspec

from proctor.core.sentence import say
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.verdict import AnswerMatch, AnswerOptions, accept, differ, refuse, shown, too_large

RULE = "lists"
LONGEST = 5_000
MOST_ELEMENTS = 200
MOST_WORK = 80_000  # characters to look at when every element meets every other one
ENCLOSED = compile_later(r"\[(.*)\]|\{(.*)\}|\((.*)\)", re.DOTALL)
NUMBERED = compile_later(r"\s*(?:\(?\d{1,3}[.):、](?!\d)|[①-⑳])\s*")
BULLET = compile_later(r"\s*[-*•·]\s+")
ARROW = compile_later(r"\s*(?:->|=>|→|⇒|>)\s*")
SEMICOLON = compile_later(r"\s*;\s*")
COMMA = compile_later(r"\s*(?:,(?!\d{3}(?!\d))|,(?=\d{3}\s*,\s)|(?<!\d),|、)\s*")
EVERY_COMMA = compile_later(r"\s*[,、]\s*")
LAST = compile_later(r"\s*,?\s+(and|&|or)\s+|\s*(以及|还有|和|与|及|跟|或者|或)\s*", re.IGNORECASE)
FIRST_WORD = compile_later(r"(?:(?:and|or)\b|以及|和|与|及|或)\s*(?=\S)", re.IGNORECASE)
BOTH = compile_later(r"both\s+(?=.*\band\b)", re.IGNORECASE)
NAMED = compile_later(r"\s*([^\W\d_]\w{0,2})\s*=\s*([^=]+)")
NUMERIC = compile_later(r"[\d∞]")
OR = frozenset(["or", "或", "或者"])
Same = Callable[[str, str], AnswerMatch]


class ListItems(msgspec.Struct, frozen=True):
    """The elements of a list, what joined them, and what its form says of their order (None: nothing)."""

    elements: tuple[str, ...]
    joined: str = ","
    ordered: bool | None = None
    bracket: str = ""


def lists(answer: str, target: str, options: AnswerOptions, same: Same) -> AnswerMatch | None:
    """Compare two lists element by element. Order counts if the options declare it or the target is written as steps;
    sets, equations and items joined by `and` or `or` are unordered; any other list in another order is ambiguous.
    """
    expected = read_items(target)
    items = read_items(answer)
    if items is None or expected is None:
        return None
    if (items.joined == "or" and not _solutions(items)) != (expected.joined == "or" and not _solutions(expected)):
        return refuse(RULE, say("One list joins its elements with 'or', the other does not."))
    if _may_be_interval(items, expected):
        return refuse(RULE, say("Brackets around two elements may be a list or an interval."), ambiguous=True)
    if len(items.elements) != len(expected.elements):
        reason = say(
            "A list of {made} elements, expected {expected}.", made=len(items.elements), expected=len(expected.elements)
        )
        return refuse(RULE, reason)
    items, expected = _coordinates(items, expected)
    if not (verdict := _in_order(items.elements, expected.elements, same)).right:
        ordered = options.ordered if options.ordered is not None else _inferred(items, expected)
        if ordered is True:
            return verdict
        if len(expected.elements) * (len(answer) + len(target)) > MOST_WORK:
            return too_large(RULE, answer, target)
        if not _in_any_order(items.elements, expected.elements, same):
            return differ(RULE, answer, target)
        if ordered is None:
            reason = say("The elements are the same in another order, and whether that counts is not said.")
            return refuse(RULE, reason, ambiguous=True)
    return accept(RULE, say("All {count} elements are as expected.", count=len(expected.elements)))


def read_items(text: str) -> ListItems | None:
    """Return the elements of a tidy text that is a list of two or more.

    >>> read_items("a, b and c").elements == read_items("a、b和c").elements == read_items("[a, b, c]").elements
    True
    >>> read_items("1. x\\n2. y").ordered, read_items("{1, 2}").ordered, read_items("1,234")
    (True, False, None)
    """
    if len(text) > LONGEST:
        return None
    text = text.replace("》《", "》、《")
    ordered: bool | None = None
    bracket = ""
    if (match := ENCLOSED.fullmatch(text)) is not None:
        bracket = text[0]
        ordered = False if text[0] == "{" else None
        text = next(group for group in match.groups() if group is not None)
    items = _lines(text) or _separated(BOTH.sub("", text))
    if items is None or not 2 <= len(items.elements) <= MOST_ELEMENTS or not all(items.elements):
        return None
    elements = tuple(element.strip("\"'") if len(element) > 2 else element for element in items.elements)
    return ListItems(elements, items.joined, items.ordered if ordered is None else ordered, bracket)


def _lines(text: str) -> ListItems | None:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return None
    if all(NUMBERED.match(line) for line in lines):
        return ListItems(tuple(NUMBERED.sub("", line, count=1) for line in lines), ordered=True)
    return ListItems(tuple(BULLET.sub("", line, count=1).rstrip(",;，；") for line in lines))


def _separated(text: str) -> ListItems | None:
    if len(parts := _split(text, ARROW)) > 1 and all(parts):
        return ListItems(tuple(parts), ordered=True)
    if len(parts := _split(text, SEMICOLON)) == 1:
        parts = _split(text, EVERY_COMMA if " " not in text and text.count(",") > 1 else COMMA)
    joined = ","
    if len(parts) > 1 and (leading := FIRST_WORD.match(parts[-1])) is not None:
        joined = "or" if leading[0].strip().lower() in OR else "and"
        parts[-1] = parts[-1][leading.end() :]
    else:
        last = parts.pop()
        pieces = [piece for piece in LAST.split(last) if piece is not None]
        words = [match[1] or match[2] for match in LAST.finditer(last)]
        if words and all(pieces):
            joined = "or" if words[0].lower() in OR else "and"
            parts += pieces[::2]
        else:
            parts.append(last)
    elements = [NUMBERED.sub("", part, count=1) for part in parts] if all(map(NUMBERED.match, parts)) else parts
    ordered = False if all("=" in part for part in parts) else True if elements is not parts else None
    return ListItems(tuple(elements), joined, ordered) if len(parts) > 1 else None


def _split(text: str, separator: re.Pattern[str]) -> list[str]:
    """Return the parts between separators that are not inside brackets or quotes."""
    parts, start, depth, quoted = [], 0, 0, False
    marks = {match.start(): match.end() for match in separator.finditer(text)}
    for at, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if at in marks and depth == 0 and not quoted and at >= start:
            parts.append(text[start:at].strip())
            start = marks[at]
    return [*parts, text[start:].strip()]


def _solutions(items: ListItems) -> bool:
    """True if all are values of one variable, as in `x = 2 or x = 3`: the solutions of an equation, all of them."""
    named = [NAMED.fullmatch(element) for element in items.elements]
    return all(named) and len({match[1] for match in named if match is not None}) == 1


def _coordinates(made: ListItems, expected: ListItems) -> tuple[ListItems, ListItems]:
    """`y=3, x=2` beside `(2, 3)`: the values in the order of their names, which then counts."""
    named = [[NAMED.fullmatch(element) for element in items.elements] for items in (made, expected)]
    if all(named[0]) == all(named[1]):
        return made, expected
    pairs = sorted((match[1], match[2]) for match in named[not all(named[0])] if match is not None)
    values = ListItems(tuple(value for _, value in pairs), ordered=True)
    return (values, expected) if all(named[0]) else (made, values)


def _may_be_interval(made: ListItems, expected: ListItems) -> bool:
    one_only = made.bracket != expected.bracket and "[" in (made.bracket, expected.bracket)
    both = (made.elements, expected.elements)
    return one_only and any(len(each) == 2 and all(map(NUMERIC.search, each)) for each in both)


def _inferred(made: ListItems, expected: ListItems) -> bool | None:
    if made.ordered is not None or expected.ordered is not None:
        return bool(made.ordered) or bool(expected.ordered)
    return False if made.joined == expected.joined and expected.joined in ("and", "or") else None


def _in_order(made: Sequence[str], expected: Sequence[str], same: Same) -> AnswerMatch:
    for number, (element, other) in enumerate(zip(made, expected, strict=True), start=1):
        verdict = same(element, other)
        if not verdict.right:
            reason = say(
                "Element {place} is '{one}', expected '{other}'.", place=number, one=shown(element), other=shown(other)
            )
            return refuse(RULE, reason, ambiguous=verdict.ambiguous)
    return accept(RULE, say("All {count} elements are as expected.", count=len(expected)))


def _in_any_order(made: Sequence[str], expected: Sequence[str], same: Same) -> bool:
    """One-to-one: no element counts twice. Being the same is an equivalence, so the first free one will do."""
    free = list(made)
    for other in expected:
        element = next((element for element in free if same(element, other).right), None)
        if element is None:
            return False
        free.remove(element)
    return True
