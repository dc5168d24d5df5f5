"""Have people label trials that were drawn at random: write what they are to look at."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.i18n import language, speak
from proctor_audit.check import AuditCheck
from proctor_audit.inspector.inspection import Inspection
from proctor_audit.inspector.prevalence import draw_trials
from proctor_audit.inspector.sources import Located
from proctor_audit.inspector.trial_scores import flags_of
from proctor_audit.inspector.view import InspectedTrial

MOST_CHARACTERS = 20_000


def write_plan(
    path: Path, inspection: Inspection, trials: Sequence[Located], checks: Sequence[AuditCheck], count: int
) -> int:
    """Write the trials to label as items of the review page, and return how many; which of them have a finding is not shown.

    Raises:
        BadInput: labels are about one check at a time.
    """
    if len(checks) != 1:
        raise BadInput(
            "Labels are about one kind of event: name it with --check, such as --check claim-without-evidence."
        )
    check = checks[0]
    drawn = draw_trials(flags_of(inspection.lines, check.name), count, f"{inspection.report.seed} {check.name}")
    by_id = {trial.id: trial for trial, _ in trials}
    question = speak(
        say("Does this happen here? {event} Approve if it does, reject if it does not.", event=check.title), language()
    )
    items = [{"id": f"{check.name}:{id}", "problem": question, "answer": conversation_text(by_id[id])} for id in drawn]
    path.write_bytes(b"".join(msgspec.json.encode(item) + b"\n" for item in items))
    return len(items)


def conversation_text(trial: InspectedTrial) -> str:
    """Return a trial as a person reads it, the middle left out of a long one."""
    lines = []
    for step in trial.steps:
        calls = [f"{call.name} {call.arguments}" for call in trial.calls if call.step == step.index]
        lines.append(f"[{step.index}] {step.author}: " + "\n".join(filter(None, [step.text, *calls])))
    text = "\n\n".join(lines)
    half = MOST_CHARACTERS // 2
    return text if len(text) <= MOST_CHARACTERS else f"{text[:half]}\n\n[…]\n\n{text[-half:]}"
