"""Have people label trials that were drawn at random: write what they are to look at, and read what they say."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.i18n import language, speak
from proctor_audit.check import AuditCheck
from proctor_audit.inspector.inspecting import TrialLine
from proctor_audit.inspector.prevalence import draw_trials
from proctor_audit.inspector.review_order import flags_of, order_of_review
from proctor_audit.inspector.sources import Located
from proctor_audit.inspector.trial_labels import HAPPENED
from proctor_audit.inspector.view import InspectedTrial
from proctor_judging.review import labels as verifications
from proctor_judging.review.items import items

MOST_CHARACTERS = 20_000
PLAN_SUFFIX = ".jsonl"
LABEL_SUFFIX = "_verifications.json"  # in place of that of the plan


class LabelledPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A draw of trials with what people say of them.

    Attributes:
        shown: the text of each drawn trial, as people were shown it.
        said: whether the event is in it, None where people disagree; of those that are labelled.
    """

    shown: Mapping[str, str] = {}
    said: Mapping[str, bool | None] = {}


def write_plan(
    path: Path, lines: Sequence[TrialLine], trials: Sequence[Located], checks: Sequence[AuditCheck], count: int
) -> int:
    """Write the trials to label as items of the review page, and return how many; which of them have a finding is not shown.

    Raises:
        BadInput: labels are about one check at a time, and a plan is a file of JSON lines.
    """
    if len(checks) != 1:
        raise BadInput(
            "Labels are about one kind of event: name it with --check, such as --check claim-without-evidence."
        )
    if path.suffix != PLAN_SUFFIX:
        raise BadInput("{path}: a plan is a file of JSON lines; call it {name}.", path=path, name=f"{path.stem}.jsonl")
    check = checks[0]
    flags = flags_of(lines, check.name)
    drawn = draw_trials(flags, order_of_review(flags, lines, check.name), count)
    by_id = {trial.id: trial for trial, _ in trials}
    question = speak(
        say("Does this happen here? {event} Approve if it does, reject if it does not.", event=check.title), language()
    )
    rows = [{"id": f"{check.name}:{id}", "problem": question, "answer": conversation_text(by_id[id])} for id in drawn]
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return len(rows)


def read_plans(paths: Sequence[str]) -> Mapping[str, LabelledPlan]:
    """Return by check the draws that verification files are of: approved means that the event is there, rejected that it is not.

    Raises:
        BadInput: a file or its plan is missing, or is not what it should be.
    """
    plans: dict[str, LabelledPlan] = {}
    for path in map(Path, paths):
        records = verifications.records(path)
        data = path.with_name(path.name.removesuffix(LABEL_SUFFIX) + PLAN_SUFFIX)
        if not data.is_file():
            raise BadInput(
                "{path}: there is no plan {plan} next to it. Labels correct a share only of trials that --plan drew.",
                path=path,
                plan=data.name,
            )
        for item in items(data):
            check, _, trial = item.id.partition(":")
            plan = plans.setdefault(check, LabelledPlan(shown={}, said={}))
            said = dict(plan.said)
            record = records.get(item.id)
            if record is not None and record.entries[-1].item_digest in ("", item.digest):
                happened = HAPPENED.get(record.verdict.status)
                said[trial] = happened if said.get(trial, happened) == happened else None
            plans[check] = LabelledPlan(shown={**plan.shown, trial: item.answer}, said=said)
    return plans


def conversation_text(trial: InspectedTrial) -> str:
    """Return a trial as a person reads it, the middle left out of a long one."""
    lines = []
    for step in trial.steps:
        calls = [f"{call.name} {call.arguments}" for call in trial.calls if call.step == step.index]
        lines.append(f"[{step.index}] {step.author}: " + "\n".join(filter(None, [step.text, *calls])))
    text = "\n\n".join(lines)
    half = MOST_CHARACTERS // 2
    return text if len(text) <= MOST_CHARACTERS else f"{text[:half]}\n\n[…]\n\n{text[-half:]}"
