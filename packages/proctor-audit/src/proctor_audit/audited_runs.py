"""Say what proved findings do to the score of stored runs: as it is, and without the samples that they concern."""

from collections import Counter
from collections.abc import Collection, Sequence

import msgspec
from msgspec.structs import replace

from proctor.api import Run
from proctor.api.loop import run_in_loop
from proctor.api.numbers import headline
from proctor.core.errors import BadInput
from proctor.core.run import Estimate, RunRecord, Strata
from proctor.core.sample import Sample
from proctor.core.tally import PREPARATION
from proctor.core.task import Store, Task
from proctor.stores import open_store
from proctor.stores.copy import begin_copy, copy_history
from proctor_audit.findings import AuditFinding
from proctor_audit.outcomes import other_data

NO_FAULT_OF_A_SAMPLE = ("duplicate",)  # it weighs a question twice, and its verdict is right


class AuditedRun(msgspec.Struct, frozen=True, kw_only=True):
    """The main number of a stored run with and without the samples of proved findings that nobody accepted.

    Attributes:
        whole: the number as it is shown everywhere.
        sound: the same without those samples; None where there is no finding, and where none can be computed.
        left_out: how many samples of the run have one.
        samples: how many samples the run planned.
        audited: how many of those every check read.
    """

    run: str
    whole: Estimate | None
    sound: Estimate | None
    left_out: int
    samples: int
    audited: int


def check_runs(task: Task, samples: Sequence[Sample], scorer: str, runs: Sequence[Run]) -> None:
    """Refuse runs of which the findings of an audit say nothing.

    Args:
        scorer: the main one that was audited.

    Raises:
        BadInput: a run was made with other data, or its main number is that of another scorer.
    """
    for run in runs:
        if (reason := other_data(run.record, run.store, task, samples)) is not None:
            raise BadInput("{runs}: left out, as {reason}", runs=run.id, reason=reason)
        if run.record.main_scorer != scorer:
            raise BadInput(
                "The number of {run} is that of the scorer {theirs}, and {audited} is audited: --scorer {theirs}",
                run=run.id,
                theirs=run.record.main_scorer or "-",
                audited=scorer or "-",
            )


def measure_runs(
    samples: Sequence[Sample], drawn: Sequence[Sample], findings: Sequence[AuditFinding], runs: Sequence[Run]
) -> tuple[AuditedRun, ...]:
    """Return the main number of each run with and without the samples that a proved finding concerns.

    Args:
        samples: those that were audited; `drawn` of them by every check.
    """
    read = {sample.id for sample in drawn}
    faulty = {
        id
        for finding in findings
        if finding.cls == "proved" and finding.ignored is None and finding.check not in NO_FAULT_OF_A_SAMPLE
        for id in finding.samples
    }
    return tuple(_measure(samples, read, faulty, run) for run in runs)


def _measure(samples: Sequence[Sample], read: Collection[str], faulty: Collection[str], run: Run) -> AuditedRun:
    planned = {sample.id for sample in run.store.planned(run.id) if PREPARATION not in sample.tags}
    left_out = len(planned.intersection(faulty))
    strata = run.record.strata
    is_staged = strata is not None and len(strata.stages) > 1  # its weights are those of what each stage drew
    return AuditedRun(
        run=run.id,
        whole=headline(run.record, run.store),
        sound=_without(run.record, run.store, faulty, samples)
        if 0 < left_out < len(planned) and not is_staged
        else None,
        left_out=left_out,
        samples=len(planned),
        audited=len(planned.intersection(read)),
    )


def _without(record: RunRecord, store: Store, faulty: Collection[str], samples: Sequence[Sample]) -> Estimate | None:
    """Return the main number of a copy of the run in which some samples, as preparations do, count in nothing."""
    record = replace(record, strata=_strata_without(record, faulty, samples))
    copy = open_store(":memory:")

    async def fill() -> None:
        await begin_copy(record, copy)
        await copy.plan(
            record.id,
            (
                replace(sample, tags={**sample.tags, PREPARATION: "audit"}) if sample.id in faulty else sample
                for sample in store.planned(record.id)
            ),
        )
        await copy_history(store, copy, record.id)
        await copy.end(record)

    try:
        run_in_loop(lambda _: fill())
        return headline(copy.run(record.id), copy)
    finally:
        copy.close()


def _strata_without(record: RunRecord, faulty: Collection[str], samples: Sequence[Sample]) -> Strata | None:
    """Return the strata of a run with as many samples as the audit leaves in each."""
    strata = record.strata
    if strata is None:
        return None
    gone = Counter(sample.tags.get(strata.by, "") for sample in samples if sample.id in faulty)
    sizes = {name: max(size - gone[name], 0) for name, size in strata.sizes.items()}
    return replace(strata, sizes={name: size for name, size in sizes.items() if size})
