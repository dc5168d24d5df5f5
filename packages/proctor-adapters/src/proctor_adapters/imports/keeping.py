"""Keep a run of another program in a store: plan, trials and verdicts; until all of it is there, nothing reads it."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from msgspec.structs import replace

from proctor import registry
from proctor.core.errors import BadInput
from proctor.core.run import IMPORTED, RunRecord, RunSpec, Strata
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Store
from proctor.core.trial import INFRASTRUCTURE, Trial, Verdict
from proctor.runtime.concurrent import run_together
from proctor.transport.redact import HIDDEN, KEY_NAME, redact
from proctor_adapters.imports._foreign import ForeignRun, ForeignTrial
from proctor_adapters.imports._messages import text_of
from proctor_adapters.imports._values import NO_SCALE

CHUNK = 256
MOST_ATTEMPTS = 10_000
MOST_ID_CHARACTERS = 1_000
MOST_SCORERS = 200
MOST_DEPTH = 8  # of options


async def keep(found: ForeignRun, store: Store, run_id: str, *, version: str) -> RunRecord:
    """Write a run into a store and return its record; an incomplete one is removed when that fails.

    After a kill, import the log again: the incomplete run is replaced.

    Args:
        version: ours, for the record.

    Raises:
        BadInput: the store has a run of that name, the log holds no sample, or an attempt twice.
    """
    for there in store.runs():
        if there.id == run_id and there.state != "copying":
            raise BadInput(
                "The store {url} has a run '{run}' already. Choose another name with --run.", url=store.url, run=run_id
            )
        if there.id == run_id:
            store.delete(run_id)
    record = replace(_record(found, run_id), proctor_version=version)
    await store.begin(replace(record, state="copying"))
    try:
        plan = _Plan(found)
        count = await store.plan(run_id, plan.samples())
        if not count:
            raise BadInput("The log holds no sample.")
        await _add(found, store, run_id, plan)
        record = replace(record, scorers=tuple(plan.name_by_scorer.values()))
        record = _conclude(record, found, count, plan, store)
    except BaseException:
        await store.end(record)
        store.delete(run_id)
        raise
    await store.end(record)
    return record


class _Plan:
    """Reads the log once for its samples, and notes what the trials need.

    Attributes:
        outside: the first value of a scorer that is on no known scale, by its name.
        name_by_scorer: what the log's scorers are called here: those that have the name of one of ours get the program's too.
    """

    def __init__(self, found: ForeignRun) -> None:
        self.name_by_scorer: dict[str, str] = {}
        self.outside: dict[str, Unscored] = {}
        self.attempts = found.attempts or 1
        if self.attempts > MOST_ATTEMPTS:
            raise BadInput(
                "The log has {count} attempts at each sample; at most {limit} are read.",
                count=self.attempts,
                limit=MOST_ATTEMPTS,
            )
        self._found = found

    def samples(self) -> Iterator[Sample]:
        """Yield each sample once, and those last that were planned and have no trial."""
        attempts_by_id: dict[str, int] = {}  # each a bit
        for trial in self._found.trials():
            id, bit = self._checked(trial), 1 << trial.attempt
            for name, result in trial.scores.items():
                self._note(name)
                if isinstance(result, Unscored) and result.details.get("kind") == NO_SCALE:
                    self.outside.setdefault(name, result)
            known = attempts_by_id.get(id, 0)
            if not trial.again and known & bit:
                raise BadInput(
                    "The log has attempt {attempt} at the sample '{id}' twice.", attempt=trial.attempt + 1, id=id
                )
            self.attempts = max(self.attempts, trial.attempt + 1)
            attempts_by_id[id] = known | bit
            if not known:
                yield trial.sample
        for id in dict.fromkeys(self._found.planned):
            if id not in attempts_by_id:
                yield Sample(id=id, turns=())

    def _checked(self, trial: ForeignTrial) -> str:
        id = trial.sample.id
        if not 0 <= trial.attempt < MOST_ATTEMPTS:
            raise BadInput(
                "The sample '{id}' has an attempt {attempt}, which is none.", id=id[:100], attempt=trial.attempt + 1
            )
        if not id or len(id) > MOST_ID_CHARACTERS:
            raise BadInput("The id of a sample has {count} characters.", count=len(id))
        return id

    def withheld(self, scorer: str, result: Score | Unscored) -> Score | Unscored:
        """Return a result; of a scorer with a value on no known scale, none is a score: of ratings from 1 to 10, 1 is the worst."""
        first = self.outside.get(scorer)
        if first is None or not isinstance(result, Score):
            return result
        reason = say("Another value of this scorer is outside: {reason}", reason=first.reason)
        return Unscored(why="not_applicable", reason=reason, details={"value": result.points, "kind": NO_SCALE})

    def _note(self, scorer: str) -> None:
        if scorer in self.name_by_scorer:
            return
        if len(self.name_by_scorer) >= MOST_SCORERS:
            raise BadInput("The log has more than {count} different scores.", count=MOST_SCORERS)
        is_ours = registry.SCORERS.knows(scorer) or registry.JUDGES.knows(scorer)
        self.name_by_scorer[scorer] = f"{scorer}@{self._found.format}" if is_ours else scorer


def original_name(scorer: str, format: str) -> str:
    """Return what the log itself calls a scorer of an imported run.

    >>> original_name("exact@inspect", "inspect"), original_name("pass@1", "lm_eval")
    ('exact', 'pass@1')
    """
    return scorer.removesuffix(f"@{format}")


async def _add(found: ForeignRun, store: Store, run_id: str, plan: _Plan) -> None:
    version = f"{found.format} {found.version}".strip()

    def verdicts(one: ForeignTrial) -> list[Verdict]:
        return [
            Verdict(run_id=run_id, sample_id=one.sample.id, attempt=one.attempt, scorer=plan.name_by_scorer[name], scorer_version=version, result=_shown(plan.withheld(name, result)))
            for name, result in one.scores.items()
        ]  # fmt: skip

    rest = iter(found.trials())
    while chunk := list(islice(rest, CHUNK)):
        first = [trial for trial in chunk if not trial.again]
        await run_together(*(store.add(_trial(trial, run_id), verdicts(trial), trial.sample) for trial in first))
        await store.judge([verdict for trial in chunk if trial.again for verdict in verdicts(trial)])


def _trial(one: ForeignTrial, run_id: str) -> Trial:
    failure = one.failure
    if failure is not None and isinstance(failure.reason, str):
        failure = replace(failure, reason=_hide_keys(failure.reason))
    return Trial(
        run_id=run_id,
        sample_id=one.sample.id,
        attempt=one.attempt,
        outcome=one.outcome,
        trajectory=one.trajectory,
        failure=failure,
        started=one.started,
        seconds=one.seconds,
        usage=one.usage,
        notes=one.notes,
    )


def _shown(result: Score | Unscored) -> Score | Unscored:
    """Return what a scorer said; where it failed, the error may quote a key."""
    is_error = isinstance(result, Unscored) and result.why == "scorer_failed" and isinstance(result.reason, str)
    return replace(result, reason=_hide_keys(str(result.reason))) if is_error else result


_hide_keys = lru_cache(1_000)(redact)  # the same errors come again and again


def _record(found: ForeignRun, run_id: str) -> RunRecord:
    about = {"imported_from": found.format, "written_by": found.version, **_without_keys(found.provenance)}
    return RunRecord(
        id=run_id,
        spec=RunSpec(task=f"{found.format}:{found.task}", agent=found.agent),
        task=found.task,
        task_version=found.task_version,
        agent=found.agent,
        created=found.created,
        seconds=found.seconds,
        provenance={"continue_from": IMPORTED, **about},
        warnings=found.notes,
        official=(),
    )


def _without_keys(value: object, depth: int = 0) -> Any:
    """Return what a log says of its options without keys, as reports of the run show it; what is deep becomes a text."""
    match value:
        case str():
            return redact(value)
        case Mapping() | list() if depth == MOST_DEPTH:
            return redact(text_of(value))
        case Mapping():
            return {
                name: HIDDEN if KEY_NAME.search(name) and each else _without_keys(each, depth + 1)
                for name, each in value.items()
            }
        case list():
            return [_without_keys(each, depth + 1) for each in value]
    return value


def _conclude(record: RunRecord, found: ForeignRun, samples: int, plan: _Plan, store: Store) -> RunRecord:
    """Return the record of the whole run; one with many failures is inconclusive, as a run of our own would be."""
    planned = samples * plan.attempts
    record = replace(
        record,
        spec=replace(record.spec, attempts=plan.attempts),
        planned=planned,
        state=found.state,
        note=found.note,
        strata=Strata(sizes={"": samples}, order="official"),
    )
    failed = sum(count for outcome, count in store.outcomes(record.id).items() if outcome in INFRASTRUCTURE)
    if found.state != "finished" or failed / planned <= record.spec.max_failed:
        return record
    note = say(
        "{share} of the trials failed for reasons outside the agent; more than {allowed} makes a run inconclusive.",
        share=f"{failed / planned:.1%}",
        allowed=f"{record.spec.max_failed:.1%}",
    )
    return replace(record, state="inconclusive", note=note)
