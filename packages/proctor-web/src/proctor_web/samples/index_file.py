"""Define the file by which the samples of a run are found, and how a stored trial is entered into it.

A trial is a row of `trials`, which is narrow, a row of `shown`, with what a list says of it, and one of `documents`, whose text is
not kept. Their key is the order of the list: failures first, in the order of the plan. What a trial is counted under (outcome,
class of error, tag) are words too, in a column of their own, so that such a filter is a search.

A trial that changes is entered again. Its earlier words cannot be taken out, so they may still find it: what has to be exact
is compared with `trials` as well, and a file with many such rows is written from the start.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from proctor.core.sample import Message, Text, ToolCall, ToolResult
from proctor.core.score import short_reason
from proctor.core.sentence import Sentence, clip
from proctor.core.trial import IN_THE_MEAN, StoredTrial
from proctor.core.version import SAMPLE_INDEX
from proctor.i18n import speak
from proctor.reports.pairs import value_text
from proctor.reports.story import StoryFinding, answers_in_line, error_of, finding
from proctor_web.samples.tokens import tokens

FORMAT = str(SAMPLE_INDEX)
State = Literal["failed", "lost", "unscored", "passed"]
ORDER: Mapping[State, int] = {"failed": 0, "lost": 1, "unscored": 1, "passed": 2}
GROUPS = 3  # of the order
GROUP_SHIFT, ATTEMPT_BITS = 60, 16
MOST_CHARACTERS = 40_000  # of a trial that can be searched for
SHOWN_CHARACTERS = 160  # of a text in a list
MOST_SCORERS = 64
COLUMNS = 11  # of a trial, before its values by scorer

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE facets (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, UNIQUE (kind, name));
CREATE TABLE trials (
    id INTEGER PRIMARY KEY, sample TEXT NOT NULL, outcome INTEGER NOT NULL, state INTEGER NOT NULL, class INTEGER NOT NULL,
    type INTEGER NOT NULL, low REAL, high REAL, disagree INTEGER NOT NULL, seconds REAL NOT NULL, tokens INTEGER NOT NULL
);
CREATE INDEX trials_by_sample ON trials (sample);
CREATE TABLE shown (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE VIRTUAL TABLE documents USING fts5(words, letters, facets, content='', columnsize=0, tokenize='ascii');
"""


class ListedTrial(msgspec.Struct, frozen=True, array_like=True):
    """What a list says of a trial, its texts cut."""

    question: str
    answer: str
    expected: str
    reason: str | Sentence
    tags: Mapping[str, str]
    values: Mapping[str, float | None]
    seconds: float
    tokens: int


class IndexEntry(NamedTuple):
    """A trial as it is entered: its key, its rows, its words, and what it is counted under, by kind."""

    id: int
    sample: str
    facets: tuple[tuple[str, str], ...]
    values: Mapping[str, float | None]
    disagree: bool
    seconds: float
    tokens: int
    shown: bytes
    words: str
    letters: str


def key(group: int, position: int, attempt: int) -> int:
    """Return the key of a trial: failures first, then in the order of the plan."""
    return group << GROUP_SHIFT | position << ATTEMPT_BITS | attempt


def place(id: int) -> tuple[int, int]:
    """Return position and attempt of a key.

    >>> place(key(2, 7, 1))
    (7, 1)
    """
    return (id & ((1 << GROUP_SHIFT) - 1)) >> ATTEMPT_BITS, id & ((1 << ATTEMPT_BITS) - 1)


def state_of(outcome: str, findings: Sequence[StoryFinding]) -> State:
    """Return how a trial ended, as reports count it."""
    if outcome not in IN_THE_MEAN:
        return "lost"
    scored = [each for each in findings if each.value is not None]
    if outcome != "scored" or not all(found.passed for found in scored):
        return "failed"
    return "passed" if scored else "unscored"


