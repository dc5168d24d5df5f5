"""Check that what a store keeps of a run can be read, and that its columns, which give the numbers, agree with its records."""

from collections import Counter
from collections.abc import Container, Iterator
from itertools import chain
from math import isclose

from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.core.trial import Outcome, Value
from proctor.stores.rows import NOT_SCORED
from proctor.stores.tables import TableStore


def check_file(store: Store) -> list[Sentence]:
    """Return what is wrong with the file of a store as a whole; nothing for other kinds of stores."""
    faults = store.file_faults() if isinstance(store, TableStore) else []
    return [say("the file itself: {fault}", fault=fault) for fault in faults]


def check_run(store: Store, run_id: str) -> Iterator[Sentence]:
    """Yield what is wrong with the trials of a run.

    Raises:
        BadInput: there is no such run, or its own record is damaged.
    """
    record = store.run(run_id)
    if not isinstance(store, TableStore):
        return
    skipped, store.skips_damaged, store.damaged = store.skips_damaged, True, set()
    try:
        outcomes, not_scored = Counter[Outcome](), set[tuple[str, int]]()
        for trial in store.trials(run_id):
            outcomes[trial.outcome] += 1
            if trial.outcome != "scored":
                not_scored.add((trial.sample_id, trial.attempt))
        for _ in chain[object](store.history(run_id), store.planned(run_id)):
            pass
        damaged = set(store.damaged)
        for id, attempt in sorted(damaged):
            yield say("sample '{id}' (attempt {attempt}): its record cannot be read", id=id, attempt=attempt)
        columns = Counter(store.outcomes(run_id))
        if not damaged and outcomes != columns:
            yield say(
                "outcomes: {records} in the records, {columns} in the table",
                records=_listed(outcomes),
                columns=_listed(columns),
            )
        named = zip(store.trials(run_id), store.values(run_id, ""), strict=False) if not damaged else ()
        for trial, value in named:
            if trial.sample_id != value.sample_id:
                yield say("sample '{id}': its record is called '{other}'", id=value.sample_id, other=trial.sample_id)
        for scorer in record.scorers:
            yield from _check_scores(store, run_id, scorer, not_scored)
    finally:
        store.skips_damaged, store.damaged = skipped, set()


def _check_scores(store: Store, run_id: str, scorer: str, not_scored: Container[tuple[str, int]]) -> Iterator[Sentence]:
    verdicts = store.verdicts(run_id, scorer=scorer)
    verdict = next(verdicts, None)
    for value in store.values(run_id, scorer):
        key = (value.sample_id, value.attempt)
        has_record = verdict is not None and (verdict.sample_id, verdict.attempt) == key
        is_judged = has_record or value.why != NOT_SCORED
        if is_judged and key not in not_scored and not (verdict and has_record and _agree(verdict.result, value)):
            yield say(
                "sample '{id}' (attempt {attempt}): the table has another score of {scorer} than its record, or one of them is missing",
                id=value.sample_id,
                attempt=value.attempt,
                scorer=scorer,
            )
        if has_record:
            verdict = next(verdicts, None)
    if verdict is not None:
        yield say(
            "sample '{id}' (attempt {attempt}): there is a record of {scorer}, and no such sample in the table",
            id=verdict.sample_id,
            attempt=verdict.attempt,
            scorer=scorer,
        )


def _agree(result: Score | Unscored, value: Value) -> bool:
    if isinstance(result, Score):
        return value.value is not None and isclose(value.value, result.value, abs_tol=1e-12)
    return value.why == result.why


def _listed(counts: Counter[Outcome]) -> str:
    return ", ".join(f"{outcome} {count}" for outcome, count in sorted(counts.items())) or "-"
