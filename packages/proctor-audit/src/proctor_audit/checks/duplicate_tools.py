"""Find tools of one name in a sample."""

from collections import Counter
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.calls import tools_of
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding


@check(group="A4", cls="proved", title=say("A sample offers two tools of one name."))
def duplicate_tools(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples in which a name of a tool is there more than once; the same tool in several turns is one."""
    for sample in audit.samples:
        per_turn = [[tool.name for tool in turn.tools] for turn in sample.turns if turn.tools]
        offered = per_turn or [[tool.name for tool in tools_of(sample)]]
        twice = sorted({name for names in offered for name, count in Counter(names).items() if count > 1})
        if twice:
            yield audit.found(say("offers {tools} twice", tools=", ".join(twice)), sample, witness={"tools": offered})
