"""Gather everything a page about a run shows, in a few passes over the store and in little memory."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from proctor.core.main_number import main_estimate
from proctor.core.run import Estimate, RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.core.trajectory import Usage
from proctor.core.trial import IN_THE_MEAN, OUTCOMES
from proctor.engine.judge_figures import CORRECTED
from proctor.reports.counts import (
    DetailMean,
    Key,
    Rule,
    TrialCounts,
    Unmeasured,
    VerdictCounts,
    sort_errors,
    spread_evenly,
)
from proctor.reports.distribution import Distribution, summarise
from proctor.reports.drawn import looked_at, part, target
from proctor.reports.floor import describe_floors, floors_of
from proctor.reports.noise import Noise, noise
from proctor.reports.pairs import value_text
from proctor.reports.story import Story, stored_story
from proctor.stores.reading import verdicts_by_trial
from proctor.stores.rows import NOT_SCORED
from proctor.transport.redact import KEY_NAME

METRICS = ("accuracy", "score", "points")
ATTEMPTS = ("pass@", "pass^")  # the beginnings of metrics over several attempts
JUDGED = (  # what judges return in addition to a score
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
NOT_ENDED = "This run did not end: its process was killed or is still at work, or shards of it are missing. Go on with it: proctor run --run {run}"
LOOKED_AT = 100_000  # trials whose records are read, for errors and times; the numbers come from all
PRIVATE = {"key", "token", "secret", "password", "authorization", "headers", "cookie", "credential"}  # or a word of it

HIDDEN = "•••"


class EstimateSection(msgspec.Struct, frozen=True, kw_only=True):
    """Estimates that share a table: of the whole run (''), official aggregates ('official'), or of one tag."""

    key: str
    estimates: tuple[Estimate, ...]


class ErrorCount(msgspec.Struct, frozen=True, kw_only=True):
    """The number of trials with one kind of error."""

    error_class: str
    error_type: str
    count: int


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """A name and a text, such as an option or where data came from."""

    name: str
    text: str


class ReportData(msgspec.Struct, frozen=True, kw_only=True):
    """All data of a page, before it is put into a language."""

    record: RunRecord
    target: Sentence | None = None
    headline: tuple[Estimate, ...] = ()
    sections: tuple[EstimateSection, ...] = ()
    outcomes: Mapping[str, int] = {}
    stops: Mapping[str, int] = {}
    usage: Usage = Usage()
    seconds: Distribution | None = None  # of a trial, and so on
    tokens: Distribution | None = None
    cost: Distribution | None = None
    noise: tuple[Noise, ...] = ()  # of runs with several attempts
    errors: tuple[ErrorCount, ...] = ()
    details: tuple[DetailMean, ...] = ()
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
    def has_usage(self) -> bool:
        """True if a model was asked, according to the agent."""
        return self.usage != Usage()


def build(record: RunRecord, store: Store, estimates: Sequence[Estimate], *, failures: int = 50) -> ReportData:
    """Gather the data of a report. Only `failures` failed trials are kept, spread over the kinds of error."""
    outcomes: dict[str, int] = {name: count for name in OUTCOMES if (count := store.outcomes(record.id).get(name, 0))}
    if (left := record.planned - sum(outcomes.values())) > 0:
        outcomes["not_run"] = left
    trials, verdicts = TrialCounts(failures), VerdictCounts(failures)
    for trial in islice(store.trials(record.id), LOOKED_AT):
        trials.add(trial)
    for _, of_trial in islice(verdicts_by_trial(store, record.id), LOOKED_AT):
        verdicts.add(of_trial)
    errors = trials.errors + verdicts.errors
    clusters = max((estimate.clusters for estimate in estimates if not estimate.slice), default=0)
    independent = 0 if record.spec.until is not None else clusters  # no interval of a quantile allows for looks
    kept = {**verdicts.kept, **trials.kept}

    def stories(keys: Iterable[Key]) -> Iterator[Story]:
        found = (stored_story(store, record.id, sample_id, attempt) for sample_id, attempt in keys)
        return (story for story in found if story is not None)

    return ReportData(
        record=record,
        target=target(record),
        headline=_headline(record, estimates),
        sections=_sections(estimates),
        outcomes=outcomes,
        stops=dict(trials.stops.most_common()),
        usage=store.usage(record.id),
        seconds=summarise(trials.seconds, independent),
        tokens=summarise(trials.tokens, independent),
        cost=summarise(trials.cost, independent),
        noise=tuple(noise(record, store, estimates)),
        errors=tuple(
            ErrorCount(error_class=kind, error_type=type_, count=count) for (kind, type_), count in sort_errors(errors)
        ),
        details=verdicts.detail_means(record, store),
        unmeasured=(*trials.unmeasured(), *verdicts.unmeasured()),
        failures=tuple(stories(spread_evenly([kept.get(rule, []) for rule, _ in sort_errors(errors)], failures))),
        failed=errors.total(),
        judged=tuple(stories(verdicts.judged)),
        notes=(
            *_notes(record, outcomes, verdicts.lost, estimates),
            *describe_floors(floors_of(record, store)),
            *_half_scored(record, store, verdicts.versions),
        ),
        options=tuple(options_of(record)),
        provenance=tuple(_facts(record.provenance)),
    )


def json_summary(record: RunRecord, store: Store, estimates: Sequence[Estimate]) -> dict[str, object]:
    """Return a run as the one JSON object that commands print: run, task, agent, state, note, outcomes, estimates, usage, seconds, target; noise where there are several attempts."""
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
            "target": record.spec.target,
            **({"until": record.spec.until, "looked": record.looked} if record.spec.until is not None else {}),
            **({"floor": floors} if (floors := floors_of(record, store)) else {}),
            **({"noise": found} if (found := [*noise(record, store, estimates)]) else {}),
        }
    )
    return dict(plain)


def _headline(record: RunRecord, estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """Return the main numbers of the whole run, then the official overall number of benchmarks that have one."""
    whole = [estimate for estimate in estimates if not estimate.slice]
    names = {
        estimate.name for scorer in record.scorers if (estimate := main_estimate(whole, record, scorer)) is not None
    }
    main = [estimate for estimate in whole if estimate.name.removesuffix(CORRECTED) in names]
    overall = [
        estimate
        for estimate in whole
        if _metric(estimate) in ("overall", "official_overall") and estimate.value is not None
    ]
    return (*(main or whole[:1]), *(estimate for estimate in overall if estimate not in main))


def _sections(estimates: Sequence[Estimate]) -> tuple[EstimateSection, ...]:
    by_key: dict[str, list[Estimate]] = {}
    empty = {estimate.name for estimate in estimates if not estimate.slice and estimate.value is None}
    for estimate in estimates:
        never_applies = estimate.value is None and estimate.floor is None and not estimate.note
        if estimate.slice and (
            never_applies or estimate.name in empty
        ):  # the row of the whole run says all there is to say
            continue
        is_main = (
            _metric(estimate) in (*METRICS, *JUDGED)
            or _metric(estimate).startswith(ATTEMPTS)
            or estimate.unit == "number"
        )
        key = estimate.slice.partition("=")[0] or ("" if is_main else "official")
        by_key.setdefault(key, []).append(estimate)
    order = sorted(by_key, key=lambda key: SECTIONS_FIRST.index(key) if key in SECTIONS_FIRST else len(SECTIONS_FIRST))
    return tuple(EstimateSection(key=key, estimates=tuple(sorted(by_key[key], key=_is_number))) for key in order)


def _is_number(estimate: Estimate) -> bool:
    return estimate.unit == "number"


def _metric(estimate: Estimate) -> str:
    return estimate.name.rpartition(".")[2].removesuffix(CORRECTED)


def _notes(
    record: RunRecord, outcomes: Mapping[str, int], lost: Mapping[Rule, int], estimates: Sequence[Estimate]
) -> Iterator[str | Sentence]:
    if record.note is not None:
        yield record.note
    if record.state == "inconclusive":
        yield say("This run is inconclusive: too little was measured to rely on its numbers.")
    elif record.state == "running":
        yield say(NOT_ENDED, run=record.id)
    elif record.state != "finished" and not record.is_imported:
        yield say("This run is not finished. Go on with it: proctor run --run {run}", run=record.id)
    yield from looked_at(record, outcomes.get("not_run", 0))
    yield from part(record, outcomes)
    is_whole = record.spec.until is None  # else what was not run is not missing
    missing = sum(n for name, n in outcomes.items() if name not in IN_THE_MEAN and (is_whole or name != "not_run"))
    if sum(outcomes.values()) > LOOKED_AT:
        yield say("Errors, times and failed samples are those of the first {count} trials.", count=f"{LOOKED_AT:,}")
    if missing:
        yield say(
            "Trials without a result: {count} of {planned}; floor and ceiling say what they could change.",
            count=missing,
            planned=sum(outcomes.values()),
        )
    if undecided := outcomes.get("undecided"):
        yield say(
            "Trials in which a request of the agent's own code failed: {count}. Nothing shows whether it asked its model or a tool, so they have no score. Settle them: proctor run --run {run} --on-agent-error agent (they count as 0) or provider (they do not count)",
            count=undecided,
            run=record.id,
        )
    if failed := outcomes.get("agent_failed"):
        yield say("Trials in which the agent failed: {count}; they count as 0.", count=failed)
    if unjudged := sum(count for (why, _), count in lost.items() if why != "not_applicable"):
        yield say("Verdicts that a scorer or judge could not give: {count}; they are missing, not 0.", count=unjudged)
    yield from record.warnings
    if any(estimate.name.endswith("official_overall") and estimate.note for estimate in estimates):
        yield say("The official overall number counts categories that were not run as 0; compare it with care.")
    warnings = record.provenance.get("warnings", ())
    for warning in warnings if isinstance(warnings, list | tuple) else (warnings,):
        yield str(warning)


def _half_scored(record: RunRecord, store: Store, versions: Mapping[str, Collection[str]]) -> Iterator[Sentence]:
    """Say which scorers have not seen every scored trial, or not all in one version: scoring again may have been killed."""
    ended = sum(store.outcomes(record.id).get(outcome, 0) for outcome in IN_THE_MEAN)
    for scorer in record.scorers:
        if len(versions.get(scorer, ())) > 1:
            yield say(
                "The verdicts of {scorer} come from several versions of it, as after scoring again that was cut off. Score the run with it again: proctor score --run {run} --scorer NAME",
                scorer=scorer,
                run=record.id,
            )
        tallies = store.tallies(record.id, scorer)
        if not tallies or tallies[""].scored >= ended:  # as a rule; it saves a look at every trial
            continue
        if count := sum(value.why == NOT_SCORED for value in store.values(record.id, scorer)):
            yield say(
                "Trials that the scorer {scorer} has not seen: {count}. Its scoring was cut off, or is under way; they are missing, not 0. Score the run with it again: proctor score --run {run} --scorer NAME",
                scorer=scorer,
                count=count,
                run=record.id,
            )


def options_of(record: RunRecord) -> Iterator[Fact]:
    """Yield the options of the parts of a run, without keys."""
    spec = record.spec
    if spec.judge is not None:
        yield Fact(name="judge", text=spec.judge)
    if spec.user is not None:
        yield Fact(name="user", text=spec.user)
    if spec.environment:
        yield Fact(name="environment", text=", ".join(spec.environment))
    for prefix, options in (
        ("task", spec.task_options),
        ("agent", spec.agent_options),
        ("environment", spec.environment_options),
        ("judge", spec.judge_options),
        ("user", spec.user_options),
    ):
        for name, value in options.items():
            yield Fact(name=f"{prefix}.{name}", text=HIDDEN if is_private(name) else _text(value))


def is_private(name: str) -> bool:
    """True if an option of this name may hold a secret."""
    return KEY_NAME.search(name) is not None or not PRIVATE.isdisjoint(re.split("[-_]", name.lower()))


def _facts(provenance: Mapping[str, object], prefix: str = "", depth: int = 0) -> Iterator[Fact]:
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


def _text(value: object) -> str:
    return value if isinstance(value, str) else value_text(value)
