"""List the samples of a run: by text, outcome, class of error, tag, points, labels; page by page, and what comes before and after one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal
from urllib.parse import urlencode

import msgspec

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.core.trial import Outcome
from proctor_web.operations import RunReference
from proctor_web.samples.finding import EVERYTHING, Index, Indexes, Search, keys
from proctor_web.samples.index_file import ListedTrial, State, facet_word, place
from proctor_web.samples.tokens import query
from proctor_web.workspace import Workspace

COUNTED = 10_000  # samples that are counted; of more, a page says that there are more
MOST_FACETS = 100  # of one kind
NO_CLASS = "-"  # of errors without a class or type
Order = Literal[
    "failures", "plan", "sample", "-sample", "points", "-points", "seconds", "-seconds", "tokens", "-tokens"
]
LabelFilter = Literal["review", "labelled", "contested"]
Size = Annotated[int, msgspec.Meta(ge=1, le=500)]


class SampleFilter(RunReference, frozen=True, kw_only=True):
    """Which samples of a run are listed; every field that is given has to hold.

    Attributes:
        text: words in questions, answers, reasons, calls; quotes hold several together, a star leaves the end of one open.
        id: a part of the sample's id.
        tag: `key=value`, several times.
        scorer: whose share of points `min_value` and `max_value` bound; any scorer's without it.
        disagree: only where one scorer passes it and another does not.
        label: marked for "review", "labelled" by a person, or "contested": a person gave other points than the scorer.
        order: failures first, as planned, or by a column, with a minus the largest first; equal ones in the order of failures.
        after: `next` of the page before.
    """

    text: str | None = None
    id: str | None = None
    outcome: Outcome | None = None
    state: State | None = None
    error_class: str | None = None
    error_type: str | None = None
    tag: tuple[str, ...] = ()
    scorer: str | None = None
    min_value: float | None = None
    max_value: float | None = None
    disagree: bool = False
    label: LabelFilter | None = None
    order: Order = "failures"
    after: str | None = None
    size: Size = 50


class SampleRow(msgspec.Struct, frozen=True, kw_only=True):
    """A trial in a list, with shortened texts; `marks` are people's annotations of it."""

    sample: str
    attempt: int
    outcome: Outcome
    state: State
    error_class: str = ""
    error_type: str = ""
    values: Mapping[str, float | None] = {}
    disagree: bool = False
    question: str = ""
    answer: str = ""
    expected: str = ""
    reason: str | Sentence = ""
    tags: Mapping[str, str] = {}
    seconds: float = 0.0
    tokens: int = 0
    marks: tuple[str, ...] = ()


class SamplePage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the list. `total` is None for more than can be counted, and after the first page; `indexed` is the share of
    the run that can be found yet."""

    rows: tuple[SampleRow, ...]
    next: str | None = None
    total: int | None = None
    indexed: float = 1.0


class SampleKey(msgspec.Struct, frozen=True, kw_only=True):
    """Names a trial of a run."""

    sample: str
    attempt: int


class Neighbours(msgspec.Struct, frozen=True, kw_only=True):
    """The trials before and after one, in the order of its list."""

    previous: SampleKey | None = None
    next: SampleKey | None = None


class FacetCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many trials have a value that can be filtered by."""

    name: str
    count: int


class SampleFacets(msgspec.Struct, frozen=True, kw_only=True):
    """What the samples of a run can be filtered by, the most frequent first."""

    outcomes: tuple[FacetCount, ...] = ()
    states: tuple[FacetCount, ...] = ()
    error_classes: tuple[FacetCount, ...] = ()
    error_types: tuple[FacetCount, ...] = ()
    tags: tuple[FacetCount, ...] = ()
    scorers: tuple[str, ...] = ()
    indexed: float = 1.0


def list_samples(workspace: Workspace, given: SampleFilter) -> SamplePage:
    """List the samples of a run that a filter lets through."""
    run = workspace.find_run(given.run)
    after = _cursor(given.after)
    with workspace.kept(Indexes).open(run) as index:
        annotations = run.store.annotations(run.record.id)
        search = _search(index, given, annotations)
        if search is None:
            return SamplePage(rows=(), total=0, indexed=index.share)
        most = given.size + 1 if after is not None else COUNTED + 1
        ids = keys(index, search, order=given.order, after=after, most=max(most, given.size + 1))
        return SamplePage(
            rows=tuple(_rows(index, ids[: given.size], annotations)),
            next=str(ids[given.size - 1]) if len(ids) > given.size else None,
            total=len(ids) if after is None and len(ids) <= COUNTED else None,
            indexed=index.share,
        )


def neighbours(workspace: Workspace, given: SampleFilter, sample: str, attempt: int) -> Neighbours:
    """Return the trials before and after one in the list of a filter, whether or not the filter lets that one through."""
    run = workspace.find_run(given.run)
    with workspace.kept(Indexes).open(run) as index:
        at = index.key_of(sample, attempt) if index.meta else None
        search = _search(index, given, run.store.annotations(run.record.id))
        if at is None or search is None:
            return Neighbours()
        before, after = (keys(index, search, order=given.order, after=at, most=1, back=back) for back in (True, False))
        previous, following = (next(map(_key, _rows(index, ids, ())), None) for ids in (before, after))
        return Neighbours(previous=previous, next=following)


def list_facets(workspace: Workspace, given: RunReference) -> SampleFacets:
    """List what the samples of a run can be filtered by, with counts."""
    run = workspace.find_run(given.run)
    with workspace.kept(Indexes).open(run) as index:
        if not index.meta:
            return SampleFacets(indexed=index.share)
        kinds = ("outcome", "state", "class", "type", "tag")
        outcomes, states, classes, types, tags = (_facets(index, kind) for kind in kinds)
        return SampleFacets(
            outcomes=outcomes,
            states=states,
            error_classes=classes,
            error_types=types,
            tags=tags,
            scorers=tuple(index.scorers),
            indexed=index.share,
        )


