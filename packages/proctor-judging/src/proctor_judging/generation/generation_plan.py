"""The plan of a generation, and its result."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from proctor.api import Run
from proctor.core.sentence import Sentence
from proctor_judging.generation.novelty import NEAR

MOST_ITEMS = 100_000


class GenerationPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to generate, with which agent and how much.

    Attributes:
        generator: the name of a generator, or a file.
        count: how many items.
        reference: items to show as examples, and not to repeat: a file, or a set of the hub (`aime25`, `hub:OWNER/NAME`).
        topics: instead of those of the generator.
        tries: how often an item is asked for at most.
        examples: whether each prompt shows an item of the reference set.
        near: the share of wording from which an item counts as a copy (1 is all of it).
        meaning: whether nearly the same meaning counts too (needs the extra `semantic`).
        first: the number of the first item; further items of a set begin above the last one.
        seed: of the draw of examples and of the order of topics.
    """

    generator: str
    count: Annotated[int, msgspec.Meta(ge=1, le=MOST_ITEMS)] = 30
    reference: str | None = None
    topics: tuple[str, ...] = ()
    tries: Annotated[int, msgspec.Meta(ge=1, le=20)] = 3
    examples: bool = True
    near: float = NEAR
    meaning: bool = False
    first: Annotated[int, msgspec.Meta(ge=1)] = 1
    seed: int = 0

    @property
    def numbers(self) -> range:
        """The numbers of the items to generate."""
        return range(self.first, self.first + self.count)


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """An item that could not be generated, and why."""

    id: str
    kind: str
    reason: str | Sentence


class Generated(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a generation.

    Attributes:
        items: what was accepted, in order.
        missing: items that could not be generated.
        path: the data file; None when nothing was accepted.
        report: the Markdown report on what was made.
    """

    run: Run
    plan: GenerationPlan
    items: Sequence[Mapping[str, Any]]
    missing: Sequence[Missing]
    path: Path | None = None
    report: Path | None = None
