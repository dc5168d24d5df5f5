"""Read the answers of which a scorer declares that they must pass, or must not."""

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from proctor.core.declared import ScorerInfo, declared
from proctor.core.errors import BadInput
from proctor.core.sample import Sample, ToolCall
from proctor.engine.scoring import BoundScorer
from proctor_audit.answers import AuditAnswer

MOST = 20  # of each kind, for one sample


class DeclaredAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of which a scorer says whether it passes; `change` is what the scorer calls it."""

    scorer: str
    change: str
    answer: AuditAnswer
    passes: bool


def read_declared(scorers: Sequence[BoundScorer], sample: Sample) -> Iterator[DeclaredAnswer]:
    """Yield the answers that scorers declare for a sample.

    Raises:
        BadInput: what a scorer yields is no pair of a name and an answer.
    """
    for scorer in scorers:
        info = declared(ScorerInfo, scorer.function)
        for function, passes in ((info.equivalents, True), (info.opposites, False)):
            for pair in islice(function(sample), MOST) if callable(function) else ():
                change, answer = _checked(pair, scorer.name)
                yield DeclaredAnswer(scorer=scorer.name, change=change, answer=answer, passes=passes)


def _checked(pair: object, scorer: str) -> tuple[str, AuditAnswer]:
    match pair:
        case (str(change), str(text)):
            return change, AuditAnswer(text=text)
        case (str(change), [ToolCall(), *_] as calls) if all(isinstance(call, ToolCall) for call in calls):
            return change, AuditAnswer(calls=tuple(msgspec.convert(calls, list[ToolCall])))
    raise BadInput(
        "The scorer '{name}' declares {pair}: expected a name with an answer, which is a text or a list of ToolCall.",
        name=scorer,
        pair=repr(pair),
    )
