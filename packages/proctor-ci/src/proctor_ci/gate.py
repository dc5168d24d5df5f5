"""Decide by a policy whether a run may ship: GO, NO-GO, or INCONCLUSIVE.

GO by a rule means that its bounds exclude the bad case, NO-GO that they exclude the good one. GO by the gate needs GO by
every rule, so its chance of being wrong is at most that of one rule, with no correction (intersection-union test). One
NO-GO is enough for NO-GO, so there the rules are corrected by Holm: the chance of any wrong one is at most their error.

A gate of a run that got more samples after its end is a second look at it. Where the policy allows for two, the first has
four fifths of the error as long as there are samples left to draw, and the second the rest; else there is none left for it.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec
from msgspec.structs import replace

from proctor.api.baselines import find_against
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.reports.drawn import SHARED
from proctor.reports.same_task import check_baseline
from proctor.stats.distributions import normal_quantile
from proctor.stats.rate import Interval
from proctor_ci.changes import SEPARATOR, Change, changes_between
from proctor_ci.evidence import RuleEvidence, gather
from proctor_ci.policy import GatePolicy, PolicyRule, default_policy, find_policy
from proctor_ci.stats.forecast import ExpectedFigures

Decision = Literal["go", "no_go", "inconclusive"]
POWER = 0.8
LIKELY = 0.2  # the error of either end of what the truth may be, for the range of a number of samples
MOST_TIMES = 1_000  # as many samples; beyond that no number is worth saying
TOLD_ONLY = ("agent", "Proctor", "scorers", "attempts", "seed", "python", "machine", "max_failed", "target", "order")
TOLD_PARTS = (
    "agent_options",
    "perturb",
    "approve",
    "on_agent_error",
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
        low, high: the range of `samples`, as far as what was observed can tell; `high` is None where it has no end.
        calls: the further trials of those samples, in all runs.
        money, tokens, minutes: what they would take, by what the stored runs took; None where that is not known.
    """

    assumed: Literal["equal", "observed"]
    samples: int | None
    low: int | None = None
    high: int | None = None
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

    rule: PolicyRule
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
    """The decision about a run; `changes` are those between the runs that keep them from being compared, `notes` others.

    Attributes:
        look: how many gates may have decided about the run before.
        second: the error that is kept for a second look, of each rule; empty where there is none to come.
        left: samples of the task that can be drawn for it.
    """

    decision: Decision
    run: RunRecord
    against: RunRecord | None
    policy: GatePolicy
    rulings: tuple[Ruling, ...]
    changes: tuple[Change, ...] = ()
    accepted: bool = False
    notes: tuple[Sentence, ...] = ()
    look: int = 0
    second: tuple[float, ...] = ()
    left: int = 0


def gate(
    run: Run,
    *,
    against: Run | str | None = None,
    policy: GatePolicy | str | Path | None = None,
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
    policy = default_policy() if policy is None else policy if isinstance(policy, GatePolicy) else find_policy(policy)
    against = (policy.against or None) if against is None else against
    against = find_against(run.store, against) if isinstance(against, str) else against
    runs = [run] if against is None else [run, against]
    for each in runs:
        _check_measured(each)
    if against is not None:
        _check_same_task(run, against)
    changes = () if against is None else blocking_changes(run, against)
    evidence = [each for rule in policy.rules for each in gather(rule, run, against, policy)]
    look, left = max(map(_looks, runs)), _samples_left(run)
    if look >= policy.looks:
        evidence = [replace(piece, why_not=_NO_LOOK_LEFT) for piece in evidence]
    is_last = look + 1 >= policy.looks or not left
    errors = [policy.error_of(piece.rule, look=look, is_last=is_last) for piece in evidence]
    second = () if is_last else tuple(policy.error_of(piece.rule, look=look + 1) for piece in evidence)
    rulings = _rulings(evidence, errors, second, runs, is_blocked=bool(changes) and not accept_changes)
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
        look=look,
        second=second,
        left=left,
    )


_NO_LOOK_LEFT = say(
    "samples were drawn after the run had ended, so this is a second look, and the policy allows for one: looks = 2, before the first"
)


