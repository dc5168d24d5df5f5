"""What findings do to a score: as it is, without what was invalidated, and its bounds; how frequent each kind is; whose fault it was."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from proctor.core.run import Estimate
from proctor.core.tally import Tally
from proctor.stats.estimate import estimate
from proctor_audit.findings import AuditFinding, Invalidates
from proctor_audit.inspector.inspecting import TrialLine
from proctor_audit.inspector.prevalence import correct_prevalence

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
        whole: the mean over all trials with a score.
        valid: the same without the trials whose success or failure was invalidated.
        low, high: the mean over all trials if every invalidated one were wrong, or right.
        successes, failures: how many of each were invalidated.
    """

    whole: Estimate
    valid: Estimate
    low: float | None
    high: float | None
    successes: int
    failures: int


class TrialPrevalence(msgspec.Struct, frozen=True, kw_only=True):
    """In how many trials a check found something; `corrected` is the share by labels of people, where there are enough."""

    check: str
    trials: int
    share: Estimate
    corrected: Estimate | None = None


def scores_of(lines: Sequence[TrialLine], findings: Sequence[AuditFinding]) -> TrialScores | None:
    """Return the three scores; None without a scored trial. Findings for a look, and ignored ones, invalidate nothing."""
    scored = [line for line in lines if line.score is not None and line.outcome in ("scored", "agent_failed")]
    if not scored:
        return None
    doubts = invalidated(findings)
    doubtful = {line.id for line in scored if _side(line) in doubts.get(line.id, ())}
    kept = [line for line in scored if line.id not in doubtful]
    total = sum(line.score or 0.0 for line in kept)
    return TrialScores(
        whole=mean("score", [(line.score or 0.0, line.cluster) for line in scored]),
        valid=mean("valid", [(line.score or 0.0, line.cluster) for line in kept]),
        low=total / len(scored),
        high=(total + len(doubtful)) / len(scored),
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
    lines: Sequence[TrialLine], checks: Iterable[str], labels: Mapping[str, Mapping[str, bool]]
) -> list[TrialPrevalence]:
    """Return how frequent each check's findings are, the most frequent first; trials in which a check raised count neither way."""
    counts = Counter(name for line in lines for name in line.checks)
    return [
        TrialPrevalence(
            check=name,
            trials=counts[name],
            share=mean(name, [(float(name in line.checks), line.cluster) for line in lines if name not in line.faults]),
            corrected=correct_prevalence(flags_of(lines, name), labels[name]) if name in labels else None,
        )
        for name in sorted(checks, key=lambda name: (-counts[name], name))
    ]


def flags_of(lines: Sequence[TrialLine], check: str) -> Mapping[str, bool]:
    """Return of each trial whether a check found something; none of those in which it raised."""
    return {line.id: check in line.checks for line in lines if check not in line.faults}


def blame_of(lines: Sequence[TrialLine], findings: Sequence[AuditFinding]) -> Mapping[str, int]:
    """Return at whom the failures are laid, by proved and likely findings: the task, environment, user or grader, else the agent."""
    by_trial: dict[str, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.ignored is None and finding.cls != "look" and finding.invalidates == "failure":
            by_trial[finding.samples[0]].add(finding.check)
    blamed = Counter(dict.fromkeys((AGENT, *BLAMED.values()), 0))
    for line in lines:
        if line.score is not None and _side(line) == "failure":
            blamed[next((who for check, who in BLAMED.items() if check in by_trial[line.id]), AGENT)] += 1
    return blamed


def mean(name: str, values: Sequence[tuple[float, str]]) -> Estimate:
    """Estimate a mean of values of 0 to 1, each with its cluster."""
    by_cluster: dict[str, list[float]] = defaultdict(list)
    for value, cluster in values:
        by_cluster[cluster].append(value)
    sums = [(len(each), sum(each)) for each in by_cluster.values()]
    is_binary = all(value in (0, 1) for value, _ in values)
    tally = Tally(
        clusters=len(sums),
        samples=len(values),
        total=sum(total for _, total in sums),
        squares=sum(total * total for _, total in sums),
        cross=sum(size * total for size, total in sums),
        sizes=float(sum(size * size for size, _ in sums)),
        sample_squares=sum(value * value for value, _ in values),
        points=sum(total for _, total in sums),
        out_of=float(len(values)),
        binary=is_binary,
        all_or_nothing=is_binary,
        scored=len(values),
        planned=len(values),
    )
    return estimate(name, tally)


def _side(line: TrialLine) -> Invalidates:
    return "success" if line.score == 1 else "failure"
