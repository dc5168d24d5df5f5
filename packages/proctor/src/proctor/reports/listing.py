"""The samples of a run as compact JSON, for the script of its page.

Ten thousand samples have to stay one file that opens in a moment. So every long text is kept once and named by its number,
what is empty is left out, and the texts of a run share a budget: the more samples, the shorter each text, with the number of
characters that are missing. Pictures that agents or tools returned are there up to a limit, beyond it only the line that names them.
`samples.js` reads this data.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from proctor.chat.message_text import data_url
from proctor.core.media_type import type_by_bytes
from proctor.core.run import RunRecord
from proctor.core.task import Store
from proctor.core.trial import IN_THE_MEAN
from proctor.reports.pairs import CallRows
from proctor.reports.story import Story, StoryFinding, StoryLine, cut, story
from proctor.reports.words import ReportWords
from proctor.runtime.visible import visible
from proctor.stores.reading import trials_with_verdicts

CHARACTERS = 20_000_000  # of all texts of a page, shared out over its samples
LEAST, MOST = 300, 8_000  # of one text
MOST_BYTES = 30_000_000  # of the JSON; what comes after that is not listed
MEDIA_BYTES, MOST_MEDIA_BYTES = (
    10_000_000,
    1_000_000,
)  # of the pictures and sounds of a page, and of one; the first ones
SHORT = 24  # texts up to here stand where they are needed; a number would not be shorter
Ref = str | int


class ErrorRule(msgspec.Struct, frozen=True):
    """A class and type of error, as the page counts them."""

    error_class: str
    error_type: str


class TrialListing(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON, how many trials it lists, and how many there are."""

    data: str
    listed: int
    total: int


def stories(record: RunRecord, store: Store, *, at_once: int | None = None) -> Iterator[Story]:
    """Yield every trial of a run in the order of the plan, its texts cut so that `at_once`, or all, fit on a page."""
    characters = text_characters(at_once or sum(store.outcomes(record.id).values()))
    for trial, verdicts in trials_with_verdicts(store, record.id):
        yield story(trial, store.sample(record.id, trial.sample_id), verdicts, characters=characters)


