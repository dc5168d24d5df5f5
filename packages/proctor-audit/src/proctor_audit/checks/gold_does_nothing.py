"""Find expected writes that change nothing."""

from collections.abc import Iterator

import msgspec

from proctor.core.sentence import clip, say
from proctor_audit.answers import ORACLE
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.expected import calls_of, expected_arguments, played_golds
from proctor_audit.findings import AuditFinding
from proctor_audit.playing import counters, mixed_tools, same_call, writing_tools

OLD = ("old", "from", "source", "current", "before", "previous", "origin")
NEW = ("new", "to", "target", "updated", "after", "next", "destination")


@check(group="A4", cls="proved", title=say("The expected write leaves things as they were."))
def gold_does_nothing(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples with an expected write that changes nothing: proved if played and the tool only writes, else likely.

    Likely is also a call whose old and new argument are equal.
    """
    yield from _played(audit)
    for sample in audit.samples:
        for call in expected_arguments(audit, sample):
            for old, new in _pairs(list(call.arguments)):
                value = call.arguments[old]
                if value == call.arguments[new] and value not in ("", None, [], {}):
                    named = {"tool": call.name, "old": old, "new": new, "value": repr(value)}
                    yield audit.found(
                        say("{tool}: {old} and {new} are both {value}", **named),
                        sample,
                        cls="likely",
                        witness={"call": {"name": call.name, "arguments": dict(call.arguments)}},
                    )


def _played(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples with a call that changes no state, by a tool that does so in other calls; a call made twice is a retry.

    A tool that also reads may be meant to here: that is likely only.
    """
    golds = played_golds(audit)
    everything = calls_of(golds)
    writing, mixed, counting = writing_tools(everything), mixed_tools(everything), counters(everything)
    for sample, played in golds:
        for number, call in enumerate(played.calls):
            is_retry = any(same_call(call, other) for other in (*played.calls[:number], *played.calls[number + 1 :]))
            if call.name in writing and not call.is_error and not is_retry and not set(call.changed) - counting:
                yield audit.found(
                    say(
                        "{tool} changes nothing: the state is the same before and after {arguments}",
                        tool=call.name,
                        arguments=clip(repr(dict(call.arguments)), 80),
                    ),
                    sample,
                    cls="likely" if call.name in mixed else None,
                    witness={"call": msgspec.to_builtins(call), "attempts": [attempt(sample, ORACLE, played)]},
                )


def _pairs(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of arguments that differ only in a word for old and one for new.

    >>> [*_pairs(["from_account", "to_account"])], [*_pairs(["item_ids", "new_item_ids", "order_id"])]
    ([('from_account', 'to_account')], [('item_ids', 'new_item_ids')])
    """
    split = {name: name.lower().replace("-", "_").split("_") for name in names}
    for name, words in split.items():
        for other, others in split.items():
            changed = [(a, b) for a, b in zip(words, others, strict=False) if a != b]
            is_changed = len(words) == len(others) and len(changed) == 1
            if others == ["new", *words] or (is_changed and changed[0][0] in OLD and changed[0][1] in NEW):
                yield name, other
