"""Define the questions about generated data, and the kinds of evidence that answer them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.run import Estimate
from proctor.core.sentence import Sentence
from proctor_judging.generation.novelty import NoveltyLikeness
from proctor_judging.review.agree import Agreement


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What to evaluate, and how.

    Attributes:
        data: the file of items.
        generator: how its items are made up; a name or a file.
        reference: real items to compare with: a file, or a set of the hub.
        judge, judge_options: the model that judges, and its options; without it nothing is judged.
        rubric: by what; that of the generator if None.
        comparisons: how many items are compared with reference items; all if None.
        solver, solver_options: the agent that solves the items again; `votes` times each.
        verifications: the file of human labels; the one next to the data if None.
        meaning: whether novelty looks at meaning too (needs the extra `semantic`).
    """

    data: str
    generator: str = "aime"
    reference: str | None = None
    judge: str | None = None
    judge_options: Mapping[str, Any] | None = None
    rubric: str | None = None
    comparisons: int | None = None
    solver: str | None = None
    solver_options: Mapping[str, Any] | None = None
    votes: int = 5
    verifications: str | None = None
    meaning: bool = False
    seed: int = 0


class FaultyItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that does not fit the schema, and why."""

    id: str
    reason: Sentence


class NoveltyEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of how new the items are.

    Attributes:
        copies: items that are like one of the reference set.
        repeated: items that are like an earlier one of the data.
        typical: the median of how much of its wording an item shares with the nearest of the reference set.
        share: of the items, those that are neither.
    """

    compared: int
    copies: Sequence[tuple[str, NoveltyLikeness]]
    repeated: Sequence[tuple[str, NoveltyLikeness]]
    typical: float | None
    share: Estimate


class WeakItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that the judge found weak, with its text."""

    id: str
    text: str
    mean: float
    points: Mapping[str, float | None]
    comment: str


class JudgeEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of a judge: estimates by name, and its weakest items, none of which has full points.

    Attributes:
        titles: what its dimensions are called, by language and name.
    """

    run: str
    judge: str
    rubric: str
    scale: tuple[float, float]
    dimensions: tuple[str, ...]
    titles: Mapping[str, Mapping[str, str]] = {}
    estimates: Mapping[str, Estimate]
    weakest: Sequence[WeakItem]
    failed: int

    def title(self, name: str, lang: str) -> str:
        """Return what a dimension is called in a language."""
        return self.titles.get(lang, {}).get(name, name)


class WinRateEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of a judge that compares items with those of the reference set."""

    run: str
    judge: str
    estimates: Mapping[str, Estimate]
    notes: Sequence[Sentence]
    failed: int


class PeopleEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of people's labels; `agreement` compares the judge with them."""

    path: str
    labelled: int
    others: int
    statuses: Mapping[str, int]
    approved: Estimate
    estimates: Mapping[str, Estimate]
    agreement: Agreement | None = None
