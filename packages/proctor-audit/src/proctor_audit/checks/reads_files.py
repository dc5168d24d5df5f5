"""Watch which files a scorer of the user opens while it scores."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding

TRIED = 5  # samples


@check(
    group="A6",
    cls="look",
    needs=("scorer", "user_code"),
    title=say("A scorer opens files below the folder that an agent works in while it scores."),
)
def reads_files(audit: Audit) -> Iterator[AuditFinding]:
    """Yield one finding with the files that are opened in this folder: an agent that can write them decides its verdict."""
    for sample in audit.some(audit.drawn, TRIED):
        answer = AuditAnswer(text="an answer")
        verdicts = audit.score(sample, answer)
        if verdicts.opened:
            yield audit.found(
                say(
                    "while scoring {id}, these files are opened: {files}",
                    id=sample.id,
                    files=", ".join(verdicts.opened),
                ),
                sample,
                scope="scorer",
                scorer="+".join(scorer.name for scorer in audit.scorers),  # which of them is not known
                witness={"files": list(verdicts.opened), "attempts": [attempt(sample, answer, verdicts)]},
            )
            return