def _looks(run: Run) -> int:
    """Return how many gates may have decided about a run before it drew its last samples."""
    strata = run.record.strata
    return 0 if strata is None else sum(stage.after_end for stage in strata.stages)


def _samples_left(run: Run) -> int:
    """Return how many samples of its task a run can still draw, by `--more`."""
    record = run.record
    if record.strata is None or record.spec.selection.limit is None or record.spec.until is not None:
        return 0
    drawn = record.strata.drawn or record.planned // max(record.spec.attempts, 1)
    return max(record.strata.total - drawn, 0)


def _rulings(
    evidence: Sequence[RuleEvidence],
    errors: Sequence[float],
    second: Sequence[float | None],
    runs: Sequence[Run],
    *,
    is_blocked: bool,
) -> list[Ruling]:
    """Return what each rule says, corrected together; with how many samples would decide where one does not."""
    alone = [_rule(piece, error, is_blocked=is_blocked) for piece, error in zip(evidence, errors, strict=True)]
    return [
        replace(ruling, wanted=_wanted(piece, ruling, runs, kept))
        if ruling.decision == "inconclusive" and not ruling.why
        else ruling
        for ruling, piece, kept in zip(
            _corrected(alone, evidence), evidence, list(second) or [None] * len(evidence), strict=True
        )
    ]


def _check_measured(run: Run) -> None:
    if run.record.state in ("running", "copying"):
        raise BadInput("The run {run} is not finished: a gate that looks before the end errs more often.", run=run.id)
    if not run.record.scorers or not run.record.planned:
        raise BadInput("The run {run} has nothing to decide by: no scorer, or no sample.", run=run.id)


def _check_same_task(run: Run, against: Run) -> None:
    check_baseline(against.record, run.record.task)
    if run.id == against.id and run.store.url == against.store.url:
        raise BadInput("The run {run} cannot be its own baseline.", run=run.id)


class StoredRun(Protocol):
    """A run and the store it is in."""

    @property
    def record(self) -> RunRecord: ...

    @property
    def store(self) -> Store: ...


def blocking_changes(run: StoredRun, against: StoredRun) -> tuple[Change, ...]:
    """Return what changed since `against` of the task, its data, scorers, judges and users: two measures are not compared."""
    changes = [
        change
        for change in changes_between(against.record, run.record)
        if change.name not in TOLD_ONLY
        and not change.name.startswith(TOLD_PARTS)
        and not change.name.endswith(OF_PEOPLE)
    ]
    for scorer in run.record.scorers:
        if scorer not in against.record.scorers:
            continue
        before, after = (
            next((verdict.scorer_version for verdict in each.store.verdicts(each.record.id, scorer=scorer)), "")
            for each in (against, run)
        )
        if before and after and before != after:
            changes.append(Change(name=f"scorer{SEPARATOR}{scorer}", before=before[:12], after=after[:12]))
    return tuple(changes)


def _rule(one: RuleEvidence, error: float, *, is_blocked: bool) -> Ruling:
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
        elif decision == "inconclusive" and one.unseen is not None:
            why = one.unseen(error)
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


def _decision(one: RuleEvidence, error: float) -> Decision:
    interval = one.bounds(error)
    return "inconclusive" if interval is None else _side(one, interval.low, interval.high)


def _side(one: RuleEvidence, low: float, high: float) -> Decision:
    """Decide by bounds; a margin of superiority, and a limit of a comparison, has to be passed, a threshold only reached."""
    if one.rule.compares:
        good, bad = (low > one.limit, high < one.limit) if one.higher else (high < one.limit, low > one.limit)
        if one.rule.kind == "better_by":
            bad = high <= one.limit if one.higher else low >= one.limit
    else:
        good, bad = (low >= one.limit, high < one.limit) if one.higher else (high <= one.limit, low > one.limit)
    return "go" if good else "no_go" if bad else "inconclusive"


def _corrected(rulings: Sequence[Ruling], evidence: Sequence[RuleEvidence]) -> list[Ruling]:
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


