"""Gather everything a page about a run shows, in a few passes over the store and in little memory."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from statistics import fmean, quantiles
from typing import Any

import msgspec

from proctor.core.run import Estimate, RunRecord
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.core.task import Store
from proctor.core.trajectory import Usage
from proctor.core.trial import IN_THE_MEAN, OUTCOMES, Outcome, Trial, Verdict
from proctor.reports.pairs import value_text
from proctor.reports.story import Story, error_of, finding, story
from proctor.stats.estimate import estimate

BESIDE = ("parameter_accuracy", "precision", "recall", "f1")
OF_CALLS = {"sides", "parameter_accuracy"}  # what only scorers of tool calls give
METRICS = ("accuracy", "score", "points")
NO_SHARE = "no interval: values outside 0 to 1"
ATTEMPTS = ("pass@", "pass^")  # the beginnings of metrics over several attempts
JUDGED = (  # what judges give beside a score
    "win_rate",
    "tie_rate",
    "loss_rate",
    "decisive_win_rate",
    "consistency",
    "first_place_rate",
    "pass_rate",
    "excellent_rate",
    "unknown_rate",
    "confidence",
    "moderate_disagreement_rate",
    "severe_disagreement_rate",
    "arbitrated_rate",
)
CODE = ("code · ", "files · ")  # the files of the user's code by part; under `files` for a while
JUDGE_FACTS = ("model", "rubric", "rubric_digest", "calibration")
SECTIONS_FIRST = ("", "official", "group", "category")
RULES_KEPT = 100
LOOKED_AT = 100_000  # trials whose records are read, for errors and times; the numbers come from all
SECRET = ("key", "token", "secret", "password", "authorization", "headers", "cookie", "credential")


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """Estimates that belong in one table: of the whole run (''), official aggregates ('official'), or of one tag."""

    key: str
    estimates: tuple[Estimate, ...]


class ErrorCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many trials went wrong in one way."""

    error_class: str
    error_type: str
    count: int


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of a number that a scorer gives beside its verdict; `of_calls` where it compared tool calls."""

    scorer: str
    name: str
    estimate: Estimate
    of_calls: bool = False


class Unmeasured(msgspec.Struct, frozen=True, kw_only=True):
    """Trials or verdicts without a number: the outcome or why-unscored, the kind or scorer, how many, and one reason."""

    what: str
    kind: str
    count: int
    example: str | Sentence


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """A name and a text, such as an option or where data came from."""

    name: str
    text: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All that a page shows, in no language yet."""

    record: RunRecord
    headline: tuple[Estimate, ...] = ()
    sections: tuple[Section, ...] = ()
    outcomes: Mapping[str, int] = {}
    stops: Mapping[str, int] = {}
    usage: Usage = Usage()
    median_seconds: float | None = None
    p95_seconds: float | None = None
    errors: tuple[ErrorCount, ...] = ()
    beside: tuple[Beside, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    failures: tuple[Story, ...] = ()
    failed: int = 0
    judged: tuple[Story, ...] = ()  # what a judge gave points by dimension: the first ones
    notes: tuple[str | Sentence, ...] = ()
    options: tuple[Fact, ...] = ()
    provenance: tuple[Fact, ...] = ()

    @property
    def has_classes(self) -> bool:
        """True if any error has a class or a type, so that a table of them says something."""
        return any(error.error_class or error.error_type for error in self.errors)

    @property
    def has_times(self) -> bool:
        """True if the time of a trial is known."""
        return self.median_seconds is not None

    @property
    def has_usage(self) -> bool:
        """True if a model was asked, as far as the agent tells."""
        return self.usage != Usage()


def build(record: RunRecord, store: Store, estimates: Sequence[Estimate], *, failures: int = 50) -> Report:
    """Gather a report. Only `failures` failed trials are kept, spread over the kinds of error."""
    outcomes: dict[str, int] = {name: count for name in OUTCOMES if (count := store.outcomes(record.id).get(name, 0))}
    if (left := record.planned - sum(outcomes.values())) > 0:
        outcomes["not_run"] = left
    trials, verdicts = _Trials(failures), _Verdicts(failures)
    for trial in islice(store.trials(record.id), LOOKED_AT):
        trials.add(trial)
    by_trial = groupby(store.verdicts(record.id), key=lambda verdict: (verdict.sample_id, verdict.attempt))
    for _, group in islice(by_trial, LOOKED_AT):
        verdicts.add(list(group))
    errors = trials.errors + verdicts.errors
    kept = {**verdicts.kept, **trials.kept}
    median, p95 = _middle(trials.seconds)
    return Report(
        record=record,
        headline=_headline(estimates),
        sections=_sections(estimates),
        outcomes=outcomes,
        stops=dict(trials.stops.most_common()),
        usage=store.usage(record.id),
        median_seconds=median,
        p95_seconds=p95,
        errors=tuple(
            ErrorCount(error_class=kind, error_type=type_, count=count) for (kind, type_), count in _grouped(errors)
        ),
        beside=verdicts.beside(record, store),
        unmeasured=(*trials.unmeasured(), *verdicts.unmeasured()),
        failures=tuple(
            _stories(record.id, store, _spread([kept.get(rule, []) for rule, _ in _grouped(errors)], failures))
        ),
        failed=errors.total(),
        judged=tuple(_stories(record.id, store, verdicts.judged)),
        notes=tuple(_notes(record, outcomes, verdicts.lost, estimates)),
        options=tuple(_options(record)),
        provenance=tuple(_facts(record.provenance)),
    )


def json_summary(record: RunRecord, store: Store, estimates: Sequence[Estimate]) -> dict[str, Any]:
    """A run as the one JSON object that commands print: run, task, agent, state, note, outcomes, estimates, usage, seconds."""
    plain = msgspec.to_builtins(
        {
            "run": record.id,
            "task": record.task,
            "agent": record.agent,
            "state": record.state,
            "note": "" if record.note is None else str(record.note),
            "outcomes": dict(store.outcomes(record.id)),
            "estimates": list(estimates),
            "usage": store.usage(record.id),
            "seconds": record.seconds,
            **({"git": record.provenance["git"]} if "git" in record.provenance else {}),
        }
    )
    return dict(plain)


def one_story(record: RunRecord, store: Store, sample_id: str, attempt: int) -> Story | None:
    """One trial of a run told in full; None when there is no such trial."""
    trial = next((one for one in store.trials(record.id, sample_id=sample_id) if one.attempt == attempt), None)
    if trial is None:
        return None
    verdicts = [one for one in store.verdicts(record.id, sample_id=sample_id) if one.attempt == attempt]
    return story(trial, store.sample(record.id, sample_id), verdicts, characters=100_000)


Rule = tuple[str, str]
Key = tuple[str, int]


class _Trials:
    """One pass over the trials: how they ended, how long they took, which agents failed."""

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.seconds = array("d")
        self.stops: Counter[str] = Counter()
        self.errors: Counter[Rule] = Counter()
        self.kept: dict[Rule, list[Key]] = {}
        self.lost: Counter[tuple[Outcome, str]] = Counter()
        self.examples: dict[tuple[Outcome, str], str | Sentence] = {}

    def add(self, trial: Trial) -> None:
        if trial.outcome in IN_THE_MEAN:
            self.seconds.append(trial.seconds)
        if trial.outcome == "scored":
            self.stops[trial.trajectory.stop] += 1
        elif trial.outcome == "agent_failed":
            _note(self, error_of(trial.outcome, trial.failure, ()), (trial.sample_id, trial.attempt))
        else:
            kind = (trial.outcome, trial.failure.kind if trial.failure is not None else "")
            self.lost[kind] += 1
            self.examples.setdefault(kind, trial.failure.reason if trial.failure is not None else "")

    def unmeasured(self) -> Iterator[Unmeasured]:
        for (outcome, kind), count in self.lost.most_common():
            yield Unmeasured(what=outcome, kind=kind, count=count, example=self.examples[outcome, kind])


class _Verdicts:
    """One pass over the verdicts: what went wrong, what was not scored, and the numbers beside the verdict."""

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.errors: Counter[Rule] = Counter()
        self.kept: dict[Rule, list[Key]] = {}
        self.lost: Counter[tuple[str, str]] = Counter()
        self.examples: dict[tuple[str, str], str | Sentence] = {}
        self.beside_by_sample: dict[tuple[str, str], dict[str, list[float]]] = {}
        self.compared: set[str] = set()  # scorers that compared tool calls
        self.judged: list[Key] = []

    def add(self, verdicts: Sequence[Verdict]) -> None:
        for verdict in verdicts:
            match verdict.result:
                case Score(details=details):
                    self._add_details(verdict, details)
                case Unscored(why=why, reason=reason):
                    self.lost[why, verdict.scorer] += 1
                    self.examples.setdefault((why, verdict.scorer), reason)
        if len(self.judged) < self.keep and any(finding(one).marks for one in verdicts):
            self.judged.append((verdicts[0].sample_id, verdicts[0].attempt))
        wrong = next((one for one in verdicts if isinstance(one.result, Score) and not one.result.passed), None)
        if wrong is not None:
            _note(self, error_of("scored", None, [finding(wrong)]), (wrong.sample_id, wrong.attempt))

    def beside(self, record: RunRecord, store: Store) -> tuple[Beside, ...]:
        clusters: dict[str, dict[str, str]] = {}
        for scorer in {scorer for scorer, _ in self.beside_by_sample}:
            clusters[scorer] = {value.sample_id: value.cluster for value in store.values(record.id, scorer)}
        return tuple(
            Beside(
                scorer=scorer,
                name=name,
                estimate=_mean(name, values, clusters[scorer]),
                of_calls=scorer in self.compared,
            )
            for (scorer, name), values in self.beside_by_sample.items()
        )

    def unmeasured(self) -> Iterator[Unmeasured]:
        for (why, scorer), count in self.lost.most_common():
            yield Unmeasured(what=why, kind=scorer, count=count, example=self.examples[why, scorer])

    def _add_details(self, verdict: Verdict, details: Mapping[str, Any]) -> None:
        if OF_CALLS & details.keys():
            self.compared.add(verdict.scorer)
        for name in BESIDE:
            value = details.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                by_sample = self.beside_by_sample.setdefault((verdict.scorer, name), {})
                by_sample.setdefault(verdict.sample_id, []).append(float(value))


def _mean(name: str, values: Mapping[str, Sequence[float]], clusters: Mapping[str, str]) -> Estimate:
    """The mean over samples of a number beside the verdict; one without a trial in the mean is its own cluster."""
    if not all(0 <= value <= 1 for each in values.values() for value in each):
        count = sum(map(len, values.values()))
        mean = fmean(fmean(each) for each in values.values())
        return Estimate(name=name, value=mean, method=NO_SHARE, scored=count, planned=count, unit="number")
    return estimate(
        name,
        tally(
            Case(cluster=clusters.get(sample_id, sample_id), values=tuple(each), planned=len(each))
            for sample_id, each in values.items()
        ),
    )


def _note(seen: "_Trials | _Verdicts", rule: Rule, key: Key) -> None:
    if rule not in seen.errors and len(seen.errors) >= RULES_KEPT:
        rule = (rule[0], "…") if (rule[0], "…") in seen.errors else ("", "…")
    seen.errors[rule] += 1
    kept = seen.kept.setdefault(rule, [])
    if len(kept) < seen.keep:
        kept.append(key)


def _grouped(errors: Counter[Rule]) -> list[tuple[Rule, int]]:
    """Classes by their size, and within a class the types by theirs."""
    size_by_class: Counter[str] = Counter()
    for (kind, _), count in errors.items():
        size_by_class[kind] += count
    return sorted(errors.items(), key=lambda item: (-size_by_class[item[0][0]], item[0][0], -item[1], item[0][1]))


def _spread(kept: Sequence[Sequence[Key]], most: int) -> list[Key]:
    """So many keys in all, as evenly over the lists as they allow, in the order of the lists."""
    quota = [0] * len(kept)
    left = most
    while left > 0 and any(quota[at] < len(keys) for at, keys in enumerate(kept)):
        for at, keys in enumerate(kept):
            if left > 0 and quota[at] < len(keys):
                quota[at] += 1
                left -= 1
    return [key for keys, number in zip(kept, quota, strict=True) for key in keys[:number]]


def _stories(run_id: str, store: Store, keys: Iterable[Key]) -> Iterator[Story]:
    for sample_id, attempt in keys:
        verdicts = [one for one in store.verdicts(run_id, sample_id=sample_id) if one.attempt == attempt]
        for trial in store.trials(run_id, sample_id=sample_id):
            if trial.attempt == attempt:
                yield story(trial, store.sample(run_id, sample_id), verdicts)


def _headline(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """The main numbers of the whole run, then the official overall number where a benchmark has one."""
    whole = [one for one in estimates if not one.slice]
    main = [one for one in whole if _metric(one) in ("accuracy", "score", "win_rate")]
    overall = [one for one in whole if _metric(one) in ("overall", "official_overall") and one.value is not None]
    return (*(main or whole[:1]), *(one for one in overall if one not in main))


def _sections(estimates: Sequence[Estimate]) -> tuple[Section, ...]:
    by_key: dict[str, list[Estimate]] = {}
    for one in estimates:
        is_main = _metric(one) in (*METRICS, *JUDGED) or _metric(one).startswith(ATTEMPTS) or one.unit == "number"
        key = one.slice.partition("=")[0] or ("" if is_main else "official")
        by_key.setdefault(key, []).append(one)
    order = sorted(by_key, key=lambda key: SECTIONS_FIRST.index(key) if key in SECTIONS_FIRST else len(SECTIONS_FIRST))
    return tuple(Section(key=key, estimates=tuple(sorted(by_key[key], key=_is_number))) for key in order)


def _is_number(estimate: Estimate) -> bool:
    return estimate.unit == "number"


def _metric(estimate: Estimate) -> str:
    return estimate.name.rpartition(".")[2].removesuffix(" (corrected)")


def _middle(seconds: Sequence[float]) -> tuple[float | None, float | None]:
    if not seconds:
        return None, None
    if len(seconds) == 1:
        return seconds[0], seconds[0]
    cuts = quantiles(seconds, n=20, method="inclusive")
    return cuts[9], cuts[18]


def _notes(
    record: RunRecord, outcomes: Mapping[str, int], lost: Mapping[Rule, int], estimates: Sequence[Estimate]
) -> Iterator[str | Sentence]:
    if record.note is not None:
        yield record.note
    if record.state == "inconclusive":
        yield say("This run is inconclusive: too little was measured to rely on its numbers.")
    elif record.state != "finished":
        yield say("This run is not finished. Go on with it: proctor run --run {run}", run=record.id)
    missing = sum(count for name, count in outcomes.items() if name not in IN_THE_MEAN)
    if sum(outcomes.values()) > LOOKED_AT:
        yield say("Errors, times and failed samples are those of the first {count} trials.", count=f"{LOOKED_AT:,}")
    if missing:
        yield say(
            "Trials without a result: {count} of {planned}; floor and ceiling say what they could change.",
            count=missing,
            planned=sum(outcomes.values()),
        )
    if failed := outcomes.get("agent_failed"):
        yield say("Trials in which the agent failed: {count}; they count as 0.", count=failed)
    if unjudged := sum(count for (why, _), count in lost.items() if why != "not_applicable"):
        yield say("Verdicts that a scorer or judge could not give: {count}; they are missing, not 0.", count=unjudged)
    yield from record.warnings
    if any(one.name.endswith("official_overall") and one.note for one in estimates):
        yield say("The official overall number counts categories that were not run as 0; compare it with care.")
    warnings = record.provenance.get("warnings", ())
    for warning in warnings if isinstance(warnings, list | tuple) else (warnings,):
        yield str(warning)


def _options(record: RunRecord) -> Iterator[Fact]:
    spec = record.spec
    if spec.judge is not None:
        yield Fact(name="judge", text=spec.judge)
    for prefix, options in (("task", spec.task_options), ("agent", spec.agent_options), ("judge", spec.judge_options)):
        for name, value in options.items():
            hidden = any(word in name.lower().split("_") for word in SECRET)
            yield Fact(name=f"{prefix}.{name}", text="•••" if hidden else _text(value))


def _facts(provenance: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[Fact]:
    is_judge = prefix.startswith("judges · ") and depth == 2
    for name, value in provenance.items():
        if (name == "warnings" and not prefix) or (is_judge and name not in JUDGE_FACTS):
            continue
        if prefix in CODE and isinstance(value, Mapping):
            yield Fact(name=f"{prefix}{name}", text=_text([*value]))  # the record and its JSON have the digests
        elif isinstance(value, Mapping) and depth < 3:
            yield from _facts(value, f"{prefix}{name} · ", depth + 1)
        elif value not in (None, "", [], ()):
            yield Fact(name=f"{prefix}{name}", text=_text(value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else value_text(value)