def text_characters(trials: int) -> int:
    """Return the length of one text at which those of `trials` trials fit on a page.

    >>> text_characters(40), text_characters(10_000)
    (8000, 500)
    """
    return max(LEAST, min(MOST, CHARACTERS // (4 * max(trials, 1))))


def listing(stories: Iterable[Story], rules: Iterable[ErrorRule], total: int, words: ReportWords) -> TrialListing:
    """Return the JSON of a run's trials; `rules` are numbered in their order, as the page links to them."""
    tables = ListingTables(words, rules, total)
    return pack_rows(map(tables.row, stories), tables, total)


def pack_rows(rows: Iterable[Mapping[str, object]], tables: "ListingTables", total: int) -> TrialListing:
    """Pack rows with the tables they refer to, up to the size of a page."""
    made: list[bytes] = []
    size = 0
    for row in rows:
        made.append(msgspec.json.encode(row))
        size += len(made[-1]) + 1
        if size + tables.size > MOST_BYTES:
            break
    else:
        total = len(made)
    head = msgspec.json.encode(tables.as_data())
    data = head[:-1] + b',"rows":[' + b",".join(made) + b"]}"
    # "<" is the only character with which a text could leave the script element
    return TrialListing(data=data.decode().replace("<", "\\u003c"), listed=len(made), total=total)


def state(one: Story) -> str:
    """Return how a trial ended: passed, failed, unscored, or lost if nothing could be measured.

    >>> state(Story(sample_id="a", attempt=0, outcome="provider_failed"))
    'lost'
    """
    if one.outcome not in IN_THE_MEAN:
        return "lost"
    scored = [finding for finding in one.findings if finding.value is not None]
    if one.outcome != "scored" or not all(finding.passed for finding in scored):
        return "failed"
    return "passed" if scored else "unscored"


class ListingTables:
    """The tables that rows refer to by number, filled while rows are made."""

    def __init__(self, words: ReportWords, rules: Iterable[ErrorRule], trials: int) -> None:
        self.words = words
        self.texts = [""]  # numbers begin with 1, as 0 is left out of rows
        self.size = 0
        self.tags: list[str] = []
        self.scorers: list[str] = []
        self.rules: list[tuple[str, str]] = []
        self.media: list[str] = []
        self._media_bytes = 0
        self._share = max(4 * LEAST, CHARACTERS // max(trials, 1))
        self._characters = text_characters(trials)
        self._number_by_text: dict[str, int] = {}
        self._number_by_media: dict[bytes, int] = {}
        self._number_by_tag: dict[str, int] = {}
        self._number_by_scorer: dict[str, int] = {}
        self._number_by_rule: dict[tuple[str, str], int] = {}
        for rule in rules:
            self._rule((rule.error_class, rule.error_type))

    def row(self, one: Story) -> dict[str, Any]:
        """Return one trial without its empty fields."""
        before = self.size
        row = {
            "n": visible(one.sample_id),
            "a": one.attempt,
            "z": state(one),
            "o": self.words.outcome(one.outcome) if one.outcome != "scored" else "",
            "c": self._rule(one.error) + 1 if state(one) == "failed" else 0,
            "g": self.tags_of(one.tags),
            "q": self._ref(one.question),
            "f": [self._finding(finding) for finding in one.findings],
            "x": self._ref(self._cut(self.words.t(one.failure.reason))) if one.failure is not None else "",
            "p": [self._pair(pair) for pair in one.pairs],
            "e": self._ref(one.expected),
            "m": self._ref(one.made),
            "s": self.words.seconds(one.seconds),
            "v": round(one.seconds, 3),
            "k": one.usage.input_tokens + one.usage.output_tokens,
            "w": self.words.stop(one.stop) if one.stop != "done" else "",
        }
        lines, left_out = self._conversation(one, self._share - (self.size - before))
        row |= {"l": lines, "d": left_out}
        return {key: value for key, value in row.items() if value not in ("", 0, [], None)}

    def tags_of(self, tags: Mapping[str, str]) -> list[int]:
        """Return the numbers of tags."""
        return [_number(f"{key}={value}", self.tags, self._number_by_tag) for key, value in tags.items()]

    def as_data(self) -> dict[str, object]:
        """Return the tables for the scripts, with their texts."""
        return {
            "texts": self.texts,
            "media": self.media,
            "tags": self.tags,
            "scorers": self.scorers,
            "rules": self.rules,
            "words": script_words(self.words),
        }

    def _conversation(self, one: Story, characters: int) -> tuple[list[list[Ref]], int]:
        """Return its lines up to `characters`; a text that is on the page already costs none."""
        lines: list[list[Ref]] = []
        left_out = one.left_out
        for line in one.lines:
            new = 0 if line.text in self._number_by_text else len(line.text)
            if new > characters:
                left_out += 1
                continue
            characters -= new
            number = self._medium(line.media) if line.media else None
            lines.append([self._role(line), self._ref(line.text), *(() if number is None else (number,))])
        return lines, left_out

    def _medium(self, data: bytes) -> int | None:
        """Return the number of a picture or sound; None for one that the page has no room for."""
        if data not in self._number_by_media:
            if len(data) > MOST_MEDIA_BYTES or self._media_bytes + len(data) > MEDIA_BYTES:
                return None
            self._media_bytes += len(data)
            self._number_by_media[data] = len(self.media)
            self.media.append(data_url(type_by_bytes(data), data))
        return self._number_by_media[data]

    def _role(self, line: StoryLine) -> Ref:
        role = self.words.role(line.role)
        return self._ref(role if line.kind == "text" else f"{role} {self.words.kind(line.kind)}")

    def _finding(self, found: StoryFinding) -> list[object]:
        scorer = _number(found.scorer, self.scorers, self._number_by_scorer)
        reason = self._ref(self._cut(self.words.t(found.reason)))
        if found.value is None:
            return [scorer, None, self.words.unscored(found.why), reason]
        points = "" if found.out_of == 1 and found.value in (0, 1) else f"{found.points:g} / {found.out_of:g}"
        marks = [[visible(mark.name), mark.points, mark.low, mark.high] for mark in found.marks]
        return [scorer, round(found.value, 4), points, reason, int(found.passed), *([marks] if marks else [])]

    def _pair(self, pair: CallRows) -> list[object]:
        rows = [
            [visible(row.parameter), self._cell(row.expected), self._cell(row.made), int(row.marked)]
            for row in pair.rows
        ]
        kind = self._ref(self.words.call(pair.kind)) if pair.kind else ""
        sign = "✗" if pair.marked else "✓" if pair.kind == "matched" else ""
        return [
            self._cell(pair.expected) if pair.expected or pair.expects_none else "",
            self._cell(pair.made),
            sign,
            kind,
            pair.turn,
            rows,
        ]

    def _cell(self, text: str | None) -> Ref | None:
        return None if text is None else self._ref(self._cut(text))

    def _cut(self, text: str) -> str:
        return cut(text, self._characters)

    def _ref(self, text: str) -> Ref:
        """Return a short text itself, and the number of a longer one."""
        if len(text) <= SHORT:
            return visible(text)
        if text not in self._number_by_text:
            shown = visible(text)
            self.size += len(shown.encode())
            self._number_by_text[text] = len(self.texts)
            self.texts.append(shown)
        return self._number_by_text[text]

    def _rule(self, error: tuple[str, str]) -> int:
        if error not in self._number_by_rule:
            self._number_by_rule[error] = len(self.rules)
            self.rules.append((visible(self.words.error(error[0])) if error[0] else "", visible(error[1])))
        return self._number_by_rule[error]


def _number(text: str, table: list[str], number_by_text: dict[str, int]) -> int:
    if text not in number_by_text:
        number_by_text[text] = len(table)
        table.append(visible(text))
    return number_by_text[text]


def script_words(words: ReportWords) -> Mapping[str, str]:
    """Return the texts of the scripts."""
    return {
        "passed": words.t("passed"),
        "failed": words.t("failed"),
        "unscored": words.t("not scored"),
        "lost": words.t("not measured"),
        "shown": words.t("{shown} of {count}"),
        "more": words.t("Show more"),
        "attempt": words.t("attempt {number}"),
        "call": words.t("Call"),
        "expected": words.t("Expected"),
        "made": words.t("Made"),
        "no_call": words.t("no call"),
        "instead": words.t("What came instead of a call"),
        "came": words.t("What came"),
        "turn": words.t("Turn {number}"),
        "conversation": words.t("Conversation"),
        "left_out": words.t("{count} more parts are left out."),
        "no_reason": words.t("No reason was given."),
        "question": words.t("Question"),
        "tokens": words.t("{tokens} tokens"),
        "link": words.t("Link to this sample"),
        "broken": words.t("broken by B"),
        "fixed": words.t("fixed by B"),
        "moved": words.t("Broken or fixed by B"),
        "both_wrong": words.t("both wrong"),
        "both_right": words.t("both right"),
        "not_compared": words.t("not compared"),
        "not_run": words.t("Not run."),
        "of_attempts": words.t("attempt {number} of {count}"),
    }
