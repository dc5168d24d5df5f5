"""Run the rules over trials, one trial at a time, and keep the findings with a line for each trial."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from shlex import quote

import msgspec

from proctor.core.digest import digest
from proctor.core.sentence import say
from proctor.stats.rate import wilson
from proctor.transport.redact import quoted
from proctor_audit.check import AuditCheck
from proctor_audit.findings import AuditFinding, FindingClass, FindingLocation, FindingPrecision, NotChecked, finding_id
from proctor_audit.inspector.measured import CORPUS, MEASURED
from proctor_audit.inspector.view import InspectedTrial, TrialEvent

RULES = "proctor_audit.inspector.rules"
MOST_STEPS = 6  # of a finding, whose texts its witness holds


class TrialLine(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is kept of a trial: its id, sample and attempt among all sources, outcome and score, and the checks that found something or raised.

    Attributes:
        digest: the fingerprint of all that was said and called.
    """

    id: str
    sample: str
    attempt: int = 0
    cluster: str
    outcome: str
    score: float | None
    counts: bool = True
    run: str = ""
    digest: str = ""
    checks: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class InspectedTrials(msgspec.Struct, kw_only=True):
    """All findings, a line for each trial, and the rules that raised on some trial."""

    lines: list[TrialLine] = []
    findings: list[AuditFinding] = []
    not_checked: list[NotChecked] = []


def inspect(
    trials: Iterable[tuple[InspectedTrial, FindingLocation | None]], checks: Sequence[AuditCheck], command: str = ""
) -> InspectedTrials:
    """Run the checks over every trial; a check that raises is noted for that trial, and ends nothing."""
    done = InspectedTrials(lines=[], findings=[], not_checked=[])
    faults: dict[tuple[str, str], list[str]] = {}
    for trial, where in trials:
        names: list[str] = []
        raised: list[str] = []
        for check in checks:
            try:
                findings = list(findings_of(trial, check, where, command))
            except Exception as error:  # noqa: BLE001 - a fault of one rule is reported, and ends no other
                faults.setdefault((check.name, f"{type(error).__name__}: {quoted(error)}"), []).append(trial.id)
                raised.append(check.name)
                continue
            done.findings += findings
            names += [check.name] * bool(findings)
        done.lines.append(
            TrialLine(
                id=trial.id,
                sample=trial.sample or trial.id,
                attempt=trial.attempt,
                cluster=trial.cluster or trial.id,
                outcome=trial.outcome,
                score=trial.score,
                counts=trial.counts,
                run=trial.run,
                digest=_digest(trial),
                checks=tuple(names),
                faults=tuple(raised),
            )
        )
    classes = {check.name: check.cls for check in checks}
    done.not_checked = [
        NotChecked(
            check=name,
            cls=classes[name],
            reason=say("the check raised {error}; trials: {count}", error=error, count=len(ids)),
            samples=tuple(ids),
            applies=True,
        )
        for (name, error), ids in sorted(faults.items())
    ]
    return done


def findings_of(
    trial: InspectedTrial, check: AuditCheck, where: FindingLocation | None = None, command: str = ""
) -> Iterator[AuditFinding]:
    """Yield what one check finds in one trial; a second event of the same kind is numbered: `loop.2:t1`."""
    for number, event in enumerate(check.find(trial)):
        id = finding_id(f"{check.name}.{number + 1}" if number else check.name, "trial", [trial.id])
        cls = event.cls or check.cls
        yield AuditFinding(
            id=id,
            check=check.name,
            group=check.group,
            cls=cls,
            scope="trial",
            samples=(trial.id,),
            sentence=event.sentence,
            witness=witness_of(trial, event),
            where=() if where is None else (where,),
            steps=event.steps,
            replay=f"{command} --replay {quote(id)}" if command else "",
            invalidates=event.invalidates or check.invalidates,
            precision=precision_of(check.name, cls),
        )


@lru_cache
def precision_of(check: str, cls: FindingClass) -> FindingPrecision | None:
    """Return how often findings of a check and class were right on the corpus; None where that is not known."""
    if (check, cls) not in MEASURED:
        return None
    right, count = MEASURED[check, cls]
    around = wilson(right / count, count)
    return FindingPrecision(value=right / count, low=around.low, high=around.high, count=count, measured_on=CORPUS)


def witness_of(trial: InspectedTrial, event: TrialEvent) -> dict[str, object]:
    """Return the steps of an event with their texts, and the span in them."""
    steps = [
        {"index": index, "author": trial.steps[index].author, "text": step_text(trial, index)}
        for index in event.steps[:MOST_STEPS]
    ]
    return {"trial": trial.id, "run": trial.run, "span": event.span, "steps": steps}


def step_text(trial: InspectedTrial, index: int) -> str:
    """Return all of one step: reasoning, text and calls; the span of a finding occurs in it."""
    calls = [f"{call.name} {call.arguments}" for call in trial.calls if call.step == index]
    return "\n".join(filter(None, [trial.steps[index].reasoning, trial.steps[index].text, *calls]))


def _digest(trial: InspectedTrial) -> str:
    steps = [[step.author, step.text, step.reasoning] for step in trial.steps]
    return digest([steps, [[call.step, call.name, call.arguments] for call in trial.calls]])
