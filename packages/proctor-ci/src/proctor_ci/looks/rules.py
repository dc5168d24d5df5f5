"""Run until a rule is decided: read the rule, and look at the run as it goes on.

accuracy >= 0.85                  a threshold; also <=
accuracy not worse by 0.05        than a stored run, paired by sample
accuracy better                   or: accuracy better by 0.05
"""

import re
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import Literal

import msgspec

from proctor.api.looks import END
from proctor.core.errors import BadInput
from proctor.core.main_number import main_names, scorer_meant
from proctor.core.run import KnownSamples, Looked, RunRecord, Until
from proctor.core.run_fields import check_bounds
from proctor.core.sample import Sample
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict
from proctor.engine.looking import Key
from proctor.registry import unknown
from proctor_ci.looks.expected import expect_differences, know_samples
from proctor_ci.looks.steps import Between, Decider, Steps, earned
from proctor_ci.stats.looks import LooksQuestion

Kind = Literal["at_least", "at_most", "not_worse_by", "better_by"]
FORMS = (
    "accuracy >= 0.85",
    "accuracy <= 0.1",
    "accuracy not worse by 0.05",
    "accuracy better",
    "accuracy better by 0.05",
)

_NUMBER = r"(?P<bound>\d*\.?\d+)"
_METRIC = r"(?P<metric>[^\s<>=]+)"
_THRESHOLD = re.compile(rf"{_METRIC}\s*(?P<side>>=|<=)\s*{_NUMBER}")
_COMPARISON = re.compile(rf"{_METRIC} (?:(?P<worse>not worse) by {_NUMBER}|better(?: by (?P<more>\d*\.?\d+))?)")
_SPELLINGS = (  # what people write, and how it is written here
    (r"≥|=>|[ _]at[ _]least\b|>=?", ">="),
    (r"≤|=<|[ _]at[ _]most\b|<=?", "<="),
    (r"\b(?:not?|non)[ _-](?:worse|inferior)(?:[ _](?:than))?(?:[ _]by)?(?:[ _]more[ _]than)?\b", "not worse by"),
    (r"\bbetter[ _](?:by|than)(?:[ _]more[ _]than)?\b", "better by"),
    (r"(?<![<>])==?", ">="),
)


class UntilRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that a run is to decide."""

    metric: str
    kind: Kind
    bound: float

    def __str__(self) -> str:
        match self.kind:
            case "at_least" | "at_most":
                return f"{self.metric} {'>=' if self.kind == 'at_least' else '<='} {self.bound:g}"
            case "not_worse_by":
                return f"{self.metric} not worse by {self.bound:g}"
            case "better_by":
                return f"{self.metric} better by {self.bound:g}" if self.bound else f"{self.metric} better"

    @property
    def compares(self) -> bool:
        return self.kind in ("not_worse_by", "better_by")

    @property
    def limit(self) -> float:
        """Return where good ends, of a share or of a difference."""
        return -self.bound if self.kind == "not_worse_by" else self.bound


def read_rule(text: str) -> UntilRule:
    """Read a rule.

    >>> str(read_rule("accuracy>=0.85")), read_rule("exact not worse by 0.05").limit
    ('accuracy >= 0.85', -0.05)

    Raises:
        BadInput: it has another form; names the nearest.
    """
    rule = _parse(text)
    if rule is not None:
        return rule
    nearest = _parse(_respelt(text))
    if nearest is not None:
        raise BadInput("--until '{text}': write '{rule}'.", text=text, rule=nearest)
    raise BadInput(
        "--until takes one of: {forms}; not '{text}'. Numbers are 0 to 1.", text=text, forms="; ".join(FORMS)
    )


def until_of(rule: str, against: str, error: float | None) -> Until:
    """Return what a run is looked at for.

    Raises:
        BadInput: the rule cannot be read, compares with nothing, or the error is out of its range.
    """
    until_rule = read_rule(rule)
    if until_rule.compares and not against:
        raise BadInput("The rule '{rule}' compares with a stored run: --against RUN or NAME.", rule=until_rule)
    if against and not until_rule.compares:
        raise BadInput(
            "--against goes with a rule that compares, for example --until '{metric} not worse by 0.05'; '{rule}' does not.",
            metric=until_rule.metric,
            rule=until_rule,
        )
    return Until(
        rule=str(until_rule), against=against, error=check_error(Until(rule="").error if error is None else error)
    )


def check_error(error: float) -> float:
    """Return the greatest chance of a wrong decision.

    Raises:
        BadInput: it is no such chance.
    """
    check_bounds("error", error)
    return error


def known_of(record: RunRecord, store: Store) -> KnownSamples | None:
    """Return what stored runs know of the samples of a new run that is compared with one of them; None where nothing is adjusted."""
    until = record.spec.until
    if until is None or not until.against or record.spec.target == "suite":
        return None
    return know_samples(record, store, until.against, scorer_of(read_rule(until.rule).metric, record))


class Looking:
    """Looks at a run for a rule: a `Watch`.

    Args:
        scorers: the names of the run's scorers.
        store: where the run is that the rule compares with.

    Raises:
        BadInput: the rule is about another scorer, or the baseline cannot be compared with.
    """

    def __init__(self, until: Until, record: RunRecord, store: Store) -> None:
        self.rule = read_rule(until.rule)
        self._until = until
        self._scorer = scorer_of(self.rule.metric, record)
        self._old: Mapping[str, Between] | None = None
        if until.against:
            old = checked_baseline(store.run(until.against), record, store)
            self._old = stored_values(old, store, _same_scorer(self._scorer, old))
        self._expected: Mapping[str, float] = {}
        if self._old is not None and record.known is not None:
            self._expected = expect_differences(self._old, record.known)
        self._planned = self._ended = 0
        self._steps = Steps((), 1)
        self._decider: Decider | None = None
        self._next = self._most = 0

    @property
    def is_over(self) -> bool:
        return self._decider is not None and self._decider.decision is not None

    def begin(self, record: RunRecord, store: Store, finished: Collection[Key]) -> None:
        self._planned, self._ended = record.planned, len(finished)
        self._steps = read_steps(record, store, self._scorer, finished)
        sizes = [len(self._common(ids)) for ids in self._steps.ids]
        self._most = sum(size > 0 for size in sizes)
        if self._most < 2:
            raise BadInput(
                "A rule is decided over at least two clusters of samples; this run has {count}.", count=self._most
            )
        self._decider = Decider(
            question(
                self.rule.limit,
                self._until.error,
                record,
                sizes,
                higher=self.rule.kind != "at_most",
                paired=self._old is not None,
                expected=self._mean_expected(),
            )
        )
        self._look()

    async def turn(self, sample: Sample, attempt: int) -> bool:
        return not self.is_over

    def add(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        self._ended += 1
        value, why = earned(trial, verdicts, self._scorer)
        self._steps.add(trial.sample_id, trial.attempt, value, why)
        self._look()

    def looked(self) -> Looked | None:
        return None if self._decider is None else self._decider.looked(self._most, self._planned - self._ended)

    def _common(self, ids: Sequence[str]) -> Sequence[str]:
        return ids if self._old is None else [id for id in ids if id in self._old]

    def _mean_expected(self) -> float | None:
        """Return the mean of what is expected of all planned samples; None where nothing is."""
        ids = [id for step in self._steps.ids for id in self._common(step)]
        return fmean(self._expected[id] for id in ids) if self._expected else None

    def _expect(self, planned: Sequence[str], scored: int) -> float | None:
        """Return what was expected of a step; once a scorer does not apply to a planned sample, the mean of all is not known."""
        if scored < len(planned):
            self._expected = {}
        return fmean(self._expected[id] for id in planned) if self._expected and planned else None

    def _look(self) -> None:
        assert self._decider is not None
        while self._next < self._steps.complete and not self.is_over:
            step, planned = self._steps.step(self._next), self._common(self._steps.ids[self._next])
            self._next += 1
            parts = [step[id] if self._old is None else step[id].less(self._old[id]) for id in self._common([*step])]
            expected = self._expect(planned, len(parts))
            if parts:
                self._decider.add(Between.mean(parts), len(parts), expected)
        if self._next == len(self._steps) and not self.is_over:
            self._decider.end()


def question(
    limit: float,
    error: float,
    record: RunRecord,
    sizes: Sequence[int],
    *,
    higher: bool = True,
    paired: bool = False,
    expected: float | None = None,
) -> LooksQuestion:
    """Return the question about the mean of a run, or about the difference of two, over steps of these sizes.

    A suite can be the target only if all of it is planned; else what was drawn is about samples like these.
    """
    most = sum(size > 0 for size in sizes)
    heaviest = max(sizes)
    strata = record.strata
    is_whole = strata is not None and record.planned == strata.total * record.spec.attempts
    is_suite = record.spec.target == "suite" and is_whole
    return LooksQuestion(
        limit=limit,
        higher=higher,
        low=-1.0 if paired else 0.0,
        high=1.0,
        error=error,
        most=most,
        target="suite" if is_suite else "samples",
        binary=record.spec.attempts == 1 and heaviest == 1,
        heaviest=heaviest,
        expected=None if is_suite else expected,  # a run may be resumed with another target
    )


def read_steps(record: RunRecord, store: Store, scorer: str, finished: Collection[Key] | None = None) -> Steps:
    """Return the steps of a stored run; with `finished`, only with the trials that will not be run again."""
    steps = Steps(store.planned(record.id), record.spec.attempts)
    for value in store.values(record.id, scorer):
        if finished is None or (value.sample_id, value.attempt) in finished:
            steps.add(value.sample_id, value.attempt, value.value, value.why)
    return steps


def stored_values(record: RunRecord, store: Store, scorer: str) -> dict[str, Between]:
    """Return what each sample of a stored run earned, of which all attempts have ended."""
    steps = read_steps(record, store, scorer)
    return {id: value for number in range(steps.complete) for id, value in steps.step(number).items()}


def checked_baseline(old: RunRecord, record: RunRecord, store: Store) -> RunRecord:
    """Return a stored run that another one can be compared with while that goes on.

    Raises:
        BadInput: it is of another task, or was not run to its end: what ended early may have ended on a lucky part.
    """
    from proctor.reports.same_task import check_baseline

    check_baseline(old, record.task)
    if old.state not in ("finished", "inconclusive") or sum(store.outcomes(old.id).values()) < old.planned:
        how = f"proctor run --run {old.id}" + (f" --until {END}" if old.spec.until is not None else "")
        raise BadInput(
            "The baseline {run} was not run to its end, so nothing is compared with it. Run the rest: {how}",
            run=old.id,
            how=how,
        )
    return old


def scorer_of(metric: str, record: RunRecord) -> str:
    """Return the scorer whose main number a rule is about.

    Raises:
        BadInput: none; suggests the nearest.
    """
    scorer = scorer_meant(metric, record)
    if scorer is None:
        raise unknown("metric of a rule", metric, [*main_names(record)], paths=False)
    return scorer


def _same_scorer(name: str, old: RunRecord) -> str:
    """Return the scorer of a run, which the baseline has to have too: another one measures something else."""
    if name not in old.scorers:
        raise BadInput(
            "The baseline {run} has no scores of '{scorer}'. It has: {known}.",
            run=old.id,
            scorer=name,
            known=", ".join(old.scorers) or "-",
        )
    return name


def _parse(text: str) -> UntilRule | None:
    text = " ".join(text.split())
    if match := _THRESHOLD.fullmatch(text):
        kind: Kind = "at_least" if match["side"] == ">=" else "at_most"
        return _within(match["metric"], kind, float(match["bound"]), 0.0, 1.0)
    if match := _COMPARISON.fullmatch(text):
        if match["worse"]:
            return _within(match["metric"], "not_worse_by", float(match["bound"]), 0.0, 1.0)
        return _within(match["metric"], "better_by", float(match["more"] or 0), 0.0, 1.0)
    return None


def _within(metric: str, kind: Kind, bound: float, low: float, high: float) -> UntilRule | None:
    return UntilRule(metric=metric, kind=kind, bound=bound) if low <= bound <= high else None


def _respelt(text: str) -> str:
    """Rewrite other spellings of a rule: signs, percent, points."""
    text = re.sub(r"(\d*\.?\d+)\s*(?:%|pp\b|points?\b|percent\b)", _as_share, text.strip(), flags=re.I)
    for pattern, written in _SPELLINGS:
        text = re.sub(pattern, f" {written} ", text, flags=re.I)
    text = re.sub(r"(?<![\w.])(\d{1,3}(?:\.\d+)?)(?=\s*$)", lambda m: _as_share(m) if float(m[1]) >= 2 else m[1], text)
    text = " ".join(text.split())
    return f"accuracy {text}" if text.startswith((">", "<", "not worse", "better")) else text


def _as_share(found: "re.Match[str]") -> str:
    return f"{float(found[1]) / 100:g}"
