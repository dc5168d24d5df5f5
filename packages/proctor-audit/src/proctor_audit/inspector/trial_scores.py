"""What findings do to a score: as it is, without what was invalidated, and its bounds; how frequent each kind is; whose fault it was."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.core.trial import IN_THE_MEAN
from proctor.stats.estimate import estimate
from proctor_audit.findings import AuditFinding, Invalidates
from proctor_audit.inspector.inspecting import TrialLine
from proctor_audit.inspector.labelling import LabelledPlan
from proctor_audit.inspector.prevalence import correct_prevalence, draw_trials
from proctor_audit.inspector.review_order import JudgedFindings, flags_of, judge_findings, order_of_review
from proctor_audit.inspector.trial_labels import FindingLabels

BLAMED: Mapping[str, str] = {  # who a failure is laid at, by the check that found something; the first that applies
    "harness-error": "task",
    "environment-failure": "environment",
    "user-off-script": "user",
    "format-failure": "grader",
}
AGENT = "agent"


class TrialScores(msgspec.Struct, frozen=True, kw_only=True):
    """A mean score three times; it stands next to the official figure, and never replaces it.

    Attributes:
        whole: the mean over samples of the mean of their trials with a score.
        valid: the same without the trials whose success or failure was invalidated.
        low, high: the whole if every invalidated trial were wrong, or right.
        successes, failures: how many of each were invalidated.
    """

    whole: Estimate
    valid: Estimate
    low: float | None
    high: float | None
    successes: int
    failures: int


class TrialPrevalence(msgspec.Struct, frozen=True, kw_only=True):
    """In how many trials a check found something.

    Attributes:
        people: what people say of those trials, None without labels.
        corrected: the share of all trials by labels of people for a draw; `uncorrected` says why there is none despite labels.
    """

    check: str
    trials: int
    share: Estimate
    people: JudgedFindings | None = None
    corrected: Estimate | None = None
    uncorrected: str | Sentence = ""


def scores_of(lines: Sequence[TrialLine], findings: Sequence[AuditFinding], unplayed: int = 0) -> TrialScores | None:
    """Return the three scores; None without a scored trial. Findings for a look, and ignored ones, invalidate nothing."""
    scored = [line for line in lines if _has_score(line)]
    if not scored:
        return None
    doubts = invalidated(findings)
    doubtful = {line.id for line in scored if _side(line) in doubts.get(line.id, ())}
    return TrialScores(
        whole=_mean("score", lines, unplayed),
        valid=_mean("valid", [line for line in lines if line.id not in doubtful], unplayed),
        low=_mean("low", _with_score(0.0, lines, doubtful)).value,
        high=_mean("high", _with_score(1.0, lines, doubtful)).value,
        successes=sum(line.id in doubtful and _side(line) == "success" for line in scored),
        failures=sum(line.id in doubtful and _side(line) == "failure" for line in scored),
    )


def invalidated(findings: Iterable[AuditFinding]) -> Mapping[str, set[Invalidates]]:
    """Return what is invalidated of each trial by proved and likely findings that nobody accepted."""
    doubts: dict[str, set[Invalidates]] = defaultdict(set)
    for finding in findings:
        if finding.ignored is None and finding.cls != "look" and finding.invalidates not in (None, "neither"):
            doubts[finding.samples[0]].add(finding.invalidates)
    return doubts


def prevalence_of(
    lines: Sequence[TrialLine],
    checks: Iterable[str],
    plans: Mapping[str, LabelledPlan] = {},
    labels: FindingLabels = FindingLabels(),  # noqa: B008 - frozen
) -> list[TrialPrevalence]:
    """Return how frequent each check's findings are, the most frequent first; trials in which a check raised count neither way.

    Labels of findings say how often those are right. Only a draw of trials that is labelled whole corrects a share.
    """
    counts = Counter(name for line in lines for name in line.checks)
    return [
        _prevalence(name, lines, counts[name], plans.get(name), labels)
        for name in sorted(checks, key=lambda name: (-counts[name], name))
    ]


def _prevalence(
    name: str, lines: Sequence[TrialLine], count: int, plan: LabelledPlan | None, labels: FindingLabels
) -> TrialPrevalence:
    prevalence = TrialPrevalence(check=name, trials=count, share=_share(name, lines))
    said, changed = labels.said(name), labels.changed.get(name, 0)
    if plan is None and not said and not changed:
        return prevalence
    flags = flags_of(lines, name)
    order = order_of_review(flags, lines, name)
    drawn = plan.said if plan is not None else {}
    for id, happened in drawn.items():
        said[id] = happened if said.get(id, happened) == happened else None
    people = judge_findings([id for id in order if flags[id]], said, changed)
    if plan is None:
        return replace(prevalence, people=people)
    clusters = {line.id: line.cluster for line in lines}
    corrected, reason = None, _why_uncorrected(plan, draw_trials(flags, order, len(plan.shown)))
    if not reason and (corrected := correct_prevalence(flags, plan.said, clusters)) is None:
        reason = say("too few labels")
    return replace(prevalence, people=people, corrected=corrected, uncorrected=reason)


def _why_uncorrected(plan: LabelledPlan, drawn: Sequence[str]) -> str | Sentence:
    """Return why labels of a draw correct no share; '' if they do."""
    if {*plan.shown} != {*drawn}:
        return say("the findings are others than when the trials were drawn: draw again with --plan")
    if left := len(plan.shown.keys() - plan.said.keys()):
        return say(
            "{count} of the {all} drawn trials are not judged, or are others than those that were judged",
            count=left,
            all=len(plan.shown),
        )
    return ""


def blame_of(lines: Sequence[TrialLine], findings: Sequence[AuditFinding]) -> Mapping[str, int]:
    """Return at whom the failures are laid, by proved and likely findings: the task, environment, user or grader, else the agent."""
    by_trial: dict[str, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.ignored is None and finding.cls != "look" and finding.invalidates == "failure":
            by_trial[finding.samples[0]].add(finding.check)
    blamed = Counter(dict.fromkeys((AGENT, *BLAMED.values()), 0))
    for line in lines:
        if _has_score(line) and _side(line) == "failure":
            blamed[next((who for check, who in BLAMED.items() if check in by_trial[line.id]), AGENT)] += 1
    return blamed


def _mean(name: str, lines: Iterable[TrialLine], unplayed: int = 0) -> Estimate:
    by_sample: dict[str, list[TrialLine]] = defaultdict(list)
    for line in lines:
        if line.counts:
            by_sample[line.sample].append(line)
    cases = [_case(attempts) for attempts in by_sample.values()]
    return estimate(name, tally([*cases, Case(cluster="", values=(), planned=unplayed)]))


def _case(attempts: Sequence[TrialLine]) -> Case:
    values = tuple(line.score for line in attempts if line.score is not None and _has_score(line))
    return Case(
        cluster=attempts[0].cluster, values=values, planned=len(attempts), points=sum(values), out_of=len(values)
    )


def _share(check: str, lines: Iterable[TrialLine]) -> Estimate:
    judged = [line for line in lines if check not in line.faults]
    cases = [Case(cluster=line.cluster, values=(float(check in line.checks),), planned=1) for line in judged]
    return estimate(check, tally(cases))


def _with_score(score: float, lines: Iterable[TrialLine], ids: Collection[str]) -> list[TrialLine]:
    return [replace(line, score=score) if line.id in ids else line for line in lines]


def _has_score(line: TrialLine) -> bool:
    return line.counts and line.score is not None and line.outcome in IN_THE_MEAN


def _side(line: TrialLine) -> Invalidates:
    return "success" if line.score == 1 else "failure"
