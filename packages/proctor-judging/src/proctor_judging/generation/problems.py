"""Have an agent write items, each checked as it comes: against the schema, and that it is new.

A run like any other: a sample asks for one item, the agent writes it, and a rejected one goes back to it with the reason.
An item that is still rejected after the last try is a failure that is counted; nothing takes its place. So pace, retries,
budget and resuming are those of the engine, and an item counts when it is on disk.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.api import Run, RunOptions, at, run_task
from proctor.api.prepare import new_id
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store, Task
from proctor.core.trial import Trial, Verdict
from proctor.engine.progress import Progress
from proctor.runtime.visible import one_line
from proctor_judging.generation import reference_set
from proctor_judging.generation.files import same_json, stamp, write_json
from proctor_judging.generation.generation_plan import Generated, GenerationPlan, Missing
from proctor_judging.generation.generator import Generator, generator
from proctor_judging.generation.item_review import SCORER, AcceptedItem, AskAgain, ItemReview, tries_of
from proctor_judging.generation.novelty import MEANING, Novelty
from proctor_judging.generation.report import write_generation_report

__all__ = [
    "Generated",
    "GenerationPlan",
    "ItemProgress",
    "Missing",
    "generate",
    "outcome",
    "plan_of",
    "task",
    "written",
]

PROVENANCE = "generation"
SHOWN = 40  # characters of a topic or an answer


def generate(
    plan: GenerationPlan | None = None,
    *,
    folder: str | Path = ".",
    earlier: Sequence[tuple[str, Mapping[str, object]]] = (),
    lang: str = "en",
    **given: object,
) -> Generated:
    """Have an agent write items, and save them as `NAME_generated_TIME.json` with `generation_report_TIME.md`.

    With the `run_id` of a stored run, that one is resumed; plan and agent are then those of the run. What it has
    written already is not written again.

    Args:
        earlier: items that exist already, each with its id, and are not to be repeated.
        given: the keyword arguments of `proctor.evaluate`, such as agent, agent_options, budget, concurrency, progress.

    Raises:
        BadInput: anything the caller can fix, found before the first call or by it.
        Stopped: Ctrl-C or SIGTERM; what was accepted is kept.
    """
    generated_set = written(plan, earlier=earlier, **given)
    kind, now, target = generator(generated_set.plan.generator), stamp(), Path(folder)
    path = None
    if generated_set.items:
        names = f"{kind.name}_generated_"
        there = same_json(target, f"{names}*.json", generated_set.items) if given.get("run_id") else None
        path = there or write_json(target / f"{names}{now}.json", generated_set.items)
    generated_set = replace(generated_set, path=path)
    report = write_generation_report(target / f"generation_report_{now}.md", generated_set, lang)
    return replace(generated_set, report=report)


def written(
    plan: GenerationPlan | None = None, *, earlier: Sequence[tuple[str, Mapping[str, object]]] = (), **given: object
) -> Generated:
    """Have an agent write items as `generate` does, without files."""
    options = RunOptions.of(given)
    store = at(options.store)
    stored = _stored(store, options.run_id)
    if stored is not None:
        plan = plan_of(stored, plan)
        spec = stored.record.spec
        options = replace(options, agent=spec.agent if options.agent is None else options.agent)
        if options.agent_options is None and isinstance(options.agent, str):
            options = replace(options, agent_options=spec.agent_options)
        earlier = [*earlier, *accepted_of(stored)]
    if plan is None or options.agent is None:
        raise BadInput(
            "Say what to generate and by which agent, for example: proctor data generate aime --agent openai:MODEL"
        )
    loaded_task = task(plan, earlier=earlier)
    run_id = options.run_id or new_id(f"generate-{loaded_task.name}")
    run = run_task(loaded_task, replace(options, store=store, seed=plan.seed, run_id=run_id, order="official"))
    items, missing = outcome(run, plan, earlier)
    return Generated(run=run, plan=plan, items=items, missing=missing)


def task(plan: GenerationPlan, *, earlier: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> Task:
    """Return the task whose samples each ask for one item.

    Args:
        earlier: what was accepted before, with the ids, when a run is resumed.

    Raises:
        BadInput: the generator or the reference set cannot be read.
    """
    kind = generator(plan.generator)
    reference = reference_set.load(plan.reference) if plan.reference is not None else None
    novelty = Novelty(near=plan.near, meaning=MEANING if plan.meaning else None)
    if reference is not None:
        novelty.extend((f"{reference.name}:{example.id}", example.text(kind.main)) for example in reference.items)
    novelty.extend((id, kind.text(item)) for id, item in earlier)
    review = ItemReview(kind, novelty)
    scorer = AcceptedItem(review, version=digest([kind.digest, plan])[:12])
    version = digest([kind.digest, reference.digest if reference is not None else "", plan])[:12]
    return Task(
        name=kind.name,
        version=version,
        samples=lambda: _samples(kind, plan, reference),
        scorers=[scorer],
        user=AskAgain(review, plan.tries),
        provenance={
            PROVENANCE: msgspec.to_builtins(plan),
            "generator": kind.digest,
            **({"reference": reference.told()} if reference is not None else {}),
        },
        spread_by="topic",
        planned=plan.count,
    )


def outcome(
    run: Run, plan: GenerationPlan, earlier: Sequence[tuple[str, Mapping[str, Any]]] = ()
) -> tuple[list[dict[str, Any]], list[Missing]]:
    """Return the items of a run in order, and those that could not be generated; of items that are alike the first counts."""
    kind = generator(plan.generator)
    trial_by_id = {trial.sample_id: trial for trial in run.trials()}
    verdict_by_id = {verdict.sample_id: verdict for verdict in run.verdicts(scorer=SCORER)}
    seen = Novelty(near=plan.near)
    own = {kind.id(number) for number in plan.numbers}
    seen.extend((id, kind.text(item)) for id, item in earlier if id not in own)
    items: list[dict[str, Any]] = []
    missing: list[Missing] = []
    for number in plan.numbers:
        id = kind.id(number)
        trial, verdict = trial_by_id.get(id), verdict_by_id.get(id)
        item = _item(verdict) if verdict is not None else None
        if trial is None or item is None:
            missing.append(_missing(id, trial, verdict))
        elif (copy := seen.admit(id, kind.text(item))) is not None:  # accepted by two processes
            missing.append(Missing(id=id, kind=f"copy:{copy.kind}", reason=copy.reason))
        else:
            ordered = {name: item[name] for name in (*kind.schema["properties"], *item) if name in item}
            items.append({"id": id, **ordered, **_made(trial, run)})
    return items, missing


def plan_of(run: Run, asked: GenerationPlan | None = None) -> GenerationPlan:
    """Return the plan of a stored run.

    Raises:
        BadInput: it made nothing, or something else than is asked for now.
    """
    kept = run.record.provenance.get(PROVENANCE)
    if kept is None:
        raise BadInput("The run '{run}' generated nothing; it was a run of {task}.", run=run.id, task=run.record.task)
    plan = msgspec.convert(kept, GenerationPlan)
    if asked is not None and asked != plan:
        changed = [name for name in GenerationPlan.__struct_fields__ if getattr(asked, name) != getattr(plan, name)]
        raise BadInput(
            "The run '{run}' was begun with other values of: {names}. Leave them out to go on, or start a new run.",
            run=run.id,
            names=", ".join(changed),
        )
    return plan


def accepted_of(run: Run) -> list[tuple[str, dict[str, object]]]:
    """Return what a run has accepted so far, with the ids."""
    found = ((verdict.sample_id, _item(verdict)) for verdict in run.verdicts(scorer=SCORER))
    return [(id, item) for id, item in found if item is not None]


class ItemProgress(Progress):
    """Reports each item once it is on disk: its topic, its answer, and the seconds it took."""

    def __init__(self, tell: Callable[[Sentence], None], show: Callable[[str], None] | None = None) -> None:
        super().__init__(tell=tell)
        self._show = show

    def added(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        if self._show is not None:
            mark = "✓" if verdicts and _item(verdicts[0]) is not None else "✗"
            self._show(" · ".join([f"{mark} {trial.sample_id}", *_facts_of(trial, verdicts), f"{trial.seconds:.1f} s"]))


def _facts_of(trial: Trial, verdicts: Sequence[Verdict]) -> list[str]:
    item = _item(verdicts[0]) if verdicts else None
    if item is not None:
        return [one_line(str(item[name]), SHOWN) for name in ("topic", "answer") if item.get(name) not in (None, "")]
    result = verdicts[0].result if verdicts else None
    return [result.known.error_class if isinstance(result, Score) else trial.outcome]


def _samples(kind: Generator, plan: GenerationPlan, reference: reference_set.Reference | None) -> Iterator[Sample]:
    draw = random.Random(plan.seed)  # noqa: S311 - the same again
    topics = list(plan.topics or kind.topics)
    draw.shuffle(topics)
    shown = reference.items if reference is not None and plan.examples else ()
    for number in plan.numbers:
        topic = topics[number % len(topics)] if topics else ""
        example = draw.choice(shown) if shown else None
        question = kind.asked(topic=topic, example=example.shown() if example is not None else None)
        yield Sample.ask(
            kind.id(number),
            question,
            tags={"topic": topic} if topic else None,
            meta={"example": example.id} if example is not None else None,
        )


def _item(verdict: Verdict) -> dict[str, object] | None:
    result = verdict.result
    item = result.known.item if isinstance(result, Score) else None
    return None if item is None else dict(item)


def _missing(id: str, trial: Trial | None, verdict: Verdict | None) -> Missing:
    if trial is None:
        return Missing(id=id, kind="not_run", reason=say("It was not run."))
    if verdict is not None:
        result = verdict.result
        return Missing(id=id, kind=result.known.error_class or "rejected", reason=result.reason)
    if trial.failure is not None:
        return Missing(id=id, kind=trial.outcome, reason=trial.failure.reason)
    return Missing(id=id, kind=trial.outcome, reason="")


def _made(trial: Trial, run: Run) -> dict[str, Any]:
    moment = datetime.fromtimestamp(trial.started + trial.seconds or time.time()).astimezone()
    return {
        "generated_at": moment.isoformat(timespec="seconds"),
        "generation": {"run": run.id, "seconds": round(trial.seconds, 3), "tries": tries_of(trial.trajectory)},
    }


def _stored(store: Store, run_id: str | None) -> Run | None:
    if run_id is None:
        return None
    record = next((run for run in store.runs() if run.id == run_id), None)
    return None if record is None else Run(record, store)