def _wanted(one: RuleEvidence, ruling: Ruling, runs: Sequence[Run], second: float | None) -> Wanted | None:
    """Say how many more samples would decide, and what they take.

    Args:
        second: the error of a second look at this run with more samples; None where they take a run of their own.
    """
    wanted = needed_samples(one, ruling.error, second)
    if wanted is None or wanted.samples is None:
        return wanted
    attempts = runs[0].record.spec.attempts
    compared = runs if one.rule.compares else runs[:1]
    if second:  # a baseline of all samples has these already
        compared = [compared[0], *(each for each in compared[1:] if each.record.spec.selection.limit is not None)]
    return replace(
        wanted,
        attempts=None if second else _attempts(one, 1 + wanted.samples / one.samples, attempts),
        calls=wanted.samples * sum(each.record.spec.attempts for each in compared),
        **_forecast(compared, wanted.samples),
    )


def needed_samples(one: RuleEvidence, error: float, second: float | None) -> Wanted | None:
    """Return how many more samples would decide, by the bounds that would; None where there are no bounds.

    Args:
        second: the error of the bounds of these and the further samples; None if the decision is about other samples alone.
    """
    bounds = one.sampled(error)
    if bounds is None or one.value is None or not math.isfinite(bounds.low + bounds.high):
        return None
    needed = _Needed(one, bounds, error, second)
    assumed: Literal["equal", "observed"] = "equal" if one.rule.kind == "not_worse_by" else "observed"
    samples = needed(0.0 if assumed == "equal" else one.value)
    if assumed == "equal" and samples is not None and samples <= one.samples:  # what was observed speaks against it
        assumed, samples = "observed", needed(one.value)
    if samples is None:
        return Wanted(assumed=assumed, samples=None)
    more = max(samples - one.samples, 1)
    low, high = (end and max(end - one.samples, 1) for end in needed.ends(samples, assumed))
    return Wanted(assumed=assumed, samples=more, low=min(low or more, more), high=high and max(high, more))


class _Needed:
    """Searches the fewest samples that would decide."""

    def __init__(self, one: RuleEvidence, bounds: Interval, error: float, second: float | None) -> None:
        self._one, self._bounds, self._now = one, bounds, error
        self._error = error if second is None else second
        self._kept = 0 if second is None else one.samples

    def __call__(self, truth: float, expected: ExpectedFigures | None = None) -> int | None:
        """Return how many samples in all decide, if this is the true value; None if no reasonable number does."""
        evidence, most = self._one, MOST_TIMES * self._one.samples
        expected = expected or evidence.expected
        if expected is None:
            times = self._times(truth)
            return None if times > MOST_TIMES else math.ceil(times * evidence.samples)
        return expected.needed(
            truth,
            evidence.limit,
            lambda found: _side(evidence, found.low, found.high) != "inconclusive",
            self._error,
            power=POWER,
            kept=self._kept,
            most=most,
        )

    def ends(self, samples: int, assumed: Literal["equal", "observed"]) -> tuple[int | None, int | None]:
        """Return the least and the most samples that may be needed, as far as the observed value can tell."""
        evidence = self._one
        if assumed == "equal" and evidence.expected is not None:
            ranged = evidence.expected.narrowest, evidence.expected.widest
            low, high = (samples if each is None else self(0.0, each) for each in ranged)
            return low, high
        near = evidence.sampled(LIKELY)
        if near is None or evidence.value is None:
            return samples, None
        far, close = (near.high, near.low) if evidence.value > evidence.limit else (near.low, near.high)
        is_open = (close - evidence.limit) * (evidence.value - evidence.limit) <= 0
        return self(far), None if is_open else self(close)

    def _times(self, truth: float) -> float:
        """Return how many times the samples would decide: bounds that are not known for more samples come nearer with the root of their number."""
        evidence = self._one
        assert evidence.value is not None
        towards_good = (truth >= evidence.limit) == evidence.higher
        half = (
            evidence.value - self._bounds.low if towards_good == evidence.higher else self._bounds.high - evidence.value
        )
        distance = abs(truth - evidence.limit)
        far = (normal_quantile(1 - self._error) + normal_quantile(POWER)) / normal_quantile(1 - self._now)
        return (far * half / distance) ** 2 if distance else math.inf


def _attempts(one: RuleEvidence, times: float, attempts: int) -> int | None:
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
    given = ", ".join(run.id for run in runs[0].earlier)
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
