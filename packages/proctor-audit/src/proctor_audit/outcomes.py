"""Read what stored runs answered, as votes on the samples of a task."""

from collections.abc import Mapping, Sequence

import msgspec

from proctor.api import open_run
from proctor.api.prepare import open_existing
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store, Task
from proctor.core.trial import Verdict
from proctor.engine.scoring import BoundScorer
from proctor_audit.consensus import LEAST_FAMILIES, LEAST_RUNS, LEAST_SAMPLES, ItemVotes, family_of
from proctor_audit.wording import fold, question_of, targets_of, text_of_target


class AuditOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """The votes of runs on samples, and the family of each system."""

    items: Sequence[ItemVotes]
    families: Mapping[str, str]


class OutcomeReading(msgspec.Struct, frozen=True, kw_only=True):
    """The outcomes, or why there are none, and why runs were left out."""

    outcomes: AuditOutcomes | None
    why: Sentence
    left_out: Sequence[Sentence]


def read_outcomes(
    task: Task, samples: Sequence[Sample], scorer: BoundScorer | str, names: Sequence[str], store: str | None
) -> OutcomeReading:
    """Return the votes of runs, and why there are none: too few runs, families or samples.

    Args:
        scorer: the main one; by its name, any version of it, where it asks a model.
        names: the runs; without them all finished ones of the store on the same task.

    Raises:
        BadInput: a run that is named does not exist.
    """
    records = [open_run(name, store=store).record for name in names]
    stored = open_existing(store)
    records = records or [record for record in stored.runs() if record.task == task.name and record.state == "finished"]
    name = scorer if isinstance(scorer, str) else scorer.name
    ids, votes = {sample.id for sample in samples}, _Votes()
    left_out: dict[str, tuple[Sentence, list[str]]] = {}
    for record in records:
        verdicts = list(stored.verdicts(record.id, scorer=name))
        reason = other_data(record, stored, task, samples)
        is_other = not isinstance(scorer, str) and any(each.scorer_version != scorer.version for each in verdicts)
        if reason is None and (is_other or not verdicts):
            reason = say("its verdicts are not those of {scorer} as it is now", scorer=name)
        if record.is_imported:
            verdicts = [each for each in verdicts if each.sample_id in ids]
        if reason is None:
            votes.add(record, stored, verdicts)
        else:
            left_out.setdefault(str(reason), (reason, []))[1].append(record.id)
    outcomes, why = votes.finish()
    reasons = [
        say("{runs}: left out, as {reason}", runs=", ".join(runs), reason=reason) for reason, runs in left_out.values()
    ]
    return OutcomeReading(outcomes=outcomes, why=why, left_out=reasons)


class _Votes:
    def __init__(self) -> None:
        self._answers: dict[str, dict[str, str | None]] = {}
        self._right: dict[str, set[str]] = {}
        self._families: dict[str, str] = {}

    def add(self, record: RunRecord, store: Store, verdicts: Sequence[Verdict]) -> None:
        self._families[record.id] = family_of(record.agent)
        replies = {trial.sample_id: trial.trajectory.answer for trial in store.trials(record.id)}
        for verdict in verdicts:
            if isinstance(verdict.result, Score) and verdict.attempt == 0:
                said = verdict.result.answer or replies.get(verdict.sample_id) or None
                self._answers.setdefault(verdict.sample_id, {})[record.id] = said
                right = self._right.setdefault(verdict.sample_id, set())
                right.update([record.id] if verdict.result.passed else [])

    def finish(self) -> tuple[AuditOutcomes | None, Sentence]:
        """Return the outcomes, and what they are of; None where there are too few."""
        items = [
            ItemVotes(id=id, answers=said, right=frozenset(self._right[id]))
            for id, said in sorted(self._answers.items())
        ]
        runs, makers = len(self._families), len({*self._families.values()})
        if runs < LEAST_RUNS or makers < LEAST_FAMILIES or len(items) < LEAST_SAMPLES:
            counts = {"runs": runs, "families": makers, "samples": len(items)}
            return None, say(
                "outcomes: {runs} runs of {families} makers on {samples} samples, of 8, 3 and 50", **counts
            )
        return AuditOutcomes(items=items, families=self._families), say("outcomes of {runs} runs", runs=runs)


def other_data(record: RunRecord, store: Store, task: Task, samples: Sequence[Sample]) -> Sentence | None:
    """Return how the data of a run differ from those of a task; None where they are the same.

    A run of another program has no version of the task, so each of its samples is compared: it expects the same, and the
    question is a part of what its log shows the system. What it has in addition says nothing of the task.
    """
    if not record.is_imported:
        is_same = record.task_version == task.version
        return None if is_same else say("made with other data than the task has now")
    by_id = {sample.id: sample for sample in samples}
    shared = [(by_id[theirs.id], theirs) for theirs in store.planned(record.id) if theirs.id in by_id]
    if not shared:
        return say("it has none of the samples")
    other = next((theirs for ours, theirs in shared if not _is_same(ours, theirs)), None)
    return None if other is None else say("the sample {id} is another one there", id=other.id)


def _is_same(ours: Sample, theirs: Sample) -> bool:
    shown = fold("\n".join(message.text for turn in theirs.turns for message in turn.messages))
    targets = [sorted(fold(text_of_target(target)) for target in targets_of(sample)) for sample in (ours, theirs)]
    return bool(theirs.turns) and fold(question_of(ours)) in shown and targets[0] == targets[1]
