"""The samples of two runs with both answers: what the second run broke or fixed, and what both have wrong."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

import msgspec

from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence
from proctor.core.task import Store
from proctor.core.trial import Value
from proctor.reports.listing import ListingTables, TrialListing, pack_rows, text_characters
from proctor.reports.story import Story, stored_story
from proctor.reports.words import ReportWords
from proctor.runtime.visible import visible

Group = Literal["broken", "fixed", "both_wrong", "both_right", "not_compared"]
GROUPS: tuple[Group, ...] = get_args(Group)
Side = tuple[RunRecord, Store]


class SamplePair(msgspec.Struct, frozen=True, kw_only=True):
    """A sample in both runs: the mean of its scored attempts, how many there are, and the story of the one that tells most.

    Of a sample that broke or was fixed that is the best attempt of the run that did better and the worst of the other,
    of one that both have wrong the worst of each; the first of several that are alike.
    """

    sample_id: str
    group: Group
    values: tuple[float | None, float | None]
    attempts: tuple[int, int]
    shown: tuple[int, int]  # which attempts, from 0
    stories: tuple[Story | None, Story | None]

    @property
    def any_story(self) -> Story | None:
        """Return the story of either run, for what both share: tags, question and expected answer."""
        return self.stories[0] or self.stories[1]


class SideAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a sample as programs read it."""

    value: float | None
    answer: str
    reason: str | Sentence = ""
    attempt: int = 0  # which one the answer is, from 0
    attempts: int = 1


class ComparedSample(msgspec.Struct, frozen=True, kw_only=True):
    """A sample of both runs as programs read it."""

    id: str
    group: Group
    question: str
    expected: str
    first: SideAnswer | None
    second: SideAnswer | None


def pair_samples(first: Side, second: Side, *, characters: int | None = None) -> Iterator[SamplePair]:
    """Pair the samples of two runs by the first scorer they share: newly failed ones first, then the other groups.

    Texts are cut to `characters`, or so that all of them fit on a page.
    """
    scorer = next((name for name in first[0].scorers if name in second[0].scorers), "")
    old, new = (_values(*run, scorer) for run in (first, second))
    by_group: dict[Group, list[str]] = {group: [] for group in GROUPS}
    for id in dict.fromkeys([*old, *new]):
        by_group[_group(_mean(old.get(id)), _mean(new.get(id)))].append(id)
    characters = characters or text_characters(2 * sum(map(len, by_group.values())))
    for group, ids in by_group.items():
        for id in ids:
            shown = (
                attempt_to_show(old.get(id, ()), best=group == "broken"),
                attempt_to_show(new.get(id, ()), best=group == "fixed"),
            )
            yield SamplePair(
                sample_id=id,
                group=group,
                values=(_mean(old.get(id)), _mean(new.get(id))),
                attempts=(len(old.get(id, ())), len(new.get(id, ()))),
                shown=shown,
                stories=(_story(first, id, shown[0], characters), _story(second, id, shown[1], characters)),
            )


def listing_of_both(found: Iterable[SamplePair], total: int, words: ReportWords) -> TrialListing:
    """Return the JSON of both runs' samples, for the script of the page."""
    tables = ListingTables(words, (), 2 * total)
    return pack_rows((_row(pair, tables) for pair in found), tables, total)


def compared_samples(found: Iterable[SamplePair]) -> Iterator[ComparedSample]:
    """Yield the paired samples as data, for JSON output."""
    for pair in found:
        known = pair.any_story
        sides = [
            None
            if story is None
            else SideAnswer(
                value=value, answer=made_text(story), reason=_reason(story), attempt=story.attempt, attempts=count
            )
            for story, value, count in zip(pair.stories, pair.values, pair.attempts, strict=True)
        ]
        yield ComparedSample(
            id=pair.sample_id,
            group=pair.group,
            question=known.question if known else "",
            expected=expected_text(known) if known else "",
            first=sides[0],
            second=sides[1],
        )


def expected_text(one: Story) -> str:
    """Return the expected answer and calls as one text."""
    return one.expected or "\n".join(
        _call(pair.expected, [(row.parameter, row.expected) for row in pair.rows], pair.kind)
        for pair in one.pairs
        if pair.expected
    )


def made_text(one: Story) -> str:
    """Return the answer as one text, calls included."""
    calls = [
        _call(pair.made, [(row.parameter, row.made) for row in pair.rows], pair.kind) for pair in one.pairs if pair.made
    ]
    return "\n".join([*calls, *([one.made] if one.made else [])])


def _call(name: str, arguments: Sequence[tuple[str, str | None]], kind: str) -> str:
    """Write a call as code; where a scorer of trajectories compared calls, the name is the whole call."""
    if kind and kind != "free":
        return name
    return f"{name}({', '.join(f'{key}={text}' for key, text in arguments if text is not None)})"


def _reason(one: Story) -> str | Sentence:
    if one.failure is not None:
        return one.failure.reason
    return next((finding.reason for finding in one.findings if finding.reason), "")


def _row(one: SamplePair, tables: ListingTables) -> dict[str, object]:
    known = one.any_story
    return {
        "n": visible(one.sample_id),
        "z": one.group,
        "g": tables.tags_of(known.tags) if known else [],
        "v": [None if value is None else round(value, 4) for value in one.values],
        "t": one.attempts,
        "a": [number + 1 for number in one.shown],
        "r": [None if story is None else tables.row(story) for story in one.stories],
    }


def _values(record: RunRecord, store: Store, scorer: str) -> dict[str, list[Value]]:
    values: dict[str, list[Value]] = {}
    for value in store.values(record.id, scorer):
        values.setdefault(value.sample_id, []).append(value)
    return values


def _mean(values: Sequence[Value] | None) -> float | None:
    scored = [value.value for value in values or () if value.value is not None]
    return sum(scored) / len(scored) if scored else None


def attempt_to_show(values: Sequence[Value], *, best: bool) -> int:
    """Return the attempt to show, the best or the worst; the first if none was scored."""
    ordered = sorted(values, key=lambda one: one.attempt)
    scored = [(value.value, value.attempt) for value in ordered if value.value is not None]
    if not scored:
        return ordered[0].attempt if ordered else 0
    choose = max if best else min
    return choose(scored, key=lambda pair: pair[0])[1]


def _group(old: float | None, new: float | None) -> Group:
    if old is None or new is None:
        return "not_compared"
    if old != new:
        return "fixed" if new > old else "broken"
    return "both_right" if new == 1 else "both_wrong"


def _story(side: Side, sample_id: str, attempt: int, characters: int) -> Story | None:
    return stored_story(side[1], side[0].id, sample_id, attempt, characters=characters)