def entry(stored: StoredTrial) -> IndexEntry:
    """Return a stored trial as it is entered."""
    trial, sample = stored.trial, stored.sample
    findings = [finding(verdict) for verdict in stored.verdicts]
    state = state_of(trial.outcome, findings)
    error = error_of(trial.outcome, trial.failure, findings) if state in ("failed", "lost") else ("", "")
    scored = [each for each in findings if each.value is not None]
    reasons = [each.reason for each in findings if each.reason]
    if trial.failure is not None:
        reasons.insert(0, trial.failure.reason)
    values = {each.scorer: each.value for each in findings}
    first = next((each.reason for each in scored if not each.passed), next(iter(reasons), ""))
    words = tokens("\n".join(_texts(stored, reasons)))
    count = trial.usage.input_tokens + trial.usage.output_tokens
    expected, answer = answers_in_line(sample, trial.trajectory, stored.verdicts)
    return IndexEntry(
        id=key(ORDER[state], stored.position, trial.attempt),
        sample=sample.id,
        facets=(
            ("outcome", trial.outcome),
            ("state", state),
            ("class", error[0]),
            ("type", error[1]),
            *(("tag", f"{name}={value}") for name, value in sample.tags.items()),
        ),
        values=values,
        disagree=len({each.passed for each in scored}) > 1,
        seconds=trial.seconds,
        tokens=count,
        shown=msgspec.json.encode(
            ListedTrial(
                clip(sample.question, SHOWN_CHARACTERS),
                clip(answer, SHOWN_CHARACTERS),
                clip(expected, SHOWN_CHARACTERS),
                short_reason(first, SHOWN_CHARACTERS),
                sample.tags,
                values,
                trial.seconds,
                count,
            ),
            enc_hook=str,
        ),
        words=words.words,
        letters=words.letters,
    )


def _texts(stored: StoredTrial, reasons: Sequence[str | Sentence]) -> Iterator[str]:
    """Yield what can be searched for, the most telling first, up to the limit of a trial."""
    left = MOST_CHARACTERS
    for text in dict.fromkeys(_all_texts(stored, reasons)):  # the answer is also the text of a step
        yield text[:left]
        left -= len(text)
        if left <= 0:
            return


def _all_texts(stored: StoredTrial, reasons: Sequence[str | Sentence]) -> Iterator[str]:
    sample, trajectory = stored.sample, stored.trial.trajectory
    yield sample.id
    yield sample.question
    yield trajectory.answer
    if sample.target is not None:
        yield sample.target if isinstance(sample.target, str) else value_text(sample.target)
    for reason in reasons:
        yield speak(reason, "en")
        if not isinstance(reason, str):
            yield speak(reason, "zh")
    for call in trajectory.calls():
        yield f"{call.name} {call.arguments_text()}"
    asked = (message for turn in sample.turns for message in turn.messages)
    for message in (*asked, *(step.message for step in trajectory.steps)):
        yield from _parts(message)


def _parts(message: Message) -> Iterator[str]:
    for part in message.parts:
        match part:
            case Text(text=text):
                yield text
            case ToolResult(name=name, content=content):
                yield f"{name} {content}"
            case ToolCall():  # those of the agent are there already
                pass


def connect(path: Path) -> sqlite3.Connection:
    """Open a file for reading or writing; the caller ensures that one thread at a time uses the connection."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    db.execute("PRAGMA synchronous = OFF")  # it can be written again
    return db


def meta_of(db: sqlite3.Connection) -> dict[str, str]:
    """Return what the file says of itself; nothing for a new one, or one of another version."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return {}
    meta = dict(db.execute("SELECT name, value FROM meta"))
    return meta if meta.get("format") == FORMAT else {}


def scorers_of(meta: Mapping[str, str]) -> list[str]:
    """Return the scorers whose values the file has, in the order of its columns."""
    return msgspec.json.decode(meta.get("scorers", "[]"), type=list[str])


