"""Find samples that ask the same in slightly other words."""

from collections.abc import Iterator

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.inputs import input_digest, near_key, pair_witness, target_key


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
    for group in groups.values():
        for index, sample in enumerate(group[1:], 1):
            for earlier in group[:index]:
                if target_key(earlier) == target_key(sample) and input_digest(earlier) != input_digest(sample):
                    yield audit.found(
                        say("{first} and {second} ask the same in other words", first=earlier.id, second=sample.id),
                        earlier,
                        sample,
                        scope="pair",
                        witness=pair_witness(earlier, sample),
                    )
                    break
