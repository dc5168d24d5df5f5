"""Find expected writes that change nothing."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.calls import gold_calls
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding

OLD = ("old", "from", "source", "current", "before", "previous", "origin")
NEW = ("new", "to", "target", "updated", "after", "next", "destination")


@check(
    group="A4", cls="likely", title=say("The expected write leaves things as they were: old and new value are equal.")
)
def gold_does_nothing(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples with an expected call whose old and new argument are equal."""
    for sample in audit.samples:
        for call in gold_calls(sample):
            for old, new in _pairs(list(call.first)):
                value = call.first[old]
                if value == call.first[new] and value not in ("", None, [], {}):
                    yield audit.found(
                        say(
                            "{tool}: {old} and {new} are both {value}",
                            tool=call.name,
                            old=old,
                            new=new,
                            value=repr(value),
                        ),
                        sample,
                        witness={"call": {"name": call.name, "arguments": dict(call.first)}},
                    )


def _pairs(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of arguments that differ only in a word for old and one for new."""
    split = {name: name.lower().replace("-", "_").split("_") for name in names}
    for name, words in split.items():
        for other, others in split.items():
            changed = [(a, b) for a, b in zip(words, others, strict=False) if a != b]
            if len(words) == len(others) and len(changed) == 1 and changed[0][0] in OLD and changed[0][1] in NEW:
                yield name, other