def query_of(given: SampleFilter, **changed: object) -> str:
    """Return the query of a filter, without the run, for an address; '' if everything is listed.

    >>> query_of(SampleFilter(run="r", text="a b", tag=("level=1", "lang=zh")), order="plan")
    'text=a+b&tag=level%3D1&tag=lang%3Dzh&order=plan'
    """
    fields = msgspec.structs.asdict(msgspec.structs.replace(given, **changed))
    default = msgspec.structs.asdict(SampleFilter(run=given.run))
    chosen = {name: "true" if value is True else value for name, value in fields.items() if value != default[name]}
    return urlencode(chosen, doseq=True)


def _cursor(after: str | None) -> int | None:
    if after is None:
        return None
    if not (after.isascii() and after.isdecimal() and len(after) < 20 and int(after) < EVERYTHING):
        raise BadInput("This page of the list does not exist. Begin with the first one.")
    return int(after)


def _search(index: Index, given: SampleFilter, annotations: Sequence[Annotation]) -> Search | None:
    """Return what to look for; None if nothing can be found."""
    if not index.meta:
        return None
    terms: list[str] = []
    where: list[str] = []
    values: dict[str, object] = {}
    if given.text:
        words = query(given.text)
        if words is None:
            return None
        terms.append(words)
    exact = {"outcome": given.outcome, "state": given.state, "class": given.error_class, "type": given.error_type}
    for kind, name in (*exact.items(), *(("tag", tag) for tag in given.tag)):
        if name is None:
            continue
        number = index.facet(kind, "" if name == NO_CLASS and kind in ("class", "type") else name)
        if number is None:
            return None
        terms.append(f"facets:{facet_word(number)}")
        if kind in exact:  # earlier words of a trial that changed may still find it
            where.append(f"+trials.{kind} = {number}")
    keys = None if given.label is None else _labelled(index, given, annotations)
    bounds = _bounds(index, given, values)
    if given.disagree:
        terms.append("facets:disagree")
        where.append("trials.disagree")
    if given.id:
        bounds.append("instr(trials.sample, :id)")
        values["id"] = given.id
    return Search(match=" AND ".join(terms) or None, exact=tuple(where), where=tuple(bounds), values=values, keys=keys)


def _bounds(index: Index, given: SampleFilter, values: dict[str, object]) -> list[str]:
    """Return the conditions on points."""
    if given.min_value is None and given.max_value is None and given.scorer is None:
        return []
    columns = [f"trials.v{number}" for number, name in enumerate(index.scorers) if given.scorer in (None, name)]
    values["low"] = 0 if given.min_value is None else given.min_value
    values["high"] = 1 if given.max_value is None else given.max_value
    bound = " OR ".join(f"{column} BETWEEN :low AND :high" for column in columns)
    return [f"({bound})" if bound else "0"]


def _labelled(index: Index, given: SampleFilter, annotations: Iterable[Annotation]) -> list[int]:
    ids = set()
    kind = "review" if given.label == "review" else "label"
    for annotation in annotations:
        if annotation.kind != kind or not annotation.sample_id:
            continue
        id = index.key_of(annotation.sample_id, annotation.attempt)
        if id is not None and (given.label != "contested" or _is_contested(index, id, annotation)):
            ids.add(id)
    return sorted(ids)


def _is_contested(index: Index, id: int, label: Annotation) -> bool:
    if label.name not in index.scorers:
        return False
    column = f"v{index.scorers.index(label.name)}"
    row = index.db.execute(f"SELECT {column} FROM trials WHERE id = ?", (id,)).fetchone()  # noqa: S608 - a number
    return row is None or row[0] != label.value


def _rows(index: Index, ids: Sequence[int], annotations: Iterable[Annotation]) -> Iterable[SampleRow]:
    marks: dict[tuple[str, int], list[str]] = {}
    for annotation in annotations:
        if annotation.sample_id:
            marks.setdefault((annotation.sample_id, annotation.attempt), []).append(annotation.kind)
    for id in ids:
        sample, outcome, state, kind, type, disagree, data = index.db.execute(_ROW, (id,)).fetchone()
        shown = msgspec.json.decode(data, type=ListedTrial)
        attempt = place(id)[1]
        yield SampleRow(
            sample=sample,
            attempt=attempt,
            outcome=outcome,
            state=state,
            error_class=kind,
            error_type=type,
            disagree=bool(disagree),
            marks=tuple(dict.fromkeys(marks.get((sample, attempt), ()))),
            **msgspec.structs.asdict(shown),
        )


_ROW = """
SELECT sample, outcomes.name, states.name, classes.name, types.name, disagree, data FROM trials
JOIN facets AS outcomes ON outcomes.id = outcome JOIN facets AS states ON states.id = state
JOIN facets AS classes ON classes.id = class JOIN facets AS types ON types.id = type
JOIN shown ON shown.id = trials.id WHERE trials.id = ?
"""


def _facets(index: Index, kind: str) -> tuple[FacetCount, ...]:
    rows = index.db.execute(
        "SELECT name, count FROM facets WHERE kind = ? AND count > 0 ORDER BY count DESC, name LIMIT ?",
        (kind, MOST_FACETS),
    )
    return tuple(FacetCount(name=name, count=count) for name, count in rows)


def _key(row: SampleRow) -> SampleKey:
    return SampleKey(sample=row.sample, attempt=row.attempt)
