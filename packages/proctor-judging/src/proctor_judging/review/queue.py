"""Review a data file: open items by reviewer, their labels, disagreements and progress.

Reviewers are blind: what a method says about a reviewer's items holds their own labels only. Every label is on disk,
as a whole, when `label` returns; several processes may review one file at once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.runtime.files import locked, write_whole
from proctor_judging.review import labels, plan
from proctor_judging.review.dimensions import DEFAULT, ReviewDimension
from proctor_judging.review.items import ReviewItem, items, notes
from proctor_judging.review.label_checks import checked_comment, checked_scores, checked_status, name_of
from proctor_judging.review.labels import STATUSES, LabelEntry, LabelRecord, Status
from proctor_judging.review.plan import ReviewDraw, ReviewPlan, Withdrawn, order_at_random

T = TypeVar("T")
State = Literal["todo", "changed", "approved", "rejected", "needs_revision"]


class ReviewConflict(msgspec.Struct, frozen=True, kw_only=True):
    """An item whose reviewers disagree: on 'status', or on dimensions."""

    item: ReviewItem
    entries: tuple[LabelEntry, ...]
    on: tuple[str, ...]


class ReviewProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a review; `mean` is that of the verdicts, None without any."""

    total: int
    done: int
    by_status: Mapping[Status, int]
    mean: float | None
    by_dimension: Mapping[str, float]


class Reviewers(msgspec.Struct, frozen=True, kw_only=True):
    """Who reviews what.

    Attributes:
        names: those of the plan when empty, else one without a name ('').
        each: by how many of them each item is reviewed; all, or what was said before, when None. Where nobody was
            ever named they are called reviewer-1, reviewer-2 …
        seed: the seed of the draw and of the assignment.
        adjudicator: who decides where reviewers disagree; the one named before when None.
        draw: how many items of the data to review, drawn at random; all, or what was drawn before, when None.
    """

    names: Sequence[str] = ()
    each: int | None = None
    seed: int = 0
    adjudicator: str | None = None
    draw: int | None = None

    def checked(self) -> "Reviewers":
        """Return the same with each name once, in the form in which it is kept."""
        return replace(
            self,
            names=tuple(dict.fromkeys(name_of(name) for name in self.names)),
            adjudicator=None if self.adjudicator is None else name_of(self.adjudicator),
        )


