"""Select questions by type, image class, subject or ids; shuffle them with a seed, and take the first n."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor_benchmarks.multi.dataset import TYPES, SubQuestion
from proctor_benchmarks.multi.official import image_class

CLASSES = ("NI", "SI", "MI")
USUAL = "SA,MA,FB"  # without discussion, as upstream


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which questions to select; None selects everything."""

    types: frozenset[str] | None = None
    classes: frozenset[str] | None = None
    subjects: frozenset[str] | None = None
    ids: frozenset[str] | None = None


def types_of(given: str | int | Sequence[str | int] | None) -> frozenset[str] | None:
    """Return the question types named in any spelling: `SA`, `0`, `单选`; several with commas; `all`.

    >>> sorted(types_of("SA,3,单选"))
    ['单选', '解答']
    """
    by_name = {code: name for name, code in TYPES.items()} | {str(index): name for index, name in enumerate(TYPES)}
    return _names_in(given, by_name | {name: name for name in TYPES}, say("question type"))


def classes_of(given: str | int | Sequence[str | int] | None) -> frozenset[str] | None:
    """Return image classes given as `NI`, `SI`, `MI` or `0`, `1`, `2`; several with commas; `all`."""
    by_name = {str(index): name for index, name in enumerate(CLASSES)}
    return _names_in(given, by_name | {name: name for name in CLASSES}, say("image class"))


def subjects_of(given: str | Sequence[str] | None) -> frozenset[str] | None:
    """Return the subjects that are named, or that problem ids begin with; several with commas."""
    if given is None:
        return None
    parts = given.split(",") if isinstance(given, str) else given
    return frozenset(part.strip() for part in parts if part.strip()) or None


def select(questions: Iterable[SubQuestion], wanted: Filter) -> list[SubQuestion]:
    """Return the questions that fit every filter, in the order of the file.

    Upstream, a list of ids switches the other filters off and loses the order.
    """
    return [question for question in questions if _fits(question, wanted)]


def draw(questions: Sequence[SubQuestion], *, shuffle: bool, seed: int, count: int) -> list[SubQuestion]:
    """Return the first `count` questions (all if below 1), after shuffling with the seed if requested."""
    order = list(questions)
    if shuffle:
        random.Random(seed).shuffle(order)  # noqa: S311 - a draw that can be repeated
    return order[:count] if count > 0 else order


def unknown_types(questions: Iterable[SubQuestion]) -> Mapping[str, int]:
    """Return the types that no official function scores, counted."""
    return dict(Counter(question.type for question in questions if question.type not in TYPES))


def _fits(question: SubQuestion, wanted: Filter) -> bool:
    return (
        (wanted.ids is None or question.id in wanted.ids)
        and (wanted.types is None or question.type in wanted.types)
        and (wanted.classes is None or image_class(question.image_number) in wanted.classes)
        and (wanted.subjects is None or not wanted.subjects.isdisjoint((question.subject, question.id.split("_")[0])))
    )


def _names_in(
    given: str | int | Sequence[str | int] | None, by_name: Mapping[str, str], what: Sentence
) -> frozenset[str] | None:
    if given is None:
        return None
    parts = str(given).split(",") if isinstance(given, str | int) else [str(part) for part in given]
    names: set[str] = set()
    for part in filter(None, map(str.strip, parts)):
        if part == "all":
            return None
        if part not in by_name:
            raise BadInput(
                "MULTI has no {what} '{given}'. Known: {known}, all.", what=what, given=part, known=", ".join(by_name)
            )
        names.add(by_name[part])
    return frozenset(names) or None
