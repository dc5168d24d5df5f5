"""Decide by a policy whether a run may ship: GO, NO-GO, or INCONCLUSIVE.

GO by a rule means that its bounds exclude the bad case, NO-GO that they exclude the good one. GO by the gate needs GO by
every rule, so its chance of being wrong is at most that of one rule, with no correction (intersection-union test). One
NO-GO is enough for NO-GO, so there the rules are corrected by Holm: the chance of any wrong one is at most their error.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec
from msgspec.structs import replace

from proctor.api.baselines import find_against
from proctor.api.run import Run
from proctor.continuous.evidence import Evidence, gather
from proctor.continuous.policy import Policy, Rule, default_policy, find_policy
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.reports.changes import SEPARATOR, Change, changes_between
from proctor.reports.drawn import SHARED
from proctor.reports.same_task import check_baseline
from proctor.stats.distributions import normal_quantile
from proctor.stats.rate import Interval

Decision = Literal["go", "no_go", "inconclusive"]
POWER = 0.8
MOST_TIMES = 1_000  # as many samples; beyond that no number is worth saying
TOLD_ONLY = ("agent", "Proctor", "scorers", "attempts", "seed", "python", "machine", "max_failed", "target", "order")
TOLD_PARTS = (
    "agent_options",
    "perturb",
    "approve",
    "until",
    "selection",
    "limits",
    "git",
    "agent_source",
    f"code{SEPARATOR}agent",
    "continue_from",
)
OF_PEOPLE = ("calibration", "calibrated", "corrected")  # what is known of a judge, not what it is


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What would decide a rule, in four of five cases, if the truth is as assumed.

    Attributes:
        assumed: `equal` where the run is no other than its baseline, else `observed`.
        samples, attempts: how many more of either; None where no number would do. Attempts are for each sample.
        calls: the further trials of those samples, in all runs.
        money, tokens, minutes: what they would take, by what the stored runs took; None where that is not known.
    """

    assumed: Literal["equal", "observed"]
    samples: int | None
    attempts: int | None = None
    calls: int = 0
    money: float | None = None
    tokens: float | None = None
    minutes: float | None = None


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule decided in one slice.

    Attributes:
        value, low, high: what was observed and its bounds, each wrong with a chance of at most `error`; missing trials have moved them.
        limit, higher: where good ends, and on which side it lies.
        unit: `share`, `points` (a difference of shares), `number`, or `change` (a share of the baseline's number).
        before, now: both numbers of a comparison.
        why: the reason why it is inconclusive.
        missing, left_out: trials without a result, and samples that only one of the runs has.
    """

    rule: Rule
    slice: str
    decision: Decision
    value: float | None
    low: float | None
    high: float | None
    limit: float
    higher: bool
    unit: str
    error: float
    before: float | None = None
    now: float | None = None
    samples: int = 0
    clusters: int = 0
    missing: int = 0
    left_out: int = 0
    why: Sentence | None = None
    wanted: Wanted | None = None


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """The decision about a run; `changes` are those between the runs that keep them from being compared, `notes` others."""

    decision: Decision
    run: RunRecord
    against: RunRecord | None
    policy: Policy
    rulings: tuple[Ruling, ...]
    changes: tuple[Change, ...] = ()
    accepted: bool = False
    notes: tuple[Sentence, ...] = ()


def gate(
    run: Run,
    *,
    against: Run | str | None = None,
    policy: Policy | str | Path | None = None,
    accept_changes: bool = False,
) -> Gate:
    """Decide whether a run may ship.

    Args:
        against: the baseline: a run, or the name of a baseline or run in the store of `run`; by default the one that the
            policy names.
        policy: the rules, or their file, or the name of a task that brings some; by default, that the main metric is not
            worse than the baseline's by more than 5 points.
        accept_changes: compare although the task, its data, a scorer or a judge is another one than the baseline's.

    Raises:
        BadInput: a run that is still going, a baseline of another task, or a rule about what the run does not have.
    """
    policy = default_policy() if policy is None else policy if isinstance(policy, Policy) else find_policy(policy)
    against = (policy.against or None) if against is None else against
    against = find_against(run.store, against) if isinstance(against, str) else against
    for one in (run, *([against] if against else [])):
        if one.record.state in ("running", "copying"):
            raise BadInput(
                "The run {run} is not finished: a gate that looks before the end errs more often.", run=one.id
            )
        if not one.record.scorers or not one.record.planned:
            raise BadInput("The run {run} has nothing to decide by: no scorer, or no sample.", run=one.id)
    if against is not None:
        _check_same_task(run, against)
    changes = () if against is None else blocking_changes(run, against)
    evidence = [each for rule in policy.rules for each in gather(rule, run, against, policy)]
    is_blocked = bool(changes) and not accept_changes
    rulings = [_rule(one, policy.error_of(one.rule), is_blocked=is_blocked) for one in evidence]
    rulings = _corrected(rulings, evidence)
    runs = [run] if against is None else [run, against]
    rulings = [
        replace(ruling, wanted=_wanted(one, ruling, runs))
        if ruling.decision == "inconclusive" and not ruling.why
        else ruling
        for ruling, one in zip(rulings, evidence, strict=True)
    ]
    decisions = {ruling.decision for ruling in rulings}
    return Gate(
        decision="no_go" if "no_go" in decisions else "go" if decisions == {"go"} else "inconclusive",
        run=run.record,
        against=None if against is None else against.record,
        policy=policy,
        rulings=tuple(rulings),
        changes=changes,
        accepted=accept_changes and bool(changes),
        notes=tuple(_notes(runs)),
    )


def _check_same_task(run: Run, against: Run) -> None:
    check_baseline(against.record, run.record.task)
    if run.id == against.id and run.store.url == against.store.url:
        raise BadInput("The run {run} cannot be its own baseline.", run=run.id)


class Stored(Protocol):
    """A run and the store it is in."""

    @property
    def record(self) -> RunRecord: ...

    @property
    def store(self) -> Store: ...


def blocking_changes(run: Stored, against: Stored) -> tuple[Change, ...]:
    """Return what changed since `against` of the task, its data, scorers, judges and users: two measures are not compared."""
    found = [
        one
        for one in changes_between(against.record, run.record)
        if one.name not in TOLD_ONLY and not one.name.startswith(TOLD_PARTS) and not one.name.endswith(OF_PEOPLE)
    ]
    for scorer in run.record.scorers:
        if scorer not in against.record.scorers:
            continue
        before, after = (
            next((one.scorer_version for one in each.store.verdicts(each.record.id, scorer=scorer)), "")
            for each in (against, run)
        )
        if before and after and before != after:
            found.append(Change(name=f"scorer{SEPARATOR}{scorer}", before=before[:12], after=after[:12]))
    return tuple(found)


def _rule(one: Evidence, error: float, *, is_blocked: bool) -> Ruling:
    bounds = None if one.why_not else one.bounds(error)
    decision: Decision = "inconclusive"
    why = one.why_not
    if is_blocked and one.rule.compares:
        why = say("what was measured changed between the runs")
    elif bounds is not None:
        decision = _decision(one, error)
        sampled = one.sampled(error)
        if (
            decision == "inconclusive"
            and sampled is not None
            and _side(one, sampled.low, sampled.high) != "inconclusive"
        ):
            why = say("{count} missing trials could change it: run them with --retry-failed", count=one.missing)
    return Ruling(
        rule=one.rule,
        slice=one.slice,
        decision=decision,
        value=one.value,
        low=_finite(bounds.low) if bounds else None,
        high=_finite(bounds.high) if bounds else None,
        limit=one.limit,
        higher=one.higher,
        unit=one.unit,
        error=error,
        before=one.before,
        now=one.now,
        samples=one.samples,
        clusters=one.clusters,
        missing=one.missing,
        left_out=one.left_out,
        why=why,
    )


def _decision(one: Evidence, error: float) -> Decision:
    found = one.bounds(error)
    return "inconclusive" if found is None else _side(one, found.low, found.high)


def _side(one: Evidence, low: float, high: float) -> Decision:
    """Decide by bounds; a margin of superiority, and a limit of a comparison, has to be passed, a threshold only reached."""
    if one.rule.compares:
        good, bad = (low > one.limit, high < one.limit) if one.higher else (high < one.limit, low > one.limit)
        if one.rule.kind == "better_by":
            bad = high <= one.limit if one.higher else low >= one.limit
    else:
        good, bad = (low >= one.limit, high < one.limit) if one.higher else (high <= one.limit, low > one.limit)
    return "go" if good else "no_go" if bad else "inconclusive"


def _corrected(rulings: Sequence[Ruling], evidence: Sequence[Evidence]) -> list[Ruling]:
    """Keep each NO-GO only if it stays with Holm's correction for all rules (as a sequence of Bonferroni's)."""
    open_ = [at for at, ruling in enumerate(rulings) if ruling.decision == "no_go"]
    kept: set[int] = set()
    while True:
        left = len(rulings) - len(kept)
        more = [at for at in open_ if at not in kept and _decision(evidence[at], rulings[at].error / left) == "no_go"]
        if not more:
            break
        kept.update(more)
    lost = say("missed by itself, but not with the correction for all rules of the policy")
    return [
        replace(ruling, decision="inconclusive", why=lost) if ruling.decision == "no_go" and at not in kept else ruling
        for at, ruling in enumerate(rulings)
    ]


def _wanted(one: Evidence, ruling: Ruling, runs: Sequence[Run]) -> Wanted | None:
    """Say how many more samples would decide: bounds come nearer with the root of their number."""
    bounds = one.sampled(ruling.error)
    if bounds is None or one.value is None or not math.isfinite(bounds.low + bounds.high):
        return None
    assumed: Literal["equal", "observed"] = "equal" if one.rule.kind == "not_worse_by" else "observed"
    times = _times(one, bounds, ruling.error, 0.0 if assumed == "equal" else one.value)
    if assumed == "equal" and times <= 1:  # what was observed speaks against it
        assumed, times = "observed", _times(one, bounds, ruling.error, one.value)
    if times > MOST_TIMES:
        return Wanted(assumed=assumed, samples=None)
    samples = max(math.ceil((times - 1) * one.samples), 1)
    compared = runs if one.rule.compares else runs[:1]
    calls = samples * sum(each.record.spec.attempts for each in compared)
    return Wanted(
        assumed=assumed,
        samples=samples,
        attempts=_attempts(one, times, runs[0].record.spec.attempts),
        calls=calls,
        **_forecast(compared, samples),
    )


def _times(one: Evidence, bounds: Interval, error: float, truth: float) -> float:
    """Return how many times the samples would decide, if this is the true value."""
    assert one.value is not None
    towards_good = (truth >= one.limit) == one.higher
    half = one.value - bounds.low if towards_good == one.higher else bounds.high - one.value
    certain = normal_quantile(1 - error)
    distance = abs(truth - one.limit)
    return ((certain + normal_quantile(POWER)) / certain * half / distance) ** 2 if distance else math.inf


def _attempts(one: Evidence, times: float, attempts: int) -> int | None:
    """Return how many more attempts at each sample would do the same; None where no number would, or that is not known."""
    if one.split is None:
        return None
    between, within = one.split
    left = (between + within) / times - between
    return math.ceil(attempts * within / left) - attempts if left > 0 and within > 0 else None


def _forecast(runs: Sequence[Run], samples: int) -> dict[str, float | None]:
    """Return what as many more samples take in all these runs, by what theirs took."""
    money: float | None = 0.0
    tokens = seconds = 0.0
    for run in runs:
        usage, trials = run.usage, max(sum(run.outcomes.values()), 1)
        more = samples * run.record.spec.attempts / trials
        money = None if money is None or usage.cost is None else money + usage.cost * more
        tokens += (usage.input_tokens + usage.output_tokens) * more
        seconds += run.record.seconds * more
    return {"money": money, "tokens": tokens or None, "minutes": seconds / 60}


def _notes(runs: Sequence[Run]) -> list[Sentence]:
    given = ", ".join(one.id for one in runs[0].earlier)
    adjusted = (
        [say("Scores are adjusted by what earlier runs earned on the samples: {runs}.", runs=given)] if given else []
    )
    shared = [say(SHARED)] if len(runs) > 1 and runs[0].record.shares_trials(runs[1].record) else []
    return [
        *adjusted,
        *shared,
        *(
            say("The run {run} is {state}.", run=run.id, state=say(run.record.state))
            for run in runs
            if run.record.state != "finished"
        ),
    ]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