class Review:
    """The review of one data file."""

    def __init__(
        self,
        data: str | Path,
        reviewers: Reviewers = Reviewers(),  # noqa: B008 - frozen
        *,
        dimensions: Sequence[ReviewDimension] = DEFAULT,
        distance: float = 1.0,
        changed: bool = False,
    ) -> None:
        """Read the data and the labels there are.

        Args:
            data: the file; it is never written.
            dimensions: what is scored.
            distance: two scores that lie further apart are a conflict.
            changed: take the labels although every item they are of has changed since.

        Raises:
            BadInput: the data cannot be read, a file next to it cannot be read, the labels are of other data.
        """
        self.data = Path(data).expanduser()
        self.file = labels.file_of(self.data)
        self._records = _Watched[dict[str, LabelRecord]](self.file, labels.records, {})
        self._plan = _Watched(plan.file_of(self.data), plan.read, ReviewPlan())
        everything = items(self.data)
        self._by_id = {item.id: item for item in everything}
        self.dimensions = tuple(dimensions)
        self.distance = distance
        if self.data.resolve() in (self.file.resolve(), self._plan.path.resolve()):
            raise BadInput("{path} is a link to the data itself. Remove it.", path=self.file)
        digests = {item.id: item.digest for item in everything}
        fit = labels.fitting(self.records(), digests, file=self.file, data=self.data, changed=changed)
        named = reviewers.checked()
        self._change_plan(named)
        self._by_id = {item: self._by_id[item] for item in self._drawn(self.plan)}
        self.items = [*self._by_id.values()]
        self.notes = [*notes(self.items), *fit]
        self.reviewers = tuple(named.names) or self.plan.reviewers or ("",)
        self.adjudicator = named.adjudicator or self.plan.adjudicator

    def check_writable(self) -> None:
        """Find out before the work begins.

        Raises:
            BadInput: the labels cannot be written.
        """
        with locked(self.file):
            pass

    # What there is to do

    def queue(self, reviewer: str) -> list[ReviewItem]:
        """Return the items this reviewer is to review, in the order of the file."""
        plan = self.plan
        return [item for item in self.items if plan.asks(item.id, reviewer)]

    def own(self, item: ReviewItem, reviewer: str) -> LabelEntry | None:
        """Return the newest label of a reviewer for an item."""
        return _own(self.records().get(item.id), reviewer)

    def states(self, reviewer: str) -> dict[int, State]:
        """Return the status that a reviewer gave to each item of theirs, by its number; 'changed' if its text has changed since."""
        records = self.records()
        return {item.number: _state(item, _own(records.get(item.id), reviewer)) for item in self.queue(reviewer)}

    def conflicts(self) -> list[ReviewConflict]:
        """Return where reviewers disagree and no adjudicator has decided."""
        conflicts = []
        for item, record in self._judged():
            on = labels.differ(record.current, self.distance)
            if on and record.decision is None:
                conflicts.append(ReviewConflict(item=item, entries=tuple(record.current), on=on))
        return conflicts

    # What is said

    def label(
        self,
        item: str,
        reviewer: str,
        scores: Mapping[str, float],
        status: str,
        comments: str = "",
        *,
        decides: bool = False,
    ) -> LabelEntry:
        """Keep a label; it is on disk when this returns. With `decides` it is an adjudicator's word on a conflict.

        Raises:
            BadInput: no such item, a score is missing or out of range, no status, or the file cannot be written.
        """
        entry = LabelEntry(
            reviewer=name_of(reviewer),
            scores=checked_scores(scores, self.dimensions),
            status=checked_status(status),
            comments=checked_comment(comments),
            verified_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            item_digest=self.item(item).digest,
            decides=decides,
        )

        def add(records: dict[str, LabelRecord]) -> LabelEntry:
            entries = records[item].entries if item in records else ()
            kept = replace(
                entry,
                number=1 + max((each.number for record in records.values() for each in record.entries), default=0),
            )
            records[item] = labels.record(item, [*entries, kept])
            return kept

        return self._change(add)

    def undo(self, reviewer: str) -> Withdrawn | None:
        """Remove the newest label of a reviewer, or decision of an adjudicator, and return it; None without one.

        The reviewer's previous label of the item counts again; the label itself is kept in the file of the plan.
        """

        def take_back(records: dict[str, LabelRecord]) -> Withdrawn | None:
            mine = [
                (entry.number, item)
                for item, record in records.items()
                for entry in record.entries
                if entry.reviewer == reviewer and entry.number and item in self._by_id
            ]
            if not mine:
                return None
            number, item = max(mine)
            entries = [*records[item].entries]
            last = next(entry for entry in entries if entry.number == number)
            entries.remove(last)
            taken = Withdrawn(item=item, entry=last)
            # first: a crash in between leaves the label in both places, and loses nothing
            self._write(replace(self.plan, withdrawn=(*self.plan.withdrawn, taken)))
            if entries:
                records[item] = labels.record(item, entries)
            else:
                del records[item]
            return taken

        return self._change(take_back)

    # How far it is

    def progress(self, reviewer: str | None = None) -> ReviewProgress:
        """Return how far a reviewer is with their items; with None, the verdicts of all."""
        if reviewer is None:
            total = len(self.items)
            entries = [record.verdict for _, record in self._judged()]
        else:
            queue = self.queue(reviewer)
            total = len(queue)
            records = self.records()
            said = [(item, _own(records.get(item.id), reviewer)) for item in queue]
            entries = [entry for item, entry in said if entry is not None and _state(item, entry) in STATUSES]
        return ReviewProgress(
            total=total,
            done=len(entries),
            by_status={status: sum(entry.status == status for entry in entries) for status in STATUSES},
            mean=_mean(entry.total for entry in entries),
            by_dimension={
                name: mean
                for name in (dimension.name for dimension in self.dimensions)
                if (mean := _mean(entry.scores[name] for entry in entries if name in entry.scores)) is not None
            },
        )

    def people(self) -> list[str]:
        """Return everybody who is assigned or has a label, in that order."""
        said = (entry.reviewer for record in self.records().values() for entry in record.entries if not entry.decides)
        return [*dict.fromkeys([*self.reviewers, *self.plan.reviewers, *said])]

    def agreement(self) -> dict[str, Estimate]:
        """Return Krippendorff's alpha of the reviewers, by dimension (ordinal) and of the status (nominal)."""
        from proctor_judging.stats.agreement import krippendorff_alpha

        people = self.people()
        units = [{entry.reviewer: entry for entry in record.current} for _, record in self._judged()]
        said = [[unit[person].status if person in unit else None for person in people] for unit in units]
        estimates = {"status": krippendorff_alpha(said)}
        for dimension in self.dimensions:
            name = dimension.name
            rated = [[unit[person].scores.get(name) if person in unit else None for person in people] for unit in units]
            estimates[name] = krippendorff_alpha(rated, scale="ordinal")
        return estimates

    def records(self) -> dict[str, LabelRecord]:
        """Return the current verification file, whichever process wrote it."""
        return self._records.now()

    @property
    def plan(self) -> ReviewPlan:
        """Return the current plan: who reviews which items."""
        return self._plan.now()

    def item(self, item: str) -> ReviewItem:
        """Return the item of that id.

        Raises:
            BadInput: it does not exist.
        """
        try:
            return self._by_id[item]
        except KeyError:
            raise BadInput("{path} has no item '{id}'.", path=self.data, id=item[:80]) from None

    def _judged(self) -> list[tuple[ReviewItem, LabelRecord]]:
        """Return the items with labels of their present text."""
        records = self.records()
        pairs = [(item, records[item.id]) for item in self.items if item.id in records]
        return [(item, record) for item, record in pairs if record.entries[-1].item_digest in ("", item.digest)]

    def _change(self, change: Callable[[dict[str, LabelRecord]], T]) -> T:
        """Change the records while nobody else does; those that stay keep every byte, and so what others put in them."""
        with locked(self.file):
            data = labels.data_of(self.file) if self.file.exists() else b"{}"
            before = labels.decoded(data, self.file)
            after = dict(before)
            done = change(after)
            if after != before:
                raw = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
                kept = {id: raw[id] if record is before.get(id) else record for id, record in after.items()}
                write_whole(self.file, msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n", durable=True)
        return done

    def _change_plan(self, named: Reviewers) -> None:
        """Write the plan for these people and numbers, unless another process was quicker."""
        if self._other_plan(named) is None:
            return
        with locked(self.file):
            if (agreed := self._other_plan(named)) is not None:
                self._write(agreed)

    def _other_plan(self, named: Reviewers) -> ReviewPlan | None:
        """Return the plan for these people and numbers; None when it is the one that was written.

        Raises:
            BadInput: another number of items was drawn before.
        """
        changed = replace(self.plan, adjudicator=named.adjudicator or self.plan.adjudicator)
        changed = replace(changed, draw=self._draw(changed, named))
        every = changed.each if named.each is None else named.each
        people = tuple(dict.fromkeys([*changed.reviewers, *named.names]))
        if not people and every > 1:
            people = tuple(f"reviewer-{number + 1}" for number in range(every))
        same = people == changed.reviewers and every == changed.each
        drawn = self._drawn(changed)
        if not people or (same and (not every or {*drawn} <= changed.assigned.keys())):
            return changed if changed != self.plan else None
        kept: Mapping[str, Sequence[str]] = changed.assigned
        if not same:
            kept = {id: [entry.reviewer for entry in record.current] for id, record in self.records().items()}
        draw = changed.seed if changed.reviewers else named.seed
        assigned = plan.assign(drawn, people, every, draw, kept) if every else {}
        return replace(changed, reviewers=people, each=every, seed=draw, assigned=assigned)

    def _draw(self, before: ReviewPlan, named: Reviewers) -> ReviewDraw | None:
        """Return what was drawn before, else the draw that is asked for."""
        if before.draw is None:
            if named.draw is None:
                return None
            return ReviewDraw(items=tuple(order_at_random(self._by_id, named.seed)[: named.draw]), seed=named.seed)
        if named.draw is not None and min(named.draw, len(self._by_id)) != len(before.draw.items):
            raise BadInput(
                "{count} items were drawn before; a draw that grows with what it shows is not random. Move {path} away to draw again.",
                count=len(before.draw.items),
                path=self._plan.path,
            )
        return before.draw

    def _drawn(self, plan: ReviewPlan) -> list[str]:
        """Return the items to review, in the order of the data."""
        drawn = None if plan.draw is None else {*plan.draw.items}
        return [item for item in self._by_id if drawn is None or item in drawn]

    def _write(self, new: ReviewPlan) -> None:
        write_whole(self._plan.path, msgspec.json.format(msgspec.json.encode(new), indent=2) + b"\n", durable=True)


class _Watched(Generic[T]):
    """The content of a file that several processes replace, read again when it changes; `missing` while there is none."""

    def __init__(self, path: Path, read: Callable[[Path], T], missing: T) -> None:
        self.path = path
        self._read = read
        self._missing = missing
        self._seen: tuple[object, T] = (None, missing)

    def now(self) -> T:
        """Return the current content."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return self._missing
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._seen[0] != stamp:
            self._seen = (stamp, self._read(self.path))
        return self._seen[1]


def _own(record: LabelRecord | None, reviewer: str) -> LabelEntry | None:
    entries = record.entries if record is not None else ()
    return next((entry for entry in reversed(entries) if entry.reviewer == reviewer and not entry.decides), None)


def _state(item: ReviewItem, entry: LabelEntry | None) -> State:
    if entry is None:
        return "todo"
    return "changed" if entry.item_digest not in ("", item.digest) else entry.status


def _mean(values: Iterable[float]) -> float | None:
    numbers = [*values]
    return sum(numbers) / len(numbers) if numbers else None
