"""Find samples that are in other data, or in another split of the same, too."""

from collections.abc import Iterator

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import SPLIT, Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.inputs import near_key, pair_finding, question_key, target_key


@check(
    group="A8",
    cls="proved",
    needs=("others",),
    title=say("A sample is also in the other data, or in another split of the same."),
)
def split_overlap(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples that ask what one of another split asks, whatever is expected there; likely where other words ask the same and expect the same."""
    known: dict[object, dict[str, Sample]] = {}
    own = {sample.id for sample in audit.samples}
    for sample in (*audit.others, *audit.samples):
        split = sample.tags.get(SPLIT, "")
        keys = (question_key(audit.task, sample, with_order=False), (near_key(sample), target_key(sample)))
        other, key = next(
            ((each, key) for key in keys for name, each in known.get(key, {}).items() if name != split), (None, None)
        )
        if other is not None and sample.id in own:
            is_equal = key == keys[0]
            named = {"first": sample.id, "second": other.id}
            sentence = (
                say("{first} and {second} of another split ask the same", **named)
                if is_equal
                else say("{first} and {second} of another split ask the same in other words", **named)
            )
            yield pair_finding(audit, sentence, sample, other, None if is_equal else "likely")
        for each in keys:
            if each is not None:
                known.setdefault(each, {}).setdefault(split, sample)
