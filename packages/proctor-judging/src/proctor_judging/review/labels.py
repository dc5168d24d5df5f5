"""Human labels, and the file that keeps them next to the data: `<data>_verifications.json`.

The format is that of HumanVerificationUI (hello-agents, chapter 12.4.6), item id to verdict, with the label of every
reviewer in addition:

    {"gen_aime_1": {"problem_id": "gen_aime_1", "scores": {"correctness": 5, "clarity": 4},
                    "total_score": 4.5, "status": "approved", "comments": "", "verified_at": "2025-01-10T12:00:00",
                    "reviews": [{"number": 1, "reviewer": "ann", "scores": {...}, "item_digest": "9a0c…", ...}]}}
"""

import codecs
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words
from proctor.runtime.files import reading

Status = Literal["approved", "rejected", "needs_revision"]
STATUSES: tuple[Status, ...] = get_args(Status)
STATUS_NAMES = {"approved": say("Approved"), "rejected": say("Rejected"), "needs_revision": say("Needs revision")}
DIMENSIONS = ("correctness", "clarity", "difficulty_match", "completeness")
MOST_BYTES = 200_000_000


class ReviewLabel(msgspec.Struct, frozen=True, kw_only=True):
    """The label of one person for one item; `when` is ISO time, `reviewer` '' in a file that names nobody."""

    item: str
    reviewer: str
    scores: Mapping[str, float]
    status: Status
    comments: str = ""
    when: str = ""


class LabelEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A label as the file keeps it.

    `number` counts the labels of the file, `item_digest` tells which text was judged, `decides` is set where an
    adjudicator settled a conflict.
    """

    number: int = 0
    reviewer: str = ""
    scores: dict[str, int | float]
    status: Status
    comments: str | None = ""
    verified_at: str = ""
    item_digest: str = ""
    decides: bool = False

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.scores.values())):
            raise ValueError("a score is no finite number")

    @property
    def total(self) -> float:
        """The mean of the scores; 0 when there are none."""
        return sum(self.scores.values()) / len(self.scores) if self.scores else 0.0


class LabelRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An item of the file: the joint verdict as the source has it, and every label, oldest first."""

    problem_id: str | int = ""
    scores: dict[str, int | float]
    total_score: float | None = None
    status: Status
    comments: str | None = ""
    verified_at: str = ""
    reviews: tuple[LabelEntry, ...] = ()

    @property
    def entries(self) -> tuple[LabelEntry, ...]:
        """Every label; a record without any, as older files have it, is one of an unnamed reviewer."""
        return self.reviews or (
            LabelEntry(scores=self.scores, status=self.status, comments=self.comments, verified_at=self.verified_at),
        )

    @property
    def current(self) -> list[LabelEntry]:
        """The newest label of each reviewer, of the text that was judged last."""
        judged = self.entries[-1].item_digest
        newest = {entry.reviewer: entry for entry in self.entries if not entry.decides and entry.item_digest == judged}
        return [*newest.values()]

    @property
    def decision(self) -> LabelEntry | None:
        """Return the adjudicator's decision; None if a label is newer."""
        return self.entries[-1] if self.entries[-1].decides else None

    @property
    def verdict(self) -> LabelEntry:
        """The adjudicator's decision, else the joint verdict of the reviewers."""
        return self.decision or joint(self.current)


def record(item: str, entries: Sequence[LabelEntry]) -> LabelRecord:
    """Return the record of an item with these labels."""
    verdict = LabelRecord(scores={}, status="rejected", reviews=tuple(entries)).verdict
    return LabelRecord(
        problem_id=item,
        scores=verdict.scores,
        total_score=verdict.total,
        status=verdict.status,
        comments=verdict.comments or "",
        verified_at=verdict.verified_at,
        reviews=tuple(entries),
    )


def file_of(data: str | Path) -> Path:
    """Return the path of the labels of a data file; never the data file itself.

    >>> file_of("my.json.d/aime.json").as_posix(), file_of("aime.txt").as_posix()
    ('my.json.d/aime_verifications.json', 'aime_verifications.json')
    """
    path = Path(data)
    return path.with_name(f"{path.stem}_verifications.json")


def read(path: str | Path) -> list[ReviewLabel]:
    """Return the newest label of every reviewer for every item, in the order of the file.

    Raises:
        BadInput: there is no such file, or it is no verification file; names the place.
    """
    return [_label(item, entry) for item, record in records(Path(path)).items() for entry in record.current]


def verdicts(path: str | Path) -> list[ReviewLabel]:
    """Return one label for each item: the adjudicator's decision, else the joint verdict of its reviewers (see `joint`)."""
    return [_label(item, record.verdict) for item, record in records(Path(path)).items()]


