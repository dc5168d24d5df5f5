"""What a check is given: the samples, and what answers to them earn."""

import random
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor.engine.scoring import BoundScorer
from proctor_audit.answers import ORACLE, AnswerVerdicts, AuditAnswer
from proctor_audit.cage_faults import describe_fault
from proctor_audit.check import AuditCheck
from proctor_audit.declarations import DeclaredAnswer
from proctor_audit.findings import (
    AuditFinding,
    FindingClass,
    FindingLocation,
    FindingPrecision,
    FindingScope,
    NotChecked,
    finding_id,
    natural_key,
    subject_of,
)
from proctor_audit.playing import PlayedCall
from proctor_audit.scoring import AnswerScorer
from proctor_audit.wording import targets_of

if TYPE_CHECKING:
    from proctor_audit.outcomes import AuditOutcomes
    from proctor_audit.request import TaskRequest

DRAWN = 500  # samples that checks with scorer calls work on,
ABOVE = 2_000  # where there are more than this
ALL_FORMS = 30  # samples on which every text that deserves nothing is tried; each other one gets one of them, and all that pass anywhere
SPLIT = "split"  # the tag whose values are the parts of a data set
NO_TARGET = ("limits", "refusal")  # scorers that compare with no target: what passes them is a floor, no finding


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A row that the reader refused."""

    id: str
    reason: Sentence
    where: FindingLocation


class Audit:
    """The samples of a task and what answers to them earn; a check reads it and keeps nothing."""

    def __init__(
        self,
        *,
        name: str,
        task: Task,
        samples: Sequence[Sample],
        scorers: Sequence[BoundScorer],
        scoring: AnswerScorer,
        request: "TaskRequest | None" = None,
        seconds: float = 5.0,
        seed: int = 0,
        command: str = "",
        where: Mapping[str, FindingLocation] | None = None,
        unreadable: Sequence[Unreadable] = (),
    ) -> None:
        self.name = name
        self.task = task
        self.samples = sorted(samples, key=lambda sample: natural_key(sample.id))
        self.scorers = scorers
        self.request = request  # None where all scorers are Proctor's own
        self.seconds = seconds
        self.seed = seed
        self.command = command
        self.unreadable = unreadable
        self.not_checked: list[NotChecked] = []
        self.calls = 0
        self.draws: dict[str, int] = {}  # how many samples a check worked on where it did not work on all, by its name
        self.check: AuditCheck | None = None  # the one that is being made
        self.outcomes: AuditOutcomes | None = None
        self.why_no_outcomes: Sentence | None = None
        self.main = scorers[0].name if scorers else ""  # whose number is the main one of a run; it may ask a model
        self.repeats: tuple[Any, ...] | None = None  # see `repeats.repeated_verdicts`
        self.others: Sequence[Sample] = ()  # those of other data, each with its data as the tag SPLIT
        self._scoring = scoring
        self._where = where or {}
        self._verdicts: dict[tuple[object, ...], AnswerVerdicts] = {}
        self._faults: dict[str, tuple[Sentence, set[object]]] = {}  # the answers by what kept them from a verdict

    @cached_property
    def drawn(self) -> Sequence[Sample]:
        """Return the samples for checks that call the scorer often: all, or a stratified draw of 500 of more than 2,000."""
        if len(self.samples) <= ABOVE:
            return self.samples
        strata: dict[str, list[Sample]] = {}
        for sample in self.samples:
            strata.setdefault(sample.tags.get(self.task.spread_by or "", ""), []).append(sample)
        draw = self.draw("samples")
        kept: list[Sample] = []
        for _, stratum in sorted(strata.items()):
            share = max(1, round(DRAWN * len(stratum) / len(self.samples)))
            kept += draw.sample(stratum, min(len(stratum), share))
        return sorted(kept, key=lambda sample: natural_key(sample.id))

    @cached_property
    def by_text(self) -> Sequence[Sample]:
        """Return those of the drawn samples to which a text alone may be an answer."""
        return [sample for sample in self.drawn if not self.is_played(sample)]

    def is_played(self, sample: Sample) -> bool:
        """True if what is done in an environment is judged, so that no text alone is an answer."""
        texts = (isinstance(target, str | int | float) for target in targets_of(sample))
        return self.task.environment is not None and not any(texts)

    def narrow_to(self, subject: str) -> None:
        """Keep only the sample that a finding is about, where it is about one: it is replayed without the others."""
        self.samples = [sample for sample in self.samples if subject_of([sample.id]) == subject] or self.samples

    def draw(self, name: str) -> random.Random:
        """Return a random generator that the seed and the name decide."""
        return random.Random(f"{self.seed} {name}")  # noqa: S311 (no secret)

    def some(self, samples: Sequence[Sample], most: int, draw: str = "") -> Sequence[Sample]:
        """Return a draw of at most this many samples, which is noted for the check that is being made."""
        if len(samples) <= most:
            return samples
        name = "floor" if self.check is None else self.check.name
        self.draws[name] = most
        return self.draw(draw or name).sample([*samples], most)

    def score(self, sample: Sample, answer: AuditAnswer) -> AnswerVerdicts:
        """Return what the scorers say of an answer; the same answer is asked about once."""
        given = repr(answer.calls) if answer.calls else ""
        key = (sample.id, answer.text, answer.oracle, answer.oracle_of, answer.gone, given)
        known = self._verdicts.get(key)
        if known is None:
            self.calls += 1
            known = self._verdicts[key] = self._scoring.score(sample, answer)
        if known.fault:
            self.note_fault(known.fault, key)
        return known

    def leave_out(self, reason: Sentence) -> None:
        """Say that the check that is being made does not apply to some samples."""
        assert self.check is not None
        self.not_checked.append(NotChecked(check=self.check.name, cls=self.check.cls, reason=reason))

    def note_fault(self, fault: str | Sentence, answer: object) -> None:
        """Count an answer that decides nothing, by the kind of what kept it from that, or in words; once for a check."""
        reason = fault if isinstance(fault, Sentence) else describe_fault(fault)
        self._faults.setdefault(str(reason), (reason, set()))[1].add(answer)

    def is_of_main(self, scorers: Sequence[str], answer: object) -> bool:
        """True if the main scorer is one of these, or compares with no target; else the answer is counted as not scored."""
        if self.main in scorers or self.main.partition(":")[0] in NO_TARGET:
            return True
        self.note_fault("not_by_main", answer)
        return False

    def report_faults(self, check: str, cls: FindingClass) -> None:
        """Add the answers that decided nothing since the last report to what was not checked."""
        for _, (fault, answers) in sorted(self._faults.items()):
            reason = say("{count} answers decide nothing: {fault}", count=len(answers), fault=fault)
            self.not_checked.append(NotChecked(check=check, cls=cls, reason=reason, applies=True))
        self._faults.clear()

    def score_again(self, sample: Sample, answer: AuditAnswer) -> AnswerVerdicts:
        """Return what the scorers say of an answer now, whatever they said before."""
        self.calls += 1
        return self._scoring.score(sample, answer)

    def score_elsewhere(self, sample: Sample, answer: AuditAnswer) -> AnswerVerdicts:
        """Return the same in another process, where there are scorers of users."""
        self.calls += 1
        return self._scoring.score_elsewhere(sample, answer)

    def declared(self, sample: Sample) -> Sequence[DeclaredAnswer]:
        """Return the answers of which scorers declare whether they pass; what cannot be read is counted as not checked."""
        declared = self._scoring.declared(sample)
        if isinstance(declared, str):
            self.note_fault(declared, sample.id)
            return ()
        for fault in declared.faults:
            self.note_fault(fault, sample.id)
        return declared.answers

    def oracle_calls(self, sample: Sample) -> Sequence[PlayedCall]:
        """Return the calls that the task says are right for a sample, not played; what keeps it from that is counted as not checked."""
        calls = self._scoring.oracle_calls(sample)
        if isinstance(calls, str):
            self.note_fault(calls, sample.id)
            return ()
        return calls

    def says(self, sample: Sample, text: str) -> AnswerVerdicts:
        """Return the scorers' verdicts on a text as the answer."""
        return self.score(sample, AuditAnswer(text=text))

    def oracle(self, sample: Sample) -> AnswerVerdicts:
        """Return what the scorers say of the right answer."""
        return self.score(sample, ORACLE)

    def close(self) -> None:
        """End the processes that scored."""
        self._scoring.close()

    def found(
        self,
        sentence: Sentence,
        *samples: Sample | str,
        scope: FindingScope = "sample",
        scorer: str = "",
        cls: FindingClass | None = None,
        witness: Mapping[str, Any] | None = None,
        precision: FindingPrecision | None = None,
    ) -> AuditFinding:
        """Return a finding of the check that is being made; `scorer` is that of a finding whose scope it is."""
        assert self.check is not None
        named = (sample if isinstance(sample, str) else sample.id for sample in samples)
        ids = tuple(sorted(named, key=natural_key))
        id = finding_id(self.check.name, scope, ids, scorer)
        return AuditFinding(
            id=id,
            check=self.check.name,
            group=self.check.group,
            cls=cls or self.check.cls,
            scope=scope,
            samples=ids,
            sentence=sentence,
            witness=witness or {},
            where=tuple(self._where[name] for name in ids if name in self._where)[:20],
            replay=f"{self.command} --replay {shlex.quote(id)}",
            precision=precision,
            seed=self.seed,
        )

    def run(self, check: AuditCheck) -> Iterator[AuditFinding]:
        """Run a check, and record the reason if it could not be run."""
        self.check = check
        try:
            yield from check.find(self)
        finally:
            self.report_faults(check.name, check.cls)


def attempt(sample: Sample, answer: AuditAnswer, verdicts: AnswerVerdicts) -> dict[str, Any]:
    """Return one answer with what was said of it and what its calls changed, as a part of a witness that can be replayed."""
    played = [{"name": call.name, "is_error": call.is_error, "changed": list(call.changed)} for call in verdicts.calls]
    return {
        "sample": sample.id,
        "answer": msgspec.to_builtins(answer),
        "verdicts": [
            {"scorer": verdict.scorer, "value": verdict.value, "passed": verdict.passed, "why": verdict.why}
            for verdict in verdicts.verdicts
        ],
        **({"ran": True} if verdicts.ran else {}),
        **({"saw": verdicts.saw} if verdicts.saw else {}),
        **({"played": played} if played else {}),
    }


def scored_by_target(verdicts: AnswerVerdicts) -> list[str]:
    """Return the names of scorers that gave full points and compare with a target."""
    return [verdict.scorer for verdict in verdicts.without(NO_TARGET).passed]


def full_marks(verdicts: AnswerVerdicts) -> list[str]:
    """Return the same; nothing where another scorer that compares with a target gave less."""
    return [] if verdicts.without(NO_TARGET).failed else scored_by_target(verdicts)
