r"""Decide what a backslash means in JSON strings that a model wrote: an escape, or the start of a LaTeX command.

`\f` in `"\frac"` is legal JSON for a form feed, and is meant as a command. What is meant is read from the names of
commands, and from how the same reply writes its other backslashes: as JSON wants it (`\\frac`), as they are (`\frac`),
some this way and some that way, or with four of them. Where a text could be meant in two ways, it is refused.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec

from proctor.core.sentence import Sentence, say
from proctor_judging.replies.latex_commands import COMMANDS, LIKE_WORDS

RUN = re.compile(r"(\\+)([A-Za-z]*)")
HEX = re.compile(r"[0-9A-Fa-f]{4}")
CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
SPACING = frozenset(",;:!_#")  # commands of one character that never follow a line break
SIGNS = frozenset("{}[]()%&|$") | SPACING
BEFORE_A_COMMAND = ("", *" $=+-*/<>(|{[^_,&")  # more likely than before a line break
ENVIRONMENT = re.compile(r"\\(begin|end|substack|p?matrix|cases)\{")
SKIP = re.compile(r"\[-?[0-9.]+\s*(?:pt|em|ex|mm|cm|in)\]")  # the space to add after a line break
NO_WORD = frozenset(("tan", "tau", "text", "to", "top"))  # without the `t` nothing that could follow a tab
WORD = re.compile(r"\s+[A-Za-z]{2}")
QUOTED = re.compile(r"""(?<![A-Za-z])(\\?["'`])(?:(?!\1).){0,200}?\1(?![A-Za-z])""", re.DOTALL)
LITERAL = re.compile(r"""(?:[(\[=+,]\s*|\breturn\s)[rbfu]?(\\?["'])(?:(?!\1).){0,200}?\1""", re.DOTALL)
PATH = re.compile(r"(?<![A-Za-z])[A-Za-z]:\Z")
CONTRACTION = re.compile(r"'(?:s|t|d|m|re|ve|ll)\b")
DELIMITER = re.compile(r"(\\*)(\$\$?|[()\[\]])")
HALF = re.compile("[\ud800-\udfff]")


class TwoWays(ValueError):
    """A text that can be read in two ways, or not at all."""

    def __init__(self, reason: Sentence) -> None:
        self.reason = reason
        super().__init__(str(reason))


class BackslashRun(msgspec.Struct, frozen=True):
    """Backslashes in a row; `name` holds the letters after them (an escaped one is the first of these), `sign` the next character."""

    start: int
    end: int
    name: str
    sign: str

    @property
    def count(self) -> int:
        return self.end - self.start

    @property
    def is_odd(self) -> bool:
        return self.count % 2 == 1

    @property
    def is_command(self) -> bool:
        return len(self.name) > 1 and self.name in COMMANDS


class Habits(msgspec.Struct):
    """How a reply writes its backslashes, as far as that is certain.

    Attributes:
        single: a command has one, where JSON has no such escape or only one that nobody means.
        double: a command has two, as JSON wants it.
        four: a command has four.
        doubled_again: nothing has two; all that is no escape may have been doubled twice.
        environment: line breaks of LaTeX (two backslashes) are to be expected.
        breaks: they are written as JSON wants it.
        dollars: some string has a dollar sign, which may begin a formula.
        lines, tabs: the escape is used for a line break, or a tab, that can be nothing else.
    """

    single: bool = False
    double: bool = False
    four: bool = False
    doubled_again: bool = False
    environment: bool = False
    breaks: bool = False
    dollars: bool = False
    lines: bool = False
    tabs: bool = False


class Body:
    """The text between the quotes of a string, as it was written; `single` is True for single quotes."""

    def __init__(self, text: str, *, single: bool = False) -> None:
        self.text = text
        self.single = single

    def runs(self) -> Iterator[BackslashRun]:
        for match in RUN.finditer(self.text):
            yield BackslashRun(match.start(), match.end(1), match[2], self.text[match.end(1) : match.end(1) + 1])

    def begins_a_line(self, run: BackslashRun) -> bool:
        before = self.text[max(run.start - 2, 0) : run.start]
        return before in (r"\n", r"\t") or before[-1:] in ("\n", "\t")

    def stands_alone(self, run: BackslashRun) -> bool:
        """True if the last backslash of an odd run cannot be an escape, however the reply writes the others."""
        if run.sign in ('"', "/", "'"):
            return False
        if run.sign == "u":
            return HEX.match(self.text, run.end + 1) is None
        if run.sign not in CONTROLS:
            return True
        if not run.is_command:
            return False
        return run.name not in LIKE_WORDS or self.text.startswith("{", run.end + len(run.name))

    def stands_in_formula(self, run: BackslashRun) -> bool:
        r"""Return True if it is a command like `\nu`, which would be a line break and a word outside of a formula."""
        if not run.is_odd or run.sign not in ("n", "t") or run.name not in LIKE_WORDS:
            return False
        before = self.text[max(run.start - 2, 0) : run.start]
        inside = self.in_formula(run) or len(self.text) == run.end + len(run.name) - run.start
        return inside and before != "$$" and before[-1:] in BEFORE_A_COMMAND and not self.begins_a_line(run)

    def in_formula(self, run: BackslashRun) -> bool:
        """True if it is between `$` and `$`, or between the brackets of LaTeX."""
        return bisect_right(self._borders, run.start) % 2 == 1

    def in_environment(self, run: BackslashRun) -> bool:
        """True if it is in an environment whose lines break, such as a matrix."""
        index = bisect_right(self._environments, (run.start, ""))
        return index > 0 and self._environments[index - 1][1] != "end"

    @cached_property
    def _environments(self) -> list[tuple[int, str]]:
        return [(match.start(), match[1]) for match in ENVIRONMENT.finditer(self.text)]

    def in_literal(self, run: BackslashRun) -> bool:
        r"""True if it is in a string literal of a program, as in `print("\n")`."""
        return _is_within(self._literals, run)

    def is_quoted(self, run: BackslashRun) -> bool:
        """True if it is between quotes."""
        return _is_within(self._quoted, run)

    @cached_property
    def _literals(self) -> list[tuple[int, int]]:
        return [match.span() for match in LITERAL.finditer(self.text)]

    @cached_property
    def _quoted(self) -> list[tuple[int, int]]:
        return [match.span() for match in QUOTED.finditer(self.text)]

    @property
    def has_formulas(self) -> bool:
        return bool(self._borders)

    @cached_property
    def _borders(self) -> list[int]:
        """Where formulas begin and end, in turn; a last one that does not end is none."""
        borders: list[int] = []
        for match in DELIMITER.finditer(self.text):
            backslashes, sign = match[1], match[2]
            begins = len(borders) % 2 == 0
            if sign[0] == "$":
                if not backslashes:
                    borders.append(match.end() if begins else match.start())
            elif backslashes and begins == (sign in "(["):
                borders.append(match.end() if begins else match.start())
        return borders[: len(borders) // 2 * 2]

    @cached_property
    def closes_doubled(self) -> frozenset[str]:
        return frozenset(opening for opening, closing in ("()", "[]") if rf"\\{closing}" in self.text)


def decode_all(bodies: Sequence[Body]) -> list[str]:
    """Return the texts of all strings of one reply.

    Raises:
        TwoWays: one of them can be read in two ways.
    """
    written = [(body, run) for body in bodies for run in body.runs()]
    habits = Habits(
        doubled_again=all(run.is_odd or run.count % 4 == 0 for _, run in written),
        environment=any(ENVIRONMENT.search(body.text) for body in bodies),
        dollars=any("$" in body.text for body in bodies),
    )
    for body, run in written:
        _note(habits, body, run)
    if not habits.single and not habits.double:
        habits.single = any(body.stands_in_formula(run) for body, run in written)
        habits.four |= not habits.single and any(_four_before_a_sign(body, run, habits) for body, run in written)
    return [_Decoding(body, habits).text() for body in bodies]


def _is_within(spans: list[tuple[int, int]], run: BackslashRun) -> bool:
    index = bisect_right(spans, (run.start, run.start))
    return index > 0 and run.start < spans[index - 1][1]


def _note(habits: Habits, body: Body, run: BackslashRun) -> None:
    if not run.is_odd:
        habits.double |= run.count == 2 and run.is_command
        habits.breaks |= run.count == 4 and not run.name
        habits.four |= run.count % 4 == 0 and (run.is_command or (run.count % 8 == 0 and '"' not in body.text))
    elif body.stands_alone(run):
        habits.single = True
    elif run.name not in LIKE_WORDS:
        habits.lines |= run.sign == "n"
        habits.tabs |= run.sign == "t"


def _four_before_a_sign(body: Body, run: BackslashRun, habits: Habits) -> bool:
    """Four backslashes before a sign such as a brace, where no line breaks: a command of one sign, doubled twice."""
    if run.count != 4 or run.sign not in SIGNS or habits.environment or SKIP.match(body.text, run.end):
        return False
    return '"' not in body.text or body.in_formula(run)  # the source code of a program has quotes


class _Decoding:
    """One string, read with the habits of its reply."""

    def __init__(self, body: Body, habits: Habits) -> None:
        self._body = body
        self._habits = habits

    def text(self) -> str:
        written, position = self._body.text, 0
        pieces: list[str] = []
        for run in self._body.runs():
            escape = self._is_escape(run)
            pieces += (written[position : run.start], "\\" * self._count(run, escape))
            position = run.end
            if escape and run.sign == "u":
                pieces.append(chr(int(written[run.end + 1 : run.end + 5], 16)))
                position += 5
            elif escape:
                pieces.append(CONTROLS.get(run.sign, run.sign))
                position += 1
        pieces.append(written[position:])
        return _whole("".join(pieces))

    def _is_escape(self, run: BackslashRun) -> bool:
        """Return True if the run ends in an escape."""
        if not run.is_odd or self._body.stands_alone(run):
            return False
        match run.sign:
            case "'" if not self._body.single:
                doubtful = self._habits.single or not CONTRACTION.match(self._body.text, run.end)
            case "/":
                doubtful = self._habits.single
            case "b" | "f" | "r":  # nobody means a backspace before a word
                doubtful = len(run.name) > 1 or self._habits.single
            case "n" | "t" if self._body.in_literal(run):
                doubtful = True
            case "t" if not run.is_command:
                doubtful = len(run.name) > 1 and self._habits.single and not self._body.begins_a_line(run)
            case "n" | "t" if run.name in LIKE_WORDS:
                return self._is_control(run)
            case _:
                doubtful = False
        if doubtful:
            raise self._doubt(run)
        return True

    def _is_control(self, run: BackslashRun) -> bool:
        r"""Return True if `\nu` or `\to` is a line break or a tab before a word, rather than the command."""
        body, habits = self._body, self._habits
        begins_line = body.begins_a_line(run)
        before = body.text[max(run.start - 2, 0) : run.start]
        in_formula = not begins_line and before != "$$" and body.in_formula(run)
        if habits.single and (in_formula or body.stands_in_formula(run) or self._is_tan(run)):
            return False
        if not (habits.single or in_formula or begins_line) and run.sign == "n":
            expected = body.has_formulas if habits.double else habits.lines and not habits.dollars
            if expected and before[-1:] not in BEFORE_A_COMMAND:
                return True
        raise self._doubt(run)

    def _is_tan(self, run: BackslashRun) -> bool:
        r"""Return True if `\tan x` or `x \to 0` is outside of a formula, where no tab and a word (`an apple`) can be meant."""
        body, name = self._body, run.name
        begins_word = WORD.match(body.text, run.end + len(name)) is not None
        return name in NO_WORD and not (self._habits.tabs or begins_word or body.begins_a_line(run))

    def _count(self, run: BackslashRun, escape: bool) -> int:
        """Return how many backslashes the text has, without the one that begins an escape."""
        habits = self._habits
        if habits.four:
            return self._quarter(run, escape)
        if not habits.single:
            again = habits.doubled_again and run.name and not run.is_odd and not self._body.in_environment(run)
            if again or (run.count == 2 and self._may_break(run)):
                raise self._doubt(run)
            return run.count // 2 + int(run.is_odd and not escape)
        if not run.is_odd:
            return self._pairs(run)
        if run.count == 1:
            return 0 if escape else 1
        breaks_line = run.is_command if not escape else run.sign in ("n", "t")
        if run.count == 3 and self._body.in_environment(run) and not habits.double and breaks_line:
            return 2 if escape else 3
        raise self._doubt(run)

    def _may_break(self, run: BackslashRun) -> bool:
        r"""Return True if two backslashes may be a line break: of LaTeX, undoubled, or of the text, as `\\n`."""
        text, habits = self._body.text, self._habits
        if SKIP.match(text, run.end):
            return True
        if run.sign == "n" and not run.is_command:
            has_lines = habits.lines or "\n" in text
            return not has_lines and self._ends_sentence(run) and not self._body.is_quoted(run)
        if not self._body.in_environment(run):
            return False
        if habits.breaks and run.sign.isspace():
            return text[run.start - 1 : run.start].isspace()  # `a \\ b`, where `a\\ b` may be a space
        return run.sign.isdigit() or run.sign.isspace() or run.sign in "-\\&"

    def _ends_sentence(self, run: BackslashRun) -> bool:
        """Return True if a line may end here, which is so neither in a path nor in a regular expression."""
        before, after = self._body.text[: run.start][-3:], self._body.text[run.end + 1 : run.end + 2]
        if PATH.search(before) or (after and after in "]+*?|"):
            return False
        return run.name == "n" or run.name[1].isupper() or not before[-1:].isalnum()

    def _quarter(self, run: BackslashRun, escape: bool) -> int:
        """Of backslashes that were doubled twice; the source code of a program may hold what looks so, hence the conditions."""
        habits, text = self._habits, self._body.text
        consistent = not habits.single and not habits.double and run.count % 4 == int(escape)
        if not consistent or '"' in text or (escape and run.sign not in "nrtu"):
            raise self._doubt(run)
        known = text.startswith("{", run.end + len(run.name)) if run.is_command else run.sign != "$"
        if not escape and not known and not self._body.in_formula(run):
            raise self._doubt(run)
        return run.count // 4

    def _pairs(self, run: BackslashRun) -> int:
        """Of an even number where a reply leaves backslashes as they are: a doubled one, or a line break of LaTeX."""
        environment = self._habits.environment
        if run.count == 2:
            if SKIP.match(self._body.text, run.end) and environment:
                return 2
            if run.is_command or run.sign in SPACING:
                return 1
            if not environment and (
                run.sign in ("{", "}", "%", "&", "|", ")", "]") or run.sign in self._body.closes_doubled
            ):
                return 1
            inside = self._body.in_environment(run) and not self._habits.double and not self._habits.breaks
            if inside and run.sign not in SIGNS:
                return 2
        elif run.count == 4 and not run.name:
            return 2
        raise self._doubt(run)

    def _doubt(self, run: BackslashRun) -> TwoWays:
        around = self._body.text[max(run.start - 20, 0) : run.end + 20]
        return TwoWays(
            say(
                "The backslash in '{place}' can be meant in two ways. In JSON, write every backslash of a text twice.",
                place=around,
            )
        )


def _whole(text: str) -> str:
    """Return the text with the halves of characters put together."""
    if HALF.search(text) is None:
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise TwoWays(say("A string holds a lone surrogate.")) from None