class Entries:
    """Enters trials into a file, a chunk in each transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.meta = meta_of(db)
        self._numbers: dict[tuple[str, str], int] = {
            (kind, name): number for number, kind, name in db.execute("SELECT id, kind, name FROM facets")
        }
        self._scorers = scorers_of(self.meta)

    def enter(self, entries: Iterable[IndexEntry], meta: Mapping[str, object]) -> None:
        """Enter a chunk, with what is then true of the file."""
        ordered = sorted(entries, key=lambda one: one.id)  # the index of words is quickest in the order of its keys
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        try:
            replaced = self._remove(ordered)
            self._add_scorers(ordered)
            self._count(ordered)
            rows = [self._row(entry) for entry in ordered]
            marks = ", ".join("?" * (COLUMNS + len(self._scorers)))
            db.executemany(f"INSERT INTO trials VALUES ({marks})", rows)  # noqa: S608 - question marks
            db.executemany("INSERT INTO shown VALUES (?, ?)", [(entry.id, entry.shown) for entry in ordered])
            db.executemany(
                "INSERT INTO documents (rowid, words, letters, facets) VALUES (?, ?, ?, ?)",
                [(entry.id, entry.words, entry.letters, self._facet_words(entry)) for entry in ordered],
            )
            count, stale = int(self.meta["rows"]) + len(ordered) - replaced, int(self.meta["stale"]) + replaced
            known = {"scorers": msgspec.json.encode(self._scorers).decode(), "rows": count, "stale": stale}
            self.meta |= {name: str(value) for name, value in {**known, **meta}.items()}
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", self.meta.items())
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise

    def optimise(self) -> None:
        """Join what a long series of chunks left in pieces."""
        self._db.execute("INSERT INTO documents (documents) VALUES ('optimize')")

    def _remove(self, entries: Sequence[IndexEntry]) -> int:
        removed = 0
        for entry in entries:
            ids = [key(group, *place(entry.id)) for group in range(GROUPS)]
            row = self._db.execute(
                "SELECT id, outcome, state, class, type FROM trials WHERE id IN (?, ?, ?)", ids
            ).fetchone()
            if row is not None:
                self._db.execute("DELETE FROM trials WHERE id = ?", row[:1])
                self._db.execute("DELETE FROM shown WHERE id = ?", row[:1])
                tags = [self._numbers[facet] for facet in entry.facets if facet[0] == "tag"]
                self._db.executemany(
                    "UPDATE facets SET count = count - 1 WHERE id = ?", [(n,) for n in (*row[1:], *tags)]
                )
                removed += 1
        return removed

    def _add_scorers(self, entries: Sequence[IndexEntry]) -> None:
        for name in dict.fromkeys(name for entry in entries for name in entry.values):
            if name not in self._scorers and len(self._scorers) < MOST_SCORERS:
                self._db.execute(f"ALTER TABLE trials ADD COLUMN v{len(self._scorers)} REAL")
                self._scorers.append(name)

    def _count(self, entries: Sequence[IndexEntry]) -> None:
        counts: dict[tuple[str, str], int] = {}
        for entry in entries:
            for facet in entry.facets:
                counts[facet] = counts.get(facet, 0) + 1
        for facet, count in counts.items():
            row = self._db.execute(
                "INSERT INTO facets (kind, name, count) VALUES (?, ?, ?)"
                " ON CONFLICT (kind, name) DO UPDATE SET count = count + excluded.count RETURNING id",
                (*facet, count),
            ).fetchone()
            self._numbers[facet] = row[0]

    def _row(self, one: IndexEntry) -> tuple[object, ...]:
        known = [value for value in one.values.values() if value is not None]
        return (
            one.id,
            one.sample,
            *(self._numbers[facet] for facet in one.facets[:4]),
            min(known, default=None),
            max(known, default=None),
            one.disagree,
            one.seconds,
            one.tokens,
            *(one.values.get(name) for name in self._scorers),
        )

    def _facet_words(self, one: IndexEntry) -> str:
        words = [facet_word(self._numbers[facet]) for facet in one.facets]
        return " ".join([*words, "disagree"] if one.disagree else words)


def facet_word(number: int) -> str:
    return f"f{number}"
