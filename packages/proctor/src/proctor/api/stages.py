"""Draw further samples for a run of some samples of its task: a second stage, most where outcomes are uncertain."""

from collections import Counter

from msgspec.structs import replace

from proctor.api.options import RunOptions
from proctor.config import settings, store_url
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord, RunStage, Strata
from proctor.core.sentence import say
from proctor.core.tally import PREPARATION
from proctor.core.task import Store, Task
from proctor.engine.selection import draw_more
from proctor.stats.allocation import allocate, narrowing

LEAST_NARROWING = 0.05  # of the interval, below which a stage by outcomes hardly pays


def has_ended(record: RunRecord, store: Store) -> bool:
    """True if all that a run was planned with was run: nothing is left, skipped or cancelled."""
    outcomes = store.outcomes(record.id)
    waits = outcomes.get("skipped", 0) + outcomes.get("cancelled", 0)
    drawn = 0 if record.strata is None else record.strata.drawn * record.spec.attempts
    return 0 < max(record.planned, drawn) <= sum(outcomes.values()) - waits


def find_further(options: RunOptions) -> tuple[RunOptions, bool]:
    """Return the options with their store open, and whether a further stage follows once what they run has ended.

    It does after the first stage. A run whose later stage was cut off is only resumed, so that the same command can be given again.
    """
    if options.more is None:
        return options, False
    from proctor.stores import open_store  # which is slow to load

    opened = (
        open_store(store_url(options.store, settings()))
        if options.store is None or isinstance(options.store, str)
        else options.store
    )
    stored = next((run for run in opened.runs() if run.id == options.run_id), None)
    is_first = stored is None or stored.strata is None or not stored.strata.stages
    return replace(options, store=opened), is_first and (stored is None or not has_ended(stored, opened))


def check_more(strata: Strata, options: RunOptions) -> None:
    """Refuse a second stage that cannot be drawn.

    Raises:
        BadInput: says why.
    """
    if options.until is not None or options.replies is not None:
        raise BadInput("--more does not go with --until, nor with recorded replies.")
    if options.limit is None or options.limit >= strata.total:
        raise BadInput("--more draws further samples for a run of some: begin with a part of them, --limit N.")
    _check_count(strata, options.more or 0)


def plan_stage(record: RunRecord, store: Store, task: Task, options: RunOptions) -> RunRecord:
    """Return the record of a run with a further stage planned, by what the stages before it showed.

    Raises:
        BadInput: no samples are left, or the run cannot draw any.
    """
    known = record.strata
    if known is None or record.spec.until is not None or record.spec.selection.limit is None:
        raise BadInput("--more draws further samples for a run of some: begin with a part of them, --limit N.")
    planned = {sample.id: sample.tags for sample in store.planned(record.id) if PREPARATION not in sample.tags}
    if len(planned) >= known.total:
        raise BadInput("All {count} samples of the task are in the run {run}.", count=known.total, run=record.id)
    _check_count(known, options.more or 0)
    drawn = Counter(tags.get(known.by, "") for tags in planned.values())
    cells = store.strata(record.id, record.scorers[0], known.by).get("", {})
    counts = allocate(known.sizes, drawn, cells, options.more or 0)
    ids = draw_more(task, record.spec.selection, record.spec.seed, planned.keys(), counts, known.by)
    first = known.stages or (RunStage(counts=dict(drawn)),)
    is_announced = not known.stages and known.announced == options.more
    warnings = record.warnings
    gained = narrowing(known.sizes, drawn, cells, counts)
    if len(known.sizes) > 1 and gained < LEAST_NARROWING:
        warnings += (
            say(
                "The further samples narrow the interval by about {share} more than if drawn in proportion: no category is much harder than the others, or they are few.",
                share=f"{max(gained, 0.0):.0%}",
            ),
        )
    stages = (*first, RunStage(counts=counts, ids=tuple(ids), after_end=not is_announced))
    return replace(record, strata=replace(known, stages=stages), state="running", note=None, warnings=warnings)


def _check_count(strata: Strata, more: int) -> None:
    if more < len(strata.sizes):
        raise BadInput(
            "--more must be at least {count}, one sample for each value of the tag '{tag}'.",
            count=len(strata.sizes),
            tag=strata.by,
        )
