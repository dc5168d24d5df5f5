"""Find samples that ask and expect the same."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.inputs import equal_inputs, pair_witness, same_target


@check(group="A8", cls="proved", title=say("Two samples ask the same and expect the same."))
def duplicate(audit: Audit) -> Iterator[AuditFinding]:
    """Yield each sample that repeats an earlier one of equal messages, files, options, tools and state."""
    for group in equal_inputs(audit):
        for index, sample in enumerate(group[1:], 1):
            first = next((earlier for earlier in group[:index] if same_target(earlier, sample)), None)
            if first is not None:
                yield audit.found(
                    say("{first} and {second} ask the same and expect the same", first=first.id, second=sample.id),
                    first,
                    sample,
                    scope="pair",
                    witness=pair_witness(first, sample),
                )
