"""Review in a terminal: one item after the other, with the scores and the status typed in one line."""

import textwrap
from collections.abc import Sequence

import click

from proctor.cli import output
from proctor.cli.words import lang, t
from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.runtime.visible import one_line, visible
from proctor_judging.review.items import FIELDS, ReviewItem
from proctor_judging.review.labels import STATUS_NAMES, STATUSES, LabelEntry, Status
from proctor_judging.review.queue import Review, ReviewConflict, ReviewProgress

WIDTH = 100
STATUS_BY_LETTER: dict[str, Status] = {"a": "approved", "r": "rejected", "v": "needs_revision"}


def walk(review: Review, reviewer: str) -> None:
    """Review one item after another until all are done or the input ends; every label is saved at once."""
    queue = review.queue(reviewer)
    at = _next_todo(review, reviewer, queue, -1)
    output.line(_help(review))
    while at is not None:
        item = queue[at]
        _show(item, review.own(item, reviewer), at, len(queue))
        try:
            said = click.prompt(">", prompt_suffix=" ", default="", show_default=False).strip()
        except click.Abort:  # Ctrl-C or the end of the input
            output.line()
            return
        match said.split(maxsplit=1)[:1]:
            case ["q"]:
                return
            case [] | ["n"]:
                at = min(at + 1, len(queue) - 1)
            case ["p"]:
                at = max(at - 1, 0)
            case ["u"]:
                taken = review.undo(reviewer)
                at = next((index for index, other in enumerate(queue) if taken and other.id == taken.item), at)
                output.line(
                    t("The last label was taken back; it was of this item.")
                    if taken
                    else t("There is nothing to take back.")
                )
            case ["?"]:
                output.line(_help(review))
            case _:
                try:
                    scores, status, comments = _read(review, said)
                    review.label(item.id, reviewer, scores, status, comments)
                except BadInput as error:
                    output.message(t(error.sentence))
                else:
                    at = _next_todo(review, reviewer, queue, at)
    output.line(t("Everything is reviewed."))


def show_statistics(review: Review, conflicts: Sequence[ReviewConflict]) -> None:
    """Show the progress of the review, in all and by reviewer, how reviewers agree, and their conflicts."""
    columns = (t("Reviewer"), t("Reviewed"), *(t(name) for name in STATUS_NAMES.values()), t("Mean"))
    rows = [(visible(name) or t("(no name)"), *_numbers(review.progress(name))) for name in review.people()]
    output.print_table(
        columns, [*rows, (t("Verdicts of all"), *_numbers(review.progress()))], right=range(1, len(columns))
    )
    titles = {dimension.name: dimension.words(lang()).title for dimension in review.dimensions}
    output.print_table(
        (t("Dimension"), "alpha", t("95 % interval"), t("Items")),
        [
            (one_line(titles.get(name, t("Status")), 60), *_alpha(estimate))
            for name, estimate in review.agreement().items()
        ],
        heading=t("Agreement between reviewers"),
    )
    for conflict in conflicts:
        on = ", ".join(titles.get(name, t("Status")) for name in conflict.on)
        output.line(t("Conflict: {item}: {on}", item=one_line(conflict.item.id, 60), on=on))
    for note in review.notes:
        output.tell(note)


def _show(item: ReviewItem, entry: LabelEntry | None, at: int, total: int) -> None:
    output.line(f"\n── {at + 1} / {total} · {one_line(item.id, 60)} · {one_line(item.topic, 40)}")
    for name, title in FIELDS.items():
        text = visible(getattr(item, name)) or t("(not in the data)")
        output.line(f"{t(title)}:")
        for line in text.splitlines():
            output.line(textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="  "))
    if entry is not None:
        scores = " ".join(f"{score:g}" for score in entry.scores.values())
        output.line(t("You said: {scores} {status}", scores=scores, status=t(STATUS_NAMES[entry.status])))


def _read(review: Review, said: str) -> tuple[dict[str, float], str, str]:
    """Read `5 4 4 5 a a comment`: a score for each dimension, the letter of a status, and a comment."""
    count = len(review.dimensions)
    words = said.split(maxsplit=count + 1)
    try:
        numbers = [float(word) for word in words[:count]]
        status = STATUS_BY_LETTER[words[count]]
    except (ValueError, IndexError, KeyError):
        raise BadInput("That is not {count} scores and one of a, r, v. Type ? for help.", count=count) from None
    scores = {
        dimension.name: int(number) if number.is_integer() else number
        for dimension, number in zip(review.dimensions, numbers, strict=True)
    }
    return scores, status, words[count + 1] if len(words) > count + 1 else ""


def _next_todo(review: Review, reviewer: str, queue: Sequence[ReviewItem], at: int) -> int | None:
    """Return the position of the next item to do, from the beginning again at the end; None if there is none."""
    states = review.states(reviewer)
    todo = [index for index, item in enumerate(queue) if states[item.number] not in STATUSES]
    return next((position for position in todo if position > at), todo[0] if todo else None)


def _help(review: Review) -> str:
    names = " ".join(dimension.words(lang()).title.replace(" ", "-") for dimension in review.dimensions)
    return t(
        "Type: {names} STATUS comment, for example: {example}\nSTATUS is a (approved), r (rejected) or v (needs revision). Enter or n: next, p: previous, u: take the last label back, q: end.",
        names=names,
        example=" ".join(["4"] * len(review.dimensions)) + " a",
    )


def _numbers(progress: ReviewProgress) -> list[str]:
    mean = "–" if progress.mean is None else f"{progress.mean:.2f}"
    return [f"{progress.done} / {progress.total}", *(str(progress.by_status[status]) for status in STATUSES), mean]


def _alpha(estimate: Estimate) -> list[str]:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        value = "–" if estimate.value is None else f"{estimate.value:.2f}"
        return [value, t(estimate.note) if estimate.note else "", str(estimate.scored)]
    return [f"{estimate.value:.2f}", f"[{estimate.low:.2f}, {estimate.high:.2f}]", str(estimate.scored)]
