"""Read what stored runs answered, as votes on the samples of a task."""

from collections.abc import Mapping, Sequence

import msgspec

from proctor.api import open_run
from proctor.api.prepare import open_existing
from proctor.core.score import Score
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor_audit.consensus import LEAST_FAMILIES, LEAST_RUNS, LEAST_SAMPLES, ItemVotes, family_of


class AuditOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """The votes of runs on samples, and the family of each system."""

    items: Sequence[ItemVotes]
    families: Mapping[str, str]


def read_outcomes(
    task: Task, scorer: str, names: Sequence[str], store: str | None
) -> tuple[AuditOutcomes | None, Sentence]:
    """Return the votes of runs, and why there are none: too few runs, families or samples.

    Args:
        names: the runs; without them all finished ones of the store on the same task and data.

    Raises:
        BadInput: a run that is named does not exist.
    """
    records = [open_run(name, store=store).record for name in names]
    stored = open_existing(store)
    records = records or [record for record in stored.runs() if record.task == task.name and record.state == "finished"]
    other = [record.id for record in records if record.task_version != task.version]
    answers: dict[str, dict[str, str | None]] = {}
    right: dict[str, set[str]] = {}
    used = [record for record in records if record.id not in other and scorer in record.scorers]
    for record in used:
        replies = {trial.sample_id: trial.trajectory.answer for trial in stored.trials(record.id)}
        for verdict in stored.verdicts(record.id, scorer=scorer):
            if isinstance(verdict.result, Score) and verdict.attempt == 0:
                said = verdict.result.answer or replies.get(verdict.sample_id) or None
                answers.setdefault(verdict.sample_id, {})[record.id] = said
                right.setdefault(verdict.sample_id, set()).update([record.id] if verdict.result.passed else [])
    families = {record.id: family_of(record.agent) for record in used}
    items = [ItemVotes(id=id, answers=said, right=frozenset(right[id])) for id, said in sorted(answers.items())]
    count = len({*families.values()})
    if len(used) < LEAST_RUNS or count < LEAST_FAMILIES or len(items) < LEAST_SAMPLES:
        why = say(
            "outcomes: {runs} runs of {families} makers on {samples} samples, of 8, 3 and 50",
            runs=len(used),
            families=count,
            samples=len(items),
        )
        return None, why
    return AuditOutcomes(items=items, families=families), say("outcomes of {runs} runs", runs=len(used))
