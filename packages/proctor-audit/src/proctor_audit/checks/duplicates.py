"""Find samples that ask the same as an earlier one, in the same words or in slightly others."""

from collections.abc import Iterable, Iterator, Sequence

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.inputs import equal_inputs, input_digest, near_key, pair_finding, target_key


@check(group="A8", cls="proved", title=say("Two samples ask the same and expect the same."))
def duplicate(audit: Audit) -> Iterator[AuditFinding]:
    """Yield each sample that repeats an earlier one of equal messages, files, options, tools and state."""
    for first, second in _alike(equal_inputs(audit), input_differs=False):
        sentence = say("{first} and {second} ask the same and expect the same", first=first.id, second=second.id)
        yield pair_finding(audit, sentence, first, second)


@check(
    group="A8",
    cls="likely",
    title=say("Two samples differ only in punctuation, case, quotes, spaces or words without meaning."),
)
def near_duplicate(audit: Audit) -> Iterator[AuditFinding]:
    """Yield pairs with one key of their words and equal targets that are not equal in all that they ask."""
    groups: dict[str, list[Sample]] = {}
    for sample in audit.samples:
        groups.setdefault(near_key(sample), []).append(sample)
    for first, second in _alike(groups.values(), input_differs=True):
        sentence = say("{first} and {second} ask the same in other words", first=first.id, second=second.id)
        yield pair_finding(audit, sentence, first, second)


def _alike(groups: Iterable[Sequence[Sample]], *, input_differs: bool) -> Iterator[tuple[Sample, Sample]]:
    """Yield each sample of a group with the first earlier one that expects the same, and asks otherwise if `input_differs`."""
    for group in groups:
        for index, sample in enumerate(group[1:], 1):
            for earlier in group[:index]:
                is_other = not input_differs or input_digest(earlier) != input_digest(sample)
                if target_key(earlier) == target_key(sample) and is_other:
                    yield earlier, sample
                    break
