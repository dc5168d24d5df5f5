"""Take what the right answer names out of an environment, and see who gives points for it."""

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from proctor.core.sample import Sample
from proctor.core.sentence import clip, say
from proctor_audit.answers import IDLE, ORACLE, AnswerVerdicts
from proctor_audit.audit import Audit, attempt, full_marks
from proctor_audit.check import check
from proctor_audit.expected import calls_of, played_golds
from proctor_audit.findings import AuditFinding
from proctor_audit.inspector.tool_kinds import is_shell
from proctor_audit.playing import COMMANDS, PlayedCall, counters, names_in

TRIED = 3  # names in a call that are taken away, one after the other
COMPARE_CALLS = frozenset(("adk", "trajectory"))  # scorers that say that they do not look at what calls did


@check(
    group="A7",
    cls="proved",
    needs=("scorer", "environment"),
    title=say("What the environment refuses earns full points."),
)
def honeypot_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose right calls earn full points though none of what they name is in the environment.

    The calls are those of the right answer; each name reaches the environment as another one, and no call changes now what
    they change otherwise. Proved where the target says what that entry of the state is to be, else something to look at: the
    effect may not matter. Not flagged: scorers that compare calls, texts as targets, samples that an agent without calls
    passes, and calls that the environment carries out for any name.
    """
    golds = played_golds(audit)
    counting = counters(calls_of(golds))
    reading = untried = 0
    for sample, played in golds:
        changed = {entry for call in played.calls if not call.is_error for entry in call.changed} - counting
        named = changed & _expected_entries(sample)
        entries = named or changed
        writes = [call for call in played.calls if not call.is_error and entries & set(call.changed)]
        if not audit.is_played(sample) or not _scorers(played) or _scorers(audit.score(sample, IDLE)):
            continue
        if not writes:
            reading += 1
            continue
        gone = _refused(audit, sample, writes, entries)
        if gone is None:
            untried += 1
            continue
        answer = replace(ORACLE, gone=gone)
        verdicts = audit.score(sample, answer)
        scorers = _scorers(verdicts)
        if scorers and audit.is_of_main(scorers, (sample.id, gone)):
            yield audit.found(
                say(
                    "the environment does not know {names} and {entries} stays as it was, and it earns full points under {scorer}",
                    names=clip(", ".join(gone), 60),
                    entries=clip(", ".join(sorted(entries)), 60),
                    scorer=", ".join(scorers),
                ),
                sample,
                cls=None if named else "look",
                witness={"attempts": [attempt(sample, ORACLE, played), attempt(sample, answer, verdicts)]},
            )
    if reading:
        audit.leave_out(say("no right call is seen to change anything in {count} samples", count=reading))
    if untried:
        audit.leave_out(say("in {count} samples nothing could be taken away that stops the right calls", count=untried))


def _scorers(verdicts: AnswerVerdicts) -> list[str]:
    return full_marks(verdicts.without(COMPARE_CALLS))


def _expected_entries(sample: Sample) -> frozenset[str]:
    """Return the entries of the state of which the sample says what they are to be at the end."""
    target = sample.target if isinstance(sample.target, Mapping) else {}
    return frozenset({*map(str, target), *(sample.known.final_session_state or {})})


def _refused(audit: Audit, sample: Sample, writes: Sequence[PlayedCall], entries: Set[str]) -> tuple[str, ...] | None:
    """Return names, one of each writing call, without which the environment changes none of these entries; None if it does."""
    names = [names_in(call.arguments) for call in writes]
    if any(is_shell(call.name) or COMMANDS & call.arguments.keys() for call in writes):
        return None
    for number in range(min([TRIED, *map(len, names)])):
        gone = tuple(dict.fromkeys(each[number] for each in names))
        verdicts = audit.score(sample, replace(ORACLE, gone=gone))
        if not verdicts.fault and not any(entries & set(call.changed) for call in verdicts.calls):
            return gone
    return None
