"""Send answers that should fail, and report a scorer once where they pass on a fifth of the samples or more."""

from collections.abc import Callable, Iterator, Sequence

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit, attempt, scored_by_target
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.variants import hedges, near_numbers, opposites, single_text
from proctor_audit.wording import expects_abstention

SHARE = 0.2
LEAST_SAMPLES = 5
MOST_SAMPLES = 100
OF_CONTENT = frozenset(  # measures of similarity
    ("keywords", "rouge", "bleu", "chrf", "semantic", "token_embedding_f1", "response", "adk")
)


@check(group="A3", cls="likely", needs=("scorer",), title=say("Answers that contradict the target pass."))
def opposite_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield one finding for the scorer where the opposite passes on a fifth of the samples or more."""
    yield from _lenient(audit, lambda sample: [*opposites(sample)])


@check(group="A3", cls="likely", needs=("scorer",), title=say("Numbers next to the target pass."))
def near_number_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield one finding for the scorer where T ± 1 or five per cent more passes on a fifth of the numbers or more."""
    yield from _lenient(
        audit, lambda sample: [AuditAnswer(text=text) for text in near_numbers(single_text(sample) or "")]
    )


@check(group="A3", cls="likely", needs=("scorer",), title=say("The target hidden among other answers passes."))
def hedge_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield one finding for the scorer where a list of ten others with the target, or "T or U", passes on a fifth or more."""
    texts = sorted({text for sample in audit.by_text if (text := single_text(sample)) is not None})

    def answers(sample: Sample) -> list[AuditAnswer]:
        text = single_text(sample)
        if text is None or len(texts) < 2:
            return []
        others = [other for other in texts if other != text and text.casefold() not in other.casefold()]
        audit.draw(f"hedge {sample.id}").shuffle(others)
        return [AuditAnswer(text=said) for said in hedges(text, others)] if others else []

    yield from _lenient(audit, answers)


def _lenient(audit: Audit, answers: Callable[[Sample], Sequence[AuditAnswer]]) -> Iterator[AuditFinding]:
    """Yield one finding for each scorer under which one of the answers passes on a fifth of the samples that have any."""
    tried = 0
    passed: dict[str, dict[str, dict[str, object]]] = {}  # by scorer and sample
    for sample in audit.some(audit.by_text, MOST_SAMPLES):
        attempts = [] if expects_abstention(sample) else answers(sample)
        tried += bool(attempts)
        for answer in attempts:
            verdicts = audit.score(sample, answer)
            for scorer in scored_by_target(verdicts):
                passed.setdefault(scorer, {}).setdefault(sample.id, attempt(sample, answer, verdicts))
    for scorer, attempt_by_sample in sorted(passed.items()):
        kind, count = scorer.partition(":")[0], len(attempt_by_sample)
        if kind != "regex" and tried >= LEAST_SAMPLES and count >= SHARE * tried:  # targets of regex are patterns
            yield audit.found(
                say("{scorer} passes such answers on {count} of {all} samples", scorer=scorer, count=count, all=tried),
                *attempt_by_sample,
                scope="scorer",
                scorer=scorer,
                cls="look" if kind in OF_CONTENT else None,
                witness={"scorer": scorer, "attempts": [*attempt_by_sample.values()]},
            )
