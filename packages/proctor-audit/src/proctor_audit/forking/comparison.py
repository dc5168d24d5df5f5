"""What follows a fork, next to what followed in the trial it was forked from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from proctor.chat.message_text import describe_file
from proctor.core.run import RunRecord
from proctor.core.sample import File, ToolCall, ToolResult
from proctor.core.task import Store
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.core.trial import Trial
from proctor.reports.story import call_line, finding
from proctor.reports.tables import add_rows, new_table, print_table, styled
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line
from proctor.stores.reading import trial_of, verdicts_of

if TYPE_CHECKING:
    from rich.console import Console

CHARACTERS = 300  # of a step in the table


class ForkSide(msgspec.Struct, frozen=True, kw_only=True):
    """A trial from the step of the fork on: what was said and done, its scores, and what that took.

    Attributes:
        scores: the share of the points by scorer; None where it gave no score.
        usage: of the steps from the fork on.
    """

    run: str
    attempt: int
    agent: str
    outcome: str
    stop: str
    steps: tuple[str, ...]
    scores: dict[str, float | None]
    usage: Usage
    seconds: float
    reason: str = ""


class ForkComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The trial that was forked, and each attempt of the fork, from `step` on."""

    sample: str
    step: int
    parent: ForkSide
    forks: tuple[ForkSide, ...]


def compare_fork(fork: RunRecord, store: Store, parent: RunRecord, parent_store: Store) -> ForkComparison:
    """Return what follows the fork in each of its attempts, and what followed in the parent."""
    assert fork.fork is not None
    about = fork.fork
    played = trial_of(parent_store, parent.id, about.sample, about.attempt)
    assert played is not None
    return ForkComparison(
        sample=about.sample,
        step=about.step,
        parent=_side(parent, parent_store, played, about.step),
        forks=tuple(_side(fork, store, trial, about.step) for trial in store.trials(fork.id)),
    )


def _side(record: RunRecord, store: Store, trial: Trial, step: int) -> ForkSide:
    after = trial.trajectory.steps[step - 1 :]
    findings = [finding(verdict) for verdict in verdicts_of(store, record.id, trial.sample_id, trial.attempt)]
    return ForkSide(
        run=record.id,
        attempt=trial.attempt + 1,
        agent=record.agent,
        outcome=trial.outcome,
        stop=trial.trajectory.stop,
        steps=tuple(f"{each.message.role}: {_text(each)}" for each in after),
        scores={each.scorer: each.value for each in findings},
        usage=Trajectory(steps=after).usage,
        seconds=sum(each.seconds for each in after),
        reason="" if trial.failure is None else str(trial.failure.reason),
    )


def _text(step: Step) -> str:
    words = [step.message.text] if step.message.text else []
    for part in step.message.parts_with_files:
        if isinstance(part, ToolCall):
            words.append(call_line(part))
        elif isinstance(part, ToolResult):
            words.append(f"{part.name}: {part.content}")
        elif isinstance(part, File):
            words.append(describe_file(part))
    return one_line(" · ".join(words), CHARACTERS)


def print_fork(comparison: ForkComparison, lang: str, console: "Console") -> None:
    """Print what follows side by side, then scores, tokens and cost of the parent and of every attempt of the fork."""
    words = ReportWords(lang)
    heading = words.t("{sample}: what follows step {step}", sample=comparison.sample, step=comparison.step)
    console.print(styled(heading, "bold"))
    table = new_table(words.t("Step"), words.t("Recorded"), words.t("Fork"), right=(0,))
    first: Sequence[str] = comparison.forks[0].steps if comparison.forks else ()
    for index in range(max(len(first), len(comparison.parent.steps))):
        was, now = (side[index] if index < len(side) else "–" for side in (comparison.parent.steps, first))
        add_rows(
            table, [(str(comparison.step + index), was, words.t("the same") if was == now else now)], "" if was == now else "yellow"
        )  # fmt: skip
    print_table(table, console)
    console.print()
    _print_sides(comparison, words, console)


def _print_sides(comparison: ForkComparison, words: ReportWords, console: "Console") -> None:
    scorers = [*dict.fromkeys(name for side in (comparison.parent, *comparison.forks) for name in side.scores)]
    titles = (*scorers, words.t("Input"), words.t("Output"), words.t("Cost"), words.t("Time"))
    table = new_table(words.t("From the step on"), *titles, right=range(1, len(titles) + 1))
    for side in (comparison.parent, *comparison.forks):
        outcome = "" if side.outcome == "scored" else f", {words.outcome(side.outcome)}"
        used = side.usage
        cells = [words.percent(side.scores.get(name)) for name in scorers]
        cells += [words.count(used.input_tokens), words.count(used.output_tokens)]
        cells += ["–" if used.cost is None else f"{used.cost:.4g}", words.seconds(side.seconds)]
        add_rows(table, [(f"{side.run} {side.attempt}{outcome}", *cells)])
    print_table(table, console)
    for side in comparison.forks:
        if side.reason:
            console.print(styled(f"  {side.run} {side.attempt}: {one_line(side.reason, CHARACTERS)}"))
