"""Try rules that read no meaning."""

from collections.abc import Callable, Iterator
from functools import partial

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.chance import LEAST_SAMPLES, chance, is_above_chance
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.shortcuts import SHORTCUTS
from proctor_audit.unearned import share_passed
from proctor_audit.wording import expects_abstention


@check(
    group="A2",
    cls="likely",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("A rule that reads no meaning passes far more than chance."),
)
def shortcut_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield the rule that passes most, of those that beat chance by 30 points; not one that the samples declare."""
    samples = [sample for sample in audit.by_text if not expects_abstention(sample)]
    tried = []
    for name, rule in SHORTCUTS.items():
        asked = [
            sample
            for sample in samples
            if name not in (sample.meta.get("shortcuts") or ()) and rule(sample) is not None
        ]
        if len(asked) < max(LEAST_SAMPLES, len(samples) // 2):
            continue
        passed = share_passed(audit, asked, partial(_answered, rule))
        if is_above_chance(len(passed), len(samples), chance(samples)):
            tried.append((len(passed), name, passed))
    for count, name, passed in sorted(tried, reverse=True)[:1]:
        yield audit.found(
            say("the rule {rule} passes {count} of {all} samples", rule=name, count=count, all=len(samples)),
            scope="set",
            witness={"rule": name, "attempts": passed},
        )


def _answered(rule: Callable[[Sample], str | None], sample: Sample) -> str:
    return rule(sample) or ""
