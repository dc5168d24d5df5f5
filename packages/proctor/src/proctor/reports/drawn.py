"""Say what part of its task a run is, and what its intervals are about."""

from collections.abc import Iterator, Mapping

from proctor.core.run import RunRecord, Strata
from proctor.core.sentence import Sentence, say

LEAST_TIMES = 1.05  # as many samples, from which it is said what was gained
LEFT_OUT = ("not_run", "skipped")
LOOKED_AT = (
    "A run was looked at while it went on, so the intervals are the wider ones that hold for any number of looks."
)
SHARED = "Trials of both runs are the same ones, as a tier took them over: there the runs cannot differ."
UNRECORDED = "This run was made by a version that did not record how many samples each category of the task has, and may have drawn equally from them: its numbers are those of the samples drawn, not of the task."


def looked_at(record: RunRecord, left: int) -> Iterator[Sentence]:
    """Return the sentences about a run that was looked at while it went on: what was decided, and what its intervals hold for.

    Args:
        left: trials of its plan that were not run.
    """
    until, looked = record.spec.until, record.looked
    if until is None:
        return
    if looked is not None:
        values = {
            "rule": until.rule if not until.against else say("{rule} than {run}", rule=until.rule, run=until.against),
            "steps": f"{looked.steps:,}",
            "most": f"{looked.most:,}",
            "unit": say("samples") if looked.most == record.planned // record.spec.attempts else say("clusters"),
            "saved": f"{left:,}",  # the rest may have been run afterwards
            "method": say(looked.method),
        }
        match looked.decision:
            case "go":
                yield say(
                    "GO: {rule}, decided after {steps} of {most} {unit} ({method}); {saved} trials of the plan were not needed.",
                    **values,
                )
            case "no_go":
                yield say(
                    "NO-GO: {rule}, decided after {steps} of {most} {unit} ({method}); {saved} trials of the plan were not needed.",
                    **values,
                )
            case "futile":
                yield say(
                    "INCONCLUSIVE: {rule} cannot be decided within {most} {unit}, as {steps} show ({method}); {saved} trials of the plan were not needed.",
                    **values,
                )
            case None:
                yield say("{rule} is not decided after {steps} of {most} {unit} ({method}).", **values)
        yield from known_samples(record)
    yield say(LOOKED_AT)


def known_samples(record: RunRecord) -> Iterator[Sentence]:
    """Return the sentence about what stored runs know of the samples of a run, where that made its last look more precise."""
    looked, known = record.looked, record.known
    if looked is None or known is None or looked.times < LEAST_TIMES:
        return
    count = len(known.runs) + 1  # the baseline is one
    yield say(
        "{known}: at the last look as good as {times} times as many.",
        known=say("a stored run knows these samples")
        if count == 1
        else say("{count} stored runs know these samples", count=count),
        times=f"{looked.times:.1f}",
    )


def target(record: RunRecord) -> Sentence:
    """Return the sentence about what the intervals of a run are about."""
    if record.spec.target == "suite" and record.strata is not None:
        return say(
            "The intervals are about this suite: how this agent, as it ran, does on these very {total} samples.",
            total=f"{record.strata.total:,}",
        )
    return say("The intervals are about samples like these, not about these very ones.")


def part(record: RunRecord, outcomes: Mapping[str, int]) -> Iterator[Sentence]:
    """Return the sentence about the part of the task that was drawn or visited, and how the numbers account for it."""
    strata, selection = record.strata, record.spec.selection
    if selection.first is not None:
        yield say(
            "These are the first {count} samples of the task, not a draw: they say nothing about the others.",
            count=f"{selection.first:,}",
        )
    if strata is None:
        if selection.limit is not None:
            yield say(UNRECORDED)
        return
    drawn = record.planned // record.spec.attempts
    values = {"drawn": f"{drawn:,}", "total": f"{strata.total:,}", "tag": strata.by}
    if drawn < strata.total and strata.by:
        yield say(
            "{drawn} of {total} samples were drawn, in proportion to the tag '{tag}'; each value of it counts by its size in the task.",
            **values,
        )
    elif drawn < strata.total:
        yield say("{drawn} of {total} samples were drawn at random.", **values)
    if len(strata.stages) > 1 and drawn < strata.total:
        yield say(
            "{count} of them were drawn later, most where outcomes were uncertain. Each stage counts by its number of samples, which keeps the estimate unbiased.",
            count=" + ".join(str(sum(stage.counts.values())) for stage in strata.stages[1:]),
        )
    if any(outcomes.get(name) for name in LEFT_OUT) and record.spec.until is None:
        yield _visited(record)


def is_part(record: RunRecord) -> bool:
    """True if a run was planned with some of the samples of its task only."""
    if record.strata is None:
        return record.spec.selection.limit is not None
    return record.planned < record.strata.total * record.spec.attempts


def strata_in_common(first: RunRecord, second: RunRecord) -> Strata | None:
    """Return the strata that weight the pairs of two runs: those of the run over fewer samples of the task."""
    known = [record.strata for record in (first, second) if record.strata is not None and record.strata.by]
    return min(known, key=lambda strata: (strata.total, not strata.stages), default=None)


def _visited(record: RunRecord) -> Sentence:
    strata = record.strata
    assert strata is not None
    if strata.order == "official":
        return say("Samples were visited in the order of the task: what was run may not be like the rest.")
    if strata.by:
        return say(
            "Samples were visited at random, so what was run is a draw too; each value of the tag '{tag}' counts by its size in the task.",
            tag=strata.by,
        )
    return say("Samples were visited at random, so what was run is a draw too.")
