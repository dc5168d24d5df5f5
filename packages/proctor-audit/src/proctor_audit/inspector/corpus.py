"""Compare what the rules find in a trajectory with its labels."""

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.core.parity import Checked
from proctor_audit.check import find_checks
from proctor_audit.findings import AuditFinding
from proctor_audit.inspector.chat_rows import read_trial
from proctor_audit.inspector.inspecting import RULES, findings_of


def labelled_trial(line: Mapping[str, Any]) -> Iterator[Checked]:
    """Yield a line for each kind of finding that is labelled or reported, and one for whether a hit names the right step.

    A finding of a kind that the line does not judge counts neither way.
    """
    findings: dict[str, list[AuditFinding]] = {}
    trial = read_trial(line, str(line.get("id", "-")), 1)
    for check in find_checks(RULES):
        if each := list(findings_of(trial, check)):
            findings[check.name] = each
    labels = {label["kind"]: label for label in line["labels"]}
    for kind in line["judged"]:
        if kind not in labels and kind not in findings:
            continue
        hits = findings.get(kind, [])
        yield Checked(
            id=str(line.get("id", "-")),
            agrees=kind in labels and bool(hits),
            official=labels[kind]["class"] + " " + kind if kind in labels else "-",
            ours=", ".join(f"{hit.cls} {hit.check} {list(hit.steps)}" for hit in hits) or "-",
            group=kind,
        )
        if kind in labels and hits:
            at = set(labels[kind]["at"])
            named = any(at & set(hit.steps) for hit in hits)
            yield Checked(id=str(line.get("id", "-")), agrees=named, official=str(sorted(at)), group="step named")
