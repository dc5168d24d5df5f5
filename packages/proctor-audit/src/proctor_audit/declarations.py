"""Read the answers of which a scorer declares that they must pass, or must not."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from proctor.core.declared import ScorerInfo, declared
from proctor.core.errors import BadInput
from proctor.core.sample import Sample, ToolCall
from proctor.core.sentence import Sentence, say
from proctor.engine.scoring import BoundScorer
from proctor.transport.redact import quoted
from proctor_audit.answers import AuditAnswer

MOST = 20  # of each kind, for one sample


class DeclaredAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of which a scorer says whether it passes; `change` is what the scorer calls it."""

    scorer: str
    change: str
    answer: AuditAnswer
    passes: bool


class DeclaredAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """What scorers declare for a sample, and in words what of it could not be read."""

    answers: tuple[DeclaredAnswer, ...] = ()
    faults: tuple[Sentence, ...] = ()


def read_declared(scorers: Sequence[BoundScorer], sample: Sample) -> DeclaredAnswers:
    """Return the answers that scorers declare for a sample; what cannot be read is a fault of its scorer."""
    answers: list[DeclaredAnswer] = []
    faults: list[Sentence] = []
    for scorer in scorers:
        info = declared(ScorerInfo, scorer.function)
        for function, passes in ((info.equivalents, True), (info.opposites, False)):
            if callable(function):
                fault = _read(function, sample, scorer.name, passes, answers)
                faults += [fault] if fault is not None else []
    return DeclaredAnswers(answers=tuple(answers), faults=tuple(faults))


def _read(
    function: Callable[[Sample], Iterable[object]],
    sample: Sample,
    scorer: str,
    passes: bool,
    answers: list[DeclaredAnswer],
) -> Sentence | None:
    """Add what a function of a scorer declares; return what ended that, if anything did."""
    try:
        for count, pair in enumerate(function(sample)):
            if count == MOST:
                return say("the scorer {scorer} declares more than {most} answers of a kind", scorer=scorer, most=MOST)
            change, answer = _checked(pair, scorer)
            answers.append(DeclaredAnswer(scorer=scorer, change=change, answer=answer, passes=passes))
    except BadInput as error:
        return error.sentence
    except Exception as error:  # noqa: BLE001 - code of the user
        kind = type(error).__name__
        return say("the declaration of {scorer} raised {kind}: {error}", scorer=scorer, kind=kind, error=quoted(error))
    return None


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
