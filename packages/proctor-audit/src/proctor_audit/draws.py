"""Say which checks worked on a draw of the samples."""

from collections.abc import Iterator

from proctor.core.sentence import Sentence, say
from proctor_audit import unearned
from proctor_audit.audit import Audit


def describe_draws(audit: Audit) -> Iterator[Sentence]:
    """Yield what was asked of a draw of the samples only, where scorers were called."""
    drawn = len(audit.drawn)
    if audit.calls and drawn < len(audit.samples):
        yield say(
            "drawn: most checks that call a scorer worked on {drawn} of {all} samples",
            drawn=drawn,
            all=len(audit.samples),
        )
    for most in sorted({*audit.draws.values()}):
        names = sorted(name for name, count in audit.draws.items() if count == most)
        yield say("drawn: {names} worked on {count} samples", names=", ".join(names), count=most)
    if audit.calls and len(audit.by_text) > unearned.ALL_FORMS:
        yield say(
            "after {forms} samples, one refusal and one kind of garbage are tried for each", forms=unearned.ALL_FORMS
        )