def records(path: Path) -> dict[str, LabelRecord]:
    """Return a verification file, item id to record.

    Raises:
        BadInput: there is no such file, or it is no verification file; names the place.
    """
    return decoded(data_of(path), path)


def data_of(path: Path) -> bytes:
    """Return the bytes of a verification file, without a byte order mark.

    Raises:
        BadInput: there is no such file, or it is larger than any of ours.
    """
    with reading(path):
        if path.stat().st_size > MOST_BYTES:
            raise BadInput("{path} is larger than {limit} bytes.", path=path, limit=MOST_BYTES)
        return path.read_bytes().removeprefix(codecs.BOM_UTF8)


def decoded(data: bytes, path: Path) -> dict[str, LabelRecord]:
    """Return the records in the bytes of a verification file; `path` is for the message."""
    try:
        return msgspec.json.decode(data, type=dict[str, LabelRecord])
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadInput(
            "{path} is no verification file: {error}. It holds item ids, each with scores and a status ({statuses}). Move it away to start again.",
            path=path,
            error=in_words(error),
            statuses=", ".join(STATUSES),
        ) from None


def joint(entries: Sequence[LabelEntry]) -> LabelEntry:
    """Return what several reviewers say together: mean scores, the status they agree on, else `needs_revision`.

    >>> one = LabelEntry(reviewer="ann", scores={"clarity": 5}, status="approved")
    >>> other = LabelEntry(reviewer="bob", scores={"clarity": 2}, status="rejected", comments="vague")
    >>> both = joint([one, other])
    >>> both.scores, both.status, both.comments
    ({'clarity': 3.5}, 'needs_revision', 'bob: vague')
    """
    if len(entries) == 1:
        return entries[0]
    given: dict[str, list[float]] = {}
    for entry in entries:
        for name, score in entry.scores.items():
            given.setdefault(name, []).append(score)
    statuses = {entry.status for entry in entries}
    return LabelEntry(
        reviewer=", ".join(entry.reviewer for entry in entries),
        scores={name: sum(scores) / len(scores) for name, scores in given.items()},
        status=statuses.pop() if len(statuses) == 1 else "needs_revision",
        comments="\n".join(f"{entry.reviewer}: {entry.comments}" for entry in entries if entry.comments),
        verified_at=max(entries, key=lambda entry: entry.number).verified_at,
    )


def differ(entries: Iterable[LabelEntry], distance: float) -> tuple[str, ...]:
    """Return what reviewers disagree on: 'status', and every dimension whose scores are more than `distance` apart.

    >>> differ([LabelEntry(scores={"a": 5, "b": 1}, status="approved"), LabelEntry(scores={"a": 4, "b": 3}, status="approved")], 1)
    ('b',)
    """
    entries = [*entries]
    differing = ["status"] if len({entry.status for entry in entries}) > 1 else []
    for name in dict.fromkeys(name for entry in entries for name in entry.scores):
        scores = [entry.scores[name] for entry in entries if name in entry.scores]
        if max(scores) - min(scores) > distance:
            differing.append(name)
    return tuple(differing)


def fitting(
    found: Mapping[str, LabelRecord], digest_by_item: Mapping[str, str], *, file: Path, data: Path, changed: bool
) -> list[Sentence]:
    """Return notes on labels for data with these items; with `changed`, all of their texts may have changed.

    Raises:
        BadInput: they are of other data.
    """
    here = [id for id in found if id in digest_by_item]
    stale = [id for id in here if found[id].entries[-1].item_digest not in ("", digest_by_item[id])]
    if found and not here:
        raise BadInput(
            "{file} belongs to other data: none of the {count} items it is of, such as '{id}', is in {data}. Move it away.",
            file=file,
            count=len(found),
            id=next(iter(found))[:80],
            data=data,
        )
    if len(stale) > 1 and len(stale) == len(here) and not changed:
        raise BadInput(
            "{file} belongs to other data: all {count} items it is of have another text in {data}. Move it away, or say --changed if the items were changed.",
            file=file,
            count=len(stale),
            data=data,
        )
    told = []
    if stale:
        told.append(
            say(
                "{count} items were changed since they were reviewed; they are to be reviewed again.",
                count=len(stale),
            )
        )
    if len(here) < len(found):
        told.append(
            say(
                "{count} labels are of items that are not in the data any more; they are kept.",
                count=len(found) - len(here),
            )
        )
    return told


def _label(item: str, entry: LabelEntry) -> ReviewLabel:
    return ReviewLabel(
        item=item,
        reviewer=entry.reviewer,
        scores=entry.scores,
        status=entry.status,
        comments=entry.comments or "",
        when=entry.verified_at,
    )
