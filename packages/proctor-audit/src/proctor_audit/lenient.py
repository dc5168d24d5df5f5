"""Report a scorer once where answers that should fail pass on a fifth of the samples or more."""

from collections.abc import Callable, Iterator, Sequence

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit, attempt, scored_by_target
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import expects_abstention

SHARE = 0.2
LEAST_SAMPLES = 5
MOST_SAMPLES = 100
OF_CONTENT = (
    "keywords",
    "rouge",
    "bleu",
    "chrf",
    "semantic",
    "token_embedding_f1",
    "response",
    "adk",
)  # measures of similarity


def lenient(audit: Audit, answers: Callable[[Sample], Sequence[AuditAnswer]]) -> Iterator[AuditFinding]:
    """Yield one finding for each scorer under which one of the answers passes on a fifth of the samples that have any."""
    tried = 0
    passed: dict[str, list[dict[str, object]]] = {}
    for sample in audit.some(audit.by_text, MOST_SAMPLES):
        attempts = [] if expects_abstention(sample) else answers(sample)
        tried += bool(attempts)
        seen: set[str] = set()
        for answer in attempts:
            verdicts = audit.score(sample, answer)
            for scorer in scored_by_target(verdicts):
                if scorer not in seen:
                    seen.add(scorer)
                    passed.setdefault(scorer, []).append(attempt(sample, answer, verdicts))
    for scorer, attempts_passed in sorted(passed.items()):
        if scorer.partition(":")[0] == "regex":  # whose targets are patterns
            continue
        if tried >= LEAST_SAMPLES and len(attempts_passed) >= SHARE * tried:
            is_content = scorer.partition(":")[0] in OF_CONTENT
            yield audit.found(
                say(
                    "{scorer} passes such answers on {count} of {all} samples",
                    scorer=scorer,
                    count=len(attempts_passed),
                    all=tried,
                ),
                *(str(each["sample"]) for each in attempts_passed),
                scope="scorer",
                scorer=scorer,
                cls="look" if is_content else None,
                witness={"scorer": scorer, "attempts": attempts_passed},
            )
