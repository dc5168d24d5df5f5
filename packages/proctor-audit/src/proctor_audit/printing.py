"""Print an audit: proved findings first, few of each check, the floor, and what was not checked."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from proctor.cli.words import t
from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, clip, say
from proctor_audit.answers import SHOWN
from proctor_audit.audited_runs import AuditedRun
from proctor_audit.findings import AuditFinding, NotChecked, natural_key
from proctor_audit.floor import AuditFloor
from proctor_audit.report import AuditReport

MOST_OF_A_CHECK = 5
WIDTH = 80
CLASS_WORDS = {"proved": say("proved"), "likely": say("likely"), "look": say("look")}
PRECISION_WORDS = {
    "right": say("of {count} like this, {share} % ({low}–{high}, {level} % interval) were right on {corpus}"),
    "flawed": say("of {count} like this, {share} % ({low}–{high}, {level} % interval) were flawed in {corpus}"),
    "changed": say(
        "of {count} like this, {share} % ({low}–{high}, {level} % interval) were changed by the verified edition of {corpus}"
    ),
}
FLOOR_WORDS = {
    "idle": say("an agent that makes no call {share}"),
    "null": say("an agent that says nothing {share}"),
    "refusal": say("one that declines {share}"),
    "echo": say("one that repeats the question {share}"),
    "constant": say("the best constant ({answer}) {share}"),
}


def lines_of(report: AuditReport, *, seconds: float, every: bool = False) -> Iterator[str]:
    """Yield the lines that people read."""
    yield t(
        "{task}: {samples} samples, scorer {scorers}; {checks} checks, {calls} scorer calls, no model, {seconds} s",
        task=report.task,
        samples=f"{report.samples:,}",
        scorers=", ".join(report.scorers) or "-",
        checks=len(report.checks),
        calls=f"{report.calls:,}",
        seconds=f"{seconds:.1f}",
    )
    for _, group in groupby(report.counted, key=lambda finding: (finding.cls, finding.check)):
        yield from _of_check([*group], report, every=every)
    ignored = len(report.findings) - len(report.counted)
    if not report.counted:
        yield t("These checks found nothing; that does not say that the task is sound.")
    if ignored:
        yield t("accepted by the ignore list: {count}", count=ignored)
    if report.floor:
        yield t("floor   {floors}", floors=", ".join(map(t, describe_floors(report.floor))))
    yield from map(t, describe_runs(report.runs))
    for note in (*describe_not_checked(report.not_checked), *report.notes):
        yield t(note)


def _of_check(findings: Sequence[AuditFinding], report: AuditReport, *, every: bool) -> Iterator[str]:
    shown = findings if every else findings[:MOST_OF_A_CHECK]
    for finding in shown:
        subject = ", ".join(finding.samples[:2]) + (" …" if len(finding.samples) > 2 else "")
        yield f"{t(CLASS_WORDS[finding.cls]):<8}{finding.check}  {subject}  {clip(t(finding.sentence), SHOWN)}"
        if finding.precision is not None:
            yield " " * 8 + t(describe_precision(finding))
    if findings[0].cls != "proved" and findings[0].precision is None:
        yield " " * 8 + t(describe_precision(findings[0]))
    if rest := len(findings) - len(shown):
        command = f"{report.command} --check {findings[0].check} --all"
        yield " " * 8 + t("{count} more: {command}", count=rest, command=command)
    yield " " * 8 + findings[0].replay


def describe_precision(finding: AuditFinding) -> Sentence:
    """Return what is known of how often such a finding is right."""
    precision = finding.precision
    if precision is None:
        return say("precision unknown")
    measured = say(
        PRECISION_WORDS[precision.meaning].text,
        count=precision.count,
        share=f"{100 * precision.value:.0f}",
        low=f"{100 * precision.low:.0f}",
        high=f"{100 * precision.high:.0f}",
        level=f"{100 * precision.level:g}",
        corpus=precision.measured_on,
    )
    if precision.base is None:
        return measured
    return say("{measured}; {base} % of all were", measured=measured, base=f"{100 * precision.base:.0f}")


def describe_floors(floors: Sequence[AuditFloor]) -> Iterator[Sentence]:
    """Yield what agents that know nothing earn."""
    for each in floors:
        value, between = f"{100 * each.value:.0f}", f"{100 * each.low:.0f}–{100 * each.high:.0f}"
        share = say("{value} % ({between}) of {count}", value=value, between=between, count=each.count)
        if each.unscored:
            share = say("{share} without {count} that got no score", share=share, count=each.unscored)
        yield say(FLOOR_WORDS[each.agent].text, share=share, answer=repr(clip(each.answer, 30)))


def describe_not_checked(not_checked: Sequence[NotChecked]) -> Iterator[Sentence]:
    """Yield what could not be checked, by its reason."""
    by_reason: dict[str, tuple[Sentence, list[str]]] = {}
    for each in not_checked:
        by_reason.setdefault(str(each.reason), (each.reason, []))[1].append(each.check)
    for reason, checks in by_reason.values():
        names = ", ".join(sorted({*checks}, key=natural_key))
        yield say("not checked: {names} ({reason})", names=names, reason=reason)


def describe_runs(runs: Sequence[AuditedRun]) -> Iterator[Sentence]:
    """Yield the number of each run, and what it is without the samples that a proved finding concerns."""
    for each in runs:
        values: dict[str, Any] = {"run": each.run, "samples": each.samples, "count": each.left_out}
        values["whole"] = "-" if each.whole is None else percent(each.whole)
        if each.sound is not None:
            yield say(
                "{run}: {whole} on {samples} samples; without the {count} that proved findings concern {sound}",
                sound=percent(each.sound),
                **values,
            )
        elif each.left_out:
            yield say(
                "{run}: {whole} on {samples} samples; proved findings concern {count}, and what it is without them is not known",
                **values,
            )
        else:
            yield say("{run}: {whole} on {samples} samples; proved findings concern none of them", **values)
        if each.audited < each.samples:
            counts = {"samples": each.samples, "audited": each.audited}
            yield say("{run}: of its {samples} samples {audited} were audited", run=each.run, **counts)


def percent(share: Estimate) -> str:
    """Return a share with its interval."""
    if share.value is None:
        return "-"
    around = "" if share.low is None or share.high is None else f" ({100 * share.low:.1f}–{100 * share.high:.1f})"
    return f"{100 * share.value:.1f} %{around}"
