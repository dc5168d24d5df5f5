"""Print an inspection on a terminal: findings, the score three times, how frequent each kind is, and whose fault failures were."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from proctor.cli.words import t
from proctor.core.sentence import Sentence, clip, say
from proctor_audit.findings import AuditFinding
from proctor_audit.inspector.inspection import Inspection
from proctor_audit.inspector.trial_scores import TrialPrevalence, TrialScores
from proctor_audit.printing import CLASS_WORDS, MOST_OF_A_CHECK, describe_precision, percent

SHOWN = 70
INDENT = " " * 8
INVALIDATES = {
    "success": say("puts a success in doubt"),
    "failure": say("puts a failure in doubt"),
    "neither": say("puts neither in doubt"),
}
BLAME_WORDS = {
    "agent": say("agent {count}"),
    "user": say("user {count}"),
    "environment": say("environment {count}"),
    "grader": say("grader {count}"),
    "task": say("task {count}"),
}


def lines_of_inspection(inspection: Inspection, *, seconds: float, every: bool = False) -> Iterator[str]:
    """Yield the lines that people read."""
    report = inspection.report
    asks_model = any(check.cost == "model" for check in report.checks)
    yield t(
        "{source}: {trials} trials; {checks} checks, {seconds} s"
        if asks_model
        else "{source}: {trials} trials; {checks} checks, no model, {seconds} s",
        source=report.task,
        trials=f"{report.samples:,}",
        checks=len(report.checks),
        seconds=f"{seconds:.1f}",
    )
    for _, group in groupby(report.counted, key=lambda finding: (finding.cls, finding.check)):
        yield from _of_check([*group], report.command, every=every)
    if not report.counted:
        yield t("These checks found nothing; that does not say that the trials are sound.")
    if ignored := len(report.findings) - len(report.counted):
        yield t("accepted by the ignore list: {count}", count=ignored)
    if inspection.scores is not None:
        yield from (t(line) for line in describe_scores(inspection.scores))
        yield t(describe_blame(inspection.blame))
    for each in inspection.prevalence:
        if each.trials:
            yield t(
                "{check}: in {count} of {all} trials, {share}",
                check=each.check,
                count=each.trials,
                all=each.share.scored,
                share=percent(each.share),
            )
        yield from (INDENT + t(line) for line in describe_people(each))
    for fault in report.not_checked:
        yield t("not checked: {names} ({reason})", names=fault.check, reason=fault.reason)
    yield from map(t, report.notes)


def lines_of_witness(finding: AuditFinding) -> Iterator[str]:
    """Yield the steps that a finding names, and the span in them."""
    yield f"{finding.id}  {t(CLASS_WORDS[finding.cls])}  {t(INVALIDATES[finding.invalidates or 'neither'])}"
    yield t(finding.sentence)
    for step in finding.witness["steps"]:
        yield f"[{step['index']}] {step['author']}: {step['text']}"
    if rest := len(finding.steps) - len(finding.witness["steps"]):
        yield t("{count} more steps: {steps}", count=rest, steps=", ".join(map(str, finding.steps)))
    yield t("span: {span}", span=finding.witness["span"] or "-")


def _of_check(findings: Sequence[AuditFinding], command: str, *, every: bool) -> Iterator[str]:
    shown = findings if every else findings[:MOST_OF_A_CHECK]
    for finding in shown:
        steps = ", ".join(map(str, finding.steps[:4])) + (" …" if len(finding.steps) > 4 else "")
        yield f"{t(CLASS_WORDS[finding.cls]):<8}{finding.check}  {clip(finding.samples[0], 30)} [{steps}]"
        yield INDENT + clip(t(finding.sentence), SHOWN)
        if span := finding.witness["span"]:
            yield INDENT + "“" + clip(" ".join(span.split()), 66) + "”"
    first = findings[0]
    if first.cls != "proved":
        yield INDENT + t(describe_precision(first))
    if rest := len(findings) - len(shown):
        again = f"{command} --check {first.check} --all" if first.replay else "--all"
        yield INDENT + t("{count} more: {command}", count=rest, command=again)
    if first.replay:
        yield INDENT + first.replay


def describe_blame(blame: Mapping[str, int]) -> Sentence:
    """Return how many failures are laid at whom."""
    counts = {who: say(words.text, count=blame.get(who, 0)) for who, words in BLAME_WORDS.items()}
    return say("failures: {agent}, {user}, {environment}, {grader}, {task}", **counts)


def describe_scores(scores: TrialScores) -> Iterator[Sentence]:
    """Yield the score as it is, what is missing in it, the score without what is in doubt, and its bounds."""
    yield say("score as it is      {share} of {count}", share=percent(scores.whole), count=scores.whole.scored)
    if missing := scores.whole.planned - scores.whole.scored:
        yield say(
            "without a score     {count}; if all those were wrong, or right: {low} to {high} %",
            count=missing,
            low=f"{100 * (scores.whole.floor or 0.0):.1f}",
            high=f"{100 * (scores.whole.ceiling or 0.0):.1f}",
        )
    yield say(
        "without doubtful    {share} of {count}; left out: successes {successes}, failures {failures}",
        share=percent(scores.valid),
        count=scores.valid.scored,
        successes=scores.successes,
        failures=scores.failures,
    )
    yield say(
        "if all those were wrong, or right: {low} to {high} %",
        low=f"{100 * (scores.low or 0.0):.1f}",
        high=f"{100 * (scores.high or 0.0):.1f}",
    )


def describe_people(prevalence: TrialPrevalence) -> Iterator[Sentence]:
    """Yield what people say of findings, and the share that labels of a draw correct, or why they do not."""
    people = prevalence.people
    if people is not None:
        yield say(
            "people judged the first {count} of {all} in the order of review: {share} right",
            count=people.in_order,
            all=prevalence.trials,
            share="-" if people.right is None else percent(people.right),
        )
        yield say(
            "contested {contested}; not counted: {out_of_order} judged out of order, {changed} changed since",
            contested=people.contested,
            out_of_order=people.out_of_order,
            changed=people.changed,
        )
    if prevalence.corrected is not None:
        yield say(
            "by {labels} labels of people: {share} ({method})",
            labels=prevalence.corrected.scored,
            share=percent(prevalence.corrected),
            method=prevalence.corrected.method,
        )
    elif prevalence.uncorrected:
        yield say("not corrected by labels: {reason}", reason=prevalence.uncorrected)
