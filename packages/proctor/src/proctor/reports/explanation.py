"""Explain one trial of a run: find it, give it to programs as an object, and print what each step cost."""

from typing import TYPE_CHECKING

import msgspec

from proctor.core.errors import BadInput
from proctor.core.run import RunRecord, Selection
from proctor.core.task import Store
from proctor.core.trial import Trial
from proctor.registry import unknown
from proctor.reports.samples import as_object
from proctor.reports.step_costs import StepCost, TrialCosts, step_costs
from proctor.reports.story import story
from proctor.reports.tables import add_rows, new_table, print_table, styled
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line
from proctor.stores.reading import trial_of, verdicts_of

if TYPE_CHECKING:
    from rich.console import Console


def read_trial(record: RunRecord, store: Store, sample_id: str, attempt: int) -> Trial:
    """Return a trial of a run.

    Raises:
        BadInput: the run has no such trial.
    """
    trial = trial_of(store, record.id, sample_id, attempt)
    if trial is None:
        raise _not_there(record, store, sample_id, attempt)
    return trial


def _not_there(record: RunRecord, store: Store, sample_id: str, attempt: int) -> BadInput:
    ids = [sample.id for sample in store.planned(record.id)]
    if sample_id not in ids:
        near = unknown("sample", sample_id, ids, paths=False, most=8)
        if record.spec.selection == Selection():
            return near
        return BadInput(
            "{unknown} The run {run} took {count} samples of its task, and this was not among them.",
            unknown=near.sentence,
            run=record.id,
            count=len(ids),
        )
    return BadInput(
        "The run {run} has no attempt {attempt} of the sample '{sample}'; each was to be tried {count} times.",
        run=record.id,
        attempt=attempt + 1,
        sample=sample_id,
        count=record.spec.attempts,
    )


def explanation_object(
    record: RunRecord, store: Store, sample_id: str, attempt: int, words: ReportWords
) -> dict[str, object]:
    """Return a trial for programs: what `as_object` says of it, its usage, its limits, and the cost of each step.

    Raises:
        BadInput: the run has no such trial.
    """
    trial = read_trial(record, store, sample_id, attempt)
    sample, verdicts = store.sample(record.id, sample_id), verdicts_of(store, record.id, sample_id, attempt)
    costs = step_costs(record, trial)
    return {
        **as_object(story(trial, sample, verdicts, characters=100_000)),
        "stop": trial.trajectory.stop,
        "usage": msgspec.to_builtins(costs.total),
        "limits": {"seconds": costs.limit_seconds, "replies": costs.limit_replies},
        "steps": [_step_object(step, costs) for step in costs.steps],
        "outside_steps": {**msgspec.to_builtins(costs.outside), "seconds": costs.outside_seconds},
        "notes": [words.t(note) for note in costs.notes],
    }


def _step_object(step: StepCost, costs: TrialCosts) -> dict[str, object]:
    used, elapsed = step.usage, step.elapsed_seconds
    return {
        "step": step.number,
        "turn": step.turn + 1,
        "role": step.role,
        "tools": step.tools,
        "usage": None if used is None else msgspec.to_builtins(used),
        "seconds": step.seconds,
        "elapsed_seconds": elapsed,
        "share_of_seconds": None if elapsed is None else elapsed / costs.limit_seconds,
        "replies": step.replies,
        "share_of_replies": step.replies / costs.limit_replies,
    }


def print_costs(costs: TrialCosts, words: ReportWords, console: "Console") -> None:
    """Print what each of several steps cost, and how much of each limit was used by then."""
    if len(costs.steps) < 2:
        return
    console.print()
    console.print(styled(words.t("Cost by step"), "bold"))
    titles = ("Step", "", "Input", "Output", "Cost", "Time", "Of the time limit", "Replies")
    table = new_table(*(words.t(title) if title else "" for title in titles), right=(0, 2, 3, 4, 5, 6, 7))
    add_rows(table, (_cost_cells(step, costs, words) for step in costs.steps))
    print_table(table, console)
    for note in costs.notes:
        console.print(styled(f"  {words.t(note)}", "dim"))


def _cost_cells(step: StepCost, costs: TrialCosts, words: ReportWords) -> tuple[str, ...]:
    who = f"{words.role(step.role)} {', '.join(dict.fromkeys(step.tools))}".rstrip()
    used, elapsed = step.usage, step.elapsed_seconds
    return (
        f"  {step.number}",
        one_line(who, 40),
        "" if used is None else words.count(used.input_tokens),
        "" if used is None else words.count(used.output_tokens),
        "" if used is None else "–" if used.cost is None else f"{used.cost:.4g}",
        words.seconds(step.seconds),
        "" if elapsed is None else words.percent(elapsed / costs.limit_seconds),
        f"{step.replies} / {costs.limit_replies}" if step.role == "assistant" else "",
    )
