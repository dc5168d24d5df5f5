"""Say which checks worked on a draw of the samples."""

from collections.abc import Iterator

from proctor.core.sentence import Sentence, say
from proctor_audit import floor, lenient, repeats, unearned
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
    if audit.calls and drawn > min(floor.DRAWN, lenient.MOST_SAMPLES, repeats.MOST_SAMPLES, unearned.ALL_FORMS):
        yield say(
            "drawn: floors on at most {floor} samples, opposites and hedges on {lenient}, repetitions on {repeats}; after {forms} samples one refusal and one kind of garbage for each",
            floor=floor.DRAWN,
            lenient=lenient.MOST_SAMPLES,
            repeats=repeats.MOST_SAMPLES,
            forms=unearned.ALL_FORMS,
        )
