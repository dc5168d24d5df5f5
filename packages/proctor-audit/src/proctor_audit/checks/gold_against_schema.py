"""Compare expected calls with the schemas of the tools."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.schema_contradictions import contradictions


@check(group="A4", cls="proved", title=say("An expected call contradicts the schema of its tool."))
def gold_against_schema(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose expected calls name unknown tools, lack arguments, or have values that their schemas refuse."""
    rejects_unknown = any(scorer.name.partition(":")[0] == "bfcl" for scorer in audit.scorers)
    for sample in audit.samples:
        for contradiction in contradictions(sample, rejects_unknown=rejects_unknown):
            yield audit.found(
                say("expected: {fault}", fault=contradiction.sentence),
                sample,
                witness={
                    "path": contradiction.path,
                    "call": {"name": contradiction.call.name, "arguments": contradiction.call.arguments},
                },
            )
            break
