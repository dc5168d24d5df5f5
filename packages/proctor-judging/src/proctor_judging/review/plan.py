"""Who reviews which item, kept next to the labels in `<data>_review.json` with the labels that were taken back."""

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.validation import in_words
from proctor_judging.review.labels import LabelEntry


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """A label that was taken back."""

    item: str
    entry: LabelEntry


class ReviewDraw(msgspec.Struct, frozen=True, kw_only=True):
    """Items drawn at random: the first of the order that a seed fixes."""

    items: tuple[str, ...]
    seed: int = 0


class ReviewPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The reviewers of every item; without `assigned` everybody reviews everything.

    Attributes:
        each: how many review an item, 0 for all.
        draw: the items to review, None for all of the data.
    """

    reviewers: tuple[str, ...] = ()
    each: int = 0
    seed: int = 0
    assigned: Mapping[str, tuple[str, ...]] = {}
    withdrawn: tuple[Withdrawn, ...] = ()
    adjudicator: str | None = None
    draw: ReviewDraw | None = None

    def asks(self, item: str, reviewer: str) -> bool:
        """True if this reviewer is to review the item."""
        return not self.assigned or reviewer in self.assigned.get(item, ())


def file_of(data: Path) -> Path:
    """Return the path of the plan of a data file."""
    return data.with_name(f"{data.stem}_review.json")


def order_at_random(items: Iterable[str], seed: int) -> list[str]:
    """Return items in an order that the seed fixes; the order of some of them is that of all without the others.

    >>> order_at_random("abcd", 0), order_at_random("dba", 0)
    (['a', 'd', 'b', 'c'], ['a', 'd', 'b'])
    """
    return sorted(items, key=lambda item: digest([seed, item]))


def read(path: Path) -> ReviewPlan:
    """Return the plan in a file.

    Raises:
        BadInput: the file cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=ReviewPlan)
    except (OSError, msgspec.DecodeError, UnicodeError) as error:
        raise BadInput(
            "{path} is no plan of a review: {error}. Move it away to start again.", path=path, error=in_words(error)
        ) from None


def assign(
    items: Sequence[str],
    reviewers: Sequence[str],
    each: int,
    seed: int,
    done: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, tuple[str, ...]]:
    """Assign `each` different reviewers to every item, at random with the seed; nobody gets more than one item more than another.

    A reviewer who is `done` with an item keeps it, so that one who is added later gets only items that nobody began.

    Raises:
        BadInput: fewer reviewers than an item needs.

    >>> assign(["a", "b", "c"], ["ann", "bob", "cat"], 2, seed=0)
    {'a': ('cat', 'ann'), 'b': ('bob', 'cat'), 'c': ('ann', 'bob')}
    """
    if not 1 <= each <= len(reviewers):
        raise BadInput(
            "Each item needs {each} reviewers, and {count} are named ({names}). Name each with --reviewer.",
            each=each,
            count=len(reviewers),
            names=", ".join(reviewers) or "-",
        )
    done = done or {}
    draw = random.Random(seed)  # noqa: S311 - no secret
    assigned = {item: [name for name in done.get(item, ()) if name in reviewers] for item in items}
    load = {name: sum(name in names for names in assigned.values()) for name in reviewers}
    for item in draw.sample([*items], len(items)):
        free = [name for name in draw.sample([*reviewers], len(reviewers)) if name not in assigned[item]]
        for name in sorted(free, key=load.__getitem__)[: max(each - len(assigned[item]), 0)]:
            assigned[item].append(name)
            load[name] += 1
    return {item: tuple(names) for item, names in assigned.items()}
